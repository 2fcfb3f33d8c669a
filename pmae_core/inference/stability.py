"""Does a conclusion hold? One estimate under every way of handling missing values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from pmae_core.errors import Cancelled, ImputationError, ScoringError
from pmae_core.evaluation.sources import (
    COMPLETE_CASES,
    NOTHING_MISSING,
    TRUE_DATA,
    ImputationSource,
    ImputationSources,
    MethodParams,
    name_imputations,
    new_imputer,
    reason_of,
    refuse_reference_names,
)
from pmae_core.events import Callback
from pmae_core.imputers import BaseImputer, imputer_info
from pmae_core.imputers.registry import registered_as
from pmae_core.imputers.run import ProgressMeter
from pmae_core.inference.estimands import (
    Estimand,
    Estimate,
    NumberReader,
    estimate,
    read_estimands,
)
from pmae_core.inference.pooling import pool_estimates
from pmae_core.table import Schema
from pmae_core.words import listed

SINGLE = (
    "single imputation: the confidence interval treats imputed values as observed and ignores "
    "their uncertainty"
)
POOLED = "pooled over {n} imputations by Rubin's rules"
NOT_PROPER = "these imputations come from one fitted model: intervals are too narrow"
NOT_KNOWN = (
    "whether these imputations include the uncertainty of the fitted model is not known; if not, "
    "intervals are too narrow"
)
CASES = "rows with no missing value in {columns}: {n} of {all}"

_COLUMNS = (
    *("estimand", "method", "kind", "status", "error", "estimate", "std_error", "low", "high"),
    *("df", "n_rows", "n_imputations", "missing_information", "note"),
)


def conclusion_stability(
    frame: pd.DataFrame,
    estimands: Sequence[Any],
    methods: ImputationSources,
    *,
    truth: pd.DataFrame | None = None,
    complete_cases: bool = True,
    schema: Schema | None = None,
    n_imputations: int = 20,
    confidence: float = 0.95,
    seed: int = 0,
    method_params: MethodParams | None = None,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
) -> pd.DataFrame:
    """Estimate a mean, correlation or slope with each method and from complete cases.

    Without `truth` no row is the yardstick of the others: methods assume that values are missing
    at random (MAR), complete cases in general that they are missing completely at random. Compare
    the rows with each other.

    Parameters
    ----------
    frame : DataFrame
        The table with its missing values.
    estimands : tuple or sequence of tuples
        What to estimate: ``("mean", column)``, ``("correlation", a, b)`` or
        ``("slope", y, x, *controls)``, the coefficient of ``x`` in a linear regression of ``y`` on
        ``x`` and the controls. Controls may be categories.
    methods : sequence of str, or mapping of name to source
        Names of imputers; or a mapping to names, imputers, an imputed table, or a list of
        imputations. A method that draws samples is pooled over `n_imputations` imputations.
    truth : DataFrame, optional
        The complete table, for a reference row.
    complete_cases : bool, default True
        Whether to add a row from the rows without missing values.
    schema : Schema, optional
        Roles of the columns; inferred if not given.
    n_imputations : int, default 20
        Imputations to pool.
    confidence : float, default 0.95
        Nominal coverage of the confidence intervals.
    seed : int, default 0
        Seed of everything random.
    method_params : mapping of name to mapping, optional
        Parameters of methods.
    callbacks : sequence of callables
        Each is called with progress, one unit per method.
    cancel : callable, optional
        Returns ``True`` to stop.

    Returns
    -------
    DataFrame
        One row per estimand and method: ``estimand``, ``method``, ``kind`` ("complete
        cases", "reference" for the truth, "pooled" or "single"), ``status``, ``error``,
        ``estimate``, ``std_error``, ``low``, ``high``, ``df`` (degrees of freedom, infinite for
        the normal distribution), ``n_rows``, ``n_imputations``, ``missing_information`` (fraction
        of missing information, where pooled) and ``note``.

    Notes
    -----
    Correlations are pooled, and get their interval, on Fisher's z scale; their standard error is
    transformed back by the delta method. Pooling follows Rubin (1987) with the degrees of freedom
    of Barnard and Rubin (1999). It accounts for the variation between imputations. Where all
    imputations come from one fitted model, the uncertainty of that model is not included, so
    intervals are too narrow; the column ``note`` says so.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.0, 2.0, 3.0, np.nan]})
    >>> found = conclusion_stability(table, ("mean", "x"), ["naive"])
    >>> found[["method", "estimate", "n_rows"]].values.tolist()
    [['complete cases', 2.0, 3], ['naive', 2.0, 4]]
    """
    asked = read_estimands(estimands, frame)
    sources = name_imputations(methods, frame)
    _check_settings(sources, n_imputations, confidence)
    if truth is not None:
        name_imputations({TRUE_DATA: truth}, frame)
    schema = Schema.infer(frame) if schema is None else schema
    reader = NumberReader(schema, tuple(t for t in (frame, truth) if t is not None))
    progress = ProgressMeter(len(sources), "method", callbacks, cancel or (lambda: False))
    progress.check()
    rows = []
    if complete_cases:
        rows += [_complete_cases(estimand, frame, reader, confidence) for estimand in asked]
    if truth is not None:
        rows += _estimate_all(asked, TRUE_DATA, "reference", [truth], reader, confidence)
    maker = _ImputationMaker(frame, schema, n_imputations, seed, progress.cancel)
    for name, source in sources.items():
        try:
            tables = maker.imputations(source, (method_params or {}).get(name, {}))
        except Cancelled:
            raise
        except Exception as error:
            rows += [_failed(estimand, name, "method", error) for estimand in asked]
        else:
            kind = "pooled" if len(tables) > 1 else "single"
            found = _estimate_all(asked, name, kind, tables, reader, confidence)
            rows += [_with_caution(row, source) for row in found]
        progress.advance()
    return _by_estimand(rows, asked)


def _check_settings(
    sources: Mapping[str, ImputationSource], n_imputations: int, confidence: float
) -> None:
    refuse_reference_names(sources)
    if n_imputations < 2:
        raise ScoringError(f"n_imputations must be at least 2, not {n_imputations}.")
    if not 0 < confidence < 1:
        raise ScoringError(f"confidence must be between 0 and 1, not {confidence}.")


@dataclass(frozen=True)
class _ImputationMaker:
    """Imputes one table from any source."""

    frame: pd.DataFrame
    schema: Schema
    n_imputations: int
    seed: int
    cancel: Callable[[], bool]

    def imputations(self, source: ImputationSource, params: Mapping[str, Any]) -> list[Any]:
        """Return one imputed table, or several imputations if the method draws samples."""
        if isinstance(source, pd.DataFrame):
            return [source]
        if not isinstance(source, str | BaseImputer):
            return list(source)
        imputer = new_imputer(source, params, self.schema, self.seed)
        imputer.fit(self.frame, cancel=self.cancel)
        if imputer.draws_samples():
            return imputer.sample(
                self.frame, self.n_imputations, random_state=self.seed, cancel=self.cancel
            )
        return [imputer.transform(self.frame)]


def _with_caution(row: dict[str, Any], source: ImputationSource) -> dict[str, Any]:
    """Add to the note of a pooled row what its imputations leave out."""
    if row["kind"] != "pooled" or row["status"] != "done":
        return row
    caution = _caution(source)
    return {**row, "note": f"{row['note']}; {caution}" if caution else row["note"]}


def _caution(source: ImputationSource) -> str:
    if not isinstance(source, str | BaseImputer):
        return NOT_KNOWN
    try:
        name = source if isinstance(source, str) else registered_as(source)[0]
    except ImputationError:
        return NOT_KNOWN
    return "" if imputer_info(name).is_proper else NOT_PROPER


def _complete_cases(
    estimand: Estimand, frame: pd.DataFrame, reader: NumberReader, confidence: float
) -> dict[str, Any]:
    complete = frame[frame[list(estimand.columns)].notna().all(axis=1)]
    (row,) = _estimate_all(
        [estimand], COMPLETE_CASES, COMPLETE_CASES, [complete], reader, confidence
    )
    columns = listed(estimand.columns, most=len(estimand.columns))
    return {**row, "note": CASES.format(columns=columns, n=len(complete), all=len(frame))}


def _estimate_all(
    asked: Iterable[Estimand],
    method: str,
    kind: str,
    tables: Sequence[pd.DataFrame],
    reader: NumberReader,
    confidence: float,
) -> list[dict[str, Any]]:
    rows = []
    for estimand in asked:
        try:
            estimates = [estimate(estimand, table, reader) for table in tables]
        except ScoringError as error:
            rows.append(_failed(estimand, method, kind, error))
        else:
            rows.append(_row(estimand, method, kind, estimates, confidence))
    return rows


def _row(
    estimand: Estimand, method: str, kind: str, estimates: Sequence[Estimate], confidence: float
) -> dict[str, Any]:
    n = len(estimates)
    value, variance, df = estimates[0].value, estimates[0].variance, estimates[0].df
    missing_information = math.nan
    if n > 1:
        pooled = pool_estimates(
            [one.value for one in estimates], [one.variance for one in estimates], df
        )
        value, variance, df = pooled.estimate, pooled.total, pooled.df
        missing_information = pooled.missing_information
    error = math.sqrt(variance)
    reach = error * float(stats.t.ppf((1 + confidence) / 2, df))
    ends = np.array([value, value - reach, value + reach])
    if estimand.kind == "correlation":
        ends = np.tanh(ends)
        error *= 1 - ends[0] ** 2
    notes = {"pooled": POOLED.format(n=n), "single": SINGLE}
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
        "n_imputations": n if n > 1 else 0,
        "missing_information": missing_information,
        "note": notes.get(kind, NOTHING_MISSING),
    }


def _failed(estimand: Estimand, method: str, kind: str, error: Exception) -> dict[str, Any]:
    return {
        "estimand": estimand.label,
        "method": method,
        "kind": kind,
        "status": "failed",
        "error": reason_of(error),
        "n_rows": 0,
        "n_imputations": 0,
        "note": "",
    }


def _by_estimand(rows: Sequence[dict[str, Any]], asked: Sequence[Estimand]) -> pd.DataFrame:
    labels = list(dict.fromkeys(estimand.label for estimand in asked))
    ordered = sorted(rows, key=lambda row: labels.index(row["estimand"]))
    return pd.DataFrame(ordered, columns=list(_COLUMNS))
