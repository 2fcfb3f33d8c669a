"""Small tables of several kinds with their truth, and shares of their cells missing."""

import numpy as np
import pandas as pd


def linear_table(n: int = 300) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return numbers that are straight lines of one another, complete and incomplete."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n, 2))
    columns = factors @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(n, 5))
    return _with_missing(pd.DataFrame(columns, columns=list("abcde")), rng)


def curved_table(n: int = 300) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return numbers that are curves of one another, complete and incomplete."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, size=n)
    truth = pd.DataFrame(
        {
            "x": x + 0.05 * rng.normal(size=n),
            "square": x**2 + 0.1 * rng.normal(size=n),
            "wave": np.sin(3 * x) + 0.1 * rng.normal(size=n),
            "again": x + 0.05 * rng.normal(size=n),
        }
    )
    return _with_missing(truth, rng)


def mixed_table(n: int = 300) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return numbers and categories, complete and incomplete."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=n)
    truth = pd.DataFrame(
        {
            "x": x,
            "y": -2 * x + 0.2 * rng.normal(size=n),
            "town": np.array(["Bonn", "Oslo", "Ulm"])[np.digitize(x, [-0.6, 0.6])],
            "income": np.exp(x + 0.3 * rng.normal(size=n)),
            "side": np.where(x + 0.3 * rng.normal(size=n) > 0, "left", "right"),
        }
    )
    return _with_missing(truth, rng)


def _with_missing(
    truth: pd.DataFrame, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    return truth, truth.mask(rng.random(truth.shape) < 0.2)
