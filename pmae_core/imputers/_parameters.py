"""Checks of the numbers that users give to an imputer."""

from pmae_core.errors import ImputationError
from pmae_core.imputers.base import BaseImputer


def check_positive(imputer: BaseImputer, *names: str) -> None:
    """Raise :class:`~pmae_core.errors.ImputationError` if a parameter is 0 or below."""
    for name in names:
        value = getattr(imputer, name)
        if not value > 0:
            raise ImputationError(f"{name} must be greater than 0, got {value!r}.")
