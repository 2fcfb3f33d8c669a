"""Lesson: a predictor imputed with and without the outcome.

Imputations of a predictor that ignore the outcome have no relation to it, so they flatten the
slope. Imputations drawn with the outcome keep it. Best guesses from the outcome lie too close to
its line and make the slope steeper.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from dashboard.learn.least_squares import FloatArray, coefficients, slope
from dashboard.learn.lesson import Lesson

LESSON = Lesson(
    name="outcome",
    title="Impute with the outcome",
    story="How many points does an exam score rise per hour of study? The hours of many of the "
    "500 students are missing, by chance; all scores are known. Missing hours are imputed, then "
    "the line is fitted to all students. Is it circular to impute hours **from the score** that "
    "they should explain? You choose.",
    question="How does the slope after imputation compare with the true slope?",
    answers={
        "flatter": "Flatter",
        "same": "The same, apart from chance",
        "steeper": "Steeper",
    },
    points=(
        "Imputations that **leave out the outcome** have no relation to it. They dilute the "
        "relation, and the slope shrinks toward 0: with half of the hours missing, by half.",
        "Imputations **drawn with the outcome** have the relation that the complete rows have, so "
        "the slope stays right. This is not circular: nothing is added that the complete rows do "
        "not show.",
        "**Best guesses** from the outcome lie on a line, without the natural scatter. They "
        "exaggerate the relation. Draw imputations with their scatter, several times (multiple "
        "imputation).",
        "So the imputation model contains every variable of the analysis, including the outcome.",
    ),
    simplified="There is one predictor, missing by chance, so the complete rows alone would also "
    "give the right slope. With several incomplete predictors, few rows are complete, and "
    "imputation is what keeps the others. The mean as a best guess without the outcome would leave "
    "this slope unchanged, but not the correlation. Slopes are means over 10 imputations; the "
    "uncertainty of the imputation model itself is ignored.",
)

Model = Literal["without", "with", "guess"]
Answer = Literal["flatter", "same", "steeper"]

MODELS: dict[Model, str] = {
    "without": "Without the score",
    "with": "With the score, drawn with scatter",
    "guess": "With the score, best guess only",
}
MODEL_WORDS: dict[Model, str] = {
    "without": "Each missing value is drawn from the distribution of the observed hours.",
    "with": "Each missing value is drawn from the hours of students with a similar score.",
    "guess": "Each missing value is the mean of the hours of students with the same score, by "
    "regression.",
}
N_ROWS, N_IMPUTATIONS, N_REPETITIONS = 500, 10, 200
LEAST_MISSING, MOST_MISSING, USUAL_MISSING = 30, 70, 50  # percent
TRUE_SLOPE = 2.5  # points per hour

MEAN_HOURS, _SPREAD_HOURS = 10.0, 2.5
MEAN_SCORE, _SPREAD_SCORE = 55.0, 8.0
_ANSWERS: dict[Model, Answer] = {"without": "flatter", "with": "same", "guess": "steeper"}
_REPETITIONS_SEED = 2**31  # beyond the seeds of readers


@dataclass(frozen=True, eq=False)
class Students:
    """Students of one table, or of many: the last axis has the students."""

    hours: FloatArray
    score: FloatArray
    missing: np.ndarray

    def complete_slope(self) -> FloatArray:
        """Return the slope of score on hours in the complete rows."""
        return slope(self.hours, self.score, kept=~self.missing)

    def impute(self, model: Model, scatter: FloatArray) -> FloatArray:
        """Return the hours with missing values imputed by a model.

        Parameters
        ----------
        model
            What the imputations depend on.
        scatter
            Standard normal numbers, one per student.
        """
        complete = ~self.missing
        predictors = [] if model == "without" else [self.score]
        fitted = coefficients(self.hours, *predictors, kept=complete)[..., None]
        expected = fitted[..., 0, :] + sum(
            fitted[..., place, :] * values for place, values in enumerate(predictors, start=1)
        )
        if model == "guess":
            return np.where(self.missing, expected, self.hours)
        squares = (complete * (self.hours - expected) ** 2).sum(axis=-1, keepdims=True)
        n_free = complete.sum(axis=-1, keepdims=True) - len(predictors) - 1
        return np.where(self.missing, expected + np.sqrt(squares / n_free) * scatter, self.hours)


@dataclass(frozen=True, eq=False)
class OutcomeResult:
    """One table, its slope after imputation, and those of other tables by the same rule.

    Attributes
    ----------
    model
        What the imputations depend on.
    students
        The reader's table.
    scatter
        Of the imputations that the picture shows.
    slopes
        The slope of this table after imputation by each model: the mean over all imputations.
    repeated
        The same in other tables.
    """

    model: Model
    students: Students
    scatter: FloatArray
    slopes: dict[Model, float]
    repeated: dict[Model, FloatArray]

    @property
    def answer(self) -> Answer:
        """What the model does to the slope, apart from chance."""
        return _ANSWERS[self.model]

    def sentence(self) -> str:
        """Return the result in numbers."""
        repeated = self.repeated[self.model]
        n_flatter = int((repeated < TRUE_SLOPE).sum())
        n_steeper = len(repeated) - n_flatter
        side = {
            "flatter": f"and flatter than the truth in {n_flatter} of them",
            "steeper": f"and steeper than the truth in {n_steeper} of them",
            "same": f"flatter than the truth in {n_flatter} of them and steeper in {n_steeper}",
        }[self.answer]
        return (
            f"True slope: **{TRUE_SLOPE:.2f}** points per hour. Complete rows: "
            f"**{self.students.complete_slope():.2f}**. After imputation: "
            f"**{self.slopes[self.model]:.2f}**. In {len(repeated)} other tables, it was "
            f"{repeated.mean():.2f} on average, {side}."
        )


def impute_hours(model: Model, percent_missing: int, seed: int) -> OutcomeResult:
    """Make a table, and impute its missing hours by all models.

    Parameters
    ----------
    model
        What the imputations depend on.
    percent_missing
        Share of hours that a coin removes.
    seed
        Makes the students, decides whose hours are missing, and draws the imputations.
    """
    rng = np.random.default_rng(seed)
    students = _make_students(rng, (N_ROWS,), percent_missing)
    scatter = rng.standard_normal((N_IMPUTATIONS, N_ROWS))
    slopes = {name: float(_pooled_slope(students, name, scatter)) for name in MODELS}
    repeated = {name: _repeated_slopes(name, percent_missing) for name in MODELS}
    return OutcomeResult(model, students, scatter[0], slopes, repeated)


def _make_students(
    rng: np.random.Generator, shape: tuple[int, ...], percent_missing: int
) -> Students:
    hours = MEAN_HOURS + _SPREAD_HOURS * rng.standard_normal(shape)
    noise = _SPREAD_SCORE * rng.standard_normal(shape)
    score = MEAN_SCORE + TRUE_SLOPE * (hours - MEAN_HOURS) + noise
    return Students(hours, score, rng.random(shape) < percent_missing / 100)


def _pooled_slope(students: Students, model: Model, scatter: FloatArray) -> FloatArray:
    """Return the mean slope over imputations: the first axis of their scatter."""
    slopes = [slope(students.impute(model, one), students.score) for one in scatter]
    return np.mean(slopes, axis=0)


@cache
def _repeated_slopes(model: Model, percent_missing: int) -> FloatArray:
    rng = np.random.default_rng(_REPETITIONS_SEED)
    students = _make_students(rng, (N_REPETITIONS, N_ROWS), percent_missing)
    return _pooled_slope(
        students, model, rng.standard_normal((N_IMPUTATIONS, N_REPETITIONS, N_ROWS))
    )
