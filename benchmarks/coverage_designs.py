"""Simulated tables whose truth is known, and what is estimated from them.

All three designs have 300 rows. Cells are missing at random (MAR): whether a cell is missing
depends on `x1` and `z`, which are always observed, and on chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd

from pmae_core.inference.estimands import Estimate

N_ROWS = 300
# Large enough for errors of the true values of less than 2% of a standard error at 300 rows.
POPULATION = 1_000_000

Numbers = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Quantity:
    """What is estimated from a complete table.

    Attributes
    ----------
    kind : str
        "mean", "slope" or "correlation".
    columns : tuple of str
        Of a slope the outcome, the predictor and the controls.
    """

    kind: str
    columns: tuple[str, ...]

    def estimate(self, numbers: Numbers) -> Estimate:
        """Estimate it, with an error that needs no normal distribution of the columns."""
        columns = [numbers[name] for name in self.columns]
        if self.kind == "mean":
            return _mean(columns[0])
        if self.kind == "slope":
            return _slope(columns[0], columns[1:])
        return _correlation(*columns)

    def on_own_scale(self, value: float) -> float:
        """Return an estimate or a limit on the scale of the quantity; of Fisher's z as r."""
        return math.tanh(value) if self.kind == "correlation" else value


def _mean(x: np.ndarray) -> Estimate:
    return Estimate(float(x.mean()), float(x.var(ddof=1) / len(x)), len(x) - 1, len(x))


def _slope(y: np.ndarray, predictors: list[np.ndarray]) -> Estimate:
    x = np.column_stack([*predictors, np.ones(len(y))])
    inverse = np.linalg.pinv(x.T @ x)
    coefficients = inverse @ (x.T @ y)
    df = len(y) - x.shape[1]
    variance = np.sum((y - x @ coefficients) ** 2) / df * inverse[0, 0]
    return Estimate(float(coefficients[0]), float(variance), df, len(y))


def _correlation(x: np.ndarray, y: np.ndarray) -> Estimate:
    """Return Fisher's z with its variance by the delta method.

    The usual 1 / (n - 3) holds for normal columns only and is too large for a binary one.
    """
    u, v = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    r = float(np.clip(np.mean(u * v), -0.999999, 0.999999))
    influence = (u * v - r / 2 * (u**2 + v**2)) / (1 - r**2)
    return Estimate(math.atanh(r), float(influence.var() / (len(x) - 3)), len(x) - 2, len(x))


