"""Lesson 2: MCAR, MAR, MNAR. In which direction does the mean of what is left move?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from dashboard.learn.gaussian import gaussian_of
from dashboard.learn.lesson import LARGEST_SEED, Lesson, luck
from pmae_core.amputation import Amputation, ampute
from pmae_core.table.samples.clinic import make_clinic

LESSON = Lesson(
    name="mechanisms",
    title="MCAR, MAR, MNAR",
    story="600 patients, and half of their blood pressures get lost. **How** they get lost is up "
    "to you; whether high or low ones go is up to the seed.",
    question="The mean of the blood pressures that are left, compared with that of all patients: "
    "what do you expect?",
    answers={"low": "Too low", "right": "Right, but for luck", "high": "Too high"},
    takeaways=(
        "**MCAR**: what is left is a fair sample. You lose rows, not truth.",
        "**MAR**: what is left is biased, but observed columns account for it. A method that "
        "uses `age` moves the mean back.",
        "**MNAR**: what is left is biased, and nothing in the table says how much. A method that "
        "uses `age` goes a part of the way at best.",
        "The direction follows from two signs: who loses cells, and how that goes with the value.",
    ),
)

Mechanism = Literal["MCAR", "MAR", "MNAR"]
Direction = Literal["low", "right", "high"]

MECHANISM_WORDS: dict[str, str] = {
    "MCAR": "By chance (MCAR)",
    "MAR": "By age (MAR)",
    "MNAR": "By the pressure itself (MNAR)",
}
VALUE, KNOWN = "blood_pressure", "age"
N_ROWS, P_OBS, N_REDRAWS = 600, 0.5, 400


@dataclass(frozen=True, eq=False)
class LostPressures:
    """One way to lose half of the blood pressures, and what it does to their mean.

    Attributes
    ----------
    mechanism
        The rule.
    holes
        The table before and after, with each cell's probability to stay.
    true_mean, observed_mean
        Of all patients, and of those whose pressure is left.
    filled_mean
        What a Gaussian fitted to age and pressure says (EM), as an imputer would.
    redrawn_means
        Observed means when the same rule is left to chance again and again.
    """

    mechanism: Mechanism
    holes: Amputation
    true_mean: float
    observed_mean: float
    filled_mean: float
    redrawn_means: np.ndarray

    @property
    def direction(self) -> Direction:
        """Where the rule pushes the mean, luck aside."""
        if self.mechanism == "MCAR":
            return "right"
        return "high" if _rises(self.holes.truth[VALUE], self.holes.propensity[VALUE]) else "low"

    def rule(self) -> str:
        """Say who loses cells, from which the direction can be told."""
        stay = self.holes.propensity[VALUE]
        if self.mechanism == "MCAR":
            return "A coin is thrown for each patient. It knows neither age nor pressure."
        if self.mechanism == "MAR":
            who = "Young" if _rises(self.holes.truth[KNOWN], stay) else "Old"
            goes = "rises" if _rises(self.holes.truth[KNOWN], self.holes.truth[VALUE]) else "falls"
            return f"{who} patients lose their value more often. Blood pressure {goes} with age."
        which = "Low" if _rises(self.holes.truth[VALUE], stay) else "High"
        return f"{which} pressures get lost more often, whatever the age of the patient."

    def sentence(self) -> str:
        """Say what happened, in numbers."""
        same_side = np.sign(self.redrawn_means - self.true_mean)
        if self.direction == "right":
            above = int((same_side > 0).sum())
            luck = (
                f"In {len(same_side)} repetitions the mean was too high {above} times and too low "
                f"{len(same_side) - above} times: luck, without a direction."
            )
        else:
            agree = int((same_side == (1 if self.direction == "high" else -1)).sum())
            word = f"too {self.direction}"
            luck = f"In {agree} of {len(same_side)} repetitions of the same rule it was {word}."
        return (
            f"All patients: **{self.true_mean:.1f}**. What is left: **{self.observed_mean:.1f}**. "
            f"Filled with the help of age: **{self.filled_mean:.1f}**. {luck}"
        )


def lose_pressures(mechanism: Mechanism, seed: int) -> LostPressures:
    """Lose half of the blood pressures by a mechanism; the seed makes patients and holes."""
    truth = make_clinic(N_ROWS, seed).truth[[KNOWN, VALUE]].astype(float)
    holes = ampute(
        truth,
        pattern="general",
        # Each value decides about itself: the purest kind of MNAR.
        mechanism="self-masking" if mechanism == "MNAR" else mechanism,
        coupling="independent",
        columns=[VALUE],
        proportions=P_OBS,
        seed=seed + LARGEST_SEED + 1,  # no table of this lesson is made from it
    )
    values = holes.truth[VALUE].to_numpy()
    stay = holes.propensity[VALUE].to_numpy()
    return LostPressures(
        mechanism=mechanism,
        holes=holes,
        true_mean=float(values.mean()),
        observed_mean=float(holes.incomplete[VALUE].mean()),
        filled_mean=float(gaussian_of(holes.incomplete).mean[1]),
        redrawn_means=_redraw(values, stay, luck(seed)),
    )


def _redraw(values: np.ndarray, stay: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    kept = rng.random((N_REDRAWS, len(values))) < stay
    return (kept @ values) / kept.sum(axis=1)


def _rises(one: pd.Series, other: pd.Series) -> bool:
    return bool(np.cov(one, other)[0, 1] > 0)
