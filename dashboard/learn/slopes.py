"""Lesson 4: what dropping incomplete rows does to a slope."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.special import ndtri

from dashboard.learn.gaussian import gaussian_of
from dashboard.learn.lesson import Lesson, independent_numbers
from pmae_core.amputation.propensity import observed_probability
from pmae_core.table.samples.clinic import make_clinic
from pmae_core.words import percent

LESSON = Lesson(
    name="slopes",
    title="Complete cases and a slope",
    story="By how much does blood pressure rise per year of age? The patients are simulated, so "
    "the true line is known. Half of these 600 patients have a missing value, and most software "
    "drops their rows silently. Choose **why** values are missing.",
    question="How does the line through the complete rows compare with the true line?",
    answers={"flatter": "Flatter", "same": "The same, apart from chance", "steeper": "Steeper"},
    points=(
        "Dropping rows does not bias a slope if values are missing by **chance** or by the "
        "**predictor** (age): each age still shows its usual blood pressures. This holds as long "
        "as a straight line fits. If age decides, the *mean* blood pressure is still biased.",
        "If missingness depends on the **outcome** (blood pressure), the line is flatter: at one "
        "end of the age range, the complete rows are atypical.",
        "If age is missing and blood pressure decides, the values are MAR, and dropping rows is "
        "still wrong. A method that uses all rows recovers the slope. If high blood pressures "
        "themselves are missing (MNAR), no method can know by how much to correct.",
    ),
    simplified="There is one predictor, its relation to the outcome is a straight line, and only "
    "one of the two columns has missing values. With a curved relation, rows missing by age would "
    "change the line, too. With several predictors, dropping rows loses many more of them.",
    first_seed=8,
)

X, Y = "age", "blood_pressure"
N_ROWS, P_OBS, N_REPETITIONS = 600, 0.5, 200
WEAKEST, STRONGEST, USUAL_STRENGTH = 1.0, 5.0, 3.0
_POPULATION_SEED = 2**31  # beyond the seeds of readers, so no reader's table is part of it

Line = tuple[float, float]
"""Slope and intercept."""


@dataclass(frozen=True)
class Cause:
    """Why values are missing: in which column, which column decides, and both in words."""

    title: str
    missing_in: str
    depends_on: str | None
    rule: str

    @property
    def effect(self) -> str:
        """What dropping rows does to the slope of the outcome on the predictor."""
        return "flatter" if self.depends_on == Y else "same"


CAUSES: dict[str, Cause] = {
    "chance": Cause("By chance", Y, None, "A coin flip decides whose blood pressure is missing."),
    "predictor": Cause("By age", Y, X, "Blood pressure is rarely measured in young patients."),
    "outcome": Cause(
        "By blood pressure itself",
        Y,
        Y,
        "Patients with high blood pressure were referred elsewhere, and their values were not "
        "reported.",
    ),
    "age": Cause(
        "Age, by blood pressure",
        X,
        Y,
        "When blood pressure was high, it was recorded, but there was no time to ask for the age.",
    ),
}


@dataclass(frozen=True, eq=False)
class DroppedRows:
    """Incomplete rows, and the slope with and without them.

    Attributes
    ----------
    cause
        Why values are missing.
    truth
        Age and pressure of all patients.
    kept
        True for complete rows.
    true_line
        Slope and intercept of very many patients: the truth behind every table.
    full_line, kept_line
        Of all rows of this table before values went missing, and of the complete ones.
    imputed_line
        Of a Gaussian fitted to all rows, incomplete ones included (EM).
    repeated_slopes
        Slopes of the complete rows in other tables of as many patients, by the same rule.
    """

    cause: Cause
    truth: pd.DataFrame
    kept: np.ndarray
    true_line: Line
    full_line: Line
    kept_line: Line
    imputed_line: Line
    repeated_slopes: np.ndarray

    @property
    def true_slope(self) -> float:
        """The rise per year in very many patients."""
        return self.true_line[0]

    def change(self) -> float:
        """Return the relative change of the slope by the rule, on average over all tables."""
        return float(self.repeated_slopes.mean() / self.true_slope - 1)

    def sentence(self) -> str:
        """Return the result in numbers."""
        change = self.change()
        word = "flatter" if change < 0 else "steeper"
        n_flatter = int((self.repeated_slopes < self.true_slope).sum())
        return (
            f"The true line rises by **{self.true_slope:.2f}** per year, the complete rows by "
            f"**{self.kept_line[0]:.2f}**, all rows after imputation (EM) by "
            f"**{self.imputed_line[0]:.2f}**. In {len(self.repeated_slopes)} tables with this "
            f"rule, the complete rows were {percent(abs(change))} {word} on average; {n_flatter} "
            "were flatter."
        )


def drop_rows(cause_name: str, strength: float, seed: int) -> DroppedRows:
    """Remove a value in half of the rows for a cause, and compare the slopes.

    Parameters
    ----------
    cause_name
        One of ``CAUSES``.
    strength
        How strongly the deciding column decides: 1 is a tendency, 5 nearly a strict rule.
    seed
        Makes the patients and their missing values.
    """
    cause = CAUSES[cause_name]
    truth, kept = patients_and_complete_rows(cause_name, strength, seed)
    incomplete = truth.assign(**{cause.missing_in: truth[cause.missing_in].where(kept)})
    fitted = gaussian_of(incomplete)
    return DroppedRows(
        cause=cause,
        truth=truth,
        kept=kept,
        true_line=_line(_population()),
        full_line=_line(truth),
        kept_line=_line(truth[kept]),
        imputed_line=_line_of(fitted.mean, fitted.covariance),
        repeated_slopes=_repeated_slopes(cause, strength),
    )


def patients_and_complete_rows(
    cause_name: str, strength: float, seed: int
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return age and pressure of all patients, and True for the rows without a missing value."""
    truth = make_clinic(N_ROWS, seed).truth[[X, Y]].astype(float)
    p_observed = _probability_observed(truth, CAUSES[cause_name], strength)
    return truth, independent_numbers(seed).random(N_ROWS) < p_observed


