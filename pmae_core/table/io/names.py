"""Column names: stripped, never blank, each one unique."""

import warnings
from collections.abc import Iterable

from pmae_core.errors import TableWarning
from pmae_core.names import make_unique


def clean_names(raw_names: Iterable[object]) -> list[str]:
    """Return usable column names and warn about those that were changed.

    Surrounding spaces go, a blank name becomes ``column_<position>``, and a name that was there
    before gets the first free number, as in ``a.1``.

    Examples
    --------
    >>> clean_names([" age ", "sex"])
    ['age', 'sex']
    """
    stripped = ["" if name is None else str(name).strip() for name in raw_names]
    named = [name or f"column_{position}" for position, name in enumerate(stripped, start=1)]
    unique = make_unique(named)
    added = [repr(new) for old, new in zip(stripped, unique, strict=True) if not old]
    if added:
        _warn("Columns without a name got one: " + ", ".join(added[:10]) + ".")
    renamed = [f"{old!r} to {new!r}" for old, new in zip(named, unique, strict=True) if old != new]
    if renamed:
        _warn("Some column names occur more than once. Renamed: " + ", ".join(renamed[:10]) + ".")
    return unique


def _warn(sentence: str) -> None:
    warnings.warn(sentence, TableWarning, stacklevel=3)
