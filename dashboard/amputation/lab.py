"""The amputation lab without its page: what amputation did to a table, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dashboard.amputation.scenario import Scenario
from dashboard.text import code, listing
from pmae_core.amputation import Amputation
from pmae_core.errors import AmputationError
from pmae_core.missingness import summarize_missingness
from pmae_core.table import Role
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.time_cells import TimeCells
from pmae_core.words import count, percent

MOST_ROWS = 20_000

PATTERN_WORDS: Mapping[str, tuple[str, str]] = {
    "monotone": (
        "Monotone",
        "Some columns lose half of their values, the others none, as when participants drop out "
        "of a study.",
    ),
    "quasi-monotone": (
        "Quasi-monotone",
        "Some columns lose many values, the others only 1 to 5%.",
    ),
    "general": ("General", "Any column may lose values, some few and some many."),
}

MECHANISM_WORDS: Mapping[str, tuple[str, str]] = {
    "MCAR": (
        "MCAR: chance",
        "Missing completely at random: every row has the same chance of losing a value. The "
        "observed values are a random sample.",
    ),
    "MAR": (
        "MAR: complete columns",
        "Missing at random: whether a value is missing depends on columns that stay complete. The "
        "observed values are not a random sample, but the complete columns account for that.",
    ),
    "MNAR": (
        "MNAR: missing values",
        "Missing not at random: whether a value is missing depends on values that are themselves "
        "removed. The score is a weighted sum of columns, so with more columns it depends less on "
        "the value itself. Self-masking is the clear MNAR.",
    ),
    "self-masking": (
        "Self-masking: own value",
        "The clear case of missing not at random: whether a value is missing depends on that "
        "value alone, as when high incomes are not reported.",
    ),
}

COUPLING_WORDS: Mapping[str, tuple[str, str]] = {
    "nested": (
        "Nested: once per row",
        "One random number per row, as in the masks released with the paper: a row that misses a "
        "column also misses every column with more missing values. The result is monotone, "
        "whatever the pattern is called.",
    ),
    "independent": (
        "Independent: per cell",
        "One random number per cell, as in the paper's text: one missing value in a row makes no "
        "other more likely, beyond what the mechanism does.",
    ),
}


def result_sentence(made: Amputation, columns: Sequence[Any], n_before: int) -> str:
    """Say how much was removed from the columns that can lose values."""
    missing = made.missing[list(columns)]
    n_removed = int(missing.to_numpy().sum())
    by_column = missing.mean()
    incomplete = by_column[by_column > 0]
    n_dropped = n_before - len(made.truth)
    dropped = count(n_dropped, "row lost every value and was", "rows lost every value and were")
    if not len(incomplete) and n_dropped:
        return (
            f"**{dropped} dropped, so no missing values remain**: each row lost all columns or "
            "none. Keep one column complete, or use independent missing values. A table with one "
            "column cannot keep missing values."
        )
    if not len(incomplete):
        return "No values were removed. Lower the share of rows observed, or try another seed."
    share = n_removed / missing.size
    sentence = (
        f"**{count(n_removed)} of {count(missing.size)} cells were removed** "
        f"({percent(share)}), from {count(len(incomplete))} of {count(len(by_column))} columns. "
    )
    most, least = 1 - incomplete.min(), 1 - incomplete.max()
    if len(incomplete) == 1:
        sentence += f"{code(incomplete.index[0])} is observed in {percent(least)} of rows."
    else:
        sentence += f"These are observed in {percent(least)} to {percent(most)} of rows."
    return f"{sentence} {dropped} dropped." if n_dropped else sentence


def pattern_sentence(made: Amputation, scenario: Scenario) -> str:
    """Say which pattern the missing values form and, if another was asked for, why."""
    cells = pd.DataFrame(np.where(made.missing, np.nan, 0.0))
    found = summarize_missingness(cells, max_patterns=1).pattern_class
    if found == "complete":
        return ""
    if scenario.kind == "like-mine" or scenario.pattern == found:
        return f"The pattern is **{found}**: {_FOUND_WORDS[found]}."
    why = _reason(made, found, nested=scenario.coupling == "nested")
    return f"The pattern is **{found}**, not {scenario.pattern} as requested: {why}."


_FOUND_WORDS = {
    "monotone": "a row that misses one column misses every column with more missing values",
    "quasi-monotone": "few rows miss a column without every column with more missing values",
    "general": "a row may miss any columns",
}


def _reason(made: Amputation, found: str, *, nested: bool) -> str:
    """Return why the missing values form another pattern than the one that was asked for."""
    n_columns = int(made.missing.any().sum())
    if n_columns == 1:
        return "with missing values in one column only, every pattern is"
    if nested:
        return "nested missing values always are"
    if found == "general":
        return "independent missing values in one row follow no order"
    return "with these shares and this seed, few rows break the order"


def scenario_words(scenario: Scenario) -> str:
    """Return a scenario in a few words (Markdown)."""
    if scenario.kind == "like-mine":
        words = ["missing values like the table's own"]
    else:
        words = [scenario.pattern, scenario.mechanism, scenario.coupling or ""]
        if scenario.columns is not None:
            words.append(f"in {listing(scenario.columns, most=3)}")
        if scenario.column_share is not None:
            words.append(f"{percent(scenario.column_share)} of columns")
        if isinstance(scenario.proportions, float):
            words.append(f"{percent(scenario.proportions)} observed")
        elif scenario.proportions:
            words.append("proportions set by hand")
    return ", ".join([*filter(None, words), f"seed {scenario.seed}"])


# The library's advice names arguments; the page has controls instead.
_ADVICE = {
    "column-share": "Change the share of columns with missing values.",
    "no-columns": "Choose at least one column.",
    "proportions-of-others": "Add them to the chosen columns.",
    "self-masking-nested": "Use independent missing values.",
    "mar-needs-observed": "Choose fewer columns, lower the share of columns with missing values, "
    "or use MCAR or MNAR.",
}


def with_advice_of_page(error: AmputationError) -> AmputationError:
    """Return the error with advice that names the page's controls."""
    advice = _ADVICE.get(error.code or "", error.advice)
    return AmputationError(error.problem, code=error.code, advice=advice)


