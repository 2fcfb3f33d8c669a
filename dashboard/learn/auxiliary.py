"""Lesson: a variable that the analysis does not need, but the imputation does.

Employees with much stress answer a survey less often. Their overtime is known to all, and not
part of the analysis. If overtime decides who answers, missingness looks MNAR without it and is MAR
with it. If the stress itself decides, overtime helps as far as it tells the stress.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from dashboard.learn.least_squares import FloatArray, slope
from dashboard.learn.lesson import Lesson
from pmae_core.amputation.propensity import observed_probability
from pmae_core.words import percent

LESSON = Lesson(
    name="auxiliary",
    title="Auxiliary variables",
    story="A company asks its 600 employees for their stress, to report the **mean**. 40% do not "
    "answer, mostly people under stress, so the observed mean is too low. The company also knows "
    "everyone's **overtime**, which is not part of the report. You choose who does not answer.",
    question="How much of the bias does imputing stress from overtime remove?",
    answers={
        "all": "Nearly all of it (over 90%)",
        "part": "Part of it (20% to 90%)",
        "little": "Hardly any (under 20%)",
    },
    points=(
        "A variable that is not part of the analysis can still belong in the imputation model: an "
        "**auxiliary variable**. The best ones are related to the missing values *and* to who has "
        "missing values.",
        "If overtime decides who answers, values that look MNAR are **MAR** once overtime is "
        "included, and the bias disappears. The weaker the correlation, the smaller the bias was "
        "to begin with.",
        "If **stress itself** decides, overtime removes only part of the bias: here 57% at a "
        "correlation of 0.8 and 12% at 0.4.",
        "Even if values are missing by chance, an auxiliary variable makes the mean more precise. "
        "With 40% missing, the interval is 18% narrower at a correlation of 0.9, but only 3% at "
        "0.4.",
    ),
    simplified="There is one auxiliary variable, observed for everyone, with a straight-line "
    "relation to stress. The mean is imputed by regression, without intervals. The table cannot "
    "show which of the two rules holds: in practice you would not know.",
    first_seed=2,
)

Rule = Literal["overtime", "stress"]
Answer = Literal["all", "part", "little"]

RULES: dict[Rule, str] = {"overtime": "By overtime", "stress": "By stress itself"}
RULE_WORDS: dict[Rule, str] = {
    "overtime": "People with much overtime have no time to answer, whatever their stress.",
    "stress": "People under stress do not answer, whatever their overtime.",
}
CORRELATIONS = (0.2, 0.4, 0.6, 0.8, 0.9)
USUAL_CORRELATION = 0.8
N_ROWS, P_OBS, N_REPETITIONS = 600, 0.6, 200
NEARLY_ALL, HARDLY_ANY = 0.9, 0.2  # shares of the bias, as in the answers

_MEAN_STRESS, _SPREAD_STRESS = 50.0, 12.0  # points
_MEAN_OVERTIME, _SPREAD_OVERTIME = 20.0, 5.0  # hours per month
_STRENGTH = 1.5  # log-odds of no answer per standard deviation
_REPETITIONS_SEED = 2**31  # beyond the seeds of readers


@dataclass(frozen=True, eq=False)
class Survey:
    """Employees of one company, or of many: the last axis has the employees."""

    overtime: FloatArray
    stress: FloatArray
    answered: np.ndarray

    def true_mean(self) -> FloatArray:
        """Return the mean stress of all employees."""
        return self.stress.mean(axis=-1)

    def observed_mean(self) -> FloatArray:
        """Return the mean stress of those who answered."""
        return _mean(self.stress, self.answered)

    def slope(self) -> FloatArray:
        """Return by how much stress rises per hour, among those who answered."""
        return slope(self.overtime, self.stress, kept=self.answered)

    def imputed_mean(self) -> FloatArray:
        """Return the mean stress if missing answers follow overtime as the others do."""
        more_overtime = self.overtime.mean(axis=-1) - _mean(self.overtime, self.answered)
        return self.observed_mean() + self.slope() * more_overtime

    def impute(self, scatter: FloatArray) -> FloatArray:
        """Return the stress with missing answers drawn around what their overtime says.

        Parameters
        ----------
        scatter
            Standard normal numbers, one per employee.
        """
        expected = self.imputed_mean() + self.slope() * (self.overtime - self.overtime.mean())
        spread = (self.stress - expected)[self.answered].std()
        return np.where(self.answered, self.stress, expected + spread * scatter)


def _mean(values: FloatArray, kept: np.ndarray) -> FloatArray:
    return (values * kept).sum(axis=-1) / kept.sum(axis=-1)


@dataclass(frozen=True, eq=False)
class AuxiliaryResult:
    """One survey, its means, and how far they are off in other surveys by the same rule.

    Attributes
    ----------
    rule
        Who does not answer.
    correlation
        Of overtime and stress.
    survey
        The reader's table.
    imputed
        Its stress with missing answers imputed, as the picture shows them.
    repeated_errors
        Estimated less true mean in other companies, by the estimate.
    """

    rule: Rule
    correlation: float
    survey: Survey
    imputed: FloatArray
    repeated_errors: dict[str, FloatArray]

    @property
    def bias(self) -> float:
        """How far the observed mean is off, on average over other companies."""
        return float(self.repeated_errors["observed"].mean())

    @property
    def removed(self) -> float:
        """The share of the bias that imputing from overtime removes."""
        return 1 - float(self.repeated_errors["imputed"].mean()) / self.bias

    @property
    def answer(self) -> Answer:
        """How much of the bias is removed, apart from chance."""
        if self.removed > NEARLY_ALL:
            return "all"
        return "part" if self.removed >= HARDLY_ANY else "little"

    def errors(self) -> dict[str, float]:
        """Return how far both means of this table are off."""
        truth = self.survey.true_mean()
        return {
            "observed": float(self.survey.observed_mean() - truth),
            "imputed": float(self.survey.imputed_mean() - truth),
        }

    def sentence(self) -> str:
        """Return the result in numbers."""
        # With a weak correlation chance moves the average a little beyond 100%.
        removed = percent(round(min(self.removed, 1.0), 2))
        return (
            f"True mean: **{self.survey.true_mean():.1f}** points. Observed mean: "
            f"**{self.survey.observed_mean():.1f}**. After imputing from overtime: "
            f"**{self.survey.imputed_mean():.1f}**. In {N_REPETITIONS} other companies, the "
            f"observed mean was {-self.bias:.1f} points too low on average; imputing removed "
            f"{removed} of this bias."
        )


def run_survey(rule: Rule, correlation: float, seed: int) -> AuxiliaryResult:
    """Ask all employees, lose 40% of the answers, and estimate the mean stress.

    Parameters
    ----------
    rule
        Who does not answer.
    correlation
        Of overtime and stress.
    seed
        Makes the employees and decides who answers.
    """
    rng = np.random.default_rng(seed)
    survey = _ask(rng, (N_ROWS,), rule, correlation)
    return AuxiliaryResult(
        rule=rule,
        correlation=correlation,
        survey=survey,
        imputed=survey.impute(rng.standard_normal(N_ROWS)),
        repeated_errors=_repeated_errors(rule, correlation),
    )


def _ask(
    rng: np.random.Generator, shape: tuple[int, ...], rule: Rule, correlation: float
) -> Survey:
    overtime = rng.standard_normal(shape)
    unrelated = rng.standard_normal(shape)
    stress = correlation * overtime + np.sqrt(1 - correlation**2) * unrelated
    decides = overtime if rule == "overtime" else stress
    p_answer = observed_probability((-_STRENGTH * decides).ravel(), P_OBS).reshape(shape)
    return Survey(
        _MEAN_OVERTIME + _SPREAD_OVERTIME * overtime,
        _MEAN_STRESS + _SPREAD_STRESS * stress,
        rng.random(shape) < p_answer,
    )


@cache
def _repeated_errors(rule: Rule, correlation: float) -> dict[str, FloatArray]:
    rng = np.random.default_rng(_REPETITIONS_SEED)
    survey = _ask(rng, (N_REPETITIONS, N_ROWS), rule, correlation)
    truth = survey.true_mean()
    return {
        "observed": survey.observed_mean() - truth,
        "imputed": survey.imputed_mean() - truth,
    }
