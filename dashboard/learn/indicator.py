"""Lesson: a confounder with missing values, set to a constant with an indicator beside it.

The indicator lets incomplete rows have a level of their own, but among them treated and untreated
patients are compared without any adjustment. So the confounding stays in those rows, even if a
coin decided which values are missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from dashboard.learn.least_squares import FloatArray, coefficients
from dashboard.learn.lesson import Lesson

LESSON = Lesson(
    name="indicator",
    title="The missing-indicator fallacy",
    story="A drug lowers pain by **10 points**. It was not given at random, so the analysis "
    "adjusts for the severity of the illness, which is missing in many of the 600 patients, by "
    "chance. A common fix: set missing severities to 0 and add a column, the **indicator**, that "
    "says where they were missing.",
    question="How does the estimated effect of the drug compare with the true one?",
    answers={
        "small": "Too small",
        "right": "Right, apart from chance",
        "large": "Too large",
    },
    points=(
        "Where severity is missing, the indicator compares treated and untreated patients "
        "**without adjusting** for it. The confounding stays in these rows: the more values are "
        "missing, the larger the bias, even if they are missing completely at random (MCAR).",
        "In a **randomized trial** there is no confounding, and the indicator does no harm to the "
        "effect of the treatment.",
        "Imputing severity from the other columns, the outcome included, removes the bias and "
        "keeps all rows. Here, complete rows are unbiased too, but less precise.",
        "For **predictions**, an indicator can be useful. The fallacy is to read an effect from "
        "such a model.",
    ),
    simplified="Severity is the only confounder, all relations are straight lines, and the drug "
    "works equally well for everyone. If missingness depends on the patient, the bias can be "
    "larger, smaller or in the other direction. Severity is imputed by maximum likelihood (EM).",
    first_seed=1,
)

Treated = Literal["severe", "mild", "chance"]
Answer = Literal["small", "right", "large"]

TREATED_WORDS: dict[Treated, str] = {
    "severe": "Mostly severe cases",
    "mild": "Mostly mild cases",
    "chance": "A coin decided (randomized trial)",
}
N_ROWS, N_REPETITIONS = 600, 200
LEAST_MISSING, MOST_MISSING, USUAL_MISSING = 20, 80, 50  # percent
TRUE_EFFECT = 10.0  # points by which the drug lowers pain

_MEAN_SEVERITY, _SPREAD_SEVERITY = 50.0, 10.0
_MEAN_PAIN, _PAIN_PER_SEVERITY, _SPREAD_PAIN = 50.0, 0.8, 6.0
# How much more severe the treated patients are, in standard deviations. With normal severities
# of one spread in both groups, the log-odds of being treated rise linearly with severity.
_DIFFERENCE: dict[Treated, float] = {"severe": 1.0, "mild": -1.0, "chance": 0.0}
_ANSWERS: dict[Treated, Answer] = {"severe": "small", "mild": "large", "chance": "right"}
_REPETITIONS_SEED = 2**31  # beyond the seeds of readers


@dataclass(frozen=True, eq=False)
class TreatedPatients:
    """Patients of one table, or of many: the last axis has the patients."""

    treated: FloatArray
    severity: FloatArray
    pain: FloatArray
    missing: np.ndarray

    def with_indicator(self) -> FloatArray:
        """Return intercept and coefficients of drug, severity and indicator."""
        set_to_0 = np.where(self.missing, 0.0, self.severity)
        return coefficients(self.pain, self.treated, set_to_0, self.missing.astype(float))

    def with_true_severity(self) -> FloatArray:
        """Return intercept and coefficients of drug and severity, had it never been missing."""
        return coefficients(self.pain, self.treated, self.severity)

    def of_complete_rows(self) -> FloatArray:
        """Return intercept and coefficients of drug and severity in the complete rows."""
        return coefficients(self.pain, self.treated, self.severity, kept=~self.missing)

    def imputed(self) -> FloatArray:
        """Return intercept and coefficients by maximum likelihood: where EM would end.

        Drug and pain are never missing. So the relation of severity to both is that of the
        complete rows, and missing severities add their spread around it to the sum of squares.
        """
        complete = ~self.missing
        level, by_drug, by_pain = np.moveaxis(
            coefficients(self.severity, self.treated, self.pain, kept=complete), -1, 0
        )[..., None]
        expected = level + by_drug * self.treated + by_pain * self.pain
        severity = np.where(self.missing, expected, self.severity)
        squares = (complete * (self.severity - expected) ** 2).sum(axis=-1)
        spread = squares * self.missing.sum(axis=-1) / complete.sum(axis=-1)
        return coefficients(self.pain, self.treated, severity, last_spread=spread)


@dataclass(frozen=True, eq=False)
class IndicatorResult:
    """One table, its estimates, and those of other tables by the same rule.

    Attributes
    ----------
    who
        Who got the drug.
    patients
        The reader's table.
    effects
        The estimated effects of this table, by the way to treat missing severities.
    repeated
        The same in other tables.
    """

    who: Treated
    patients: TreatedPatients
    effects: dict[str, float]
    repeated: dict[str, FloatArray]

    @property
    def answer(self) -> Answer:
        """In which direction the rule moves the estimate, apart from chance."""
        return _ANSWERS[self.who]

    def sentence(self) -> str:
        """Return the result in numbers."""
        effects, repeated = self.effects, self.repeated["missing indicator"]
        n_small, n_large = int((repeated < TRUE_EFFECT).sum()), int((repeated > TRUE_EFFECT).sum())
        side = {
            "small": f"and was too small in {n_small} of them",
            "large": f"and was too large in {n_large} of them",
            "right": f"too small in {n_small} of them and too large in {n_large}",
        }[self.answer]
        return (
            f"True effect: **{TRUE_EFFECT:.1f}** points. With the missing indicator: "
            f"**{effects['missing indicator']:.1f}**. With imputed severities: "
            f"**{effects['imputed']:.1f}**. In {len(repeated)} other tables, the estimate with the "
            f"indicator was {repeated.mean():.1f} on average, {side}."
        )


def treat_patients(who: Treated, percent_missing: int, seed: int) -> IndicatorResult:
    """Make a table, and estimate the effect of the drug in several ways.

    Parameters
    ----------
    who
        Who got the drug.
    percent_missing
        Share of severities that a coin removes.
    seed
        Makes the patients and decides which severities are missing.
    """
    patients = _make_patients(np.random.default_rng(seed), (N_ROWS,), who, percent_missing)
    effects = {name: float(values) for name, values in _effects(patients).items()}
    return IndicatorResult(who, patients, effects, _repeated_effects(who, percent_missing))


def _make_patients(
    rng: np.random.Generator, shape: tuple[int, ...], who: Treated, percent_missing: int
) -> TreatedPatients:
    treated = (rng.random(shape) < 0.5).astype(float)
    above_mean = _DIFFERENCE[who] * (treated - 0.5) + rng.standard_normal(shape)
    severity = _MEAN_SEVERITY + _SPREAD_SEVERITY * above_mean
    noise = _SPREAD_PAIN * rng.standard_normal(shape)
    by_severity = _PAIN_PER_SEVERITY * (severity - _MEAN_SEVERITY)
    pain = _MEAN_PAIN - TRUE_EFFECT * treated + by_severity + noise
    return TreatedPatients(treated, severity, pain, rng.random(shape) < percent_missing / 100)


def _effects(patients: TreatedPatients) -> dict[str, FloatArray]:
    """Return by how much the drug lowers pain, by the way to treat missing severities."""
    fitted = {
        "missing indicator": patients.with_indicator(),
        "complete rows": patients.of_complete_rows(),
        "imputed": patients.imputed(),
    }
    return {name: -values[..., 1] for name, values in fitted.items()}


@cache
def _repeated_effects(who: Treated, percent_missing: int) -> dict[str, FloatArray]:
    rng = np.random.default_rng(_REPETITIONS_SEED)
    return _effects(_make_patients(rng, (N_REPETITIONS, N_ROWS), who, percent_missing))
