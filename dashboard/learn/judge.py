"""RMSE is the wrong judge: values on the line, or random values around it?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from dashboard.learn.lesson import Lesson, independent_numbers
from dashboard.learn.patients import Patients, fit_lines, make_patients
from pmae_core.words import percent

LESSON = Lesson(
    name="judge",
    title="RMSE is the wrong judge",
    story="Half of the blood pressures of 600 patients are missing by chance and are imputed from "
    "age, in one of two ways. **On the line**: the mean blood pressure at that age. **Scattered**: "
    "a random value around the line, as far away as measured values are. Choose **what you want "
    "to know**.",
    question="Which imputed values give an answer closer to the truth?",
    answers={
        "line": "Those on the line",
        "same": "Neither: both are equally close, apart from chance",
        "scattered": "The scattered ones",
    },
    points=(
        "The value on the line is the best guess of each **single** value: no other has a smaller "
        "RMSE on average. Scattered values have an RMSE about 1.4 times as large.",
        "A column of best guesses is not like the column of real values: its SD is too small, its "
        "correlations are too strong, and extreme values are too rare.",
        "Scattered values are worse guesses, but a better **table**. Estimates that depend on the "
        "spread of values come out right on average.",
        "So ask first what the imputed table is for. To rank methods for an analysis, use scores "
        "of whole distributions and check your own estimates, not RMSE alone.",
    ),
    simplified="Values are missing by chance, and a straight line with equal scatter is the right "
    "model. A mean or the slope on age comes out right either way. Scattered values of *one* table "
    "still give intervals that are too narrow: that takes multiple imputation.",
    first_seed=6,
)

N_ROWS, P_OBSERVED, N_REPETITIONS = 600, 0.5, 200
HIGH = 145
_REPETITIONS_SEED = 2**31  # beyond the seeds of readers


@dataclass(frozen=True, eq=False)
class Imputed:
    """Tables whose missing pressures were imputed in both ways; arrays of shape (tables, rows)."""

    patients: Patients
    observed: np.ndarray
    on_line: np.ndarray
    scattered: np.ndarray

    def completed(self) -> dict[str, np.ndarray]:
        """Return all pressures by the way of imputing, with the truth as ``"truth"``."""
        truth = self.patients.pressure
        return {
            "truth": truth,
            "line": np.where(self.observed, truth, self.on_line),
            "scattered": np.where(self.observed, truth, self.scattered),
        }


@dataclass(frozen=True)
class Purpose:
    """What somebody wants to know from the table.

    Attributes
    ----------
    title
        As a choice.
    label
        On an axis, with its unit.
    right
        The key of the answer.
    write
        A value as text.
    measure
        Returns the value for each table, from the tables and their completed pressures.
    """

    title: str
    label: str
    right: str
    write: Callable[[float], str]
    measure: Callable[[Imputed, np.ndarray], np.ndarray]


def _spread(_: Imputed, pressure: np.ndarray) -> np.ndarray:
    return pressure.std(axis=1, ddof=1)


def _correlation(tables: Imputed, pressure: np.ndarray) -> np.ndarray:
    age = tables.patients.age
    from_age, from_pressure = (v - v.mean(axis=1, keepdims=True) for v in (age, pressure))
    covariance = (from_age * from_pressure).mean(axis=1)
    return covariance / (age.std(axis=1) * pressure.std(axis=1))


def _share_high(_: Imputed, pressure: np.ndarray) -> np.ndarray:
    return (pressure > HIGH).mean(axis=1)


def _rmse(tables: Imputed, pressure: np.ndarray) -> np.ndarray:
    squares = (pressure - tables.patients.pressure) ** 2
    return np.sqrt(squares.sum(axis=1) / (~tables.observed).sum(axis=1))


PURPOSES: dict[str, Purpose] = {
    "spread": Purpose(
        "How much blood pressure varies (SD)",
        "SD of blood pressure (mmHg)",
        "scattered",
        lambda value: f"{value:.1f} mmHg",
        _spread,
    ),
    "correlation": Purpose(
        "How closely it goes with age (correlation)",
        "correlation with age",
        "scattered",
        lambda value: f"{value:.2f}",
        _correlation,
    ),
    "high": Purpose(
        f"How many patients are above {HIGH} mmHg",
        f"share above {HIGH} mmHg",
        "scattered",
        percent,
        _share_high,
    ),
    "values": Purpose(
        "Each missing value (RMSE)",
        "RMSE of the imputed values (mmHg)",
        "line",
        lambda value: f"{value:.1f} mmHg",
        _rmse,
    ),
}


@dataclass(frozen=True, eq=False)
class Judged:
    """Both ways of imputing, judged for one purpose.

    Attributes
    ----------
    purpose
        What is wanted.
    table
        The reader's table, as one of one.
    values
        The wanted value from the truth and from each imputed table.
    repeated
        The same in other tables.
    """

    purpose: Purpose
    table: Imputed
    values: dict[str, float]
    repeated: dict[str, np.ndarray]

    def n_right(self) -> int:
        """Return in how many other tables the right answer came closer."""
        return int(_closer(self.repeated, self.purpose.right).sum())

    def repeated_sentence(self) -> str:
        """Say how often the right answer came closer in other tables."""
        winner = {"line": "Values on the line", "scattered": "Scattered values"}[self.purpose.right]
        return f"{winner} came closer in {self.n_right()} of {N_REPETITIONS} other tables."

    def sentence(self) -> str:
        """Return the result in numbers."""
        write = self.purpose.write
        truth = (
            ""
            if self.purpose is PURPOSES["values"]
            else f"Truth: **{write(self.values['truth'])}**. "
        )
        exception = (
            "" if _closer(self.values, self.purpose.right) else "This table is an exception. "
        )
        return (
            f"{truth}On the line: **{write(self.values['line'])}**. Scattered: "
            f"**{write(self.values['scattered'])}**. {exception}{self.repeated_sentence()}"
        )


def judge(purpose_name: str, seed: int) -> Judged:
    """Impute a table in both ways, and judge them for a purpose.

    Parameters
    ----------
    purpose_name
        One of ``PURPOSES``.
    seed
        Makes the patients, their missing values and the scatter.
    """
    purpose = PURPOSES[purpose_name]
    table = _impute(1, seed)
    values = {name: float(value[0]) for name, value in _measure(purpose, table).items()}
    return Judged(purpose, table, values, _repeated_values(purpose_name))


def _measure(purpose: Purpose, tables: Imputed) -> dict[str, np.ndarray]:
    return {
        name: purpose.measure(tables, pressure) for name, pressure in tables.completed().items()
    }


def _closer(values: dict, right: str) -> np.ndarray:
    """Return where the right answer's value is closer to the truth than the other."""
    other = "line" if right == "scattered" else "scattered"
    return np.abs(values[right] - values["truth"]) < np.abs(values[other] - values["truth"])


@cache
def _repeated_values(purpose_name: str) -> dict[str, np.ndarray]:
    return _measure(PURPOSES[purpose_name], _impute(N_REPETITIONS, _REPETITIONS_SEED))


def _impute(n_tables: int, seed: int) -> Imputed:
    patients = make_patients(n_tables, N_ROWS, np.random.default_rng(seed))
    rng = independent_numbers(seed)
    observed = rng.random(patients.age.shape) < P_OBSERVED
    line = fit_lines(patients.age, patients.pressure, observed)
    on_line = line.at(patients.age)
    return Imputed(patients, observed, on_line, rng.normal(on_line, line.spread))
