"""Whether a conclusion stands: one figure of a table under every way to treat its holes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from pmae_core.errors import Cancelled, ScoringError
from pmae_core.evaluation._fillings import (
    Filling,
    Fillings,
    MethodParams,
    name_imputations,
    new_imputer,
    reason_of,
)
from pmae_core.events import Callback
from pmae_core.imputers import BaseImputer
from pmae_core.imputers.run import ProgressMeter
from pmae_core.table import Role, Schema
from pmae_core.table.cells import CellKind, cell_kind

COMPLETE_CASES = "complete cases"
TRUE_DATA = "true data"

SINGLE = "one filling: the interval takes filled cells as observed and ignores their uncertainty"
POOLED = "pooled over {n} draws by Rubin's rules"
CASES = "rows without a hole in {columns}: {n} of {all}"
NO_HOLES = "no holes"

FloatArray = npt.NDArray[np.float64]


def conclusion_stability(
    frame: pd.DataFrame,
    estimands: Sequence[Any],
    methods: Fillings,
    *,
    truth: pd.DataFrame | None = None,
    complete_cases: bool = True,
    schema: Schema | None = None,
    n_draws: int = 20,
    confidence: float = 0.95,
    seed: int = 0,
    method_params: MethodParams | None = None,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
) -> pd.DataFrame:
    """Estimate a mean, correlation or slope by each method and by complete cases.

    Parameters
    ----------
    frame : DataFrame
        The table with its holes.
    estimands : tuple or sequence of tuples
        What to estimate: ``("mean", column)``, ``("correlation", a, b)`` or
        ``("slope", y, x, *controls)``, the coefficient of ``x`` in a linear regression of ``y`` on
        ``x`` and the controls. Controls may be categories.
    methods : sequence of str, or mapping of name to filling
        Names of imputers; or a mapping to names, imputers, a filled table, or a list of tables
        (several draws). A method that draws samples is pooled over `n_draws` draws.
    truth : DataFrame, optional
        The table without holes, for a row of reference.
    complete_cases : bool, default True
        Whether there is a row of reference for the rows without holes.
    schema : Schema, optional
        Roles of the columns; inferred where not given.
    n_draws : int, default 20
        Draws to pool.
    confidence : float, default 0.95
        Coverage of the intervals.
    seed : int, default 0
        Seed of everything random.
    method_params : mapping of name to mapping, optional
        Parameters of methods.
    callbacks : sequence of callables
        Each gets progress, one unit per method.
    cancel : callable, optional
        ``True`` when the user wants to stop.

    Returns
    -------
    DataFrame
        One row per estimand and method: ``estimand``, ``method``, ``kind`` ("reference",
        "pooled" or "single"), ``status``, ``error``, ``estimate``, ``std_error``, ``low``,
        ``high``, ``df`` (degrees of freedom, infinite for the normal distribution), ``n_rows``,
        ``n_draws``, ``missing_information`` (share of the information that is lost to the
        holes, where pooled) and ``note``.

    Notes
    -----
    Correlations are pooled and get their interval on Fisher's z scale; their standard error is
    brought back by the delta method. Pooling follows Rubin (1987) with the degrees of freedom of
    Barnard and Rubin (1999). It counts the uncertainty that is in the draws: of methods that
    draw from one fitted model, this is not the uncertainty of the model itself.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.0, 2.0, 3.0, np.nan]})
    >>> found = conclusion_stability(table, ("mean", "x"), ["naive"])
    >>> found[["method", "estimate", "n_rows"]].values.tolist()
    [['complete cases', 2.0, 3], ['naive', 2.0, 4]]
    """
    asked = _read_estimands(estimands, frame)
    fillings = name_imputations(methods, frame)
    _check_settings(fillings, n_draws, confidence)
    if truth is not None:
        name_imputations({TRUE_DATA: truth}, frame)
    schema = Schema.infer(frame) if schema is None else schema
    reader = _Reader(schema, tuple(t for t in (frame, truth) if t is not None))
    progress = ProgressMeter(len(fillings), "method", callbacks, cancel or (lambda: False))
    progress.check()
    rows = []
    if complete_cases:
        rows += [_complete_cases(estimand, frame, reader, confidence) for estimand in asked]
    if truth is not None:
        rows += _estimate_all(asked, TRUE_DATA, "reference", [truth], reader, confidence)
    for name, filling in fillings.items():
        try:
            params = (method_params or {}).get(name, {})
            tables = _fill(filling, params, frame, schema, n_draws, seed, progress.cancel)
        except Cancelled:
            raise
        except Exception as error:
            rows += [_failed(estimand, name, "method", error) for estimand in asked]
        else:
            kind = "pooled" if len(tables) > 1 else "single"
            rows += _estimate_all(asked, name, kind, tables, reader, confidence)
        progress.advance()
    return _by_estimand(rows, asked)


@dataclass(frozen=True)
class Pooled:
    """Several estimates of one quantity as one, by Rubin's rules.

    Attributes
    ----------
    estimate : float
        Their mean.
    within, between, total : float
        Mean variance within the draws, variance between them, and the variance of the estimate.
    df : float
        Degrees of freedom (Barnard and Rubin 1999).
    missing_information : float
        Share of the information on the estimate that is lost to the holes.
    """

    estimate: float
    within: float
    between: float
    total: float
    df: float
    missing_information: float


def pool_estimates(
    estimates: Sequence[float], variances: Sequence[float], df_complete: float = math.inf
) -> Pooled:
    """Pool the estimates from several draws of a table by Rubin's rules.

    Parameters
    ----------
    estimates, variances : sequence of float
        Estimate and squared standard error of each draw, at least two.
    df_complete : float
        Degrees of freedom that the estimate would have without holes; infinite for large tables.

    Examples
    --------
    >>> pooled = pool_estimates([1.0, 3.0], [1.0, 1.0])
    >>> pooled.estimate, pooled.total
    (2.0, 4.0)
    """
    found = np.asarray(estimates, dtype=np.float64)
    m = len(found)
    if m < 2 or len(variances) != m:
        raise ScoringError("Pooling takes at least two draws, each with its variance.")
    within = float(np.mean(variances))
    between = float(found.var(ddof=1))
    total = within + (1 + 1 / m) * between
    share = (1 + 1 / m) * between / total if total > 0 else 0.0
    df = _degrees_of_freedom(share, m, df_complete)
    lost = share + (1 - share) * 2 / (df + 3) if share > 0 else 0.0
    return Pooled(float(found.mean()), within, between, total, df, lost)


def _degrees_of_freedom(share: float, m: int, df_complete: float) -> float:
    """Return Barnard and Rubin's degrees of freedom; ``share`` of the variance is from holes."""
    if math.isinf(df_complete):
        return (m - 1) / share**2 if share > 0 else math.inf
    observed = (df_complete + 1) / (df_complete + 3) * df_complete * (1 - share)
    if share == 0:
        return observed
    of_draws = (m - 1) / share**2
    return of_draws * observed / (of_draws + observed)


