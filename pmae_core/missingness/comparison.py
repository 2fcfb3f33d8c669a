"""How rows in which a column is missing differ from those in which it is observed."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.errors import TableError
from pmae_core.missingness._columns import (
    chi_squared_bound,
    has_meaningful_mean,
    missing_rows,
    number_words,
    read_labels,
    read_numbers,
    schema_of,
)
from pmae_core.missingness.patterns import BoolArray, FloatArray
from pmae_core.table.levels import levels_of
from pmae_core.table.roles import LABEL_ROLES, NUMBER_ROLES, Role
from pmae_core.table.schema import Schema
from pmae_core.words import exact_text

Kind = Literal["numerical", "categorical"]

# From where on an effect is small, medium, large (Cohen 1988).
_STEPS: dict[Kind, tuple[float, float, float]] = {
    "numerical": (0.2, 0.5, 0.8),
    "categorical": (0.1, 0.3, 0.5),
}
_COLUMNS = [
    "kind",
    "effect",
    "by_chance",
    "beyond_chance",
    "size",
    "n_observed",
    "n_missing",
    "mean_observed",
    "mean_missing",
]
_WORDS = ("negligible", "small", "medium", "large")
OTHER_LABELS = "(all others)"


def compare_rows(
    df: pd.DataFrame, column: Hashable, *, schema: Schema | None = None
) -> pd.DataFrame:
    """Compare rows in which a column is missing with those in which it is observed.

    If the column were missing completely at random, the two groups would differ by chance alone.

    Parameters
    ----------
    df : DataFrame
        The table.
    column : hashable
        The column whose missingness divides the rows; it has observed and missing cells.
    schema : Schema, optional
        Roles of the columns; inferred if not given. Identifiers and ignored columns are left out.

    Returns
    -------
    DataFrame
        For each other column, the largest effect first:

        - ``kind``: numerical (numbers and dates) or categorical;
        - ``effect``: numerical, the standardized mean difference: mean where missing minus mean
          where observed, in units of the standard deviation (root of the mean of both
          variances). Categorical, Cramér's V between 0 (no relation) and 1, corrected for its
          bias in small tables. NaN where it cannot be measured;
        - ``by_chance``: how large an effect (without its sign) may be by chance. If there is truly
          none, any column exceeds its bound in at most one of twenty tables (Bonferroni);
        - ``beyond_chance``: whether the effect exceeds this bound;
        - ``size``: negligible, small, medium or large in Cohen's words, else "not measurable";
        - ``n_observed``, ``n_missing``: rows of the two groups with a value in this column;
        - ``mean_observed``, ``mean_missing`` of numbers (NaN for dates and categories).

    Examples
    --------
    >>> df = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [5.0, 6.0, None, None]})
    >>> compare_rows(df, "y")[["effect", "size"]].round(2).to_dict("index")
    {'x': {'effect': 2.83, 'size': 'large'}}
    """
    missing = missing_rows(df, column)
    schema = schema_of(df, schema)
    names = [name for name in schema.names(*NUMBER_ROLES, *LABEL_ROLES) if name != column]
    found = [
        _compare_labels(df[name], missing, len(names))
        if schema.role(name) in LABEL_ROLES
        else _compare_numbers(df[name], schema.role(name), missing, len(names))
        for name in names
    ]
    table = pd.DataFrame(found, index=pd.Index(names, dtype=object), columns=_COLUMNS)
    table["beyond_chance"] = table["effect"].abs() > table["by_chance"]
    table["size"] = [
        _size(kind, effect) for kind, effect in zip(table["kind"], table["effect"], strict=True)
    ]
    return table.iloc[_by_strength(table)]


def _compare_numbers(
    series: pd.Series, role: Role, missing: BoolArray, n_comparisons: int
) -> dict[str, Any]:
    values = read_numbers(series, role)
    observed = ~np.isnan(values)
    one, other = values[observed & ~missing], values[observed & missing]
    result = {"kind": "numerical", "n_observed": len(one), "n_missing": len(other)}
    if min(len(one), len(other)) < 2:
        return result
    mean_one, mean_other = float(one.mean()), float(other.mean())
    if has_meaningful_mean(series, role):
        result |= {"mean_observed": mean_one, "mean_missing": mean_other}
    deviation = np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / 2)
    if deviation > 0:
        result["effect"] = float((mean_other - mean_one) / deviation)
        variance = 1 / len(one) + 1 / len(other)
        bound = chi_squared_bound(1, n_comparisons=n_comparisons)
        result["by_chance"] = float(np.sqrt(bound * variance))
    return result


def _compare_labels(series: pd.Series, missing: BoolArray, n_comparisons: int) -> dict[str, Any]:
    counts = _counts_of_labels(*read_labels(series), missing)
    n_observed, n_missing = map(int, counts.sum(axis=1))
    result = {"kind": "categorical", "n_observed": n_observed, "n_missing": n_missing}
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2 or min(n_observed, n_missing) == 0:
        return result
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    chi_squared = float(((counts - expected) ** 2 / expected).sum())
    bound = chi_squared_bound(counts.shape[1] - 1, n_comparisons=n_comparisons)
    result["effect"] = _cramers_v(chi_squared, counts.shape[1], n_observed + n_missing)
    result["by_chance"] = _cramers_v(bound, counts.shape[1], n_observed + n_missing)
    return result


def _counts_of_labels(codes: np.ndarray, labels: list, missing: BoolArray) -> FloatArray:
    """Count labels where the column is observed (first row) and missing (second row)."""
    return np.stack(
        [
            np.bincount(codes[(codes >= 0) & group], minlength=len(labels)).astype(float)
            for group in (~missing, missing)
        ]
    )


def _cramers_v(chi_squared: float, n_labels: int, n: int) -> float:
    """Return Cramér's V of a 2 x k table with the bias correction of Bergsma (2013)."""
    corrected = max(0.0, chi_squared / n - (n_labels - 1) / (n - 1))
    smaller_side = min(2 - 1 / (n - 1), n_labels - (n_labels - 1) ** 2 / (n - 1)) - 1
    return float(min(1.0, np.sqrt(corrected / smaller_side))) if smaller_side > 0 else np.nan


