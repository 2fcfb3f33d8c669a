"""What a column is learned from: rows that have it, masked like rows that lack it."""

from __future__ import annotations

import numpy as np

from pmae_core.masking import MaskSampler

# Few rows are shown with several masks, so that a model sees more of what is missing together.
WANTED_ROWS = 16_000
_MOST_COPIES = 8


def copied_masks(
    observed: np.ndarray,
    j: int,
    rng: np.random.Generator,
    *,
    n_copies: int | str = "auto",
    wanted_rows: int = WANTED_ROWS,
    most_rows: int | None = None,
    sampler: MaskSampler | None = None,
    copy_share: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in which a column is observed, and which of their cells are kept.

    Parameters
    ----------
    observed : bool ndarray of shape (rows, columns)
        Which cells are observed.
    j : int
        The column.
    rng : Generator
        Source of randomness.
    n_copies : int or "auto"
        How often a row is shown, each time with another mask; "auto" is up to 8 for few rows.
    wanted_rows : int
        How many rows to reach with copies, where their number is "auto".
    most_rows : int, optional
        Most rows to return.
    sampler : MaskSampler, optional
        What masks the rows that do not get the mask of another row.
    copy_share : float
        Share of rows that get the mask of a row in which the column is missing.

    Returns
    -------
    rows : int ndarray of shape (examples,)
        Numbers of rows; a row may appear several times.
    kept : bool ndarray of shape (examples, columns)
        Their cells that a model may use; never the column itself.
    """
    rows = np.flatnonzero(observed[:, j])
    if isinstance(n_copies, str):
        n_copies = int(np.clip(wanted_rows // max(1, len(rows)), 1, _MOST_COPIES))
    rows = np.tile(rng.permutation(rows), n_copies)[:most_rows]
    # Where nobody misses the column, new rows may: other rows' patterns stand in for theirs.
    missing = np.flatnonzero(~observed[:, j])
    donors = rng.choice(missing if len(missing) else len(observed), size=len(rows))
    kept = observed[rows] & observed[donors]
    if sampler is not None and copy_share < 1:
        by_function = rng.random(len(rows)) >= copy_share
        visible = observed[rows[by_function]]
        kept[by_function] = visible & ~sampler.sample(visible, rng)
    kept[:, j] = False
    return rows, kept
