"""What to know when reading a pooled regression, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from pmae_core.inference.analysis_model import AnalysisModel
from pmae_core.inference.pooling import enough_imputations
from pmae_core.words import count, listed, percent

SINGLE_TABLE = (
    "There is one table only: its imputed values are treated as observed, so standard errors "
    "ignore their uncertainty."
)
_FAMILY_NAMES = {
    "ols": "Linear regression",
    "logistic": "Logistic regression",
    "poisson": "Poisson regression",
    "cox": "Cox regression",
}
# Acceptable change of a standard error if the table were imputed again.
_VARIATION = 0.05


def pooling_sentences(model: AnalysisModel, table: pd.DataFrame) -> list[str]:
    """Return sentences on the model, its references and the number of imputations.

    Parameters
    ----------
    model : AnalysisModel
        The regression.
    table : DataFrame
        Its coefficients, as in `Analysis.table`.
    """
    n_imputations, n_rows = int(table["n_imputations"].iloc[0]), int(table["n_rows"].iloc[0])
    kind = _FAMILY_NAMES[model.family]
    if n_imputations == 1:
        return [f"{kind} on {count(n_rows, 'row')}.", SINGLE_TABLE, *_references(model)]
    return [
        f"{kind} on {count(n_rows, 'row')}, pooled over {n_imputations} imputations by Rubin's "
        "rules. The intervals hold under missingness at random, and if the imputations include "
        "the uncertainty of the imputation model.",
        *_references(model),
        enough_sentence(table),
    ]


def _references(model: AnalysisModel) -> Iterator[str]:
    if model.event_category is not None:
        yield f"The odds are those of {model.formula.outcome} being {model.event_category}."
    full = {factor for part in model.design.parts for factor in part.full}
    compared = dict.fromkeys(
        f"{coding.column} with {coding.reference}"
        for factor, coding in model.design.codings.items()
        if factor not in full
    )
    if compared:
        yield f"Categories are compared: {listed(compared, most=10)}."


def enough_sentence(table: pd.DataFrame) -> str:
    """Say whether there are enough imputations, from the coefficients of a pooled regression.

    Parameters
    ----------
    table : DataFrame
        Coefficients, as in `Analysis.table`, from at least two imputations.
    """
    n_imputations = int(table["n_imputations"].iloc[0])
    position = int(np.argmax(table["missing_information"].to_numpy()))
    fraction = float(table["missing_information"].iloc[position])
    enough = enough_imputations(fraction, n_imputations, variation=_VARIATION)
    rule = (
        f"The fraction of missing information is at most {percent(fraction)} "
        f"({table['term'].iloc[position]}). For standard errors that change by about "
        f"{percent(_VARIATION)} if the table is imputed again (von Hippel 2020)"
    )
    if n_imputations >= enough:
        return f"{rule}, {n_imputations} imputations are enough."
    return f"{rule}, use about {count(enough)} imputations instead of {n_imputations}."