@dataclass(frozen=True)
class TrueValues:
    """The true values of one column, and which of them were removed.

    Attributes
    ----------
    name : str
        The column.
    scale : {"number", "time", "category"}
        What the values are. Times are days since 1970, so that they are numbers, too.
    values : array
        The true values: floats, or labels for a category.
    missing : bool array
        Which of them were removed.
    """

    name: str
    scale: str
    values: np.ndarray
    missing: np.ndarray

    @property
    def observed(self) -> np.ndarray:
        """The values that were not removed."""
        return self.values[~self.missing]

    @property
    def removed(self) -> np.ndarray:
        """The values that were removed."""
        return self.values[self.missing]


def true_values(made: Amputation, name: Any, role: Role) -> TrueValues:
    """Return the true values of a column and which of them were removed."""
    column = made.truth[name]
    scale, values = readable(column, role)
    has_value = column.notna().to_numpy() if scale == "category" else np.isfinite(values)
    return TrueValues(
        name=str(name),
        scale=scale,
        values=values[has_value],
        missing=made.missing[name].to_numpy()[has_value],
    )


def readable(column: pd.Series, role: Role) -> tuple[str, np.ndarray]:
    """Return the scale of a column and its values: see :class:`TrueValues`."""
    kind = cell_kind(column)
    if role is Role.DATETIME:
        stamps = pd.to_datetime(column, utc=True, errors="coerce", format="mixed")
        return "time", ((stamps - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)).to_numpy()
    if role is Role.NUMERICAL and kind is CellKind.DURATION:
        return "number", TimeCells.fit(column).read(column)
    if role is Role.NUMERICAL:
        return "number", NumberCells.fit(column).read(column)
    return "category", column.astype("string").fillna("").to_numpy(dtype=object)


def values_sentence(column: TrueValues) -> str:
    """Say how the removed values differ from the observed ones."""
    name = code(column.name)
    observed, removed = column.observed, column.removed
    if not len(removed):
        return f"No values of {name} were removed."
    if not len(observed):
        return f"All values of {name} were removed, so there is nothing to compare."
    if column.scale == "category":
        return _category_sentence(name, observed, removed)
    spread = float(column.values.std())
    if spread == 0:
        return f"All values of {name} are equal, so removing some changes nothing."
    shift = float(removed.mean() - observed.mean())
    effect = abs(shift) / spread
    # Twice the standard error: what chance alone does to two groups of these sizes.
    by_chance = 2.0 * np.sqrt(1.0 / len(observed) + 1.0 / len(removed))
    if effect < max(by_chance, 0.05):
        return (
            f"The removed values of {name} are similar to the observed ones: their means are "
            f"{_mean(removed, column)} and {_mean(observed, column)}, a difference within chance."
        )
    direction = (
        ("later" if shift > 0 else "earlier")
        if column.scale == "time"
        else ("higher" if shift > 0 else "lower")
    )
    strength = "slightly" if effect < 0.3 else "clearly" if effect < 0.8 else "far"
    return (
        f"The removed values of {name} are {strength} {direction} than the observed ones (mean "
        f"{_mean(removed, column)}). The observed mean is {_mean(observed, column)}; the true mean "
        f"is {_mean(column.values, column)}."
    )


def _mean(values: np.ndarray, column: TrueValues) -> str:
    mean = float(values.mean())
    if column.scale == "time":
        return f"{pd.Timestamp(0) + pd.Timedelta(days=mean):%Y-%m-%d}"
    return short_number(mean, float(column.values.std()))


def short_number(value: float, spread: float) -> str:
    """Return a number with as many digits as its spread justifies.

    Examples
    --------
    >>> short_number(1234.5678, 300.0), short_number(0.012345, 0.01)
    ('1,235', '0.0123')
    """
    if not np.isfinite(spread) or spread <= 0:
        return f"{value:,.4g}"
    digits = int(np.clip(2 - np.floor(np.log10(spread)), 0, 8))
    return f"{value:,.{digits}f}"


def _category_sentence(name: str, observed: np.ndarray, removed: np.ndarray) -> str:
    shares = pd.DataFrame(
        {
            "observed": pd.Series(observed).value_counts(normalize=True),
            "removed": pd.Series(removed).value_counts(normalize=True),
        }
    ).fillna(0.0)
    difference = shares["removed"] - shares["observed"]
    label = difference.idxmax()
    if difference[label] < 0.05:
        return f"The removed values of {name} have about the same categories as the observed ones."
    return (
        f"{code(label)} makes up {percent(shares.loc[label, 'removed'])} of the removed values of "
        f"{name} but {percent(shares.loc[label, 'observed'])} of the observed ones."
    )


def most_missing_first(made: Amputation, columns: Sequence[Any]) -> list[Any]:
    """Return the columns, those with the most missing values first."""
    share = made.missing[list(columns)].mean()
    return list(share.sort_values(ascending=False, kind="stable").index)