def _probability_observed(truth: pd.DataFrame, cause: Cause, strength: float) -> np.ndarray:
    if cause.depends_on is None:
        return np.full(len(truth), P_OBS)
    ranks = truth[cause.depends_on].rank().to_numpy()
    score = ndtri((ranks - 0.5) / len(truth))
    sign = 1 if cause.depends_on == X else -1  # the young, and high pressures, lose values
    return observed_probability(sign * strength * score, P_OBS)


def _line(rows: pd.DataFrame) -> Line:
    return _line_of(rows[[X, Y]].mean().to_numpy(), np.cov(rows[X], rows[Y]))


def _line_of(mean: np.ndarray, covariance: np.ndarray) -> Line:
    slope = float(covariance[0, 1] / covariance[0, 0])
    return slope, float(mean[1] - slope * mean[0])


@cache
def _population() -> pd.DataFrame:
    """Return the patients of all other tables, one table after another; read-only."""
    truth = make_clinic(N_ROWS * N_REPETITIONS, _POPULATION_SEED).truth
    return truth[[X, Y]].astype(float)


def _repeated_slopes(cause: Cause, strength: float) -> np.ndarray:
    """Return the slopes of the complete rows in other tables, all at once."""
    population = _population()
    shape = (N_REPETITIONS, N_ROWS)
    p_observed = _probability_observed(population, cause, strength).reshape(shape)
    kept = (independent_numbers(_POPULATION_SEED).random(shape) < p_observed).astype(float)
    x, y = ((population[name] - population[name].mean()).to_numpy() for name in (X, Y))
    x, y, n = x.reshape(shape), y.reshape(shape), kept.sum(axis=1)
    mean_x, mean_y = (kept * x).sum(axis=1) / n, (kept * y).sum(axis=1) / n
    covariance = (kept * x * y).sum(axis=1) / n - mean_x * mean_y
    return covariance / ((kept * x * x).sum(axis=1) / n - mean_x**2)
