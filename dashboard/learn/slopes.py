"""Lesson 4: what dropping rows with holes does to a slope."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.special import ndtri

from dashboard.learn.gaussian import gaussian_of
from dashboard.learn.lesson import Lesson, luck
from pmae_core.amputation.propensity import observed_probability
from pmae_core.table.samples.clinic import make_clinic
from pmae_core.words import percent

LESSON = Lesson(
    name="slopes",
    title="Dropping rows and a slope",
    story="How much does blood pressure rise with each year of age? Half of the 600 patients have "
    "a hole, and the usual program drops them without a word. Choose **why** they have a hole.",
    question="The line through the rows that stay, compared with that of all patients: what do "
    "you expect?",
    answers={"flatter": "Flatter", "same": "The same, but for luck", "steeper": "Steeper"},
    takeaways=(
        "Dropping rows is safe for a slope where the holes come by **chance**, or by the "
        "**predictor** (age): each age still shows its usual pressures. This holds as long as "
        "a straight line fits; and where age decides, the *mean* pressure is wrong all the same.",
        "Where the holes depend on the **outcome** (pressure), the line gets flatter: at one end "
        "of the ages, the rows that stay are the untypical ones.",
        "If it is the age that is missing and the pressure decides, the holes are MAR, and "
        "dropping rows is still wrong. A method that keeps all rows repairs the slope. If the "
        "pressure itself is missing where it is high (MNAR), no method knows how.",
    ),
)

X, Y = "age", "blood_pressure"
N_ROWS, P_OBS, N_REDRAWS = 600, 0.5, 200
WEAKEST, STRONGEST, USUAL_STRENGTH = 1.0, 5.0, 3.0
_POPULATION_SEED = 2**31  # beyond those of readers: nobody's table is a part of it


@dataclass(frozen=True)
class Cause:
    """Why rows have a hole: the column with holes, the column that decides, and words."""

    title: str
    holes_in: str
    depends_on: str | None
    rule: str

    @property
    def effect(self) -> str:
        """What dropping rows does to the slope of the outcome on the predictor."""
        return "flatter" if self.depends_on == Y else "same"


CAUSES: dict[str, Cause] = {
    "chance": Cause(
        "Pressure is missing by chance", Y, None, "A coin decides whose pressure is missing."
    ),
    "predictor": Cause(
        "Pressure is missing by age", Y, X, "The young mostly have no pressure measured."
    ),
    "outcome": Cause(
        "High pressures are missing",
        Y,
        Y,
        "Patients with a high pressure were sent elsewhere, and their values never came back.",
    ),
    "age": Cause(
        "Age is missing at high pressure",
        X,
        Y,
        "With a high pressure there was no time to ask for the age; the pressure was written down.",
    ),
}


@dataclass(frozen=True, eq=False)
class DroppedRows:
    """Rows with a hole, and the slope with and without them.

    Attributes
    ----------
    cause
        Why rows have a hole.
    truth
        Age and pressure of all patients.
    kept
        True for the rows without a hole.
    true_line, kept_line
        Slope and height at age 0 of all rows, and of those that stay.
    filled_slope
        Slope by a Gaussian fitted to all rows, those with a hole included (EM).
    population_slope
        Slope of a great many patients: the truth behind every table.
    redrawn_slopes
        Slopes of the rows that stay in other tables of as many patients, by the same rule.
    """

    cause: Cause
    truth: pd.DataFrame
    kept: np.ndarray
    true_line: tuple[float, float]
    kept_line: tuple[float, float]
    filled_slope: float
    population_slope: float
    redrawn_slopes: np.ndarray

    def change(self) -> float:
        """Return by what share the rule changes the slope, on average over all tables."""
        return float(self.redrawn_slopes.mean() / self.population_slope - 1)

    def sentence(self) -> str:
        """Say what happened, in numbers."""
        change = self.change()
        word = "flatter" if change < 0 else "steeper"
        n_flatter = int((self.redrawn_slopes < self.population_slope).sum())
        return (
            f"All patients: **{self.true_line[0]:.2f}** a year. Rows that stay: "
            f"**{self.kept_line[0]:.2f}**. All rows, holes filled (EM): "
            f"**{self.filled_slope:.2f}**. In {len(self.redrawn_slopes)} other tables with the "
            f"same rule, the line of the rows that stay was {percent(abs(change))} {word} than the "
            f"truth on average, and flatter in {n_flatter} of them."
        )


def drop_rows(cause_name: str, strength: float, seed: int) -> DroppedRows:
    """Make holes in half of the rows for a cause, and compare the slopes.

    Parameters
    ----------
    cause_name
        One of ``CAUSES``.
    strength
        How strictly the deciding column decides: 1 is a tendency, 5 nearly a rule.
    seed
        Makes patients and holes.
    """
    cause = CAUSES[cause_name]
    truth = make_clinic(N_ROWS, seed).truth[[X, Y]].astype(float)
    stay = _chance_to_stay(truth, cause, strength)
    kept = luck(seed).random(N_ROWS) < stay
    incomplete = truth.assign(**{cause.holes_in: truth[cause.holes_in].where(kept)})
    fitted = gaussian_of(incomplete)
    return DroppedRows(
        cause=cause,
        truth=truth,
        kept=kept,
        true_line=_line(truth),
        kept_line=_line(truth[kept]),
        filled_slope=float(fitted.covariance[0, 1] / fitted.covariance[0, 0]),
        population_slope=_line(_population())[0],
        redrawn_slopes=_slopes_elsewhere(cause, strength),
    )


def _chance_to_stay(truth: pd.DataFrame, cause: Cause, strength: float) -> np.ndarray:
    if cause.depends_on is None:
        return np.full(len(truth), P_OBS)
    ranks = truth[cause.depends_on].rank().to_numpy()
    score = ndtri((ranks - 0.5) / len(truth))
    sign = 1 if cause.depends_on == X else -1  # the young, and the high pressures, go
    return observed_probability(sign * strength * score, P_OBS)


def _line(rows: pd.DataFrame) -> tuple[float, float]:
    covariance = np.cov(rows[X], rows[Y])
    slope = float(covariance[0, 1] / covariance[0, 0])
    return slope, float(rows[Y].mean() - slope * rows[X].mean())


@cache
def _population() -> pd.DataFrame:
    """Return the patients of all other tables, one table after the other; read-only."""
    truth = make_clinic(N_ROWS * N_REDRAWS, _POPULATION_SEED).truth
    return truth[[X, Y]].astype(float)


def _slopes_elsewhere(cause: Cause, strength: float) -> np.ndarray:
    """Return the slopes of the rows that stay in other tables, all at once."""
    population = _population()
    shape = (N_REDRAWS, N_ROWS)
    stay = _chance_to_stay(population, cause, strength).reshape(shape)
    kept = (luck(_POPULATION_SEED).random(shape) < stay).astype(float)
    x, y = ((population[name] - population[name].mean()).to_numpy() for name in (X, Y))
    x, y, n = x.reshape(shape), y.reshape(shape), kept.sum(axis=1)
    mean_x, mean_y = (kept * x).sum(axis=1) / n, (kept * y).sum(axis=1) / n
    covariance = (kept * x * y).sum(axis=1) / n - mean_x * mean_y
    return covariance / ((kept * x * x).sum(axis=1) / n - mean_x**2)
