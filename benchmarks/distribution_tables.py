"""Tables of 500 rows with one column of a shape that is easily lost, 30% of it missing (MCAR)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

N_ROWS = 500
SHARE_MISSING = 0.3
CATEGORIES = ("a", "b", "c")


@dataclass(frozen=True)
class ShapeTable:
    """A table whose column ``v`` has the shape.

    Attributes
    ----------
    complete, incomplete : DataFrame
        The table without and with missing cells.
    figures : callable
        Returns figures of the shape among the cells that are missing, from an imputed table.
    """

    complete: pd.DataFrame
    incomplete: pd.DataFrame
    figures: Callable[[pd.DataFrame], dict[str, float]]


def shape_tables(seed: int) -> list[ShapeTable]:
    """Return one table per shape."""
    rng = np.random.default_rng(seed)
    return [_skewed(rng), _two_peaks(rng), _growing_spread(rng), _categories(rng)]


def _table(
    v: np.ndarray,
    figures: Callable[[pd.DataFrame, pd.DataFrame], dict[str, float]],
    rng: np.random.Generator,
    **others: np.ndarray,
) -> ShapeTable:
    complete = pd.DataFrame({**others, "v": v})
    missing = rng.random(N_ROWS) < SHARE_MISSING
    incomplete = complete.assign(v=complete["v"].mask(missing))
    observed = complete[~missing]
    return ShapeTable(complete, incomplete, lambda imputed: figures(imputed[missing], observed))


def _skewed(rng: np.random.Generator) -> ShapeTable:
    x, noise = rng.normal(size=(2, N_ROWS))

    def figures(imputed: pd.DataFrame, observed: pd.DataFrame) -> dict[str, float]:
        # A copied value may have lost its last digits.
        at_bounds = [np.isclose(imputed["v"], observed["v"].agg(end)) for end in ("min", "max")]
        return {"lognormal: share at the bounds": float(np.any(at_bounds, axis=0).mean())}

    return _table(np.exp(0.7 * x + 0.7 * noise), figures, rng, x=x)


def _two_peaks(rng: np.random.Generator) -> ShapeTable:
    x, noise = rng.normal(size=(2, N_ROWS))
    v = np.where(x + rng.normal(size=N_ROWS) > 0, 3.0, -3.0) + 0.5 * noise

    def figures(imputed: pd.DataFrame, observed: pd.DataFrame) -> dict[str, float]:
        return {"two peaks: share between them": float((imputed["v"].abs() < 1).mean())}

    return _table(v, figures, rng, x=x)


def _growing_spread(rng: np.random.Generator) -> ShapeTable:
    x = rng.uniform(0, 3, size=N_ROWS)

    def figures(imputed: pd.DataFrame, observed: pd.DataFrame) -> dict[str, float]:
        error = imputed["v"] - imputed["x"]
        high, low = error[imputed["x"] > 2].std(), error[imputed["x"] < 1].std()
        return {"growing spread: SD ratio, high x over low x": float(high / low)}

    return _table(x + 0.2 * np.exp(0.87 * x) * rng.normal(size=N_ROWS), figures, rng, x=x)


def _categories(rng: np.random.Generator) -> ShapeTable:
    x = rng.normal(size=N_ROWS)
    chances = np.exp(np.stack([np.full(N_ROWS, 2.6), 0.3 + 0.8 * x, -0.2 - 0.8 * x]))
    below = np.cumsum(chances / chances.sum(axis=0), axis=0)[:-1] < rng.random(N_ROWS)

    def figures(imputed: pd.DataFrame, observed: pd.DataFrame) -> dict[str, float]:
        shares = imputed["v"].value_counts(normalize=True)
        return {
            f"three categories: share of {name}": float(shares.get(name, 0)) for name in CATEGORIES
        }

    return _table(np.array(CATEGORIES)[below.sum(axis=0)], figures, rng, x=x)