@dataclass(frozen=True)
class Estimand:
    """A figure of a table.

    Attributes
    ----------
    kind : {"mean", "correlation", "slope"}
        What is estimated.
    columns : tuple
        Of which columns; for a slope outcome, predictor and controls.
    """

    kind: Literal["mean", "correlation", "slope"]
    columns: tuple[Any, ...]

    @classmethod
    def read(cls, spec: Any) -> Estimand:
        """Return the estimand that a tuple like ``("mean", "age")`` names."""
        needed = {"mean": "a column", "correlation": "two columns", "slope": "outcome, predictor"}
        if not isinstance(spec, tuple | list) or not spec or spec[0] not in needed:
            raise ScoringError(
                f"{spec!r} is no estimand: write ('mean', column), ('correlation', a, b) or "
                "('slope', outcome, predictor, *controls)."
            )
        kind, *columns = spec
        counts = {"mean": len(columns) == 1, "correlation": len(columns) == 2}
        if not counts.get(kind, len(columns) >= 2):
            raise ScoringError(f"A {kind} takes {needed[kind]}, not {len(columns)} columns.")
        if len(set(columns)) < len(columns):
            raise ScoringError(f"A {kind} takes different columns, but one is named twice.")
        return cls(kind, tuple(columns))

    @property
    def label(self) -> str:
        """The estimand in words."""
        first, *others = map(str, self.columns)
        if self.kind == "mean":
            return f"mean of {first}"
        if self.kind == "correlation":
            return f"correlation of {first} and {others[0]}"
        given = f" given {', '.join(others[1:])}" if others[1:] else ""
        return f"slope of {first} on {others[0]}{given}"


@dataclass(frozen=True)
class _Estimate:
    """An estimate from one table, on the scale where it is about normal."""

    value: float
    variance: float
    df: float
    n_rows: int


