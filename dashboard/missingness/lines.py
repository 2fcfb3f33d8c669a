"""The lines of figures: blocks of columns, found by search, expanded and in an order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from dashboard.missingness.facts import MissingnessFacts
from pmae_core.missingness import MissingBlock, NullityTree
from pmae_core.words import count, shorten

MOST_MISSING, AS_IN_TABLE, SIMILAR = (
    "Most missing first",
    "As in the table",
    "Similar columns together",
)


def choose_lines(
    facts: MissingnessFacts, *, search: str = "", expanded: Collection[Any] = ()
) -> list[MissingBlock]:
    """Return what to draw, the most missing first: blocks, or single columns.

    Parameters
    ----------
    facts : MissingnessFacts
        Of the table.
    search : str
        If given, only columns whose name contains it, each on a line of its own.
    expanded : collection
        The first columns of blocks whose columns get a line each.
    """
    if search.strip():
        found = matching(facts.patterns.columns, search)
        lines = [MissingBlock.of(facts.patterns, [name]) for name in found]
        return sorted(lines, key=lambda line: -line.share_missing)
    lines = []
    for block in facts.blocks:
        is_expanded = block.columns[0] in expanded
        groups = [[name] for name in block.columns] if is_expanded else [block.columns]
        lines += [MissingBlock.of(facts.patterns, group) for group in groups]
    return lines


def matching(names: Sequence[Any], search: str) -> list[Any]:
    """Return the names that contain a text, whatever the case; all for none."""
    wanted = search.strip().casefold()
    return [name for name in names if wanted in str(name).casefold()]


def in_order(
    lines: Sequence[MissingBlock], order: str, facts: MissingnessFacts, tree: NullityTree | None
) -> list[MissingBlock]:
    """Return lines in one of the orders; similar columns together need the tree."""
    if order == AS_IN_TABLE or (order == SIMILAR and tree is not None):
        names = list(facts.patterns.columns) if tree is None else tree.columns
        place = {name: at for at, name in enumerate(names)}
        return sorted(lines, key=lambda line: min(place[name] for name in line.columns))
    return sorted(lines, key=lambda line: -line.share_missing)


def expandable(facts: MissingnessFacts) -> dict[Any, MissingBlock]:
    """Return the blocks of several columns by their first one."""
    return {block.columns[0]: block for block in facts.blocks if len(block.columns) > 1}


def plain_label(block: MissingBlock) -> str:
    """Return the label of a block for lists to choose from, which show it as it is."""
    if len(block.columns) == 1:
        return shorten(block.columns[0], 60)
    if block.is_complete:
        return count(len(block.columns), "complete column")
    if block.is_empty:
        return f"{count(len(block.columns), 'column')} without values"
    n_others = len(block.columns) - 1
    return f"{shorten(block.columns[0], 40)} + {count(n_others, 'other')}"


def partly_missing(lines: Sequence[MissingBlock]) -> list[MissingBlock]:
    """Return the lines with observed and with missing cells."""
    return [line for line in lines if not line.is_complete and not line.is_empty]


def lines_data(lines: Sequence[MissingBlock], facts: MissingnessFacts) -> Any:
    """Return a table with a row per column and the line that it is on."""
    per_column = facts.summary.per_column
    group_of = {name: plain_label(line) for line in lines for name in line.columns}
    data = per_column.loc[list(group_of)].rename_axis("column").reset_index()
    return data.assign(missing_together=[group_of[name] for name in data["column"]])
