"""The amputation lab without its page: what the holes did to a table, and that in words."""

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
        "Some columns lose half of their cells, the others none: like a study that people leave.",
    ),
    "quasi-monotone": (
        "Quasi-monotone",
        "Some columns lose much, the others only 1 to 5% of their cells.",
    ),
    "general": ("General", "Any column may lose cells, some few and some many."),
}

MECHANISM_WORDS: Mapping[str, tuple[str, str]] = {
    "MCAR": (
        "MCAR: pure chance",
        "Missing completely at random: every row has the same chance to lose a cell. What is left "
        "is a fair sample.",
    ),
    "MAR": (
        "MAR: by what is seen",
        "Missing at random: whether a cell is lost depends on columns that stay complete. What is "
        "left is no fair sample, but the complete columns account for it.",
    ),
    "MNAR": (
        "MNAR: by what is lost, too",
        "Missing not at random: whether a cell is lost depends on values that are lost "
        "themselves. The score is a weighted sum of columns, so the more columns there are, the "
        "less it depends on the own value. Self-masking is the clear MNAR.",
    ),
    "self-masking": (
        "Self-masking: by its own value",
        "The clear case of missing not at random: whether a cell is lost depends on its own "
        "value alone, like a high income that nobody reports.",
    ),
}

COUPLING_WORDS: Mapping[str, tuple[str, str]] = {
    "nested": (
        "Nested: one draw a row",
        "As in the masks published with the paper: a row that misses a column misses all columns "
        "with more holes, too. Whatever its name, the pattern becomes a staircase.",
    ),
    "independent": (
        "Independent: one draw a cell",
        "As in the paper's text: the holes of a row know nothing of each other.",
    ),
}


def result_sentence(made: Amputation, columns: Sequence[Any], n_before: int) -> str:
    """Say in words how much was removed from the columns that can get holes."""
    missing = made.missing[list(columns)]
    n_removed = int(missing.to_numpy().sum())
    by_column = missing.mean()
    with_holes = by_column[by_column > 0]
    dropped = n_before - len(made.truth)
    if not len(with_holes) and dropped:
        rows = count(dropped, "row lost every cell and was", "rows lost every cell and were")
        return (
            f"**{rows} dropped, and no hole is left**: in each row all columns were lost or none. "
            "Leave a column without holes, or make the holes independent. A table of one column "
            "cannot keep a hole."
        )
    if not len(with_holes):
        return "No cell was removed. Ask for a smaller share of observed rows, or another seed."
    share = n_removed / missing.size
    sentence = (
        f"**{count(n_removed)} of {count(missing.size)} cells were removed** "
        f"({percent(share)}), from {count(len(with_holes))} of {count(len(by_column))} columns. "
    )
    most, least = 1 - with_holes.min(), 1 - with_holes.max()
    if len(with_holes) == 1:
        sentence += f"{percent(least)} of the cells of {code(with_holes.index[0])} are left."
    else:
        sentence += (
            f"The column with most holes keeps {percent(least)} of its cells, the one with fewest "
            f"{percent(most)}."
        )
    if dropped:
        rows = count(dropped, "row lost every cell and was", "rows lost every cell and were")
        sentence += f" {rows} dropped."
    return sentence


def pattern_sentence(made: Amputation) -> str:
    """Say in words which pattern the holes form, seen from outside."""
    holes = pd.DataFrame(np.where(made.missing, np.nan, 0.0))
    found = summarize_missingness(holes, max_patterns=1).pattern_class
    return {
        "complete": "",
        "monotone": "Ordered by their holes, the columns form a **strict staircase**: a row that "
        "misses one column misses all columns with more holes.",
        "quasi-monotone": "Ordered by their holes, the columns form **almost a staircase**.",
        "general": "The holes form **no staircase**: a row may miss any columns.",
    }[found]


def scenario_words(scenario: Scenario) -> str:
    """Return a scenario in a few words (Markdown)."""
    if scenario.kind == "like-mine":
        words = ["holes like the table's own"]
    else:
        words = [scenario.pattern, scenario.mechanism, scenario.coupling or ""]
        if scenario.columns is not None:
            words.append(f"in {listing(scenario.columns, most=3)}")
        if scenario.column_share is not None:
            words.append(f"{percent(scenario.column_share)} of columns")
        if isinstance(scenario.proportions, float):
            words.append(f"{percent(scenario.proportions)} observed")
        elif scenario.proportions:
            words.append("proportions by hand")
    return ", ".join([*filter(None, words), f"seed {scenario.seed}"])


# The library advises people who write code; the page has controls instead of arguments.
_ADVICE = {
    "column-share": "Change the share of columns with holes.",
    "no-columns": "Name at least one in the list of columns.",
    "proportions-of-others": "Name these in the list of columns, too.",
    "self-masking-nested": "Use independent holes.",
    "mar-needs-observed": "Name fewer columns, lower the share of columns with holes, or use MCAR "
    "or MNAR.",
}


def with_advice_of_page(error: AmputationError) -> AmputationError:
    """Return the error with advice that names the page's controls."""
    advice = _ADVICE.get(error.code or "", error.advice)
    return AmputationError(error.problem, code=error.code, advice=advice)


