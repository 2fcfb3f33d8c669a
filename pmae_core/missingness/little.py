"""Little's test: whether rows with different missing patterns have the same means."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import TableError
from pmae_core.gaussian import GaussianModel
from pmae_core.missingness._columns import read_numbers, schema_of
from pmae_core.missingness.patterns import BoolArray, FloatArray, find_patterns
from pmae_core.table.schema import Role, Schema

LITTLE_CAUTION = (
    "Little's test asks one question: do the means of the observed numbers differ between rows "
    "with different missing patterns? A small p-value is evidence that cells are not missing "
    "completely at random. It does not say whether missingness depends on observed values (MAR) "
    "or on the missing values themselves (MNAR): no test can decide that from the table alone. A "
    "large p-value proves nothing: the table may be too small, or missingness may go with spread "
    "or shape, with categories, or with the missing values. In a very large table the smallest "
    "difference becomes significant: look at the size of the effects, too. The test assumes "
    "normally distributed numbers: with skewed (lognormal) ones it rejected 8 to 12% of tables "
    "whose cells were missing completely at random, instead of 5%."
)
"""What to know before reading Little's test."""

# With fewer on average, rows of patterns that are rarer than this are left out.
MIN_ROWS_PER_PATTERN = 5

# A column that others explain to more than 99.99% adds nothing but rounding errors.
_LEAST_OWN_VARIANCE = 1e-4
_MAX_ITERATIONS = 500


