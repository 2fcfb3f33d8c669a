"""Missing cells as in another table: the missing patterns of its rows, replayed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.amputation.removal import Amputation, check_table, remove_cells
from pmae_core.errors import AmputationError
from pmae_core.words import count

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]


def ampute_like(
    df: pd.DataFrame,
    missing_like: pd.DataFrame | npt.ArrayLike,
    *,
    seed: int = 0,
    shuffle: bool = True,
    drop_empty_rows: bool = True,
) -> Amputation:
    """Remove cells so that each row misses what some row of another table misses.

    Parameters
    ----------
    df : DataFrame
        The table to remove cells from.
    missing_like : DataFrame or array-like
        Either an incomplete table, or booleans with True for missing. A frame's columns are matched
        by name (columns of `df` that it lacks lose no cells, others are not used); an array
        needs as many columns as `df`.
    seed : int, default 0
        Seed of the assignment of patterns to rows.
    shuffle : bool, default True
        Give the patterns to the rows in random order, each equally often (as far as the numbers of
        rows allow). If False row i gets pattern i, and the numbers of rows must agree.
    drop_empty_rows : bool, default True
        Drop the rows without any observed cell.

    Returns
    -------
    Amputation
        As from :func:`ampute`. The propensity of a cell is its column's observed proportion
        in `missing_like`; ``ampute_like(df, missing_like, **settings)`` repeats the result.

    Examples
    --------
    >>> df = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": list("xyz")})
    >>> survey = pd.DataFrame({"b": ["u", None, "v"]})
    >>> ampute_like(df, survey).missing.sum().tolist()
    [0, 1]
    """
    check_table(df)
    patterns = _patterns(df, missing_like)
    if shuffle:
        rng = np.random.default_rng(seed)
        rounds = -(-len(df) // len(patterns))
        rows = np.concatenate([rng.permutation(len(patterns)) for _ in range(rounds)])[: len(df)]
    elif len(patterns) == len(df):
        rows = np.arange(len(df))
    else:
        raise AmputationError(
            f"The table has {count(len(df), 'row')} and the pattern {len(patterns):,}.",
            advice="Without shuffling, the numbers must agree.",
        )
    p_obs = 1.0 - patterns.mean(axis=0)
    propensity = pd.DataFrame(np.tile(p_obs, (len(df), 1)), index=df.index, columns=df.columns)
    settings = {"seed": seed, "shuffle": shuffle, "drop_empty_rows": drop_empty_rows}
    return remove_cells(
        df,
        patterns[rows],
        propensity,
        settings,
        content_columns=list(df.columns) if drop_empty_rows else None,
        p_kept=_p_kept(df, patterns) if drop_empty_rows else np.ones(len(df)),
    )


def _p_kept(df: pd.DataFrame, patterns: BoolArray) -> FloatArray:
    """Return the share of the patterns that leave each row a cell."""
    # Rows with values in the same columns have the same share; most often that is all of them.
    present, kind_of_row = np.unique(df.notna().to_numpy(), axis=0, return_inverse=True)
    shares = [(~patterns[:, columns]).any(axis=1).mean() for columns in present]
    return np.array(shares)[kind_of_row]


def _patterns(df: pd.DataFrame, missing_like: pd.DataFrame | npt.ArrayLike) -> BoolArray:
    """Return the missing patterns to replay, in the columns of the table."""
    if not df.columns.is_unique:
        raise AmputationError("The table has several columns of the same name.")
    if not isinstance(missing_like, pd.DataFrame):
        array = np.asarray(missing_like)
        if array.ndim != 2 or array.shape[1] != df.shape[1]:
            raise AmputationError(
                f"A pattern without column names needs {df.shape[1]:,} columns like the table."
            )
        missing_like = pd.DataFrame(array, columns=df.columns)
    shared = [name for name in df.columns if name in missing_like.columns]
    if not shared or len(missing_like) == 0:
        raise AmputationError("The pattern has no rows, or no column in common with the table.")
    cells = missing_like[shared]
    # A table of booleans alone is a mask; any other table shows its pattern by its missing cells.
    is_mask = all(dtype == np.dtype(bool) for dtype in cells.dtypes)
    missing = cells if is_mask else cells.isna()
    return missing.reindex(columns=df.columns, fill_value=False).to_numpy(dtype=bool)
