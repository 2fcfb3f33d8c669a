"""A second prediction of numbers: a Gaussian on the columns' own scale, not of ranks.

The network and its start work on a scale of ranks, where an outlier weighs no more than any other
number. But some columns are linear functions of others on their own scale, above all far out in
the tails, and there a Gaussian predicts better. How much it counts is learned from held-out cells,
column by column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from pmae_core.gaussian import GaussianModel
from pmae_core.imputers.masked._correction import FEWEST_CELLS, FOLDS
from pmae_core.imputers.masked._joint_gaussian import ROWS_OF_A_GAUSSIAN, fit_joint_gaussian
from pmae_core.model.start import Expansion, GaussianStart
from pmae_core.table import Scaler
from pmae_core.training.checkpoint import TensorGroups


def fit_gaussian(
    inputs: torch.Tensor, observed: np.ndarray, n_categories: Sequence[int]
) -> GaussianModel:
    """Fit a Gaussian to rows of standardized numbers and codes of categories."""
    expansion = Expansion(n_categories)
    coordinates = expansion.expand(inputs).double().numpy()
    known = observed[:, expansion.column.numpy()]
    return fit_joint_gaussian(coordinates, known)


@dataclass(frozen=True, eq=False)
class OwnScale:
    """A Gaussian of numbers on their own scale, and how much its predictions count.

    Parameters
    ----------
    scalers : sequence of Scaler or None
        What makes scores of each column's numbers; ``None`` for a categorical column.
    gaussian : GaussianStart
        The Gaussian, of standardized numbers.
    center, scale : ndarray of shape (columns,)
        What standardizes numbers, in units of each column's largest.
    shares : ndarray of shape (columns,)
        How much its predictions count in each column, between 0 and 1.
    """

    scalers: Sequence[Scaler | None]
    gaussian: GaussianStart
    center: np.ndarray
    scale: np.ndarray
    shares: np.ndarray

    @classmethod
    def fit(
        cls,
        values: np.ndarray,
        observed: np.ndarray,
        n_categories: Sequence[int],
        scalers: Sequence[Scaler | None],
        rng: np.random.Generator,
    ) -> OwnScale:
        """Fit the Gaussian to encoded rows, at most a few thousand; its shares are still 0."""
        rows = rng.permutation(len(values))[:ROWS_OF_A_GAUSSIAN]
        values, observed = values[rows], observed[rows]
        n_columns = values.shape[1]
        zeros, ones = np.zeros(n_columns), np.ones(n_columns)
        whole = cls(scalers, GaussianStart(n_categories), zeros, ones, zeros)
        center, scale = zeros.copy(), ones.copy()
        for j, numbers in enumerate(whole._standardize(values).T):
            known = numbers[observed[:, j]]
            if scalers[j] is not None and len(known):
                center[j], scale[j] = known.mean(), known.std() or 1.0
        fitted = replace(whole, center=center, scale=scale)
        inputs = torch.from_numpy(fitted._standardize(values))
        model = fit_gaussian(inputs, observed, n_categories)
        fitted.gaussian.mean.copy_(torch.from_numpy(model.mean))
        fitted.gaussian.covariance.copy_(torch.from_numpy(model.covariance))
        return fitted

    def numbers(self, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Return each column's numbers as the Gaussian expects them; NaN where it has none."""
        device = self.gaussian.mean.device
        inputs = torch.from_numpy(self._standardize(values)).float().to(device)
        answer = self.gaussian(inputs, torch.from_numpy(kept).to(device)).values
        expected = answer.cpu().double().numpy() * self.scale + self.center
        for j, scaler in enumerate(self.scalers):
            if scaler is None:
                expected[:, j] = np.nan
            else:
                ends = _ends(scaler)
                expected[:, j] = np.clip(expected[:, j], *(ends / _unit(scaler))) * _unit(scaler)
        return expected

    def learn_shares(
        self, scores: np.ndarray, expected: np.ndarray, truth: np.ndarray, cells: np.ndarray
    ) -> OwnScale:
        """Return the same Gaussian with shares learned from held-out cells.

        Parameters
        ----------
        scores, expected : ndarray of shape (rows, columns)
            What the network predicts, as scores, and what :meth:`numbers` returns.
        truth : ndarray of shape (rows, columns)
            The true scores.
        cells : bool ndarray of shape (rows, columns)
            Which cells are held out.
        """
        shares = np.zeros(len(self.scalers))
        for j, scaler in enumerate(self.scalers):
            held_out = cells[:, j]
            if scaler is None or held_out.sum() < FEWEST_CELLS:
                continue
            guesses, numbers = (
                scaler.unscale(part[held_out, j]) / _unit(scaler) for part in (scores, truth)
            )
            other = expected[held_out, j] / _unit(scaler)
            shares[j] = best_share(numbers - guesses, other - guesses)
        return replace(self, shares=shares)

    def mix(self, scores: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """Return predicted scores, moved toward ``expected`` numbers by the shares."""
        mixed = scores.copy()
        for j, (scaler, share) in enumerate(zip(self.scalers, self.shares, strict=True)):
            if scaler is not None and share > 0:
                numbers = (1 - share) * scaler.unscale(scores[:, j]) + share * expected[:, j]
                mixed[:, j] = scaler.scale(numbers)
        return mixed

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return all arrays, ready to be saved."""
        arrays = {"center": self.center, "scale": self.scale, "shares": self.shares}
        saved = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return saved | {"mean": self.gaussian.mean, "covariance": self.gaussian.covariance}

    @classmethod
    def restore(
        cls,
        groups: TensorGroups,
        n_categories: Sequence[int],
        scalers: Sequence[Scaler | None],
        device: torch.device,
    ) -> OwnScale | None:
        """Return what :meth:`tensors` gave; None where a network has none."""
        saved = groups.get("own_scale")
        if not saved:
            return None
        gaussian = GaussianStart(n_categories, saved["mean"], saved["covariance"]).to(device)
        arrays = (saved[name].numpy() for name in ("center", "scale", "shares"))
        return cls(scalers, gaussian, *arrays)

    def _standardize(self, values: np.ndarray) -> np.ndarray:
        """Return scores as standardized numbers; codes stay as they are."""
        numbers = values.astype(np.float64)
        for j, scaler in enumerate(self.scalers):
            if scaler is not None:
                numbers[:, j] = scaler.unscale(numbers[:, j]) / _unit(scaler)
        return (numbers - self.center) / self.scale


def best_share(errors: np.ndarray, differences: np.ndarray) -> float:
    """Return the share of the differences that makes the squared error least.

    It is 0 where a share does not help on cells that it was not learned from.

    Examples
    --------
    >>> best_share(np.ones(10), np.full(10, 2.0))
    0.5
    """
    fold = np.arange(len(errors)) % FOLDS
    fair = np.concatenate(
        [
            errors[fold == k]
            - _share(errors[fold != k], differences[fold != k]) * differences[fold == k]
            for k in range(FOLDS)
        ]
    )
    helps = np.square(fair).sum() < np.square(errors).sum()
    return _share(errors, differences) if helps else 0.0


def _share(errors: np.ndarray, differences: np.ndarray) -> float:
    size = np.square(differences).sum()
    return float(np.clip((errors * differences).sum() / size, 0.0, 1.0)) if size > 0 else 0.0


def _ends(scaler: Scaler) -> np.ndarray:
    return scaler.unscale(np.array(scaler.bounds))


def _unit(scaler: Scaler) -> float:
    """Return a column's largest number: squares of the largest numbers would be infinite."""
    return float(np.abs(_ends(scaler)).max()) or 1.0
