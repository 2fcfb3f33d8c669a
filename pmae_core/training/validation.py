"""Validation on held-out cells during training, and the best weights it finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pmae_core.masking import HeldOut
from pmae_core.model import MaskedAutoencoder, Prediction
from pmae_core.model.start import Start, log_probabilities

# A column with fewer held-out cells counts less in the score: the mean of a few cells is mostly
# chance, and would decide which weights are kept.
CELLS_TO_COUNT_FULLY = 30


@dataclass(frozen=True, eq=False)
class HeldOutErrors:
    """Errors of predictions of the held-out cells.

    Attributes
    ----------
    errors : float64 array of shape (rows, columns)
        Errors of the held-out cells, 0 elsewhere.
    counts : int array of shape (columns,)
        Held-out cells per column.
    """

    errors: np.ndarray
    counts: np.ndarray

    @property
    def score(self) -> float:
        """The mean over columns of the mean error over their held-out cells.

        A column with fewer cells than ``CELLS_TO_COUNT_FULLY`` counts by their number.
        """
        return float(self._weighted().sum())

    def columns(self) -> list[float | None]:
        """Return each column's mean error, ``None`` where no cell is held out."""
        means = self.errors.sum(axis=0) / self.counts.clip(min=1)
        # Five digits are more than the cells can tell, and keep events small.
        return [
            float(f"{mean:.5g}") if count else None
            for mean, count in zip(means, self.counts, strict=True)
        ]

    def noise_against(self, other: HeldOutErrors) -> float:
        """Return the standard error of the difference between two scores on the same cells.

        Rows are the units: errors in one row go together.
        """
        by_row = (self._weighted() - other._weighted()).sum(axis=1)
        return float(np.sqrt(len(by_row)) * by_row.std(ddof=1)) if len(by_row) > 1 else 0.0

    def _weighted(self) -> np.ndarray:
        """Return the errors, weighted so that their sum is the score."""
        n_columns = (self.counts / CELLS_TO_COUNT_FULLY).clip(max=1).sum() or 1.0
        return self.errors / (self.counts.clip(min=CELLS_TO_COUNT_FULLY) * n_columns)


class Validator:
    """Score a network on held-out cells; lower is better.

    Parameters
    ----------
    held_out : HeldOut
        The held-out cells.
    values : float32 array of shape (rows, columns)
        Encoded cells of the whole table.
    device : torch.device
        Where the network is.
    """

    def __init__(self, held_out: HeldOut, values: np.ndarray, device: torch.device) -> None:
        arrays = (values[held_out.rows], held_out.kept, held_out.cells)
        self._tensors = [torch.from_numpy(array).to(device) for array in arrays]
        self._cells = held_out.cells
        self._starts: list[Start | None] = []

    @torch.no_grad()
    def errors(self, network: MaskedAutoencoder) -> HeldOutErrors:
        """Return the errors of a network."""
        was_training = network.training
        network.eval()
        starts = self._first_guesses(network)
        errors = torch.cat(
            [
                network.cell_errors(network(values, kept, start), values)
                for (values, kept), start in zip(self._pieces(network), starts, strict=True)
            ]
        )
        network.train(was_training)
        return self._of_cells(errors)

    @torch.no_grad()
    def reference_errors(
        self, network: MaskedAutoencoder, values: np.ndarray, visible: np.ndarray
    ) -> dict[str, HeldOutErrors]:
        """Return the errors of mean imputation and of the start, as the network measures errors.

        Parameters
        ----------
        network : MaskedAutoencoder
            Whose errors to compare with.
        values, visible : arrays of shape (rows, columns)
            The encoded table, and its cells that may be learned from.
        """
        truth = self._tensors[0]
        found = {"mean": _mean_imputation(network, values, visible, len(truth))}
        starts = [start for start in self._first_guesses(network) if start is not None]
        if starts:
            found["gaussian"] = _start_prediction(network, starts)
        return {
            name: self._of_cells(network.cell_errors(_on(truth.device, prediction), truth))
            for name, prediction in found.items()
        }

    def _pieces(self, network: MaskedAutoencoder) -> list[tuple[Tensor, ...]]:
        """Return values and kept cells, as many rows at a time as the network takes."""
        tensors = (tensor.split(network.rows_at_a_time) for tensor in self._tensors[:2])
        return list(zip(*tensors, strict=True))

    def _first_guesses(self, network: MaskedAutoencoder) -> list[Start | None]:
        if not self._starts:  # training does not change them
            pieces = self._pieces(network)
            self._starts = [network.first_guess(values, kept) for values, kept in pieces]
        return self._starts

    def _of_cells(self, errors: Tensor) -> HeldOutErrors:
        found = errors.float().cpu().numpy().astype(np.float64)
        return HeldOutErrors(np.where(self._cells, found, 0.0), self._cells.sum(axis=0))


def _start_prediction(network: MaskedAutoencoder, starts: Sequence[Start]) -> Prediction:
    """Return what the Gaussian predicts, as the untrained network does."""
    values = torch.cat([start.values for start in starts]) * network.scale + network.center
    if network.category_heads is None:
        return Prediction(values, None)
    probabilities = torch.cat([start.probabilities for start in starts])
    logits = log_probabilities(probabilities)
    return Prediction(values, logits.masked_fill(network.category_heads.padding, float("-inf")))


def _mean_imputation(
    network: MaskedAutoencoder, values: np.ndarray, visible: np.ndarray, n_rows: int
) -> Prediction:
    """Return each column's mean, and the frequencies of categories, as a prediction of rows."""
    means = np.where(visible, values, 0.0).sum(axis=0) / visible.sum(axis=0).clip(min=1)
    predicted = torch.from_numpy(means).float().expand(n_rows, -1)
    if network.category_heads is None:
        return Prediction(predicted, None)
    padding = network.category_heads.padding.cpu()
    # Half a cell more each: a category may have no visible cell, and its logarithm must be finite.
    counts = torch.full(padding.shape, 0.5).masked_fill(padding, 0.0)
    for place, j in enumerate(network.categorical_columns.tolist()):
        codes = values[visible[:, j], j].astype(np.intp)
        counts[place] += torch.from_numpy(np.bincount(codes, minlength=counts.shape[1]))
    return Prediction(predicted, counts.log().expand(n_rows, -1, -1))


def _on(device: torch.device, prediction: Prediction) -> Prediction:
    logits = prediction.logits
    return Prediction(prediction.values.to(device), None if logits is None else logits.to(device))


@dataclass
class BestWeights:
    """The weights with the lowest validation score so far.

    Attributes
    ----------
    weights : dict of Tensor or None
        Copy of the weights; ``None`` before the first validation.
    step, score : int, float or None
        Their step and score.
    last_score : float or None
        Score of the newest validation.
    validations_since : int
        Validations since the best one.
    """

    weights: dict[str, Tensor] | None = None
    step: int = 0
    score: float | None = None
    last_score: float | None = None
    validations_since: int = 0

    def offer(self, score: float, step: int, network: MaskedAutoencoder) -> bool:
        """Take note of a validation; copy the weights and return True if its score is the best."""
        self.last_score = score
        is_best = self.score is None or score < self.score
        if is_best:
            weights = network.state_dict()
            self.weights = {name: tensor.detach().clone() for name, tensor in weights.items()}
            self.step, self.score, self.validations_since = step, score, 0
        else:
            self.validations_since += 1
        return is_best

    def state(self) -> dict[str, Any]:
        """Return all but the weights as JSON-able data."""
        names = ("step", "score", "last_score", "validations_since")
        return {name: getattr(self, name) for name in names}
