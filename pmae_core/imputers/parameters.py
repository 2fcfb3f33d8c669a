"""Checks of what users give to an imputer: its numbers, and the table."""

from pmae_core.errors import ImputationError
from pmae_core.imputers.base import BaseImputer
from pmae_core.table import EncodedTable


def check_positive(imputer: BaseImputer, *names: str) -> None:
    """Raise :class:`~pmae_core.errors.ImputationError` if a parameter is 0 or below."""
    for name in names:
        value = getattr(imputer, name)
        if not value > 0:
            raise ImputationError(f"{name} must be greater than 0, got {value!r}.")


def check_two_columns(encoded: EncodedTable, title: str) -> None:
    """Raise :class:`~pmae_core.errors.ImputationError` if no column can be told from another."""
    if len(encoded.columns) < 2:
        raise ImputationError(
            f"{title} predicts columns from each other and needs at least two that can be learned."
        )