def _size(kind: Kind, effect: float) -> str:
    if np.isnan(effect):
        return "not measurable"
    return _WORDS[int(np.searchsorted(_STEPS[kind], abs(effect), side="right"))]


def _by_strength(table: pd.DataFrame) -> npt.NDArray[np.intp]:
    """Order by effect; a V counts as much as the difference that Cohen calls equally large."""
    strength = [
        np.interp(abs(effect), (0, *_STEPS[kind]), range(4)) + max(0, abs(effect) - _STEPS[kind][2])
        if not np.isnan(effect)
        else -1
        for kind, effect in zip(table["kind"], table["effect"], strict=True)
    ]
    return np.argsort(-np.array(strength), kind="stable")


@dataclass(frozen=True, eq=False)
class ValueDistribution:
    """Values of one column, separately for rows in which another column is observed and missing.

    Attributes
    ----------
    kind : {"numerical", "categorical"}
        Numbers and dates, or labels.
    labels : list of str
        What each bar stands for: a range of numbers in words, or a label.
    edges : ndarray of shape (n_bars + 1,) or None
        Ends of the bars of numbers; for dates, steps since the first one.
    edge_labels : list of str or None
        The ends in words; None for labels and for whole numbers, which lie in the middle of bars.
    share_observed, share_missing : ndarrays of shape (n_bars,)
        Share of the rows of each group. They add up to 1 within a group.
    n_observed, n_missing : int
        Rows of each group with a value.
    clipped : bool
        Whether the first and last bar also hold the few values beyond them.
    """

    kind: Kind
    labels: list[str]
    edges: FloatArray | None
    edge_labels: list[str] | None
    share_observed: FloatArray
    share_missing: FloatArray
    n_observed: int
    n_missing: int
    clipped: bool = False


def compare_distributions(
    df: pd.DataFrame,
    column: Hashable,
    other: Hashable,
    *,
    schema: Schema | None = None,
    n_bins: int = 30,
    max_labels: int = 12,
) -> ValueDistribution:
    """Count the values of a column where another one is observed and where it is missing.

    Parameters
    ----------
    df : DataFrame
        The table.
    column : hashable
        The column whose missingness divides the rows.
    other : hashable
        The column whose values are counted.
    schema : Schema, optional
        Roles of the columns; inferred if not given.
    n_bins : int, default 30
        Bars of a numerical column at most, or one more; they end at round numbers.
    max_labels : int, default 12
        Labels of a categorical column, the most frequent ones; the rest are counted together. The
        levels of an ordinal column are in their order.

    Examples
    --------
    >>> df = pd.DataFrame({"town": ["Ulm", "Ulm", "Bonn", "Bonn"], "y": [1.0, None, 3.0, 4.0]})
    >>> compared = compare_distributions(df, "y", "town")
    >>> compared.labels, compared.share_missing.tolist()
    (['Ulm', 'Bonn'], [1.0, 0.0])
    """
    missing = missing_rows(df, column)
    schema = schema_of(df, schema)
    role = schema.role(other)
    if role in LABEL_ROLES:
        return _distribution_of_labels(df[other], schema, missing, max_labels)
    if role not in NUMBER_ROLES:
        raise TableError(f"Column {other!r} is {role}: its values are not compared.")
    return _distribution_of_numbers(df[other], schema, missing, n_bins)