@dataclass(frozen=True)
class LittleTest:
    """The outcome of Little's test.

    Attributes
    ----------
    statistic, degrees_of_freedom, p_value
        The chi-squared statistic and the probability of one at least as large if the cells are
        missing completely at random.
    n_rows, n_rows_table
        Rows used, and rows of the table: fewer are used if rows were drawn, if none of the
        columns is observed in a row, or if patterns are too rare.
    n_rows_rare
        Rows left out because fewer than five rows have their pattern; 0 if there are five rows per
        pattern on average.
    n_patterns
        Different missing patterns among the rows used.
    columns
        The columns used.
    left_out
        Other columns, and why they were not used.
    sampled
        Whether rows were drawn at random because there are too many.
    converged
        Whether the estimates had converged when the iterations ended.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float
    n_rows: int
    n_rows_table: int
    n_patterns: int
    columns: tuple[Any, ...]
    n_rows_rare: int = 0
    left_out: dict[Any, str] = field(default_factory=dict)
    sampled: bool = False
    converged: bool = True

    def sentence(self) -> str:
        """Return the outcome in words."""
        p_value = "below 0.001" if self.p_value < 0.001 else f"{self.p_value:.3f}"
        degrees = "degree" if self.degrees_of_freedom == 1 else "degrees"
        numbers = (
            f"χ² = {self.statistic:,.1f} with {self.degrees_of_freedom:,} {degrees} of freedom"
        )
        if self.p_value < 0.05:
            return (
                f"The means differ between rows with different missing patterns by more than "
                f"chance explains (p {'' if self.p_value < 0.001 else '= '}{p_value}; {numbers}). "
                "This is evidence that these cells are not missing completely at random."
            )
        return (
            f"The means of rows with different missing patterns do not differ significantly "
            f"(p = {p_value}; {numbers}). This is consistent with cells missing completely at "
            "random, but does not prove it."
        )


def little_test(
    df: pd.DataFrame,
    *,
    columns: Iterable[Hashable] | None = None,
    schema: Schema | None = None,
    max_rows: int = 10_000,
    seed: int = 0,
) -> LittleTest:
    """Test whether the cells of numerical columns are missing completely at random.

    Mean and covariance of all rows are estimated by maximum likelihood (EM). For each missing
    pattern the mean of its rows is compared with them; the distances add up to a statistic that
    is chi-squared in the limit of many rows if cells are missing completely at random.

    Parameters
    ----------
    df : DataFrame
        The table.
    columns : iterable of hashables, optional
        Numerical columns to use; all if not given. Columns that are missing in no row count, too:
        their means differ between patterns where missingness goes with them.
    schema : Schema, optional
        Roles of the columns; inferred if not given. Only numerical ones can be used.
    max_rows : int, default 10,000
        A longer table is represented by so many rows drawn at random.
    seed : int, default 0
        Seed of the draw.

    Raises
    ------
    TableError
        If there is nothing to test: fewer than two usable columns, one pattern only, no more
        rows than columns, or no two patterns with five rows each.

    Notes
    -----
    Columns are left out if they are not numerical, have no observed values, do not vary, or are
    determined by the others; ``left_out`` says which and why. If nearly every row has a pattern of
    its own, their means cannot be compared: with fewer than five rows per pattern on average, only
    rows are used whose pattern at least five rows have. The test remains valid for them, since
    under the hypothesis the patterns of rows have nothing to do with their values.

    References
    ----------
    Little: A test of missing completely at random for multivariate data with missing values.
    Journal of the American Statistical Association 83, 1988.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> df = pd.DataFrame({"x": rng.normal(size=200)})
    >>> df["y"] = np.where(df["x"] > 0.5, np.nan, df["x"] + rng.normal(size=200))
    >>> little_test(df).p_value < 0.001
    True
    """
    schema = schema_of(df, schema)
    names, left_out = _usable_columns(df, columns, schema)
    sampled = len(df) > max_rows
    rows = _draw(len(df), max_rows, seed)
    values = np.column_stack([read_numbers(df[name].iloc[rows], Role.NUMERICAL) for name in names])
    values, names = _drop_unvarying(values, names, left_out)
    values, n_rows_rare = _drop_rare_patterns(values)
    if n_rows_rare:  # without these rows, further columns may be constant
        values, names = _drop_unvarying(values, names, left_out)
    model, values, names = _fit(values, names, left_out)
    statistic, degrees, n_patterns = _statistic(model, values)
    if degrees <= 0:
        raise TableError(
            "Little's test has nothing to compare: all rows miss the same of the usable columns."
        )
    from scipy.stats import chi2

    return LittleTest(
        statistic=statistic,
        degrees_of_freedom=degrees,
        p_value=float(chi2.sf(statistic, degrees)),
        n_rows=len(values),
        n_rows_table=len(df),
        n_patterns=n_patterns,
        columns=tuple(names),
        n_rows_rare=n_rows_rare,
        left_out=left_out,
        sampled=sampled,
        converged=model.n_iterations < _MAX_ITERATIONS,
    )


def _usable_columns(
    df: pd.DataFrame, columns: Iterable[Hashable] | None, schema: Schema
) -> tuple[list[Any], dict[Any, str]]:
    wanted = list(df.columns if columns is None else columns)
    left_out = {
        name: f"it is {schema.role(name)}, not numerical"
        for name in wanted
        if schema.role(name) is not Role.NUMERICAL or df[name].dtype.kind == "m"
    }
    left_out |= {
        name: "it has no observed values"
        for name in wanted
        if name not in left_out and df[name].isna().to_numpy().all()
    }
    names = [name for name in wanted if name not in left_out]
    _check_enough(len(names))
    return names, left_out


def _check_enough(n_columns: int) -> None:
    if n_columns < 2:
        raise TableError("Little's test needs at least two numerical columns that vary.")


def _drop_empty_rows(values: FloatArray) -> FloatArray:
    return values[~np.isnan(values).all(axis=1)]


def _drop_rare_patterns(values: FloatArray) -> tuple[FloatArray, int]:
    """Leave out rows of rare patterns if most are rare, and say how many: their means say nothing.

    Where five rows have each pattern on average, all are used, as Little did.
    """
    patterns = find_patterns(pd.DataFrame(values))
    if len(values) >= MIN_ROWS_PER_PATTERN * patterns.n_patterns:
        return values, 0
    is_frequent = patterns.counts >= MIN_ROWS_PER_PATTERN
    if is_frequent.sum() < 2:
        raise TableError(
            f"Little's test cannot answer here: {len(values):,} rows have "
            f"{patterns.n_patterns:,} different missing patterns, too few rows each for their "
            "means to be compared.",
            advice="Choose fewer columns.",
        )
    kept = is_frequent[patterns.pattern_of_row]
    return values[kept], int((~kept).sum())


def _draw(n_rows: int, max_rows: int, seed: int) -> Any:
    if n_rows <= max_rows:
        return slice(None)
    drawn = np.random.default_rng(seed).choice(n_rows, max_rows, replace=False, shuffle=False)
    return np.sort(drawn)


def _drop_unvarying(
    values: FloatArray, names: list[Any], left_out: dict[Any, str]
) -> tuple[FloatArray, list[Any]]:
    """Leave out columns with fewer than two different values; standardize the others."""
    observed = ~np.isnan(values)
    counts = observed.sum(axis=0)
    center = np.nansum(values, axis=0) / counts.clip(min=1)
    spread = np.sqrt(np.nansum((values - center) ** 2, axis=0) / counts.clip(min=1))
    varies = spread > 1e-12 * np.abs(center)
    left_out |= {
        name: "its observed values do not vary"
        for name, kept in zip(names, varies, strict=True)
        if not kept
    }
    _check_enough(int(varies.sum()))
    kept_names = [name for name, kept in zip(names, varies, strict=True) if kept]
    standardized = ((values - center) / np.where(varies, spread, 1))[:, varies]
    return _drop_empty_rows(standardized), kept_names


def _fit(
    values: FloatArray, names: list[Any], left_out: dict[Any, str]
) -> tuple[GaussianModel, FloatArray, list[Any]]:
    """Fit mean and covariance, leaving out columns that the others determine."""
    if len(values) <= values.shape[1] + 1:
        raise TableError(
            f"Little's test needs more rows than columns: {len(values):,} usable rows are too few "
            f"for {values.shape[1]:,} columns.",
            advice="Choose fewer columns.",
        )
    # So small a ridge changes no digit that is shown, but keeps determined columns invertible.
    model = GaussianModel.fit(
        values, ~np.isnan(values), max_iter=_MAX_ITERATIONS, tol=1e-6, ridge=1e-9
    )
    own = _own_columns(model.covariance)
    if own.all():
        return model, values, names
    left_out |= {
        name: "other columns determine it"
        for name, kept in zip(names, own, strict=True)
        if not kept
    }
    _check_enough(int(own.sum()))
    values = _drop_empty_rows(values[:, own])
    return _fit(values, [n for n, kept in zip(names, own, strict=True) if kept], left_out)


def _own_columns(covariance: FloatArray) -> BoolArray:
    """Return which columns vary by themselves, given those before them."""
    scale = np.sqrt(np.diag(covariance))
    rest = covariance / np.outer(scale, scale)
    own = np.zeros(len(rest), dtype=bool)
    for j in range(len(rest)):
        if rest[j, j] > _LEAST_OWN_VARIANCE:
            own[j] = True
            rest = rest - np.outer(rest[:, j], rest[j]) / rest[j, j]
    return own


def _statistic(model: GaussianModel, values: FloatArray) -> tuple[float, int, int]:
    patterns = find_patterns(pd.DataFrame(values))
    zero_if_missing = np.nan_to_num(values)
    sums = np.stack(
        [
            np.bincount(patterns.pattern_of_row, column, minlength=patterns.n_patterns)
            for column in zero_if_missing.T
        ],
        axis=1,
    )
    statistic = 0.0
    for missing, count, total in zip(patterns.missing, patterns.counts, sums, strict=True):
        observed = np.flatnonzero(~missing)
        distance = total[observed] / count - model.mean[observed]
        covariance = model.covariance[np.ix_(observed, observed)]
        statistic += count * float(distance @ np.linalg.solve(covariance, distance))
    degrees = int((~patterns.missing).sum()) - values.shape[1]
    return statistic, degrees, patterns.n_patterns