@dataclass(frozen=True)
class _Reader:
    """Reads columns as numbers, the same way from every table."""

    schema: Schema
    tables: tuple[pd.DataFrame, ...]

    def numbers(self, table: pd.DataFrame, name: Any) -> FloatArray:
        kind = cell_kind(table[name])
        if kind is CellKind.BOOLEAN:
            column = table[name].astype("boolean")
        elif kind is CellKind.NUMBER:
            column = pd.to_numeric(table[name])
        else:
            raise ScoringError(f"Column {name!r} holds {kind}s; this takes numbers.")
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if not np.isfinite(numbers).all():
            raise ScoringError(f"Cells of column {name!r} are missing or infinite.")
        return numbers

    def controls(self, table: pd.DataFrame, name: Any) -> FloatArray:
        """Return a column as features: itself, or 0/1 columns for all categories but the first."""
        is_label = cell_kind(table[name]) is CellKind.LABEL
        if not is_label and self.schema.role(name) is not Role.CATEGORICAL:
            return self.numbers(table, name)[:, None]
        if table[name].isna().any():
            raise ScoringError(f"Cells of column {name!r} are missing.")
        labels = sorted({str(one) for known in self.tables for one in known[name].dropna()})
        return np.equal.outer(table[name].astype(str).to_numpy(), labels[1:]).astype(np.float64)


def _read_estimands(estimands: Sequence[Any], frame: pd.DataFrame) -> list[Estimand]:
    is_one = len(estimands) > 0 and isinstance(estimands[0], str)
    asked = [Estimand.read(spec) for spec in ([estimands] if is_one else estimands)]
    if not asked:
        raise ScoringError("Name at least one estimand.")
    for estimand in asked:
        absent = [str(name) for name in estimand.columns if name not in frame.columns]
        if absent:
            raise ScoringError(f"The table has no column {', '.join(absent)}.")
    return asked


def _check_settings(fillings: dict[str, Filling], n_draws: int, confidence: float) -> None:
    taken = [name for name in (COMPLETE_CASES, TRUE_DATA) if name in fillings]
    if taken:
        raise ScoringError(f"{taken[0]!r} is the name of a reference; give the method another.")
    if n_draws < 2:
        raise ScoringError(f"n_draws must be at least 2, not {n_draws}.")
    if not 0 < confidence < 1:
        raise ScoringError(f"confidence must lie between 0 and 1, not be {confidence}.")


def _fill(
    filling: Filling,
    params: Any,
    frame: pd.DataFrame,
    schema: Schema,
    n_draws: int,
    seed: int,
    cancel: Callable[[], bool],
) -> list[pd.DataFrame]:
    """Return one filled table, or several draws where the method has them."""
    if isinstance(filling, pd.DataFrame):
        return [filling]
    if not isinstance(filling, str | BaseImputer):
        return list(filling)
    imputer = new_imputer(filling, params, schema, seed)
    imputer.fit(frame, cancel=cancel)
    if _draws_samples(imputer):
        return imputer.sample(frame, n_draws, random_state=seed)
    return [imputer.transform(frame)]


def _draws_samples(imputer: BaseImputer) -> bool:
    kind = type(imputer)
    overridden = kind._draw_encoded is not BaseImputer._draw_encoded
    return overridden or kind.sample is not BaseImputer.sample


def _complete_cases(
    estimand: Estimand, frame: pd.DataFrame, reader: _Reader, confidence: float
) -> dict[str, Any]:
    complete = frame[frame[list(estimand.columns)].notna().all(axis=1)]
    (row,) = _estimate_all([estimand], COMPLETE_CASES, "reference", [complete], reader, confidence)
    columns = ", ".join(map(str, estimand.columns))
    return {**row, "note": CASES.format(columns=columns, n=len(complete), all=len(frame))}


def _estimate_all(
    asked: Iterable[Estimand],
    method: str,
    kind: str,
    tables: Sequence[pd.DataFrame],
    reader: _Reader,
    confidence: float,
) -> list[dict[str, Any]]:
    rows = []
    for estimand in asked:
        try:
            estimates = [_estimate(estimand, table, reader) for table in tables]
        except ScoringError as error:
            rows.append(_failed(estimand, method, kind, error))
        else:
            rows.append(_row(estimand, method, kind, estimates, confidence))
    return rows


