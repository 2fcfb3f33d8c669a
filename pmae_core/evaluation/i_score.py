"""Which method suits a table whose true values nobody knows? The energy-I-Score."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.errors import ScoringError
from pmae_core.evaluation.imputation_scores import cell_scores, spread_of
from pmae_core.evaluation.metrics import NUMBERS, comparable_numbers
from pmae_core.evaluation.sources import new_imputer
from pmae_core.imputers import BaseImputer
from pmae_core.table import Schema

BoolArray = npt.NDArray[np.bool_]

# With fewer there is too little to learn the column from.
MIN_MISSING = 10
MIN_OBSERVED = 2
FEW_MISSING = f"fewer than {MIN_MISSING} of its values are missing"
NO_PREDICTOR = "no other column is observed together with it"


@dataclass(frozen=True)
class IScore:
    """The energy-I-Score of a method on a table.

    Attributes
    ----------
    overall : float
        The mean over columns, weighted; lower is better, nan if no column could be scored.
    per_column : DataFrame
        By column: ``score``, ``weight``, ``n_scored`` cells and ``n_predictors``.
    skipped : dict of str to str
        Incomplete columns that are not scored, and why.
    """

    overall: float
    per_column: pd.DataFrame
    skipped: dict[str, str] = field(default_factory=dict)


def energy_i_score(
    table: pd.DataFrame,
    method: str | BaseImputer,
    *,
    schema: Schema | Mapping[Any, str] | None = None,
    params: Mapping[str, Any] | None = None,
    imputations: int = 20,
    max_columns: int | None = None,
    seed: int = 0,
    cancel: Callable[[], bool] | None = None,
) -> IScore:
    """Score a method on a table without held-out cells and without known truth.

    A method that imputes column j well should find its *observed* cells again when it learns the
    column from what it imputed itself: for each incomplete column, the method is fitted to the rows
    in which the column was missing, with its own imputations there, and then imputes the rows in
    which it was observed. Each observed cell is scored against several imputations.

    Parameters
    ----------
    table : DataFrame
        The table with its missing values.
    method : str or BaseImputer
        Name of an imputer, or an imputer to copy.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred if not given.
    params : mapping, optional
        Parameters of the imputer.
    imputations : int, default 20
        Random imputations of each cell, for a method that draws them. Any other method gives one,
        which is scored as a point mass.
    max_columns : int, optional
        Score only this many columns, those with most missing values first. Each costs a fit.
    seed : int, default 0
        Seed of the imputer.
    cancel : callable, optional
        Returns ``True`` to stop.

    Returns
    -------
    IScore
        Lower is better. The score ranks methods on one table; its size has no meaning of its own.

    Notes
    -----
    This is the score of Näf, Grzesiak and Scornet, "How to rank imputation methods?"
    (arXiv:2507.11297), as their R packages ``miceDRF`` and ``Iscores`` describe it. For column j,
    observed in the rows L and missing in the others:

    1. The predictors are the columns that are observed in all rows of L. If there is none, L is cut
       down to the rows in which the column that is most often observed together with j is observed.
    2. The method imputes column j in L from the predictors, and from the rows outside of L with its
       own imputation of j and the predictors.
    3. The score of j is the mean over L of the energy score (``crps`` or ``brier`` of
       :func:`~pmae_core.evaluation.imputation_scores.score_imputations`), its weight the share of
       observed times the share of missing cells.

    What differs from the R packages: the fair version of the score is used, which does not depend
    on the number of imputations; numbers are in units of the spread of their observed cells, so
    that columns can be averaged; two different categories are at distance 1 and not √2; the sign is
    that of an error. Columns with fewer than ten missing values are left out, as there.

    The score is proper under a condition on the missingness that lies between MCAR and MAR. It
    costs one fit for the table and one for each scored column.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=300)
    >>> table = pd.DataFrame({"x": x, "y": x + 0.3 * rng.normal(size=300)})
    >>> table.loc[rng.random(300) < 0.4, "y"] = np.nan
    >>> energy_i_score(table, "em").overall < energy_i_score(table, "naive").overall
    True
    """
    if imputations < 1:
        raise ScoringError(f"imputations must be at least 1, not {imputations}.")
    schema = schema if isinstance(schema, Schema) else Schema.infer(table, roles=schema)
    names = [name for name in table.columns if name in set(schema.learned(table))]
    table = table[names]
    missing = table.isna()
    incomplete = missing.sum().sort_values(ascending=False, kind="stable")
    incomplete = incomplete[incomplete > 0]
    if incomplete.empty:
        raise ScoringError("There is nothing to score: no value of the table is missing.")

    def impute(frame: pd.DataFrame, n: int) -> list[pd.DataFrame]:
        imputer = new_imputer(method, params or {}, schema.for_table(frame), seed)
        imputer.fit(frame, cancel=cancel)
        if imputer.draws_samples():
            return list(imputer.sample(frame, n, random_state=seed))
        return [imputer.transform(frame)]

    imputed = impute(table, 1)[0]
    rows: dict[Any, dict[str, float]] = {}
    skipped: dict[str, str] = {}
    for name in incomplete.index[:max_columns]:
        found = _score_column(name, table, imputed, schema, lambda part: impute(part, imputations))
        if isinstance(found, str):
            skipped[str(name)] = found
        else:
            rows[name] = found
    columns = ["score", "weight", "n_scored", "n_predictors"]
    per_column = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    per_column = per_column.astype({"n_scored": int, "n_predictors": int})
    return IScore(_weighted_mean(per_column), per_column, skipped)


def _score_column(
    name: Any,
    table: pd.DataFrame,
    imputed: pd.DataFrame,
    schema: Schema,
    impute: Callable[[pd.DataFrame], list[pd.DataFrame]],
) -> dict[str, float] | str:
    """Return the score of a column with its weight, or why it has none."""
    missing = table[name].isna().to_numpy()
    if missing.sum() < MIN_MISSING:
        return FEW_MISSING
    scored, predictors = _scored_rows(name, table)
    if not predictors or scored.sum() < MIN_OBSERVED:
        return NO_PREDICTOR
    rows = np.flatnonzero(scored | missing)
    truth = imputed[[name, *predictors]].iloc[rows].reset_index(drop=True)
    tested = pd.Series(scored[rows])
    artificial = truth.copy()
    artificial[name] = truth[name].mask(tested)
    cells = [one.loc[tested, name] for one in impute(artificial)]
    scores = cell_scores(truth.loc[tested, name], cells, schema)
    unit = 1.0
    if schema.role(name) in NUMBERS:
        unit = spread_of(comparable_numbers(table[name], table[name], schema)[0][~missing])
    return {
        "score": float(scores.mean()) / unit,
        "weight": float(np.mean(missing) * np.mean(~missing)),
        "n_scored": float(tested.sum()),
        "n_predictors": float(len(predictors)),
    }


def _scored_rows(name: Any, table: pd.DataFrame) -> tuple[BoolArray, list[Any]]:
    """Return the rows whose cells of a column are scored, and the columns to impute them from."""
    scored = table[name].notna().to_numpy()
    others = table.drop(columns=name).notna()
    together = others[scored].sum()
    if len(together) and together.max() < scored.sum():
        scored = scored & others[together.idxmax()].to_numpy()
    complete = others[scored].all()
    return scored, [other for other in others.columns if complete[other]]


def _weighted_mean(per_column: pd.DataFrame) -> float:
    if per_column.empty:
        return math.nan
    return float(np.average(per_column["score"], weights=per_column["weight"]))