@dataclass(frozen=True)
class Truths:
    """The truths of one column, parted by their fate.

    Attributes
    ----------
    name : str
        The column.
    scale : {"number", "time", "category"}
        What the values are. Times are days since 1970, so that they are numbers, too.
    values : array
        The known truths: floats, or labels for a category.
    missing : bool array
        Which of them were removed.
    propensity : float array
        How likely each was to stay.
    """

    name: str
    scale: str
    values: np.ndarray
    missing: np.ndarray
    propensity: np.ndarray

    @property
    def left(self) -> np.ndarray:
        return self.values[~self.missing]

    @property
    def lost(self) -> np.ndarray:
        return self.values[self.missing]


def truths(made: Amputation, name: Any, role: Role) -> Truths:
    """Return the known truths of a column and what became of them."""
    column = made.truth[name]
    scale, values = _readable(column, role)
    known = column.notna().to_numpy() if scale == "category" else np.isfinite(values)
    return Truths(
        name=str(name),
        scale=scale,
        values=values[known],
        missing=made.missing[name].to_numpy()[known],
        propensity=made.propensity[name].to_numpy()[known],
    )


def _readable(column: pd.Series, role: Role) -> tuple[str, np.ndarray]:
    kind = cell_kind(column)
    if role is Role.DATETIME:
        stamps = pd.to_datetime(column, utc=True, errors="coerce", format="mixed")
        return "time", ((stamps - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)).to_numpy()
    if role is Role.NUMERICAL and kind is CellKind.DURATION:
        return "number", TimeCells.fit(column).read(column)
    if role is Role.NUMERICAL:
        return "number", NumberCells.fit(column).read(column)
    return "category", column.astype("string").fillna("").to_numpy(dtype=object)


def truth_sentence(column: Truths) -> str:
    """Say in words how the lost truths differ from those that are left."""
    name = f"{code(column.name)}"
    left, lost = column.left, column.lost
    if not len(lost):
        return f"No cell of {name} was removed."
    if not len(left):
        return f"Every cell of {name} was removed: nothing is left to compare."
    if column.scale == "category":
        return _category_sentence(name, left, lost)
    spread = float(column.values.std())
    if spread == 0:
        return f"All values of {name} are equal: losing some changes nothing."
    shift = float(lost.mean() - left.mean())
    effect = abs(shift) / spread
    # Twice the standard error: what chance alone does to two groups of these sizes.
    by_chance = 2.0 * np.sqrt(1.0 / len(left) + 1.0 / len(lost))
    if effect < max(by_chance, 0.05):
        same = "early" if column.scale == "time" else "high"
        return (
            f"The lost values of {name} are about as {same} as those that are left: "
            f"{_mean(lost, column)} against {_mean(left, column)} on average, no more apart than "
            "chance alone brings about."
        )
    direction = (
        ("later" if shift > 0 else "earlier")
        if column.scale == "time"
        else ("higher" if shift > 0 else "lower")
    )
    strength = "a little" if effect < 0.3 else "clearly" if effect < 0.8 else "far"
    return (
        f"The lost values of {name} are {strength} {direction} than those that are left: "
        f"{_mean(lost, column)} against {_mean(left, column)} on average. Who looks only at what "
        f"is left finds {_mean(left, column)} instead of {_mean(column.values, column)}."
    )


def _mean(values: np.ndarray, column: Truths) -> str:
    mean = float(values.mean())
    if column.scale == "time":
        return f"{pd.Timestamp(0) + pd.Timedelta(days=mean):%Y-%m-%d}"
    return short_number(mean, float(column.values.std()))


def short_number(value: float, spread: float) -> str:
    """Return a number with as many digits as its spread deserves.

    Examples
    --------
    >>> short_number(1234.5678, 300.0), short_number(0.012345, 0.01)
    ('1,235', '0.0123')
    """
    if not np.isfinite(spread) or spread <= 0:
        return f"{value:,.4g}"
    digits = int(np.clip(2 - np.floor(np.log10(spread)), 0, 8))
    return f"{value:,.{digits}f}"


def _category_sentence(name: str, left: np.ndarray, lost: np.ndarray) -> str:
    shares = pd.DataFrame(
        {
            "left": pd.Series(left).value_counts(normalize=True),
            "lost": pd.Series(lost).value_counts(normalize=True),
        }
    ).fillna(0.0)
    difference = shares["lost"] - shares["left"]
    label = difference.idxmax()
    share_lost, share_left = shares.loc[label, "lost"], shares.loc[label, "left"]
    if difference[label] < 0.05:
        return f"The lost cells of {name} hold about the same categories as those that are left."
    return (
        f"{code(label)} makes up {percent(share_lost)} of the lost cells of {name}, but "
        f"{percent(share_left)} of those that are left."
    )


def chance_sentence(column: Truths) -> str:
    """Say in words whether a cell's chance to stay depended on its value."""
    if not len(column.values):
        return f"{code(column.name)} has no known value."
    low, high = float(column.propensity.min()), float(column.propensity.max())
    if high - low < 0.005:
        return (
            f"Every cell of {code(column.name)} had the same chance of "
            f"{percent(high)} to stay, whatever its value."
        )
    return (
        f"A cell of {code(column.name)} stayed with a chance between {percent(low)} and "
        f"{percent(high)}, depending on its row."
    )


def by_holes(made: Amputation, columns: Sequence[Any]) -> list[Any]:
    """Return the columns that can get holes, those with most holes first."""
    share = made.missing[list(columns)].mean()
    return list(share.sort_values(ascending=False, kind="stable").index)
