"""How close are imputed values to the true ones? Scores by column and overall."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import wasserstein_distance

from pmae_core.errors import ScoringError
from pmae_core.storage.json_values import without_nan
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.learned import NotLearned
from pmae_core.table.ordinal_cells import OrdinalCells
from pmae_core.table.roles import NUMBER_ROLES, Role
from pmae_core.table.schema import Schema
from pmae_core.words import listed

METRICS = (
    "imputation_accuracy",
    "r2",
    "r2_unclipped",
    "accuracy",
    "balanced_accuracy",
    "rmse",
    "mae",
    "wasserstein",
)
"""Names of the scores of a single imputed table."""

NUMBERS = (*NUMBER_ROLES, Role.ORDINAL)
"""The roles whose errors have a size. Levels of ordinal columns count as their ranks."""

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ImputationScore:
    """The scores of one imputation.

    Attributes
    ----------
    overall : dict of str to float
        One value per name in ``METRICS``: the plain mean over the columns that have it,
        nan if none has (no numerical column, no R²).
    per_column : DataFrame
        One row per scored column: its ``role``, ``n_missing``, ``n_scored`` (missing
        cells whose true value is known) and the metrics, nan if one does not apply.
    skipped : dict of str to str
        The columns that are not scored, and why.
    """

    overall: dict[str, float]
    per_column: pd.DataFrame
    skipped: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the score as plain JSON values; what does not apply is None."""
        content: dict[str, Any] = without_nan(
            {
                "overall": self.overall,
                "per_column": self.per_column.to_dict(orient="index"),
                "skipped": self.skipped,
            }
        )
        return content


def score_imputation(
    truth: pd.DataFrame,
    imputed: pd.DataFrame,
    missing: pd.DataFrame | npt.ArrayLike,
    schema: Schema | None = None,
) -> ImputationScore:
    """Compare imputed values with true ones, in the cells that were missing.

    Parameters
    ----------
    truth : DataFrame
        The complete table.
    imputed : DataFrame
        The imputed table: the same rows (index included), columns in any order.
    missing : DataFrame or array-like of bool
        True where a cell was missing. A frame may cover some of the columns only; an array
        has the shape of `truth`.
    schema : Schema, optional
        Roles of the columns; inferred from `truth` if not given.

    Returns
    -------
    ImputationScore
        Scores by column and overall.

    Raises
    ------
    ScoringError
        If the tables do not match, if a cell to score is still missing, or if there is
        no cell to score.

    Notes
    -----
    - Numerical columns and dates have ``r2``: the coefficient of determination around the mean
      of the true values of *missing* cells, negative values set to 0 as in the paper;
      ``r2_unclipped`` keeps them. If these true values are all equal, R² is undefined; it counts
      as 1 if every cell is imputed exactly and as 0 if not.
    - ``rmse``, ``mae`` and ``wasserstein`` (distance between the distributions of true and
      imputed values) are for the same columns, after scaling both by the minimum and maximum
      of the whole *true* column, so that columns can be averaged.
    - Ordinal columns have the same scores, with the ranks 0, 1, 2, … of their levels as numbers.
    - Categorical, boolean and ordinal columns have ``accuracy``, the share of cells imputed
      exactly, and ``balanced_accuracy``, the mean of that share over the true categories: always
      imputing the most frequent of k categories scores 1/k, however rare the others are.
    - ``imputation_accuracy`` of a column is its ``r2`` or, if it has none, its ``accuracy``.
    - Missing cells whose true value is unknown (or infinite) are not scored. Columns without
      missing cells, identifiers and ignored columns are skipped.

    Examples
    --------
    >>> truth = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
    >>> imputed = pd.DataFrame({"x": [0.0, 1.0, 2.0, 2.0]})
    >>> missing = pd.DataFrame({"x": [True, False, False, True]})
    >>> score = score_imputation(truth, imputed, missing)
    >>> round(score.overall["r2"], 3)
    0.778
    """
    missing_frame = _missing_frame(missing, truth)
    _check_fit(truth, imputed, missing_frame)
    schema = Schema.infer(truth) if schema is None else schema

    cells, skipped = scored_cells(truth, missing_frame, schema)
    rows: dict[Any, dict[str, Any]] = {}
    still_missing: list[str] = []
    for name, scored in cells.items():
        role = schema.role(name)
        counts = {"n_missing": int(missing_frame[name].sum()), "n_scored": int(scored.sum())}
        try:
            values = _score_column(truth[name], imputed[name], scored, schema)
            rows[name] = {"role": str(role), **counts, **values}
        except _StillMissing:
            still_missing.append(str(name))

    if still_missing:
        raise ScoringError(
            "Cells to score are still missing or infinite in the imputed table, in "
            f"{listed(still_missing)}. Impute them, or leave these columns out of `missing`."
        )
    if not rows:
        raise ScoringError("There is nothing to score: no missing cell has a known true value.")
    per_column = pd.DataFrame.from_dict(rows, orient="index")
    per_column = per_column.reindex(columns=["role", "n_missing", "n_scored", *METRICS])
    overall = {metric: float(per_column[metric].astype(float).mean()) for metric in METRICS}
    return ImputationScore(overall, per_column, skipped)


