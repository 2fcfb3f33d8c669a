"""The figures by what one has in a notebook: a table, imputed tables, or a comparison."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from pmae_core.colors import IMPUTED
from pmae_core.errors import TableError
from pmae_core.evaluation import Comparison
from pmae_core.masking import UNIFORM_RATE, masking_probability, observed_proportion
from pmae_core.missingness import (
    MissingBlock,
    MissingPatterns,
    RowOrder,
    bin_nullity,
    compare_imputed,
    correlate_blocks,
    find_blocks,
    find_patterns,
)
from pmae_core.plots.masking import curve_data, curve_figure
from pmae_core.plots.missingness import (
    columns_figure,
    correlation_figure,
    distribution_figure,
    matrix_figure,
    patterns_figure,
)
from pmae_core.plots.ranking import ranking_figure
from pmae_core.plots.spread import spread_data, spread_figure
from pmae_core.plots.style import on_own_ground
from pmae_core.table import Schema

Schemas = Schema | Mapping[Any, str] | None


def share_missing(
    table: pd.DataFrame, *, most: int = 30, group: bool = False, dark: bool = False
) -> go.Figure:
    """Draw how much of each column is missing, the column with most missing values first.

    Parameters
    ----------
    table : DataFrame
        The table with its missing values.
    most : int, default 30
        Bars at most.
    group : bool, default False
        Whether columns that are missing in the same rows, exactly or nearly, share a bar.
    dark : bool, default False
        Whether to draw on a dark ground.

    Examples
    --------
    >>> figure = share_missing(pd.DataFrame({"x": [1, None], "y": [1, 2]}))
    >>> figure.layout.yaxis.ticktext
    ('x', 'y')
    """
    patterns = find_patterns(table)
    return on_own_ground(columns_figure(_lines(patterns, most, group)), dark=dark)


def missing_matrix(
    table: pd.DataFrame,
    *,
    order: RowOrder = "table",
    most: int = 30,
    group: bool = False,
    dark: bool = False,
) -> go.Figure:
    """Draw where in the table values are missing: a line per column, its first row at the left.

    Parameters
    ----------
    table : DataFrame
        The table with its missing values.
    order : {"table", "pattern"}, default "table"
        Rows as in the table, or those with the same missing cells side by side.
    most : int, default 30
        Lines at most, those with most missing values.
    group : bool, default False
        Whether columns that are missing in the same rows, exactly or nearly, share a line.
    dark : bool, default False
        Whether to draw on a dark ground.
    """
    patterns = find_patterns(table)
    figure = matrix_figure(bin_nullity(patterns, order=order), _lines(patterns, most, group))
    return on_own_ground(figure, dark=dark)


def _lines(patterns: MissingPatterns, most: int, group: bool) -> Sequence[MissingBlock]:
    """Return what the lines of a figure stand for, those with most missing values first."""
    if group:
        return find_blocks(patterns)[:most]
    n_missing = pd.Series(patterns.n_missing, index=patterns.columns)
    names = n_missing.sort_values(ascending=False, kind="stable").index[:most]
    return [MissingBlock.of(patterns, [name]) for name in names]


def missing_patterns(table: pd.DataFrame, *, most: int = 15, dark: bool = False) -> go.Figure:
    """Draw which columns are missing together in a row, and in how many rows.

    Bars are rows, the most frequent pattern first; blue where nothing is missing. The points below
    a bar are the columns that the pattern misses.

    Parameters
    ----------
    table : DataFrame
        The table with its missing values.
    most : int, default 15
        Patterns at most.
    dark : bool, default False
        Whether to draw on a dark ground.
    """
    return on_own_ground(patterns_figure(find_patterns(table), slice(most)), dark=dark)


def missing_together(table: pd.DataFrame, *, most: int = 15, dark: bool = False) -> go.Figure:
    """Draw the correlations of being missing: 1 is always together, −1 never.

    Columns that are missing in the same rows, exactly or nearly, share a line. Complete columns and
    those without values have no correlation.

    Parameters
    ----------
    table : DataFrame
        The table with its missing values.
    most : int, default 15
        Lines at most, those with most missing values.
    dark : bool, default False
        Whether to draw on a dark ground.
    """
    patterns = find_patterns(table)
    blocks = [block for block in find_blocks(patterns) if not block.is_complete | block.is_empty]
    if len(blocks) < 2:
        raise TableError(
            "Correlations need two columns, or groups of columns, with observed and missing values "
            "in different rows.",
            advice="This table has fewer; missing_matrix draws where its values are missing.",
        )
    shown = blocks[:most]
    return on_own_ground(correlation_figure(correlate_blocks(patterns, shown), shown), dark=dark)


def masking_curve(
    table: pd.DataFrame,
    function: str = "logit",
    *,
    schema: Schemas = None,
    dark: bool = False,
    **params: float,
) -> go.Figure:
    """Draw a masking function, with the columns of the table on it.

    Parameters
    ----------
    table : DataFrame
        The table with its missing values.
    function : str, default "logit"
        A name from :func:`pmae_core.list_masking_functions`.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred if not given. Only columns that are learned are drawn.
    dark : bool, default False
        Whether to draw on a dark ground.
    **params
        Parameters of the function, such as ``a`` and ``b`` of the logit.
    """
    schema = schema if isinstance(schema, Schema) else Schema.infer(table, roles=schema)
    learned = schema.learned()
    p_obs = observed_proportion(table[learned].notna().to_numpy())
    columns = pd.DataFrame(
        {
            "column": [str(name) for name in learned],
            "p_obs": p_obs,
            "M_j": masking_probability(p_obs, function, **params),
        }
    )
    curve = curve_data(lambda shares: masking_probability(shares, function, **params))
    figure = curve_figure(curve, columns, uniform=UNIFORM_RATE, name=function)
    return on_own_ground(figure, dark=dark)


def method_ranking(
    comparison: Comparison, metric: str = "skill", *, dark: bool = False
) -> go.Figure:
    """Draw methods best first: the mean, each seed, and what is tied.

    Tied methods share a band: the 95% interval of their difference to the leader of the band
    reaches its dotted line.

    Parameters
    ----------
    comparison : Comparison
        Of :func:`pmae_core.compare`.
    metric : str, default "skill"
        The score to rank by; :meth:`pmae_core.evaluation.Comparison.rankable` lists those that the
        results have.
    dark : bool, default False
        Whether to draw on a dark ground.
    """
    figure = ranking_figure(
        comparison.ranking_table(metric), comparison.seed_scores(metric), metric
    )
    return on_own_ground(figure, dark=dark)


def observed_and_imputed(
    table: pd.DataFrame,
    imputed: pd.DataFrame,
    column: Hashable,
    *,
    schema: Schemas = None,
    dark: bool = False,
) -> go.Figure:
    """Draw how the imputed values of a column are distributed, beside its observed values.

    They may differ, because rows with missing values may differ. Best guesses vary less than real
    values; random imputations, of ``sample``, should not.

    Parameters
    ----------
    table : DataFrame
        The table with its missing values.
    imputed : DataFrame
        The same rows, imputed.
    column : hashable
        The column to draw; it has observed and missing values in `table`.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred from `table` if not given.
    dark : bool, default False
        Whether to draw on a dark ground.
    """
    schema = schema if isinstance(schema, Schema) else Schema.infer(table, roles=schema)
    compared = compare_imputed(table[column], imputed[column], schema=schema)
    figure = distribution_figure(compared, column=column, other=column, second=("imputed", IMPUTED))
    return on_own_ground(figure, dark=dark)


def imputation_spread(
    table: pd.DataFrame,
    imputations: Sequence[pd.DataFrame],
    column: Hashable,
    *,
    most: int = 40,
    dark: bool = False,
) -> go.Figure:
    """Draw how much the imputed cells of a column vary between imputations.

    Of numbers and dates: 90% of the imputations as a thin line, half of them as a thick one, and
    the median. Of categories: how many imputations have which.

    Parameters
    ----------
    table : DataFrame
        The table with its missing values.
    imputations : sequence of DataFrames
        Several imputations of it, as ``sample`` returns them.
    column : hashable
        The column to draw; it has missing values in `table`.
    most : int, default 40
        Cells at most; of more, some are chosen evenly from the lowest to the highest.
    dark : bool, default False
        Whether to draw on a dark ground.
    """
    data = spread_data(table[column], [imputed[column] for imputed in imputations])
    return on_own_ground(spread_figure(data, table[column], most=most), dark=dark)
