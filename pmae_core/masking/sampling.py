"""Sampling the extra mask: which observed cells are masked in this training step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt

from pmae_core.masking.functions import (
    BoolArray,
    FloatArray,
    find_masking_function,
    observed_proportion,
)


class Sampler(Protocol):
    """Interface of the samplers of the extra mask."""

    def fit(self, observed: npt.ArrayLike) -> Self:
        """Take what is needed from the observed cells of the whole table."""
        ...

    def sample(self, observed: BoolArray, rng: np.random.Generator) -> BoolArray:
        """Return the cells of a batch to mask; each of them is observed."""
        ...

    def settings(self) -> dict[str, Any]:
        """Return the settings of this sampler as JSON-able data."""
        ...


class MaskSampler:
    """Mask observed cells by a masking function, by other rows' patterns, or by a blend.

    Parameters
    ----------
    function : str, default "logit"
        Name of the masking function that turns ``p_obs`` into ``M_j``.
    params : mapping, optional
        Parameters of that function.
    p_obs : {"batch", "table"}, default "batch"
        Take the observed proportions, and with them "fully observed", from each batch (as
        in the paper) or once from the table given to :meth:`fit`.
    copy_share : float, default 0.0
        Share of rows that are masked by *copying*: the cells that are missing in a random row of
        the fitted table are masked. Such masks follow the joint pattern of missingness and not
        only the rates of the columns. In the other rows, cells are masked independently with
        ``M_j``.

    Notes
    -----
    As in the paper, all cells of a row may be masked.

    Examples
    --------
    >>> observed = np.array([[True, True], [True, False]] * 50)
    >>> masked = MaskSampler(function="constant").sample(observed, np.random.default_rng(0))
    >>> bool(masked[:, 0].any()), bool(masked[:, 1].any())  # column 0 is fully observed
    (False, True)
    """

    def __init__(
        self,
        *,
        function: str = "logit",
        params: Mapping[str, float] | None = None,
        p_obs: Literal["batch", "table"] = "batch",
        copy_share: float = 0.0,
    ) -> None:
        if p_obs not in ("batch", "table"):
            raise ValueError(f"p_obs must be 'batch' or 'table', got {p_obs!r}.")
        if not 0.0 <= copy_share <= 1.0:
            raise ValueError(f"copy_share must be between 0 and 1, got {copy_share}.")
        self.function = function
        self.params = dict(params or {})
        self.p_obs = p_obs
        self.copy_share = copy_share
        self._masking_function = find_masking_function(function)
        self._masking_function.check_parameters(self.params)

    def fit(self, observed: npt.ArrayLike) -> Self:
        """Store the observed proportions of the table and the patterns of its rows.

        Parameters
        ----------
        observed : array-like of bool, shape (n_rows, n_columns)
            The observed cells of the whole table.
        """
        self.p_obs_: FloatArray = observed_proportion(observed)
        self.donor_observed_: BoolArray = np.asarray(observed, dtype=bool)
        self.probability_: FloatArray = self._masking_function(self.p_obs_, **self.params)
        return self

    def sample(self, observed: BoolArray, rng: np.random.Generator) -> BoolArray:
        """Return the cells of a batch to mask.

        Parameters
        ----------
        observed : ndarray of bool, shape (n_batch, n_columns)
            The observed cells of the batch.
        rng : numpy.random.Generator
            The only source of randomness.

        Returns
        -------
        ndarray of bool, shape (n_batch, n_columns)
            True where a cell is masked; such a cell is always observed.
        """
        n_rows = observed.shape[0]
        if n_rows == 0:
            return np.zeros_like(observed, dtype=bool)
        masked: BoolArray = rng.random(observed.shape) < self._probability(observed)
        if self.copy_share > 0.0:
            self._check_fitted()
            copies = rng.random((n_rows, 1)) < self.copy_share
            donors = rng.integers(len(self.donor_observed_), size=n_rows)
            masked = np.where(copies, ~self.donor_observed_[donors], masked)
        return masked & observed

    def settings(self) -> dict[str, Any]:
        """Return the masking function with all its parameters, and how it is used."""
        params = self._masking_function.parameters | self.params
        return {
            "function": self.function,
            "params": {name: float(value) for name, value in params.items()},
            "p_obs": self.p_obs,
            "copy_share": float(self.copy_share),
        }

    def _probability(self, observed: BoolArray) -> FloatArray:
        if self.p_obs == "table":
            self._check_fitted()
            return self.probability_
        return self._masking_function(observed.sum(axis=0) / observed.shape[0], **self.params)

    def _check_fitted(self) -> None:
        if not hasattr(self, "donor_observed_"):
            raise ValueError(
                "This sampler needs the whole table. Call fit(observed) before sample()."
            )


class RandomKeepSampler:
    """Keep a fixed number of random observed cells in each row and mask the rest (ReMasker).

    A row keeps ``min(int(keep * n_columns), its observed cells)`` cells.

    Parameters
    ----------
    keep : float, default 0.5
        Share of the columns that a row may keep.

    Examples
    --------
    >>> observed = np.ones((3, 4), dtype=bool)
    >>> RandomKeepSampler().sample(observed, np.random.default_rng(0)).sum(axis=1)
    array([2, 2, 2])
    """

    def __init__(self, keep: float = 0.5) -> None:
        if not 0.0 <= keep <= 1.0:
            raise ValueError(f"keep must be between 0 and 1, got {keep}.")
        self.keep = keep

    def fit(self, observed: npt.ArrayLike) -> Self:
        """Return the sampler itself: it needs nothing from the table."""
        return self

    def sample(self, observed: BoolArray, rng: np.random.Generator) -> BoolArray:
        """Return the cells of a batch to mask; see :meth:`MaskSampler.sample`."""
        n_kept = int(self.keep * observed.shape[1])
        if n_kept == 0:
            return np.array(observed, dtype=bool)
        # Missing cells get the largest number, so that a row keeps observed cells first.
        draws = np.where(observed, rng.random(observed.shape), 1.0)
        threshold = np.partition(draws, n_kept - 1, axis=1)[:, n_kept - 1 : n_kept]
        return observed & (draws > threshold)

    def settings(self) -> dict[str, Any]:
        """Return the share of the columns that a row may keep."""
        return {"keep": float(self.keep)}
