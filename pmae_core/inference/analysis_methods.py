"""One regression on the imputations of several methods, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from pmae_core.errors import AnalysisError, ExpressionError
from pmae_core.evaluation.sources import COMPLETE_CASES, reason_of, refuse_reference_names
from pmae_core.events import Callback
from pmae_core.expressions import Formula, parse_formula
from pmae_core.imputers.run import ProgressMeter
from pmae_core.inference.analysis import Analysis, analyze
from pmae_core.inference.fitting import Family
from pmae_core.table import Schema

_FIRST = ("method", "kind", "status", "error")


def compare_analyses(
    methods: Mapping[str, pd.DataFrame | Sequence[pd.DataFrame]],
    formula: str | Formula,
    family: Family = "ols",
    *,
    original: pd.DataFrame | None = None,
    weights: str | None = None,
    errors: str = "nonrobust",
    confidence: float = 0.95,
    schema: Schema | None = None,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
) -> pd.DataFrame:
    """Fit one regression to the imputations of each method.

    Parameters
    ----------
    methods : mapping of name to DataFrame or sequence of DataFrame
        The imputed table or the imputations of each method.
    formula, family, weights, errors, confidence, schema
        As for `analyze`.
    original : DataFrame, optional
        The table with its missing values: adds its complete rows as one more row of comparison.
    callbacks : sequence of callables
        Each is called with progress, one unit per method.
    cancel : callable, optional
        Returns ``True`` to stop.

    Returns
    -------
    DataFrame
        One row per method and coefficient: ``method``, ``kind`` ("pooled", "single" or
        "reference"), ``status``, ``error`` and the columns of `Analysis.table`. A method whose
        imputations cannot be analyzed has one row with the reason.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 3.0, 2.0, 4.0]})
    >>> found = compare_analyses({"a": table, "b": [table, table]}, "y ~ x")
    >>> found[["method", "kind", "term"]].values.tolist()[1:3]
    [['a', 'single', 'x'], ['b', 'pooled', 'Intercept']]
    """
    if not methods:
        raise AnalysisError("Name at least one method.")
    refuse_reference_names(methods)
    asked = parse_formula(formula) if isinstance(formula, str) else formula
    settings: dict[str, Any] = {"weights": weights, "errors": errors, "schema": schema}
    settings |= {"confidence": confidence, "original": original, "cancel": cancel}
    progress = ProgressMeter(len(methods), "method", callbacks, cancel or (lambda: False))
    complete: list[pd.DataFrame] = []
    found: list[pd.DataFrame] = []
    for name, imputations in methods.items():
        progress.check()
        try:
            analysis = analyze(imputations, asked, family, **settings)
        except (AnalysisError, ExpressionError) as error:
            found.append(_failed(name, error))
        else:
            found.append(_rows(name, analysis))
            if analysis.complete_cases is not None and not complete:
                complete.append(_labeled(analysis.complete_cases, COMPLETE_CASES, "reference"))
        progress.advance()
    return pd.concat([*complete, *found], ignore_index=True)


def _rows(name: str, analysis: Analysis) -> pd.DataFrame:
    kind = "pooled" if analysis.n_imputations > 1 else "single"
    return _labeled(analysis.table, name, kind)


def _labeled(table: pd.DataFrame, name: str, kind: str) -> pd.DataFrame:
    labels = {"method": name, "kind": kind, "status": "done", "error": ""}
    return table.assign(**labels)[[*_FIRST, *table.columns]]


def _failed(name: str, error: Exception) -> pd.DataFrame:
    row = {"method": name, "kind": "", "status": "failed", "error": reason_of(error), "term": ""}
    return pd.DataFrame([row])