def compare_imputed(
    observed: pd.Series, imputed: pd.Series, *, schema: Schema | None = None
) -> ValueDistribution:
    """Count the values of a column apart for observed and for imputed cells.

    Parameters
    ----------
    observed : Series
        The column with its missing values.
    imputed : Series
        The same column, imputed.
    schema : Schema, optional
        Roles of the columns; inferred if not given.

    Returns
    -------
    ValueDistribution
        Where it says missing, it counts imputed cells.

    Examples
    --------
    >>> before = pd.Series([1.0, 2.0, None, None], name="x")
    >>> compared = compare_imputed(before, before.fillna(2.0))
    >>> compared.n_observed, compared.n_missing
    (2, 2)
    """
    if not observed.index.equals(imputed.index):
        raise TableError("The imputed column and the observed one have different rows.")
    before = f"{observed.name} before"
    both = pd.DataFrame({observed.name: imputed, before: observed})
    schema = None if schema is None else schema.only([observed.name]).for_table(both)
    return compare_distributions(both, before, observed.name, schema=schema)


def _distribution_of_numbers(
    series: pd.Series, schema: Schema, missing: BoolArray, n_bins: int
) -> ValueDistribution:
    role = schema.role(series.name)
    values = read_numbers(series, role)
    observed = ~np.isnan(values)
    if not observed.any():
        raise TableError(f"Column {series.name!r} has no finite values to compare.")
    whole = schema[series.name].integer
    edges, clipped = _edges(values[observed], n_bins, whole=whole)
    inside = np.clip(values, edges[0], edges[-1])
    counts = [np.histogram(inside[observed & group], edges)[0] for group in (~missing, missing)]
    words = number_words(series, role)
    # A bar of whole numbers ends before the next one begins.
    lowest, highest = (np.ceil(edges), np.ceil(edges) - 1) if whole else (edges, edges)
    ends = None if whole else [words(edge) for edge in edges]
    labels = [
        words(low) if low == high else f"{words(low)} to {words(high)}"
        for low, high in zip(lowest[:-1], highest[1:], strict=True)
    ]
    return ValueDistribution("numerical", labels, edges, ends, *_shares(*counts), clipped=clipped)


def _edges(values: FloatArray, n_bins: int, *, whole: bool) -> tuple[FloatArray, bool]:
    """Return the ends of the bars, and whether values lie beyond them."""
    lowest, highest = values.min(), values.max()
    if lowest == highest:
        return np.array([lowest - 0.5, highest + 0.5]), False
    low, high = np.quantile(values, [0.005, 0.995])
    # A few far values would press all others into one bar.
    clipped = bool(highest - lowest > 3 * (high - low) > 0)
    if not clipped:
        low, high = lowest, highest
    if whole:
        step = np.ceil((high - low + 1) / n_bins)
        n_bars = np.ceil((np.floor(high) - np.floor(low) + 1) / step)
        return np.floor(low) - 0.5 + step * np.arange(n_bars + 1), clipped
    step = _round_step((high - low) / n_bins)
    edges = step * np.arange(np.floor(low / step), np.ceil(high / step) + 1)
    # Numbers with more digits than a float holds have no round ends.
    is_round = len(edges) > 1 and (np.diff(edges) > 0).all()
    return (edges if is_round else np.linspace(low, high, n_bins + 1)), clipped


def _round_step(at_least: float) -> float:
    """Return the next number of the form 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(at_least))
    return float(
        next(step for step in power * np.array([1, 2, 2.5, 5, 10, 20]) if step >= at_least)
    )


def _distribution_of_labels(
    series: pd.Series, schema: Schema, missing: BoolArray, max_labels: int
) -> ValueDistribution:
    codes, labels = read_labels(series)
    if not labels:
        raise TableError(f"Column {series.name!r} has no observed values to compare.")
    counts = _counts_of_labels(codes, labels, missing)
    order = np.argsort(-counts.sum(axis=0), kind="stable")
    shown = order if len(order) <= max_labels else order[: max_labels - 1]
    if schema.role(series.name) is Role.ORDINAL:
        levels = levels_of(series, schema[series.name].rules.levels)
        shown = np.array(sorted(shown, key=lambda code: levels.index(labels[code])))
    words = [exact_text(labels[code]) for code in shown]
    kept = counts[:, shown]
    if len(shown) < len(order):
        words.append(OTHER_LABELS)
        rest = counts.sum(axis=1, keepdims=True) - kept.sum(axis=1, keepdims=True)
        kept = np.hstack([kept, rest])
    return ValueDistribution("categorical", words, None, None, *_shares(*kept))


def _shares(
    observed: npt.NDArray[Any], missing: npt.NDArray[Any]
) -> tuple[FloatArray, FloatArray, int, int]:
    n_observed, n_missing = int(observed.sum()), int(missing.sum())
    return observed / max(n_observed, 1), missing / max(n_missing, 1), n_observed, n_missing
