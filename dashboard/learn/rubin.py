"""Multiple imputation and Rubin's rules: how many of a hundred intervals contain the truth?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from dashboard.learn.lesson import Lesson, independent_numbers
from dashboard.learn.patients import (
    MEAN_AGE,
    MEAN_PRESSURE,
    SPREAD_OF_AGES,
    fit_lines,
    make_patients,
    means,
)
from dashboard.learn.pooling import ConfidenceIntervals, intervals, pooled_intervals
from pmae_core.amputation.propensity import observed_probability
from pmae_core.words import percent

LESSON = Lesson(
    name="rubin",
    title="Multiple imputation and Rubin's rules",
    story="A hundred studies of 60 patients each estimate the same mean blood pressure. Older "
    "patients miss theirs more often. Each study imputes every missing value **once**, with a "
    "plausible random value given the age, and then computes its 95% interval as if all values had "
    "been measured.",
    question="About how many of the 100 intervals contain the true mean?",
    answers={"95": "About 95, as a 95% interval should", "80": "About 80", "60": "About 60"},
    points=(
        "An analysis of **one** imputed table counts imputed values as measured. Its estimate is "
        "not biased here, but its interval is **too narrow**.",
        "**Multiple imputation** imputes the table *m* times and repeats the analysis. How far the "
        "*m* estimates differ shows what the missing values cost.",
        "**Rubin's rules**: the estimate is the mean of the *m* estimates; its variance is the "
        "mean variance **within** the imputed tables plus (1 + 1/*m*) times the variance "
        "**between** their estimates.",
        "With *m* = 2 the variance between is hardly known: some intervals are very wide, others "
        "too narrow. More imputations make them narrower and steadier, but not as narrow as "
        "without missing values.",
    ),
    simplified="The imputation knows the right model: a straight line with normal scatter, and "
    "missingness that depends on age alone. It also accounts for the uncertainty of that line. "
    "With a wrong model, Rubin's rules do not help: the intervals then lie in the wrong place.",
)

N_STUDIES, N_ROWS, N_REPETITIONS = 100, 60, 200
NUMBERS_OF_IMPUTATIONS, USUAL_NUMBER = (2, 5, 20), 5
SHARES_MISSING, USUAL_SHARE = (0.4, 0.65), 0.4
TRUTH = MEAN_PRESSURE
_REPETITIONS_SEED = 2**31  # beyond the seeds of readers


@dataclass(frozen=True, eq=False)
class Studies:
    """Intervals of many studies from one imputation, and from several by Rubin's rules."""

    single: ConfidenceIntervals
    pooled: ConfidenceIntervals

    def hits(self) -> tuple[np.ndarray, np.ndarray]:
        """Return how many of each hundred contain the truth: single imputation, Rubin's rules."""
        single, pooled = (
            part.contain(TRUTH).reshape(-1, N_STUDIES).sum(axis=1)
            for part in (self.single, self.pooled)
        )
        return single, pooled

    def widening(self) -> float:
        """Return by what factor Rubin's rules widen an interval, in the median."""
        return float(np.median(self.pooled.width / self.single.width))


@dataclass(frozen=True, eq=False)
class Hundred:
    """A hundred studies, and many more hundreds by the same rule.

    Attributes
    ----------
    share_missing
        Of blood pressures, on average.
    n_imputations
        Of each study for Rubin's rules.
    studies
        The hundred.
    repeated
        All other hundreds.
    """

    share_missing: float
    n_imputations: int
    studies: Studies
    repeated: Studies

    @property
    def answer(self) -> str:
        """The answer nearest to the average over all hundreds."""
        average = self.repeated.hits()[0].mean()
        return min(LESSON.answers, key=lambda number: abs(float(number) - average))

    def sentence(self) -> str:
        """Return the result in numbers."""
        (single,), (pooled,) = self.studies.hits()
        often, pooled_often = (hits.mean() / N_STUDIES for hits in self.repeated.hits())
        return (
            f"From one imputation, **{single}** of the 100 intervals contain the true mean of "
            f"{TRUTH:.0f}. By Rubin's rules with m = {self.n_imputations}, **{pooled}** do; those "
            f"intervals are {self.studies.widening():.1f} times as wide (median). On average over "
            f"{N_REPETITIONS} other hundreds, {percent(often)} and {percent(pooled_often)} contain "
            "it."
        )