def scored_cells(
    truth: pd.DataFrame, missing: pd.DataFrame, schema: Schema
) -> tuple[dict[Any, BoolArray], dict[str, str]]:
    """Return which cells of each column are scored, and the columns left out with the reason.

    Parameters
    ----------
    truth, missing : DataFrame
        The complete table, and where cells were missing.
    schema : Schema
        Roles of the columns.
    """
    not_learned = schema.not_learned(truth)
    cells: dict[Any, BoolArray] = {}
    skipped: dict[str, str] = {}
    for name in missing.columns:
        removed = missing[name].to_numpy(dtype=bool)
        scored = removed & has_true_value(truth[name])
        reason = _reason_to_skip(not_learned.get(name), removed, scored)
        if reason is None:
            cells[name] = scored
        else:
            skipped[name] = reason
    return cells, skipped


class _StillMissing(Exception):
    """Cells to score are missing in the imputed table."""


def _missing_frame(missing: pd.DataFrame | npt.ArrayLike, truth: pd.DataFrame) -> pd.DataFrame:
    if not isinstance(missing, pd.DataFrame):
        cells = np.asarray(missing)
        if cells.shape != truth.shape:
            raise ScoringError(
                f"`missing` has the shape {cells.shape}, but the truth has {truth.shape}."
            )
        missing = pd.DataFrame(cells, index=truth.index, columns=truth.columns)
    if not missing.isin([True, False]).to_numpy().all():
        raise ScoringError("`missing` must hold only True (missing) and False.")
    return missing.astype(bool)


def _check_fit(truth: pd.DataFrame, imputed: pd.DataFrame, missing: pd.DataFrame) -> None:
    for label, table in (("imputed table", imputed), ("table `missing`", missing)):
        if not table.index.equals(truth.index):
            raise ScoringError(
                f"The {label} and the truth have different rows ({len(table)} and {len(truth)}, "
                "compared by index). If rows were dropped when values were removed, drop them from "
                "the truth too."
            )
    for label, table in (("truth", truth), ("imputed table", imputed)):
        if not table.columns.is_unique:
            raise ScoringError(f"The {label} has several columns of the same name.")
        absent = [str(name) for name in missing.columns if name not in table.columns]
        if absent:
            raise ScoringError(f"The {label} lacks the column(s) {listed(absent)}.")


def has_true_value(truth: pd.Series) -> BoolArray:
    """Return True for the cells of a true column that are neither missing nor infinite."""
    return (truth.notna() & ~truth.isin([np.inf, -np.inf])).to_numpy(dtype=bool)


def _reason_to_skip(
    not_learned: NotLearned | None, cells: BoolArray, scored: BoolArray
) -> str | None:
    if not_learned is not None and not not_learned.imputed:
        return not_learned.clause
    if not cells.any():
        return "nothing is missing"
    if not scored.any():
        return "the true values of its missing cells are unknown"
    return None


