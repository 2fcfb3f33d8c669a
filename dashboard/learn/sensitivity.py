"""Sensitivity: how wrong may the assumption about missing values be?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from dashboard.learn.lesson import Lesson, independent_numbers
from dashboard.learn.pooling import ConfidenceIntervals, pooled_intervals
from pmae_core.words import percent

LESSON = Lesson(
    name="sensitivity",
    title="How wrong may the assumption be?",
    story="160 patients take a drug and 160 a placebo: how much does blood pressure improve? Some "
    "on the drug drop out. With their values imputed like those of the others (MAR), the interval "
    "of the difference excludes 0. But perhaps they left **because** the drug did not help.",
    question="How much worse than imputed must the missing values be before the interval reaches "
    "0?",
    answers={
        "less": "By less than the distance from the interval to 0",
        "same": "By about that distance",
        "more": "By at least twice that distance",
    },
    points=(
        "No test shows whether missing values are MNAR. A **sensitivity analysis** asks instead: "
        "how far off (δ, *delta*) would they have to be to change the conclusion? That is the "
        "**tipping point**.",
        "Only the missing values move. If a share *f* of a group is missing, its mean moves by "
        "*f* · δ: the fewer values are missing, the further the tipping point.",
        "The tipping point alone proves nothing. Ask those who know the patients whether such a δ "
        "is plausible. If it is, the conclusion rests on the assumption, not on the data.",
        "Choose a plausible range of δ **before** looking at the result, and report the result "
        "over that range.",
    ),
    simplified="All missing values are off by the same δ, and only the drug group has any. In "
    "practice both groups may have their own δ, and it may differ from patient to patient. The "
    "points are one of 20 imputations; the means and the interval are pooled over all of them.",
)

N_ROWS, N_IMPUTATIONS, N_REPETITIONS = 160, 20, 200
SHARES_MISSING, USUAL_SHARE = (0.1, 0.25, 0.4), 0.4
EFFECT, MEAN_PLACEBO, SPREAD = 8.0, 1.0, 10.0
STEPS_TO_TIPPING_POINT, STEPS_BEYOND = 24, 10
_REPETITIONS_SEED = 2**31  # beyond the seeds of readers
_PRECISION = 1e-3


@dataclass(frozen=True, eq=False)
class Trials:
    """Trials whose missing values were imputed several times under MAR.

    Attributes
    ----------
    placebo
        Improvement of patients on the placebo in mmHg, of shape (trials, rows).
    drug
        The same on the drug, each imputation as a table: (trials, imputations, rows).
    missing
        True where a value of the drug group is missing, of shape (trials, 1, rows).
    """

    placebo: np.ndarray
    drug: np.ndarray
    missing: np.ndarray

    def difference(self, delta: np.ndarray) -> ConfidenceIntervals:
        """Return drug minus placebo, pooled, if missing values are worse by delta than imputed.

        One delta per trial; or, of a single trial, any number of them.
        """
        drug = self.drug - np.reshape(delta, (-1, 1, 1)) * self.missing
        estimate = drug.mean(axis=2) - self.placebo.mean(axis=1, keepdims=True)
        variance = drug.var(axis=2, ddof=1) + self.placebo.var(axis=1, ddof=1, keepdims=True)
        return pooled_intervals(estimate, variance / N_ROWS, 2 * N_ROWS - 2)

    def distance(self) -> np.ndarray:
        """Return how far above 0 the interval of each trial begins under MAR."""
        return self.difference(np.zeros(len(self.drug))).low

    def tipping_point(self) -> np.ndarray:
        """Return the delta of each trial at which its interval reaches 0, by bisection."""
        low = np.zeros(len(self.drug))
        high = np.full(len(self.drug), 200.0)
        for _ in range(math.ceil(math.log2(200.0 / _PRECISION))):
            middle = (low + high) / 2
            excludes = self.difference(middle).low > 0
            low, high = np.where(excludes, middle, low), np.where(excludes, high, middle)
        return high


@dataclass(frozen=True, eq=False)
class Tipped:
    """A trial and the shift of its missing values that changes the conclusion.

    Attributes
    ----------
    trial
        The reader's trial, as one of one.
    deltas, differences
        Shifts from 0 to beyond the tipping point, and the difference under each.
    repeated_distances, repeated_tipping_points
        The same in other trials: how far from 0 the interval begins under MAR, and the shift at
        which it reaches 0.
    """

    trial: Trials
    deltas: np.ndarray
    differences: ConfidenceIntervals
    repeated_distances: np.ndarray
    repeated_tipping_points: np.ndarray

    @property
    def tipping_point(self) -> float:
        """The shift at which the interval reaches 0."""
        return float(self.deltas[STEPS_TO_TIPPING_POINT])

    @property
    def distance(self) -> float:
        """How far above 0 the interval begins under MAR."""
        return float(self.differences.low[0])

    @property
    def multiple(self) -> float:
        """The tipping point, in distances from the interval to 0."""
        return self.tipping_point / self.distance

    @property
    def share_missing(self) -> float:
        """Of the drug group."""
        return float(self.trial.missing.mean())

    def sentence(self) -> str:
        """Return the result in numbers."""
        center, low, high = (
            float(part[0])
            for part in (self.differences.center, self.differences.low, self.differences.high)
        )
        spread = float(self.trial.drug[0, 0, ~self.trial.missing[0, 0]].std(ddof=1))
        return (
            f"Under MAR, the difference is **{center:.1f}** mmHg (95% interval {low:.1f} to "
            f"{high:.1f}). The interval reaches 0 if the missing values are "
            f"**{self.tipping_point:.1f}** mmHg worse than imputed: {self.multiple:.1f} times the "
            f"distance of {low:.1f}, because only {percent(self.share_missing)} of the group's "
            f"values move. For scale, observed values on the drug have an SD of {spread:.1f} mmHg."
        )


def find_tipping_point(share_missing: float, seed: int) -> Tipped:
    """Make a trial, impute it, and shift the missing values until the conclusion changes.

    Parameters
    ----------
    share_missing
        Of the drug group; one of ``SHARES_MISSING``.
    seed
        Makes the patients, their missing values and the imputations.
    """
    trial = _make_trials(share_missing, 1, seed)
    steps = np.arange(STEPS_TO_TIPPING_POINT + STEPS_BEYOND + 1)
    deltas = float(trial.tipping_point()[0]) * steps / STEPS_TO_TIPPING_POINT
    return Tipped(trial, deltas, trial.difference(deltas), *_repeated(share_missing))


@cache
def _repeated(share_missing: float) -> tuple[np.ndarray, np.ndarray]:
    trials = _make_trials(share_missing, N_REPETITIONS, _REPETITIONS_SEED)
    return trials.distance(), trials.tipping_point()


def _make_trials(share_missing: float, n_trials: int, seed: int) -> Trials:
    rng, missing_rng = np.random.default_rng(seed), independent_numbers(seed)
    drug = rng.normal(MEAN_PLACEBO + EFFECT, SPREAD, (n_trials, N_ROWS))
    placebo = rng.normal(MEAN_PLACEBO, SPREAD, (n_trials, N_ROWS))
    # The same number in every trial, as the reader chose it.
    order = missing_rng.permuted(np.tile(np.arange(N_ROWS), (n_trials, 1)), axis=1)
    missing = order < round(share_missing * N_ROWS)
    return Trials(placebo, _impute(drug, missing, missing_rng), missing[:, None, :])


def _impute(values: np.ndarray, missing: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Impute from the posterior of a normal distribution, several times."""
    observed = ~missing
    n = observed.sum(axis=1, keepdims=True)
    mean = (values * observed).sum(axis=1, keepdims=True) / n
    squares = ((values - mean) ** 2 * observed).sum(axis=1, keepdims=True)
    shape = (len(values), N_IMPUTATIONS)
    spread = np.sqrt(squares / rng.chisquare(n - 1, shape))
    center = rng.normal(mean, spread / np.sqrt(n))
    imputed = rng.normal(center[..., None], spread[..., None], (*shape, values.shape[1]))
    return np.where(missing[:, None, :], imputed, values[:, None, :])
