"""A fitted network at work: imputed values, and random imputations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pmae_core.imputers.masked._calibration import Calibration
from pmae_core.imputers.masked._drawing import draw_in_rounds, round_of_columns
from pmae_core.imputers.masked._estimates import Estimates, wanted_columns
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.model import MaskedAutoencoder, NetworkConfig, Prediction
from pmae_core.table import (
    EncodedColumn,
    EncodedTable,
    Scaler,
    scalar_values,
    values_from_scalars,
)
from pmae_core.training import TrainingResult


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """A network with what it takes to impute encoded tables.

    Parameters
    ----------
    network : MaskedAutoencoder
        The network.
    columns : sequence of EncodedColumn
        The columns it was built for.
    scalers : sequence of Scaler or None
        What makes scores of each column's numbers; ``None`` for a categorical column.
    result : TrainingResult
        How its training ended.
    calibration : Calibration
        What held-out cells taught about its predictions.
    """

    network: MaskedAutoencoder
    columns: Sequence[EncodedColumn]
    scalers: Sequence[Scaler | None]
    result: TrainingResult
    calibration: Calibration

    def __post_init__(self) -> None:
        """Switch off what belongs to training alone."""
        self.network.eval()

    def impute(self, encoded: EncodedTable) -> np.ndarray:
        """Return the encoded values with every missing cell predicted."""
        imputed = encoded.values.copy()
        incomplete = np.flatnonzero(~encoded.observed.all(axis=1))
        for rows in self.chunks(incomplete):
            piece = EncodedTable(imputed[rows], encoded.observed[rows], encoded.columns)
            values = network_values(piece, self.network.config)
            predicted = self._to_encoded(self._best_guess(values, piece.observed))
            imputed[rows] = np.where(piece.observed, piece.values, predicted)
        return imputed

    def estimate(self, values: np.ndarray, kept: np.ndarray, wanted: np.ndarray) -> Estimates:
        """Return estimates of the wanted cells, given the kept ones, without the calibration."""
        numbers = OwnNumbers(self.scalers)
        pieces = [
            self._estimate_piece(values[rows], kept[rows], wanted[rows], numbers)
            for rows in self.chunks(np.arange(len(values)))
        ]
        return {
            j: np.concatenate([piece[j] for piece in pieces if j in piece])
            for j in wanted_columns(wanted)
        }

    def _estimate_piece(
        self, values: np.ndarray, kept: np.ndarray, wanted: np.ndarray, numbers: OwnNumbers
    ) -> Estimates:
        prediction = self.predict(values, kept)
        scores = self.inside_bounds(to_numpy(prediction.values))
        place = {j: position for position, j in enumerate(self.categorical.tolist())}
        found = {}
        for j in wanted_columns(wanted):
            rows = wanted[:, j]
            if j in place and prediction.logits is not None:
                logits = prediction.logits[:, place[j], : self.columns[j].n_categories]
                found[j] = to_numpy(torch.softmax(logits.float(), dim=-1))[rows]
            else:
                found[j] = numbers.of_scores(scores[rows, j], j)[:, None]
        return found

    def draw(self, encoded: EncodedTable, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield ``n`` random imputations.

        The missing cells of a row are drawn in a few rounds, each given the cells drawn before,
        so that an imputation follows the dependence between columns and not only their spread.
        """
        values = network_values(encoded, self.network.config)
        incomplete = np.flatnonzero(~encoded.observed.all(axis=1))
        for _ in range(n):
            imputed = values.copy()
            rounds = round_of_columns(encoded.observed, rng)
            for rows in self.chunks(incomplete):
                imputed[rows] = draw_in_rounds(
                    imputed[rows],
                    encoded.observed[rows],
                    rounds,
                    lambda cells, known, _: self._random_guess(self.predict(cells, known), rng),
                )
            yield self._to_encoded(imputed)

    def chunks(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the numbers of rows, as many at a time as the network takes."""
        size = self.network.rows_at_a_time
        for start in range(0, len(rows), size):
            yield rows[start : start + size]

    @torch.no_grad()
    def predict(self, values: np.ndarray, kept: np.ndarray) -> Prediction:
        """Return the network's prediction for every cell, given the kept ones."""
        device = self.network.center.device
        prediction: Prediction = self.network(
            torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)).to(device),
            torch.from_numpy(np.ascontiguousarray(kept)).to(device),
        )
        return prediction

    def errors(self, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Return true less predicted values of every cell, given the kept ones."""
        errors = values.copy()
        for rows in self.chunks(np.arange(len(values))):
            errors[rows] -= to_numpy(self.predict(values[rows], kept[rows]).values)
        return errors

    def inside_bounds(self, scores: np.ndarray) -> np.ndarray:
        """Return scores moved into the range of each column's observed ones."""
        bounds = [(0.0, 1.0) if scaler is None else scaler.bounds for scaler in self.scalers]
        lowest, highest = np.array(bounds, dtype=np.float32).T
        return np.clip(scores, lowest, highest)

    @property
    def categorical(self) -> np.ndarray:
        """The columns whose categories have logits."""
        return to_numpy(self.network.categorical_columns)

    def _best_guess(self, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
        prediction = self.predict(values, kept)
        guess = self.inside_bounds(to_numpy(prediction.values))
        guess = self.calibration.toward_means(guess, values, kept)
        if prediction.logits is not None:
            guess[:, self.categorical] = to_numpy(prediction.logits.argmax(dim=-1))
        return guess

    def _random_guess(self, prediction: Prediction, rng: np.random.Generator) -> np.ndarray:
        guess = to_numpy(prediction.values).astype(np.float32)
        for j, residuals in self.calibration.residuals.items():
            guess[:, j] += rng.choice(residuals, size=len(guess))
        guess = self.inside_bounds(guess)
        if prediction.logits is not None:
            # The Gumbel trick: the largest noisy logit is a draw from the softmax.
            noise = rng.gumbel(size=tuple(prediction.logits.shape)).astype(np.float32)
            guess[:, self.categorical] = (to_numpy(prediction.logits) + noise).argmax(axis=-1)
        return self._round_scalars(guess)

    def _round_scalars(self, values: np.ndarray) -> np.ndarray:
        """Put drawn categories of a scalar network on their grid, as observed ones are."""
        if self.network.is_softmax:
            return values
        codes = values_from_scalars(values, self.columns).astype(np.float32)
        return scalar_values(EncodedTable(codes, np.ones(codes.shape, bool), tuple(self.columns)))

    def _to_encoded(self, values: np.ndarray) -> np.ndarray:
        return values if self.network.is_softmax else values_from_scalars(values, self.columns)


def network_values(encoded: EncodedTable, config: NetworkConfig) -> np.ndarray:
    """Return encoded values as a network takes them: a scalar one has no codes."""
    return encoded.values if config.categorical == "softmax" else scalar_values(encoded)


def to_numpy(tensor: Tensor) -> np.ndarray:
    """Return a tensor of any device and precision as an array."""
    array: np.ndarray = tensor.detach().float().cpu().numpy()
    return array if tensor.is_floating_point() else array.astype(np.int64)
