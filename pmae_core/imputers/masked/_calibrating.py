"""What held-out cells teach about a network's predictions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pmae_core.imputers.masked._calibration import Calibration
from pmae_core.imputers.masked._correction import fit_correction
from pmae_core.imputers.masked._estimates import encoded_cells, true_cells
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.imputers.masked._prediction import FittedNetwork
from pmae_core.imputers.masked._shares import (
    OPTIMISM_OF_THE_NETWORK,
    learn_shares,
    member_errors,
    mix,
)
from pmae_core.imputers.masked._table_gaussian import TableGaussian
from pmae_core.masking import HeldOut, Sampler
from pmae_core.table import EncodedTable, Scaler

RESIDUALS_PER_COLUMN = 500
FEWEST_RESIDUALS = 20


def calibrate(
    fitted: FittedNetwork,
    table: EncodedTable,
    held_out: HeldOut | None,
    sampler: Sampler,
    *,
    correct_means: bool,
    rng: np.random.Generator,
    rng_of_rows: np.random.Generator,
) -> Calibration:
    """Learn from held-out cells what to do to the predictions of a trained network.

    Parameters
    ----------
    fitted : FittedNetwork
        The network, without a calibration yet.
    table : EncodedTable
        The fitted table, its values as the network takes them.
    held_out : HeldOut or None
        Cells that the network has not learned from.
    sampler : Sampler
        What chose the masked cells in training.
    correct_means : bool
        Whether to correct predicted numbers toward the mean.
    rng, rng_of_rows : Generator
        Source of re-masked cells, and of the rows for a Gaussian on the columns' own scale.
    """
    corrections: dict[int, np.ndarray] = {}
    own_scale, unseen, shares = None, None, np.zeros((0, 2))
    if held_out is not None:
        truth = table.values[held_out.rows]
        unseen = fitted.errors(truth, held_out.kept)
        if correct_means:
            predicted = fitted.inside_bounds(truth - unseen)
            if fitted.network.start is not None:
                own_scale, shares, predicted = _fit_own_scale(
                    fitted, table, held_out, predicted, rng_of_rows
                )
            corrections = _fit_corrections(truth, predicted, held_out, fitted.scalers)
    residuals = _measure_residuals(fitted, table, sampler, held_out, unseen, rng)
    return Calibration(fitted.scalers, residuals, corrections, own_scale, shares)


def _fit_own_scale(
    fitted: FittedNetwork,
    table: EncodedTable,
    held_out: HeldOut,
    predicted: np.ndarray,
    rng: np.random.Generator,
) -> tuple[TableGaussian, np.ndarray, np.ndarray]:
    """Return a Gaussian on the columns' own scale, the shares, and the mixed predictions."""
    numbers, values = OwnNumbers(fitted.scalers), table.values[held_out.rows]
    visible = held_out.remove_from(table.observed)
    own_scale = TableGaussian.fit(table, visible, numbers, on_own_scale=True, rng=rng)
    others = own_scale.estimate(values, held_out.kept, held_out.cells)
    both = {
        j: (numbers.of_scores(predicted[held_out.cells[:, j], j], j)[:, None], other)
        for j, other in others.items()
        if numbers.is_number(j)
    }
    truth = {j: true_cells(values[held_out.cells[:, j], j], j, numbers, 0) for j in both}
    errors = {j: member_errors(truth[j], both[j]) for j in both}
    shares = learn_shares(errors, len(table.columns), 2, (OPTIMISM_OF_THE_NETWORK, 0.0))
    mixed = predicted.copy()
    for j, pair in both.items():
        mixed[held_out.cells[:, j], j] = encoded_cells(mix(shares[j], pair), j, numbers)
    return own_scale, shares, mixed


def _fit_corrections(
    truth: np.ndarray, predicted: np.ndarray, held_out: HeldOut, scalers: Sequence[Scaler | None]
) -> dict[int, np.ndarray]:
    """Return the corrections of the columns that have one, as held-out cells teach."""
    found = {}
    for j, scaler in enumerate(scalers):
        if scaler is None:
            continue
        cells = held_out.cells[:, j]
        correction = fit_correction(predicted[cells, j], truth[cells, j], scaler)
        if correction is not None:
            found[j] = correction
    return found


def _measure_residuals(
    fitted: FittedNetwork,
    table: EncodedTable,
    sampler: Sampler,
    held_out: HeldOut | None,
    unseen: np.ndarray | None,
    rng: np.random.Generator,
) -> dict[int, np.ndarray]:
    """Return each value column's errors on held-out cells, else on re-masked ones."""
    rows = rng.permutation(len(table.values))[: 4 * RESIDUALS_PER_COLUMN]
    observed = table.observed[rows]
    masked = sampler.sample(observed, rng)
    trained = fitted.errors(table.values[rows], observed & ~masked)
    softmax_columns = set(fitted.categorical.tolist())
    residuals = {}
    for j in range(table.values.shape[1]):
        if j in softmax_columns:
            continue
        found = trained[masked[:, j], j]
        if held_out is not None and unseen is not None:
            fair = unseen[held_out.cells[:, j], j]
            found = fair if len(fair) >= FEWEST_RESIDUALS else np.concatenate([fair, found])
        if not len(found):
            found = trained[observed[:, j], j]
        residuals[j] = found[:RESIDUALS_PER_COLUMN].astype(np.float32)
    return residuals
