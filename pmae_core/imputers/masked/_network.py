"""The torch side of the masked-autoencoder imputers: fit, predict, draw, save.

Kept apart so that the imputers themselves can be listed without importing torch.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pmae_core.errors import Cancelled, ImputationError
from pmae_core.imputers.masked._correction import correct, fit_correction
from pmae_core.imputers.masked._own_scale import ROWS_OF_A_GAUSSIAN, OwnScale, fit_gaussian
from pmae_core.imputers.run import FitRun
from pmae_core.masking import HeldOut, Sampler, hold_out_cells
from pmae_core.model import MaskedAutoencoder, NetworkConfig, Prediction
from pmae_core.table import (
    EncodedColumn,
    EncodedTable,
    Scaler,
    scalar_values,
    values_from_scalars,
)
from pmae_core.training import TrainingConfig, TrainingResult, train
from pmae_core.training.checkpoint import TensorGroups, read_tensors, write_tensors
from pmae_core.training.device import choose_device

RESIDUALS_PER_COLUMN = 500
FEWEST_RESIDUALS = 20
ROUNDS_OF_A_DRAW = 4
# Moments are taken in pieces: in double precision all values would be larger than the table.
CELLS_OF_A_PIECE = 100_000


def _fields_of(config: type, settings: dict[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(config)}
    return {name: value for name, value in settings.items() if name in names}


class FittedNetwork:
    """A network with what it takes to fill encoded tables.

    Parameters
    ----------
    network : MaskedAutoencoder
        The network.
    columns : sequence of EncodedColumn
        The columns it was built for.
    residuals : dict
        For each column that needs them, prediction errors on cells the network did not see.
    corrections : dict
        For each column that has one, what leads from its predictions to its mean.
    own_scale : OwnScale or None
        A second opinion on numbers, where it helps.
    result : TrainingResult
        How its training ended.
    """

    def __init__(
        self,
        network: MaskedAutoencoder,
        columns: Sequence[EncodedColumn],
        residuals: dict[int, np.ndarray],
        corrections: dict[int, np.ndarray],
        own_scale: OwnScale | None,
        result: TrainingResult,
    ) -> None:
        self.network = network.eval()
        self.columns = tuple(columns)
        self.residuals = residuals
        self.corrections = corrections
        self.own_scale = own_scale
        self.result = result

    @classmethod
    def fit(
        cls,
        encoded: EncodedTable,
        settings: dict[str, Any],
        sampler: Sampler,
        run: FitRun,
        scalers: Sequence[Scaler | None],
    ) -> FittedNetwork:
        """Build a network for a table and train it; ``scalers`` are those of its columns.

        Raises
        ------
        Cancelled
            If the user asked to stop.
        """
        config = NetworkConfig(**_fields_of(NetworkConfig, settings))
        training = TrainingConfig(**_fields_of(TrainingConfig, settings), seed=run.seed)
        values = _network_values(encoded, config)
        observed = encoded.observed
        rng = np.random.default_rng([run.seed, 2])
        held_out = None
        if settings["validation_share"] > 0:
            held_out = hold_out_cells(observed, settings["validation_share"], rng)
        network = _build(config, encoded, values, held_out, run.seed)
        result = train(
            network,
            values,
            observed,
            sampler.fit(observed),
            training,
            held_out=held_out,
            callbacks=run.callbacks,
            cancel=run.cancel,
            checkpoint_dir=run.checkpoint_dir,
        )
        if result.reason == "cancelled":
            raise Cancelled(f"Training was cancelled after {result.step} steps.")
        fitted = cls(network, encoded.columns, {}, {}, None, result)
        unseen = None
        if held_out is not None:
            unseen = fitted._errors(values[held_out.rows], held_out.kept)
            if settings["correct_means"]:
                own_scale = None
                if network.start is not None:
                    visible = held_out.remove_from(observed)
                    n_categories = [column.n_categories for column in encoded.columns]
                    rows_rng = np.random.default_rng([run.seed, 4])
                    own_scale = OwnScale.fit(values, visible, n_categories, scalers, rows_rng)
                truth = values[held_out.rows]
                fitted._learn_means(truth, truth - unseen, held_out, scalers, own_scale)
        fitted.residuals = fitted._measure_residuals(
            values, observed, sampler, held_out, unseen, rng
        )
        return fitted

    def fill(self, encoded: EncodedTable) -> np.ndarray:
        """Return the encoded values with every cell that is not observed predicted."""
        filled = encoded.values.copy()
        incomplete = np.flatnonzero(~encoded.observed.all(axis=1))
        for rows in self._chunks(incomplete):
            piece = EncodedTable(filled[rows], encoded.observed[rows], encoded.columns)
            values = _network_values(piece, self.network.config)
            predicted = self._to_encoded(self._best_guess(values, piece.observed))
            filled[rows] = np.where(piece.observed, piece.values, predicted)
        return filled

    def draw(self, encoded: EncodedTable, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield ``n`` random fillings.

        The missing cells of a row are drawn in a few rounds, each given the cells drawn before,
        so that a draw follows the dependence between columns and not only their spread.
        """
        values = _network_values(encoded, self.network.config)
        incomplete = np.flatnonzero(~encoded.observed.all(axis=1))
        for _ in range(n):
            filled = values.copy()
            round_of_column = rng.permutation(values.shape[1]) % ROUNDS_OF_A_DRAW
            for rows in self._chunks(incomplete):
                known = encoded.observed[rows].copy()
                cells = filled[rows]
                for round_ in range(ROUNDS_OF_A_DRAW):
                    now = ~known & (round_of_column == round_)
                    if not now.any():
                        continue
                    drawn = self._random_guess(self._predict(cells, known), rng)
                    cells = np.where(now, drawn, cells)
                    known |= now
                filled[rows] = cells
            yield self._to_encoded(filled)

    def _chunks(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        size = self.network.rows_at_a_time
        for start in range(0, len(rows), size):
            yield rows[start : start + size]

    @torch.no_grad()
    def _predict(self, values: np.ndarray, kept: np.ndarray) -> Prediction:
        device = self.network.center.device
        prediction: Prediction = self.network(
            torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)).to(device),
            torch.from_numpy(np.ascontiguousarray(kept)).to(device),
        )
        return prediction

    def _learn_means(
        self,
        truth: np.ndarray,
        predicted: np.ndarray,
        held_out: HeldOut,
        scalers: Sequence[Scaler | None],
        own_scale: OwnScale | None,
    ) -> None:
        """Learn from held-out cells what leads from predictions to means."""
        predicted = np.clip(predicted, 0.0, 1.0)
        if own_scale is not None:
            own_scale.gaussian.to(self.network.center.device)
            expected = np.concatenate(
                [
                    own_scale.numbers(truth[rows], held_out.kept[rows])
                    for rows in self._chunks(np.arange(len(truth)))
                ]
            )
            own_scale = own_scale.learn_shares(predicted, expected, truth, held_out.cells)
            if own_scale.shares.any():
                self.own_scale = own_scale
                predicted = own_scale.mix(predicted, expected)
        self.corrections = _fit_corrections(truth, predicted, held_out, scalers)

    def _best_guess(self, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
        prediction = self._predict(values, kept)
        guess = np.clip(_numpy(prediction.values), 0.0, 1.0)
        if self.own_scale is not None:
            guess = self.own_scale.mix(guess, self.own_scale.numbers(values, kept))
        for j, correction in self.corrections.items():
            guess[:, j] = correct(guess[:, j], correction)
        if prediction.logits is not None:
            guess[:, self._categorical] = _numpy(prediction.logits.argmax(dim=-1))
        return guess

    def _random_guess(self, prediction: Prediction, rng: np.random.Generator) -> np.ndarray:
        guess = _numpy(prediction.values).astype(np.float32)
        for j, residuals in self.residuals.items():
            guess[:, j] += rng.choice(residuals, size=len(guess))
        guess = np.clip(guess, 0.0, 1.0)
        if prediction.logits is not None:
            # The Gumbel trick: the largest noisy logit is a draw from the softmax.
            noise = rng.gumbel(size=tuple(prediction.logits.shape)).astype(np.float32)
            guess[:, self._categorical] = (_numpy(prediction.logits) + noise).argmax(axis=-1)
        return self._round_scalars(guess)

    @property
    def _categorical(self) -> np.ndarray:
        return _numpy(self.network.categorical_columns)

    def _round_scalars(self, values: np.ndarray) -> np.ndarray:
        """Put drawn categories of a scalar network on their grid, as observed ones are."""
        if self.network.is_softmax:
            return values
        codes = values_from_scalars(values, self.columns).astype(np.float32)
        return scalar_values(EncodedTable(codes, np.ones(codes.shape, bool), self.columns))

    def _to_encoded(self, values: np.ndarray) -> np.ndarray:
        return values if self.network.is_softmax else values_from_scalars(values, self.columns)

    def _measure_residuals(
        self,
        values: np.ndarray,
        observed: np.ndarray,
        sampler: Sampler,
        held_out: HeldOut | None,
        unseen: np.ndarray | None,
        rng: np.random.Generator,
    ) -> dict[int, np.ndarray]:
        """Return each value column's errors on held-out cells, else on re-masked ones."""
        rows = rng.permutation(len(values))[: 4 * RESIDUALS_PER_COLUMN]
        masked = sampler.sample(observed[rows], rng)
        trained = self._errors(values[rows], observed[rows] & ~masked)
        softmax_columns = set(self._categorical.tolist())
        residuals = {}
        for j in range(values.shape[1]):
            if j in softmax_columns:
                continue
            found = trained[masked[:, j], j]
            if held_out is not None and unseen is not None:
                fair = unseen[held_out.cells[:, j], j]
                found = fair if len(fair) >= FEWEST_RESIDUALS else np.concatenate([fair, found])
            if not len(found):
                found = trained[observed[rows, j], j]
            residuals[j] = found[:RESIDUALS_PER_COLUMN].astype(np.float32)
        return residuals

    def _errors(self, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
        errors = values.copy()
        for rows in self._chunks(np.arange(len(values))):
            errors[rows] -= _numpy(self._predict(values[rows], kept[rows]).values)
        return errors

    def tensors(self) -> TensorGroups:
        """Return all arrays of the fitted network, ready to be saved."""
        return {
            "network": self.network.state_dict(),
            "residuals": {str(j): torch.from_numpy(r) for j, r in self.residuals.items()},
            "corrections": {str(j): torch.from_numpy(c) for j, c in self.corrections.items()},
            "own_scale": {} if self.own_scale is None else self.own_scale.tensors(),
        }

    def state(self) -> dict[str, Any]:
        """Return all the rest as plain data."""
        return {
            "config": asdict(self.network.config),
            "n_categories": [column.n_categories for column in self.columns],
            "result": asdict(self.result),
        }

    @classmethod
    def restore(
        cls,
        groups: TensorGroups,
        state: dict[str, Any],
        columns: Sequence[EncodedColumn],
        scalers: Sequence[Scaler | None],
        device: str,
    ) -> FittedNetwork:
        """Return the network that :meth:`tensors` and :meth:`state` describe."""
        network = MaskedAutoencoder(NetworkConfig(**state["config"]), state["n_categories"])
        network.load_state_dict(groups["network"])
        residuals, corrections = (
            {int(j): tensor.numpy() for j, tensor in groups.get(name, {}).items()}
            for name in ("residuals", "corrections")
        )
        where = choose_device(device)
        own_scale = OwnScale.restore(groups, state["n_categories"], scalers, where)
        result = TrainingResult(**state["result"])
        return cls(network.to(where), columns, residuals, corrections, own_scale, result)


def _fit_corrections(
    truth: np.ndarray, predicted: np.ndarray, held_out: HeldOut, scalers: Sequence[Scaler | None]
) -> dict[int, np.ndarray]:
    """Return the corrections of the columns that have one, by what held-out cells teach."""
    found = {}
    for j, scaler in enumerate(scalers):
        if scaler is None:
            continue
        cells = held_out.cells[:, j]
        correction = fit_correction(predicted[cells, j], truth[cells, j], scaler)
        if correction is not None:
            found[j] = correction
    return found


def _network_values(encoded: EncodedTable, config: NetworkConfig) -> np.ndarray:
    return encoded.values if config.categorical == "softmax" else scalar_values(encoded)


def _build(
    config: NetworkConfig,
    encoded: EncodedTable,
    values: np.ndarray,
    held_out: HeldOut | None,
    seed: int,
) -> MaskedAutoencoder:
    n_categories = [column.n_categories for column in encoded.columns]
    center, scale = _moments(values, encoded)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = MaskedAutoencoder(config, n_categories, center, scale)
    if network.start is not None:
        visible = encoded.observed if held_out is None else held_out.remove_from(encoded.observed)
        rows = np.random.default_rng([seed, 3]).permutation(len(values))[:ROWS_OF_A_GAUSSIAN]
        inputs = (torch.from_numpy(values[rows]) - network.center) / network.scale
        gaussian = fit_gaussian(inputs, visible[rows], n_categories)
        network.start.mean.copy_(torch.from_numpy(gaussian.mean))
        network.start.covariance.copy_(torch.from_numpy(gaussian.covariance))
    return network


def _moments(values: np.ndarray, encoded: EncodedTable) -> tuple[Tensor, Tensor]:
    """Return mean and deviation of the observed numbers; 0 and 1 for categorical columns."""
    observed = encoded.observed
    counts = observed.sum(axis=0).clip(min=1)
    pieces = _pieces(values.shape)
    center = _sum_rows(np.where(observed[rows], values[rows], 0.0) for rows in pieces) / counts
    squares = (np.square(np.where(observed[rows], values[rows] - center, 0.0)) for rows in pieces)
    scale = np.sqrt(_sum_rows(squares) / counts)
    categorical = np.array([column.kind == "categorical" for column in encoded.columns])
    center = np.where(categorical, 0.0, center)
    scale = np.where(categorical | (scale == 0), 1.0, scale)
    return torch.from_numpy(center).float(), torch.from_numpy(scale).float()


def _pieces(shape: tuple[int, ...]) -> list[slice]:
    """Return the rows of a table in pieces of a bounded number of cells."""
    size = max(1, CELLS_OF_A_PIECE // shape[1])
    return [slice(start, start + size) for start in range(0, shape[0], size)]


def _sum_rows(pieces: Iterable[np.ndarray]) -> np.ndarray:
    """Return the sum of all rows, added one after the other as in a sum of the whole table."""
    return functools.reduce(
        lambda total, piece: np.vstack([total, piece]).sum(axis=0, keepdims=True), pieces
    ).sum(axis=0)


def _numpy(tensor: Tensor) -> np.ndarray:
    array: np.ndarray = tensor.detach().float().cpu().numpy()
    return array if tensor.is_floating_point() else array.astype(np.int64)


@dataclass(frozen=True)
class SavedImputer:
    """What a model file holds."""

    class_name: str
    state: dict[str, Any]
    groups: TensorGroups


def write_saved(path: Path, class_name: str, state: dict[str, Any], groups: TensorGroups) -> None:
    """Write a fitted imputer into one safetensors file."""
    write_tensors(path, groups, {"class": class_name, "imputer": state})


def read_saved(path: Path) -> SavedImputer:
    """Read a fitted imputer; nothing is ever unpickled."""
    try:
        groups, state = read_tensors(path)
        return SavedImputer(state["class"], state["imputer"], groups)
    except FileNotFoundError:
        raise ImputationError(f"There is no model file {path}.") from None
    except (ValueError, KeyError) as error:
        raise ImputationError(f"{path} is not a saved imputer: {error}") from error
