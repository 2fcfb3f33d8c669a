"""The baseline of every method: imputing the mean or the most frequent category."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from pmae_core.evaluation.metrics import ImputationScore
from pmae_core.table import Role, Schema, TableEncoder
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.number_cells import NumberCells


def impute_with_mean(incomplete: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Impute the mean (numbers, dates) or mode (categories) of the observed cells.

    This is the baseline that methods are measured against, not a table to work with: the mean of
    numbers is not rounded, also where the column is of whole numbers. Rounded, the baseline would
    be worse than the mean, and nearly every method would seem to beat it.

    Parameters
    ----------
    incomplete : DataFrame
        The table with its missing values.
    schema : Schema
        Its roles.

    Returns
    -------
    DataFrame
        The imputed table. Columns that no method can learn, such as empty ones, stay missing.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.25, None, 2.0], "town": ["Ulm", "Ulm", None]})
    >>> impute_with_mean(table, Schema.infer(table)).values.tolist()
    [[1.25, 'Ulm'], [1.625, 'Ulm'], [2.0, 'Ulm']]
    """
    encoder = TableEncoder(schema=schema, numeric="minmax", min_category_count=1)
    encoded = encoder.fit_transform(incomplete)
    values = encoded.values.astype(np.float64)
    for j, column in enumerate(encoded.columns):
        observed = values[encoded.observed[:, j], j]
        if column.kind == "numerical":
            values[:, j] = observed.mean()
        else:
            values[:, j] = np.bincount(observed.astype(int)).argmax()
    imputed = encoder.decode(values, incomplete)
    for column in encoded.columns:
        if column.kind == "numerical" and _holds_numbers(incomplete[column.name], schema):
            imputed[column.name] = _with_exact_mean(incomplete[column.name])
    return imputed


def _holds_numbers(series: pd.Series, schema: Schema) -> bool:
    """Say whether a column holds numbers, not dates or durations: these are left as decoded."""
    return schema.role(series.name) is Role.NUMERICAL and cell_kind(series) is not CellKind.DURATION


def _with_exact_mean(series: pd.Series) -> pd.Series:
    numbers = pd.Series(NumberCells.fit(series).read(series), index=series.index)
    return numbers.fillna(numbers.mean())


def skill_over_mean(score: ImputationScore, mean_score: ImputationScore) -> pd.Series:
    """Return for each column the share of the mean's error that a method avoids.

    ``1 − error / error of the mean``, with the squared error of numbers, dates and ranks of levels,
    and the share of wrong categories: 1 is perfect, 0 no better than the mean (the mode of
    categories, the level nearest to the mean rank), negative worse. If the mean itself is perfect,
    the skill of a perfect method is 0 and any other is undefined (nan).

    Parameters
    ----------
    score, mean_score : ImputationScore
        The method's score and the mean's, on the same cells.
    """
    errors, mean_errors = (_errors(one.per_column) for one in (score, mean_score))
    return pd.Series(
        {name: share_avoided(errors[name], mean_errors[name]) for name in errors.index},
        index=errors.index,
        dtype=float,
    )


def _errors(per_column: pd.DataFrame) -> pd.Series:
    squared = per_column["rmse"].astype(float) ** 2
    return squared.where(squared.notna(), 1 - per_column["accuracy"].astype(float))


def share_avoided(error: float, reference: float) -> float:
    """Return the share of a reference's error that a method avoids, nan if it is undefined.

    Examples
    --------
    >>> share_avoided(0.25, 1.0), share_avoided(0.0, 0.0), share_avoided(0.1, 0.0)
    (0.75, 0.0, nan)
    """
    if reference > 0:
        return 1 - error / reference
    return 0.0 if error == 0 else math.nan