def _estimate(estimand: Estimand, table: pd.DataFrame, reader: _Reader) -> _Estimate:
    first, *others = estimand.columns
    y = reader.numbers(table, first)
    if estimand.kind == "mean":
        return _mean(y)
    x = reader.numbers(table, others[0])
    if estimand.kind == "correlation":
        return _correlation(y, x)
    controls = [reader.controls(table, name) for name in others[1:]]
    return _slope(y, np.column_stack([x, np.ones(len(x)), *controls]))


def _mean(x: FloatArray) -> _Estimate:
    n = len(x)
    if n < 2:
        raise ScoringError(f"A mean with its error takes at least 2 rows; there are {n}.")
    return _Estimate(float(x.mean()), float(x.var(ddof=1) / n), n - 1, n)


def _correlation(x: FloatArray, y: FloatArray) -> _Estimate:
    n = len(x)
    if n < 4:
        raise ScoringError(f"A correlation with its error takes at least 4 rows; there are {n}.")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        raise ScoringError("A column that is always the same has no correlation.")
    nearly_one = 1 - 1e-12
    r = np.clip(np.corrcoef(x, y)[0, 1], -nearly_one, nearly_one)
    # The variance of Fisher's z is known, so there are no degrees of freedom to count.
    return _Estimate(float(np.arctanh(r)), 1 / (n - 3), math.inf, n)


def _slope(y: FloatArray, design: FloatArray) -> _Estimate:
    n, n_coefficients = design.shape
    df = n - n_coefficients
    if df < 1:
        raise ScoringError(
            f"A regression with {n_coefficients} coefficients takes more than {n} rows."
        )
    if np.linalg.matrix_rank(design) < n_coefficients:
        raise ScoringError("The predictor and the controls determine each other: no slope.")
    coefficients, *_ = np.linalg.lstsq(design, y, rcond=None)
    residual_variance = np.sum((y - design @ coefficients) ** 2) / df
    # From the triangular factor, which keeps the digits that X'X would lose.
    factor = np.linalg.inv(np.linalg.qr(design, mode="r"))
    return _Estimate(
        float(coefficients[0]), float(residual_variance * np.sum(factor[0] ** 2)), df, n
    )


def _row(
    estimand: Estimand, method: str, kind: str, estimates: Sequence[_Estimate], confidence: float
) -> dict[str, Any]:
    n_draws = len(estimates)
    if n_draws > 1:
        pooled = pool_estimates(
            [one.value for one in estimates],
            [one.variance for one in estimates],
            estimates[0].df,
        )
        value, variance, df = pooled.estimate, pooled.total, pooled.df
    else:
        value, variance, df = estimates[0].value, estimates[0].variance, estimates[0].df
    error = math.sqrt(variance)
    reach = error * float(stats.t.ppf((1 + confidence) / 2, df))
    ends = np.array([value, value - reach, value + reach])
    if estimand.kind == "correlation":
        ends = np.tanh(ends)
        error *= 1 - ends[0] ** 2
    notes = {"pooled": POOLED.format(n=n_draws), "single": SINGLE, "reference": NO_HOLES}
    return {
        "estimand": estimand.label,
        "method": method,
        "kind": kind,
        "status": "done",
        "error": "",
        "estimate": float(ends[0]),
        "std_error": float(error),
        "low": float(ends[1]),
        "high": float(ends[2]),
        "df": float(df),
        "n_rows": estimates[0].n_rows,
        "n_draws": n_draws if n_draws > 1 else 0,
        "missing_information": pooled.missing_information if n_draws > 1 else np.nan,
        "note": notes[kind],
    }


def _failed(estimand: Estimand, method: str, kind: str, error: Exception) -> dict[str, Any]:
    return {
        "estimand": estimand.label,
        "method": method,
        "kind": kind,
        "status": "failed",
        "error": reason_of(error),
        "n_rows": 0,
        "n_draws": 0,
        "note": "",
    }


def _by_estimand(rows: Sequence[dict[str, Any]], asked: Sequence[Estimand]) -> pd.DataFrame:
    names = ["estimand", "method", "kind", "status", "error", "estimate", "std_error", "low"]
    names += ["high", "df", "n_rows", "n_draws", "missing_information", "note"]
    labels = list(dict.fromkeys(estimand.label for estimand in asked))
    ordered = sorted(rows, key=lambda row: labels.index(row["estimand"]))
    return pd.DataFrame(ordered, columns=names)
