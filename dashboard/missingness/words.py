"""The sentences of the Missingness page, as Markdown."""

from __future__ import annotations

import pandas as pd

from dashboard.text import code, listing, plain
from pmae_core.missingness import (
    LittleTest,
    MissingnessSummary,
    MissingnessTree,
)
from pmae_core.words import count, listed, percent

_MOST_NAMED = 12


def how_much(summary: MissingnessSummary) -> str:
    """Return how much of the table is missing."""
    n_incomplete = int((summary.per_column["n_missing"] > 0).sum())
    return (
        f"{percent(summary.share_missing)} of the cells are missing, in {count(n_incomplete)} of "
        f"{count(summary.n_columns, 'column')}. {_complete_rows(summary)}"
    )


def _complete_rows(summary: MissingnessSummary) -> str:
    if summary.n_complete_rows == 0:
        return "No row is complete."
    verb = "is" if summary.n_complete_rows == 1 else "are"
    return (
        f"{count(summary.n_complete_rows)} of {count(summary.n_rows, 'row')} "
        f"({percent(summary.n_complete_rows / summary.n_rows)}) {verb} complete."
    )


def differences(column: str, beyond_chance: pd.DataFrame) -> str:
    """Return in which columns rows differ: by the same bounds as the bands of the figure.

    Parameters
    ----------
    column : str
        The column that divides the rows.
    beyond_chance : DataFrame
        The rows of `compare_rows` whose effects exceed what chance does.
    """
    if beyond_chance.empty:
        return (
            f"No observed column is clearly related to missingness in {code(column)}: in "
            "observed values, rows that miss it differ from the others by no more than chance."
        )
    strong = beyond_chance[beyond_chance["size"].isin(["medium", "large"])]
    rows = f"Rows that miss {code(column)}"
    if strong.empty:
        names = listing(beyond_chance.index)
        return f"{rows} differ from the others a little, but by more than chance, in {names}."
    return f"{rows} differ clearly from the others in {listing(strong.index)}."


def rules(tree: MissingnessTree) -> str:
    """Return the leaves of a tree as a list."""
    return "\n".join(
        f"- **{percent(rule.share_missing)}** missing where {plain(' and '.join(rule.conditions))} "
        f"({percent(rule.share_of_rows)} of the rows)"
        for rule in tree.rules
    )


def about_tree(tree: MissingnessTree) -> str:
    """Return what to know when reading the rules of a tree."""
    sampled = (
        f" It was trained on {count(tree.n_rows)} of {count(tree.n_rows_table, 'row')}, chosen at "
        "random; the shares are those of the whole table."
        if tree.n_rows < tree.n_rows_table
        else ""
    )
    return (
        "A decision tree that asks at most three questions about the values and the missingness "
        f"of the other columns.{sampled} A prediction does not say what causes missing values."
    )


def little_columns(test: LittleTest) -> str:
    """Return which columns and rows Little's test used, and what it left out and why."""
    chosen = ", chosen at random" if test.sampled else ""
    parts = [
        f"- Columns tested: {listing(test.columns, _MOST_NAMED)}",
        f"- Rows used: {count(test.n_rows)} of {count(test.n_rows_table)}{chosen}, with "
        f"{count(test.n_patterns, 'missing pattern')}",
    ]
    if test.n_rows_rare:
        parts.append(
            f"- Rows left out: {count(test.n_rows_rare)}, because fewer than five rows share "
            "their pattern"
        )
    parts += [
        f"- Not tested: {listing(names, _MOST_NAMED)}, because {_they(why, len(names))}"
        for why, names in _by_reason(test).items()
    ]
    if not test.converged:
        parts.append("- The estimates did not converge: the numbers are approximate")
    return "\n".join(parts)


def _by_reason(test: LittleTest) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for name, why in test.left_out.items():
        reasons.setdefault(why, []).append(name)
    return reasons


def _they(why: str, n_columns: int) -> str:
    """Return a reason, which speaks of one column, for as many as there are."""
    if n_columns == 1:
        return plain(why)
    for one, several in (
        ("it is", "they are"),
        ("it has", "they have"),
        ("its observed", "their observed"),
        ("determine it", "determine them"),
    ):
        why = why.replace(one, several)
    return plain(why)


def complete_cases(n_complete: int, n_rows: int, n_needed: int, *, are_chosen: bool) -> str:
    """Return how many rows are complete in the columns that an analysis needs."""
    which = count(n_needed, "chosen column") if are_chosen else f"all {count(n_needed, 'column')}"
    return (
        f"**{count(n_complete)} of {count(n_rows, 'row')}** ({percent(n_complete / n_rows)}) are "
        f"complete in {which}."
    )


def largest_gain(path: pd.DataFrame) -> str:
    """Return how many rows leaving out columns gains, the largest gain of a single step first."""
    steps = path.iloc[1:]
    if steps.empty:
        return ""
    first = steps.iloc[0]
    if first["n_gained"]:
        return (
            f"Dropping {_left_out(first['left_out'])} from the analysis keeps "
            f"{count(int(first['n_gained']), 'more row')}."
        )
    until = int((steps["n_gained"] > 0).to_numpy().argmax()) + 1
    names = [name for left_out in steps["left_out"].iloc[:until] for name in left_out]
    return (
        f"No single group of columns gains a row. Dropping {_left_out(names)} keeps "
        f"{count(int(steps['n_gained'].iloc[until - 1]), 'more row')}."
    )


def _left_out(names: tuple[str, ...] | list[str]) -> str:
    if len(names) <= 3:
        return listed((code(name) for name in names), len(names))
    return f"{code(names[0])} and {count(len(names) - 1)} others"
