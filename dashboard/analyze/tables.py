"""The tables of the page: coefficients to read, and what the forest plot draws."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from dashboard.analyze.fits import FittedModel
from pmae_core.inference import Analysis
from pmae_core.inference.analysis import exponentiate
from pmae_core.inference.analysis_text import p_value_text, short_number
from pmae_core.table.io.formulas import escape_formulas
from pmae_core.words import percent

POOLED, SINGLE, COMPLETE = "pooled imputations", "single imputation", "complete cases"
# Standard errors beyond this are of coefficients that the data do not determine.
_LARGEST_LOG = 50.0


def csv_text(analysis: Analysis) -> str:
    """Return all figures as CSV; terms that a spreadsheet would compute are escaped."""
    table = analysis.table if analysis.effect is None else analysis.exponentiated()
    return str(escape_formulas(table).to_csv(index=False))


def coefficient_table(analysis: Analysis) -> pd.DataFrame:
    """Return the coefficients as readers want to see them, complete cases beside them.

    Parameters
    ----------
    analysis : Analysis
        The regression; odds, rate and hazard ratios are shown where it has them.
    """
    table = _shown(analysis, analysis.table)
    shown = pd.DataFrame(
        {
            "Term": table["term"],
            estimate_heading(analysis): table["estimate"],
            interval_heading(analysis): _intervals(table),
            "p": [p_value_text(value) for value in table["p_value"]],
        }
    )
    if analysis.n_imputations > 1:
        shown["Missing information"] = 100 * table["missing_information"]
    if analysis.complete_cases is not None:
        shown["Complete cases"] = _estimates(_shown(analysis, analysis.complete_cases))
    return shown


def estimate_heading(analysis: Analysis) -> str:
    """Return what the estimates are called."""
    return (analysis.effect or "estimate").capitalize()


def interval_heading(analysis: Analysis) -> str:
    """Return what the intervals are called."""
    return f"{percent(analysis.confidence)} interval"


def term_table(analysis: Analysis) -> pd.DataFrame:
    """Return the tests of terms with several coefficients, empty if there is none."""
    return pd.DataFrame(
        [
            {
                "Term": row["term"],
                "F": short_number(row["statistic"]),
                "Degrees of freedom": f"{row['df1']}, {_degrees(row['df2'])}",
                "p": p_value_text(row["p_value"]),
            }
            for row in analysis.terms.to_dict("records")
        ]
    )


def forest_data(fitted: FittedModel, *, per_spread: bool) -> pd.DataFrame:
    """Return what the forest plot draws: an estimate with its interval per term and source.

    Parameters
    ----------
    fitted : FittedModel
        The regression.
    per_spread : bool
        Whether coefficients of numbers are per standard deviation rather than per unit.

    Returns
    -------
    DataFrame
        ``term``, ``source``, ``estimate``, ``low``, ``high`` as drawn, ``told`` (the coefficient
        as the table has it) and ``missing_information`` (a share; NaN for complete cases).
    """
    source = POOLED if fitted.analysis.n_imputations > 1 else SINGLE
    rows = [*_forest_rows(fitted, fitted.analysis.table, source, per_spread)]
    if fitted.analysis.complete_cases is not None:
        rows += _forest_rows(fitted, fitted.analysis.complete_cases, COMPLETE, per_spread)
    columns = ["term", "source", "estimate", "low", "high", "told", "missing_information"]
    return pd.DataFrame(rows, columns=columns)


def _forest_rows(
    fitted: FittedModel, table: pd.DataFrame, source: str, per_spread: bool
) -> Iterator[tuple[object, ...]]:
    told = _shown(fitted.analysis, table)
    texts = _estimates(told)
    for text, row in zip(texts, table.to_dict("records"), strict=True):
        if row["term"] not in fitted.names:
            continue
        factor = fitted.coefficients[row["term"]].spread if per_spread else 1.0
        ends = [factor * row[name] for name in ("estimate", "low", "high")]
        if fitted.analysis.effect is not None:
            ends = np.exp(np.clip(ends, -_LARGEST_LOG, _LARGEST_LOG)).tolist()
        share = row["missing_information"] if source == POOLED else math.nan
        yield row["term"], source, *ends, text, share


def _shown(analysis: Analysis, table: pd.DataFrame) -> pd.DataFrame:
    return table if analysis.effect is None else exponentiate(table)


def _estimates(table: pd.DataFrame) -> list[str]:
    return [
        f"{short_number(value)} ({interval})"
        for value, interval in zip(table["estimate"], _intervals(table), strict=True)
    ]


def _intervals(table: pd.DataFrame) -> list[str]:
    return [
        f"{short_number(low)} to {short_number(high)}"
        for low, high in zip(table["low"], table["high"], strict=True)
    ]


def _degrees(df: float) -> str:
    return "∞" if math.isinf(df) else f"{df:.1f}"
