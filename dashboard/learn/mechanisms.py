"""Lesson 2: MCAR, MAR, MNAR. In which direction is the observed mean biased?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from dashboard.learn.gaussian import gaussian_of
from dashboard.learn.lesson import LARGEST_SEED, Lesson, independent_numbers
from pmae_core.amputation import Amputation, ampute
from pmae_core.table.samples.clinic import make_clinic

LESSON = Lesson(
    name="mechanisms",
    title="MCAR, MAR, MNAR",
    story="Half of the blood pressures of 600 patients go missing. You choose **how**; the seed "
    "decides whether high or low values are affected.",
    question="How does the mean of the observed blood pressures compare with the mean of all "
    "patients?",
    answers={"low": "Too low", "right": "No bias, only chance", "high": "Too high"},
    points=(
        "**MCAR**: the observed values are a random sample. You lose precision, but there is no "
        "bias.",
        "**MAR**: the observed mean is biased, but observed columns account for it. A method that "
        "uses `age` corrects the mean.",
        "**MNAR**: the observed mean is biased, and nothing in the table says by how much. A "
        "method that uses `age` corrects it at best partly.",
        "Two signs give the direction: which patients lose values, and how that relates to the "
        "value.",
    ),
    simplified="Only one column has missing values, half of it, and one column decides. Blood "
    "pressure rises with age along a straight line, so one regression is enough to correct MAR. "
    "In real tables nobody knows the mechanism, several mechanisms act at once, and a correction "
    "is only as good as the columns that were observed.",
    first_seed=2,
)

Mechanism = Literal["MCAR", "MAR", "MNAR"]
Direction = Literal["low", "right", "high"]

MECHANISM_WORDS: dict[str, str] = {
    "MCAR": "By chance (MCAR)",
    "MAR": "By age (MAR)",
    "MNAR": "By blood pressure itself (MNAR)",
}
VALUE, KNOWN = "blood_pressure", "age"
N_ROWS, P_OBS, N_REPETITIONS = 600, 0.5, 400


@dataclass(frozen=True, eq=False)
class MissingPressures:
    """One way in which half of the blood pressures go missing, and its effect on their mean.

    Attributes
    ----------
    mechanism
        The rule.
    amputation
        The table before and after, with each cell's probability of being observed.
    true_mean, observed_mean
        Of all patients, and of those whose pressure is observed.
    imputed_mean
        The mean of a Gaussian fitted to age and pressure (EM), as an imputer would have it.
    repeated_means
        Observed means in repetitions of the same rule.
    """

    mechanism: Mechanism
    amputation: Amputation
    true_mean: float
    observed_mean: float
    imputed_mean: float
    repeated_means: np.ndarray

    @property
    def direction(self) -> Direction:
        """Where the rule moves the mean, apart from chance."""
        if self.mechanism == "MCAR":
            return "right"
        return (
            "high"
            if _rises(self.amputation.truth[VALUE], self.amputation.propensity[VALUE])
            else "low"
        )

    def rule(self) -> str:
        """Say which patients lose their value; the direction follows from it."""
        truth, p_observed = self.amputation.truth, self.amputation.propensity[VALUE]
        if self.mechanism == "MCAR":
            return "A coin flip decides for each patient, whatever the age and blood pressure."
        if self.mechanism == "MAR":
            group = "Young" if _rises(truth[KNOWN], p_observed) else "Old"
            goes = "rises" if _rises(truth[KNOWN], truth[VALUE]) else "falls"
            return f"{group} patients lose their value more often. Blood pressure {goes} with age."
        which = "Low" if _rises(truth[VALUE], p_observed) else "High"
        return f"{which} blood pressures are missing more often, whatever the patient's age."

    def sentence(self) -> str:
        """Return the result in numbers."""
        n_too_high = int((self.repeated_means > self.true_mean).sum())
        n = len(self.repeated_means)
        if self.direction == "right":
            repeated = (
                f"In {n} repetitions it was too high {n_too_high} times and too low "
                f"{n - n_too_high} times: chance, without a direction."
            )
        else:
            agree = n_too_high if self.direction == "high" else n - n_too_high
            repeated = f"It was too {self.direction} in {agree} of {n} repetitions."
        return (
            f"Mean of all patients: **{self.true_mean:.1f}**. Imputed from age: "
            f"**{self.imputed_mean:.1f}**. Observed mean: **{self.observed_mean:.1f}**. {repeated}"
        )


def remove_pressures(mechanism: Mechanism, seed: int) -> MissingPressures:
    """Remove half of the blood pressures by a mechanism; the seed makes patients and mask."""
    truth = make_clinic(N_ROWS, seed).truth[[KNOWN, VALUE]].astype(float)
    made = ampute(
        truth,
        pattern="general",
        # Missingness depends on the value alone: the clearest MNAR.
        mechanism="self-masking" if mechanism == "MNAR" else mechanism,
        coupling="independent",
        columns=[VALUE],
        proportions=P_OBS,
        seed=seed + LARGEST_SEED + 1,  # no table of this lesson is made from it
    )
    values = made.truth[VALUE].to_numpy()
    p_observed = made.propensity[VALUE].to_numpy()
    return MissingPressures(
        mechanism=mechanism,
        amputation=made,
        true_mean=float(values.mean()),
        observed_mean=float(made.incomplete[VALUE].mean()),
        imputed_mean=float(gaussian_of(made.incomplete).mean[1]),
        repeated_means=_repeat(values, p_observed, independent_numbers(seed)),
    )


def _repeat(values: np.ndarray, p_observed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    kept = rng.random((N_REPETITIONS, len(values))) < p_observed
    return (kept @ values) / kept.sum(axis=1)


def _rises(one: pd.Series, other: pd.Series) -> bool:
    return bool(np.cov(one, other)[0, 1] > 0)