def _score_column(
    truth: pd.Series, imputed: pd.Series, scored: BoolArray, schema: Schema
) -> dict[str, float]:
    role = schema.role(truth.name)
    scores = {} if role in NUMBER_ROLES else _score_categories(truth, imputed, scored)
    return scores | _score_numbers(truth, imputed, scored, schema) if role in NUMBERS else scores


def _score_categories(truth: pd.Series, imputed: pd.Series, scored: BoolArray) -> dict[str, float]:
    if imputed[scored].isna().any():
        raise _StillMissing
    # As objects, so that categories, strings and nullable dtypes compare by value.
    true_labels = truth[scored].to_numpy(dtype=object)
    hits = true_labels == imputed[scored].to_numpy(dtype=object)
    accuracy = float(np.mean(hits))
    categories = pd.factorize(true_labels)[0]
    by_category = np.bincount(categories, weights=hits) / np.bincount(categories)
    return {
        "imputation_accuracy": accuracy,
        "accuracy": accuracy,
        "balanced_accuracy": float(by_category.mean()),
    }


def _score_numbers(
    truth: pd.Series, imputed: pd.Series, scored: BoolArray, schema: Schema
) -> dict[str, float]:
    true_numbers, imputed_numbers = comparable_numbers(truth, imputed, schema)
    true, imputed_values = true_numbers[scored], imputed_numbers[scored]
    if not np.isfinite(imputed_values).all():
        raise _StillMissing
    finite = true_numbers[np.isfinite(true_numbers)]
    low, high = finite.min(), finite.max()
    scale = high - low if high > low else 1.0
    errors = (imputed_values - true) / scale
    r2 = _r2(true, imputed_values)
    return {
        "imputation_accuracy": max(r2, 0.0),
        "r2": max(r2, 0.0),
        "r2_unclipped": r2,
        "rmse": float(np.sqrt(np.mean(errors**2))),
        "mae": float(np.mean(np.abs(errors))),
        "wasserstein": float(
            wasserstein_distance((true - low) / scale, (imputed_values - low) / scale)
        ),
    }


def _r2(truth: FloatArray, imputed: FloatArray) -> float:
    if np.ptp(truth) == 0:
        return float(np.array_equal(truth, imputed))
    residual = np.sum((imputed - truth) ** 2)
    return float(1.0 - residual / np.sum((truth - truth.mean()) ** 2))


def comparable_numbers(
    truth: pd.Series, imputed: pd.Series, schema: Schema
) -> tuple[FloatArray, FloatArray]:
    """Return both columns as floats on one scale, missing cells as nan.

    Parameters
    ----------
    truth, imputed : Series
        The true and the imputed column.
    schema : Schema
        Its role, and its levels if it is ordinal: these become their ranks.
    """
    column = schema[truth.name]
    if column.role is Role.ORDINAL:
        cells = OrdinalCells.fit(truth, column.rules.levels)
        return cells.read(truth), cells.read(imputed)
    kind = cell_kind(truth)
    try:
        if kind is CellKind.DATETIME:
            # Seconds since the first true date: nanoseconds since 1970 exceed a float's precision.
            times = pd.to_datetime(truth)
            origin = times.min()
            return _seconds(times - origin), _seconds(pd.to_datetime(imputed) - origin)
        if kind is CellKind.DURATION:
            return _seconds(pd.to_timedelta(truth)), _seconds(pd.to_timedelta(imputed))
        return _numbers(truth), _numbers(imputed)
    except (ValueError, TypeError, OverflowError) as error:
        raise ScoringError(
            f"The column {truth.name} cannot be compared as numbers or dates: {error}"
        ) from error


def _seconds(durations: pd.Series) -> FloatArray:
    return durations.dt.total_seconds().to_numpy(dtype=np.float64, na_value=np.nan)


def _numbers(column: pd.Series) -> FloatArray:
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    return pd.to_numeric(column).to_numpy(dtype=np.float64, na_value=np.nan)