@dataclass(frozen=True)
class Design:
    """A way to simulate tables, to make cells missing, and what to estimate.

    Attributes
    ----------
    simulate : callable
        Returns a complete table of so many rows.
    missing : dict
        For each incomplete column its weights of `x1` and `z`, and its share of missing cells.
    numbers : callable
        Returns the columns that the quantities are about, as numbers.
    quantities : dict
        What is estimated, by a short name.
    categories : tuple of str
        Columns with the role "categorical"; the others are numerical.
    """

    simulate: Callable[[int, np.random.Generator], pd.DataFrame]
    missing: Mapping[str, tuple[float, float, float]]
    numbers: Callable[[pd.DataFrame], Numbers]
    quantities: Mapping[str, Quantity]
    categories: tuple[str, ...]

    def tables(self, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return a complete table, and the same with missing cells."""
        rng = np.random.default_rng(seed)
        complete = self.simulate(N_ROWS, rng)
        incomplete = complete.copy()
        for name, (of_x1, of_z, share) in self.missing.items():
            score = of_x1 * complete["x1"] + of_z * complete["z"] + rng.logistic(size=N_ROWS)
            incomplete.loc[score > np.quantile(score, 1 - share), name] = None
        return complete, incomplete

    def roles(self) -> dict[str, str]:
        """Return the role of every column."""
        columns = self.simulate(2, np.random.default_rng(0)).columns
        return {name: "categorical" if name in self.categories else "numerical" for name in columns}

    def estimates(self, table: pd.DataFrame) -> dict[str, Estimate]:
        """Return an estimate of every quantity from a complete table."""
        numbers = self.numbers(table)
        return {name: one.estimate(numbers) for name, one in self.quantities.items()}

    @cached_property
    def truths(self) -> dict[str, float]:
        """The true value of every quantity, from a large population."""
        population = self.simulate(POPULATION, np.random.default_rng(20_250_101))
        return {
            name: self.quantities[name].on_own_scale(found.value)
            for name, found in self.estimates(population).items()
        }


def _linear(n: int, rng: np.random.Generator) -> pd.DataFrame:
    x1, noise = rng.normal(size=n), rng.normal(size=(4, n))
    x2 = 0.5 * x1 + math.sqrt(0.75) * noise[0]
    y = 1 + 0.5 * x1 + 0.8 * x2 + noise[1]
    z = 0.5 * x2 + math.sqrt(0.75) * noise[2]
    b = np.where(0.6 * (y - 1) + 0.4 * x1 + noise[3] > 0, "yes", "no")
    return pd.DataFrame({"x1": x1, "x2": x2, "y": y, "z": z, "b": b})


def _linear_numbers(table: pd.DataFrame) -> Numbers:
    numbers = {name: table[name].to_numpy(float) for name in ("x1", "x2", "y")}
    return {**numbers, "b": (table["b"] == "yes").to_numpy(float)}


def _nonlinear(n: int, rng: np.random.Generator) -> pd.DataFrame:
    x1, x2 = rng.uniform(-2, 2, size=(2, n))
    noise = rng.normal(size=(3, n))
    y = 1 + 0.5 * x1 + 0.5 * x1**2 + 0.4 * x2 + 0.5 * x1 * x2 + noise[0]
    w = np.sin(1.5 * x2) + 0.3 * y + 0.5 * noise[1]
    return pd.DataFrame({"x1": x1, "x2": x2, "y": y, "w": w, "z": noise[2]})


def _nonlinear_numbers(table: pd.DataFrame) -> Numbers:
    numbers = {name: table[name].to_numpy(float) for name in ("x1", "x2", "y", "w")}
    x1, x2 = numbers["x1"], numbers["x2"]
    return {**numbers, "x1 squared": x1**2, "x1 x2": x1 * x2}


def _mixed(n: int, rng: np.random.Generator) -> pd.DataFrame:
    x1, z, *noise = rng.normal(size=(5, n))
    chances = np.exp(np.stack([np.full(n, 1.2), 0.3 + 0.7 * x1, -0.2 - 0.7 * x1]))
    below = np.cumsum(chances / chances.sum(axis=0), axis=0)[:-1] < rng.random(n)
    group = np.array(["a", "b", "c"])[below.sum(axis=0)]
    income = np.exp(0.4 * x1 + 0.4 * (group == "b") + 0.6 * noise[0])
    effect = 0.8 * (group == "b") - 0.8 * (group == "c") + 0.8 * x1 * (group == "c")
    y = 1 + 0.5 * x1 + effect + 0.3 * income + noise[1]
    z = 0.4 * y + z
    return pd.DataFrame({"x1": x1, "income": income, "group": group, "y": y, "z": z})


def _mixed_numbers(table: pd.DataFrame) -> Numbers:
    numbers = {name: table[name].to_numpy(float) for name in ("x1", "income", "y")}
    is_b, is_c = ((table["group"] == label).to_numpy(float) for label in "bc")
    return {**numbers, "b": is_b, "c": is_c, "x1 c": numbers["x1"] * is_c}


@lru_cache(maxsize=1)
def designs() -> dict[str, Design]:
    """Return the designs by name."""
    curve = ("x1", "x2", "x1 squared", "x1 x2")
    model = ("x1", "income", "b", "c", "x1 c")

    def slope(outcome: str, predictor: str, predictors: tuple[str, ...]) -> Quantity:
        others = (name for name in predictors if name != predictor)
        return Quantity("slope", (outcome, predictor, *others))

    return {
        "linear": Design(
            _linear,
            {"y": (0.8, 0.5, 0.35), "x2": (-0.8, 0.5, 0.35), "b": (0.5, -0.8, 0.35)},
            _linear_numbers,
            {
                "mean of y": Quantity("mean", ("y",)),
                "share of b": Quantity("mean", ("b",)),
                "slope of y on x1": slope("y", "x1", ("x1", "x2")),
                "slope of y on x2": slope("y", "x2", ("x1", "x2")),
                "r(x2, y)": Quantity("correlation", ("x2", "y")),
                "r(b, y)": Quantity("correlation", ("b", "y")),
            },
            ("b",),
        ),
        "non-linear": Design(
            _nonlinear,
            {"y": (0.6, 0.6, 0.3), "x2": (-0.6, 0.6, 0.3), "w": (0.6, -0.6, 0.3)},
            _nonlinear_numbers,
            {
                "mean of y": Quantity("mean", ("y",)),
                "mean of w": Quantity("mean", ("w",)),
                "slope of y on x1 squared": slope("y", "x1 squared", curve),
                "slope of y on x1 x2": slope("y", "x1 x2", curve),
                "r(x2, w)": Quantity("correlation", ("x2", "w")),
                "r(y, w)": Quantity("correlation", ("y", "w")),
            },
            (),
        ),
        "mixed": Design(
            _mixed,
            {"income": (0.8, 0.5, 0.3), "group": (-0.8, 0.5, 0.3), "y": (0.5, -0.8, 0.3)},
            _mixed_numbers,
            {
                "mean of income": Quantity("mean", ("income",)),
                "mean of y": Quantity("mean", ("y",)),
                "share of c": Quantity("mean", ("c",)),
                "slope of y on income": slope("y", "income", model),
                "slope of y on x1 in c": slope("y", "x1 c", model),
                "r(x1, income)": Quantity("correlation", ("x1", "income")),
            },
            ("group",),
        ),
    }
