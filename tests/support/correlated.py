"""Tables whose columns share latent factors, with their truth."""

import numpy as np


def correlated_table(
    seed: int, n: int = 200, d: int = 6, missing_share: float = 0.2, noise: float = 0.3
) -> tuple[np.ndarray, np.ndarray]:
    """Return a complete table of numbers, and the same with missing cells."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)) + noise * rng.normal(size=(n, d))
    return truth, np.where(rng.random((n, d)) < missing_share, np.nan, truth)


def r2(truth: np.ndarray, imputed: np.ndarray, incomplete: np.ndarray) -> float:
    """Return the share of the missing cells' variance that is explained; the mean has about 0."""
    missing = np.isnan(incomplete)
    centered = truth - np.nanmean(incomplete, axis=0)
    return float(1 - np.square(imputed - truth)[missing].sum() / np.square(centered)[missing].sum())


def min_max(incomplete: np.ndarray) -> np.ndarray:
    """Return the columns scaled to [0, 1]."""
    low, high = np.nanmin(incomplete, axis=0), np.nanmax(incomplete, axis=0)
    return (incomplete - low) / (high - low)


def undo_min_max(scaled: np.ndarray, incomplete: np.ndarray) -> np.ndarray:
    """Return scaled values in the unit of the table, inside its observed range."""
    low, high = np.nanmin(incomplete, axis=0), np.nanmax(incomplete, axis=0)
    return scaled.clip(0, 1) * (high - low) + low