def make_hundred(share_missing: float, n_imputations: int, seed: int) -> Hundred:
    """Simulate a hundred studies and their intervals.

    Parameters
    ----------
    share_missing
        One of ``SHARES_MISSING``.
    n_imputations
        One of ``NUMBERS_OF_IMPUTATIONS``, for Rubin's rules.
    seed
        Makes the patients, their missing values and the imputations.
    """
    return Hundred(
        share_missing,
        n_imputations,
        _studies(*_imputed_means(share_missing, N_STUDIES, seed), n_imputations),
        _repeated(share_missing, n_imputations),
    )


@cache
def _repeated(share_missing: float, n_imputations: int) -> Studies:
    return _studies(*_repeated_means(share_missing), n_imputations)


@cache
def _repeated_means(share_missing: float) -> tuple[np.ndarray, np.ndarray]:
    return _imputed_means(share_missing, N_STUDIES * N_REPETITIONS, _REPETITIONS_SEED)


def _studies(estimates: np.ndarray, variances: np.ndarray, n_imputations: int) -> Studies:
    df = N_ROWS - 1
    return Studies(
        single=intervals(estimates[:, 0], variances[:, 0], np.float64(df)),
        pooled=pooled_intervals(estimates[:, :n_imputations], variances[:, :n_imputations], df),
    )


def _imputed_means(
    share_missing: float, n_studies: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean pressure and its squared standard error of each study and imputation.

    Imputed values are normal around a line with normal scatter, both from the posterior of a
    regression on age (as R's ``mice.impute.norm``). Mean and variance need only three sums over the
    scatter of a study's imputed values, whose distributions are known; so there is no need to
    make the values themselves, of which there would be 10 million.
    """
    patients = make_patients(n_studies, N_ROWS, np.random.default_rng(seed))
    rng = independent_numbers(seed)
    older = (patients.age - MEAN_AGE) / SPREAD_OF_AGES
    p_observed = observed_probability(-older.ravel(), 1 - share_missing).reshape(older.shape)
    observed = rng.random(older.shape) < p_observed
    line = fit_lines(patients.age, patients.pressure, observed)

    shape = (n_studies, max(NUMBERS_OF_IMPUTATIONS))
    spread = np.sqrt(line.residual_squares / rng.chisquare(line.n_rows - 2, shape))
    slope = line.slope + spread * rng.normal(size=shape) / np.sqrt(line.squares_x)
    height = line.mean_y + spread * rng.normal(size=shape) / np.sqrt(line.n_rows)

    n_missing = N_ROWS - line.n_rows
    mean_age = means(patients.age, ~observed)
    squares_age = (((patients.age - mean_age) * ~observed) ** 2).sum(axis=1, keepdims=True)
    middle = height + slope * (mean_age - line.mean_x)
    # Sums of the scatter, of scatter times age, and of squared scatter.
    first, second = rng.normal(size=(2, *shape))
    scatter = spread * np.sqrt(n_missing) * first
    with_age = spread * np.sqrt(squares_age) * second
    squares = spread**2 * (first**2 + second**2 + rng.chisquare(n_missing - 2, shape))

    mean = (line.n_rows * line.mean_y + n_missing * middle + scatter) / N_ROWS
    deviations = (
        line.residual_squares
        + line.slope**2 * line.squares_x
        + line.n_rows * (line.mean_y - mean) ** 2
        + slope**2 * squares_age
        + n_missing * (middle - mean) ** 2
        + 2 * ((middle - mean) * scatter + slope * with_age)
        + squares
    )
    return mean, deviations / (N_ROWS - 1) / N_ROWS
