"""The cells that a fit holds out."""

from __future__ import annotations

import numpy as np

from pmae_core.masking import HeldOut, hold_out_cells


def validation_cells(observed: np.ndarray, share: float, seed: int) -> HeldOut | None:
    """Return the cells that a fit with this seed holds out; None for too few, or a share of 0."""
    if share <= 0:
        return None
    return hold_out_cells(observed, share, np.random.default_rng([seed, 2]))
