"""A network for a table: built, trained and calibrated."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pmae_core.errors import Cancelled
from pmae_core.imputers.masked._calibrating import calibrate
from pmae_core.imputers.masked._calibration import Calibration
from pmae_core.imputers.masked._joint_gaussian import ROWS_OF_A_GAUSSIAN, fit_joint_gaussian
from pmae_core.imputers.masked._prediction import FittedNetwork, network_values
from pmae_core.imputers.masked._validation import validation_cells
from pmae_core.imputers.run import FitRun
from pmae_core.masking import HeldOut, Sampler
from pmae_core.model import MaskedAutoencoder, NetworkConfig
from pmae_core.model.start import Expansion
from pmae_core.table import EncodedTable, Scaler
from pmae_core.training import TrainingConfig, train

# Moments are taken in pieces: in double precision all values would be larger than the table.
CELLS_PER_PIECE = 100_000


def fit_network(
    encoded: EncodedTable,
    settings: Mapping[str, Any],
    sampler: Sampler,
    run: FitRun,
    scalers: Sequence[Scaler | None],
) -> FittedNetwork:
    """Build a network for a table, train it and calibrate its predictions.

    Parameters
    ----------
    encoded : EncodedTable
        The table.
    settings : mapping
        Every setting by name, as :func:`~pmae_core.imputers.masked.presets.resolve_settings`
        returns them.
    sampler : Sampler
        What chooses the masked cells of a batch.
    run : FitRun
        Seed, callbacks, cancellation and checkpoints.
    scalers : sequence of Scaler or None
        What makes scores of each column's numbers; ``None`` for a categorical column.

    Raises
    ------
    Cancelled
        If the user asked to stop.
    """
    config = NetworkConfig(**_fields_of(NetworkConfig, settings))
    training = TrainingConfig(**_fields_of(TrainingConfig, settings), seed=run.seed)
    table = EncodedTable(network_values(encoded, config), encoded.observed, encoded.columns)
    held_out = validation_cells(table.observed, settings["validation_share"], run.seed)
    network = _build(config, table, held_out, run.seed)
    result = train(
        network,
        table.values,
        table.observed,
        sampler.fit(table.observed),
        training,
        held_out=held_out,
        callbacks=run.callbacks,
        cancel=run.cancel,
        checkpoint_dir=run.checkpoint_dir,
    )
    if result.reason == "cancelled":
        raise Cancelled(f"Training was cancelled after {result.step} steps.")
    fitted = FittedNetwork(network, table.columns, scalers, result, Calibration(scalers))
    calibration = calibrate(
        fitted,
        table,
        held_out,
        sampler,
        correct_means=settings["correct_means"],
        rng=np.random.default_rng([run.seed, 2]),
        rng_of_rows=np.random.default_rng([run.seed, 4]),
    )
    return replace(fitted, calibration=calibration)


def _fields_of(config: type, settings: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(config)}
    return {name: value for name, value in settings.items() if name in names}


def _build(
    config: NetworkConfig, table: EncodedTable, held_out: HeldOut | None, seed: int
) -> MaskedAutoencoder:
    """Return an untrained network, with a Gaussian to start from where that is asked for."""
    n_categories = [column.n_categories for column in table.columns]
    center, scale = _moments(table)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = MaskedAutoencoder(config, n_categories, center, scale)
    if network.start is not None:
        visible = table.observed if held_out is None else held_out.remove_from(table.observed)
        rows = np.random.default_rng([seed, 3]).permutation(len(visible))[:ROWS_OF_A_GAUSSIAN]
        inputs = (torch.from_numpy(table.values[rows]) - network.center) / network.scale
        expansion = Expansion(n_categories)
        known = visible[rows][:, expansion.column.numpy()]
        gaussian = fit_joint_gaussian(expansion.expand(inputs).double().numpy(), known)
        network.start.mean.copy_(torch.from_numpy(gaussian.mean))
        network.start.covariance.copy_(torch.from_numpy(gaussian.covariance))
    return network


def _moments(table: EncodedTable) -> tuple[Tensor, Tensor]:
    """Return mean and deviation of the observed numbers; 0 and 1 for categorical columns."""
    values, observed = table.values, table.observed
    counts = observed.sum(axis=0).clip(min=1)
    pieces = _pieces(values.shape)
    center = _sum_rows(np.where(observed[rows], values[rows], 0.0) for rows in pieces) / counts
    squares = (np.square(np.where(observed[rows], values[rows] - center, 0.0)) for rows in pieces)
    scale = np.sqrt(_sum_rows(squares) / counts)
    categorical = np.array([column.kind == "categorical" for column in table.columns])
    center = np.where(categorical, 0.0, center)
    scale = np.where(categorical | (scale == 0), 1.0, scale)
    return torch.from_numpy(center).float(), torch.from_numpy(scale).float()


def _pieces(shape: tuple[int, ...]) -> list[slice]:
    """Return the rows of a table in pieces of a bounded number of cells."""
    size = max(1, CELLS_PER_PIECE // shape[1])
    return [slice(start, start + size) for start in range(0, shape[0], size)]


def _sum_rows(pieces: Iterable[np.ndarray]) -> np.ndarray:
    """Return the sum of all rows, added one after the other as in a sum of the whole table."""
    return functools.reduce(
        lambda total, piece: np.vstack([total, piece]).sum(axis=0, keepdims=True), pieces
    ).sum(axis=0)
