"""Column names: stripped, never blank, each one unique."""

from collections.abc import Callable, Iterable

from pmae_core.names import make_unique
from pmae_core.table.io.source import TableSource
from pmae_core.words import listed


def clean_names(raw_names: Iterable[object], remark: Callable[[str], None]) -> list[str]:
    """Return usable column names and remark on those that were changed.

    Surrounding spaces are removed, a blank name becomes ``column_<position>``, and a repeated name
    gets the first free number, as in ``a.1``.

    Examples
    --------
    >>> clean_names([" age ", "sex"], remark=print)
    ['age', 'sex']
    """
    stripped = ["" if name is None else str(name).strip() for name in raw_names]
    named = [name or f"column_{position}" for position, name in enumerate(stripped, start=1)]
    unique = make_unique(named)
    added = [repr(new) for old, new in zip(stripped, unique, strict=True) if not old]
    if added:
        remark(f"Columns without a name got one: {listed(added, 10)}.")
    renamed = [f"{old!r} to {new!r}" for old, new in zip(named, unique, strict=True) if old != new]
    if renamed:
        remark(f"Some column names occur more than once. Renamed: {listed(renamed, 10)}.")
    return unique


def remark_on_invented_names(source: TableSource) -> None:
    """Note that a file seems to have no header, so that its columns are numbered."""
    source.remark(
        f"{source.name} seems to have no header, as its first line holds numbers. "
        "Columns are named column_1, column_2 and so on.",
        advice="Pass header=True if this is wrong.",
        code="header",
    )
