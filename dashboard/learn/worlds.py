"""Lesson 6: two worlds with the same observed cells, one MAR and one MNAR.

Both worlds agree on age, school, which incomes are reported, and every reported income. They
differ in the missing incomes: in the MAR world these follow age and schooling as the reported ones
do; in the MNAR world they are higher by `shift` standard deviations. By Bayes' rule, reporting in
the second world depends on the income, too (see :func:`probability_to_report`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from dashboard.learn.gaussian import gaussian_of
from dashboard.learn.lesson import Lesson
from pmae_core.missingness import (
    LittleTest,
    MissingnessTree,
    compare_rows,
    little_test,
    predict_missingness,
    summarize_missingness,
)
from pmae_core.words import percent

LESSON = Lesson(
    name="worlds",
    title="Two worlds",
    story="Two countries asked 600 people each for their income, and many did not report it. In "
    "one, reporting depends on **age** alone (MAR). In the other, people who earn more than others "
    "of their age and schooling report it less often (MNAR).",
    question="Which world is MNAR?",
    answers={"1": "World 1", "2": "World 2", "neither": "The tables cannot tell"},
    points=(
        "**Every** MNAR world has a MAR twin with the same observed cells. So no test, tree or "
        "imputer can tell them apart from the table alone: they differ only in the missing cells.",
        "“The test was not significant” and “the method did well on held-out cells” are no "
        "evidence against MNAR: both use observed cells only.",
        "What helps is knowledge from outside: how the data were collected, a follow-up of those "
        "who did not answer, or a sensitivity analysis: *how far off would the missing values have "
        "to be to change my conclusion?*",
    ),
    simplified="The MNAR world is built from the MAR one: only its missing incomes are higher, all "
    "by the same amount, and incomes are normal given age and schooling. Real twins differ in "
    "other ways, too, but none of them can be seen in the table.",
)

N_ROWS, N_REPETITIONS = 600, 200
VALUE = "income"
USUAL_SHIFT, LARGEST_SHIFT = 1.5, 2.5

# Income in thousands: its relation to age and school, and its spread around it.
_MEAN, _PER_YEAR, _PER_CLASS, SPREAD = 38.0, 0.35, 2.0, 8.0
_MEAN_AGE, _MEAN_SCHOOL = 45.0, 12.0
_REPORT, _REPORT_PER_YEAR = 0.5, -0.06
_REPETITION_SEED = 2**31  # beyond the seeds of readers


@dataclass(frozen=True, eq=False)
class World:
    """A table with missing values and the truth behind it."""

    mechanism: str
    truth: pd.DataFrame
    incomplete: pd.DataFrame

    @property
    def true_mean(self) -> float:
        """Mean income of all people."""
        return float(self.truth[VALUE].mean())

    @property
    def missing(self) -> np.ndarray:
        """True where the income was not reported."""
        return self.incomplete[VALUE].isna().to_numpy()


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """All that the library can say about what goes with missing incomes."""

    share_missing: float
    little: LittleTest
    tree: MissingnessTree
    differences: pd.DataFrame
    imputed_mean: float

    def table(self) -> dict[str, str]:
        """Return the findings as text, by their name."""
        p_value = self.little.p_value
        effects = self.differences["effect"]
        return {
            "incomes missing": percent(self.share_missing),
            "difference in age": f"{effects['age']:+.2f} SD",
            "difference in schooling": f"{effects['school']:+.2f} SD",
            "Little's test": "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}",
            "tree that predicts missingness": f"AUC {self.tree.skill:.2f}",
            "mean after imputation": f"{self.imputed_mean:.1f}",
        }


def make_worlds(shift: float, seed: int) -> tuple[World, World]:
    """Return World 1 and World 2; the seed decides which one is MNAR.

    Parameters
    ----------
    shift
        How much higher the missing incomes of the MNAR world are, in standard deviations of
        incomes given age and school.
    seed
        Makes the people, and the order of the worlds.
    """
    rng = np.random.default_rng(seed)
    mnar_first = rng.random() < 0.5
    mar_truth = _people(rng, N_ROWS)
    reported = rng.random(N_ROWS) < _probability_by_age(mar_truth["age"].to_numpy())
    incomplete = mar_truth.assign(**{VALUE: mar_truth[VALUE].where(reported)})
    higher = mar_truth[VALUE].where(reported, mar_truth[VALUE] + shift * SPREAD)
    mar = World("MAR", mar_truth, incomplete)
    # Made from its own truth, so that the observed cells agree by construction, not by copying.
    truth = mar_truth.assign(**{VALUE: higher})
    mnar = World("MNAR", truth, truth.assign(**{VALUE: truth[VALUE].where(reported)}))
    return (mnar, mar) if mnar_first else (mar, mnar)


def _people(rng: np.random.Generator, n_rows: int) -> pd.DataFrame:
    age = rng.uniform(_MEAN_AGE - 25, _MEAN_AGE + 25, n_rows)
    school = rng.normal(_MEAN_SCHOOL, 2.5, n_rows)
    income = expected_income(age, school) + rng.normal(0, SPREAD, n_rows)
    return pd.DataFrame({"age": age, "school": school, VALUE: income})


def expected_income(age: np.ndarray, school: np.ndarray) -> np.ndarray:
    """Return the mean income by age and schooling among people who report it."""
    return _MEAN + _PER_YEAR * (age - _MEAN_AGE) + _PER_CLASS * (school - _MEAN_SCHOOL)


def _probability_by_age(age: np.ndarray) -> np.ndarray:
    return expit(_report_score(age))


def _report_score(age: np.ndarray) -> np.ndarray:
    return _REPORT + _REPORT_PER_YEAR * (age - _MEAN_AGE)


def probability_to_report(
    income: np.ndarray, age: np.ndarray, school: np.ndarray, shift: float
) -> np.ndarray:
    """Return the probability of reporting an income, given all three, in the world with a shift.

    Reported and missing incomes are normal around their means with the same spread. By Bayes'
    rule, the log-odds of reporting are those by age, minus ``shift`` for each standard deviation
    that the income lies above ``shift / 2``. With a shift of 0 (MAR) the income does not matter.
    """
    above = (income - expected_income(age, school)) / SPREAD
    return expit(_report_score(age) - shift * (above - shift / 2))


def diagnose(incomplete: pd.DataFrame) -> Diagnostics:
    """Run every diagnostic of missingness on a table."""
    return Diagnostics(
        share_missing=1 - float(summarize_missingness(incomplete).per_column.loc[VALUE, "p_obs"]),
        little=little_test(incomplete),
        tree=predict_missingness(incomplete, VALUE),
        differences=compare_rows(incomplete, VALUE),
        imputed_mean=float(gaussian_of(incomplete).mean[2]),
    )


def repeated_errors(shift: float) -> dict[str, np.ndarray]:
    """Return by mechanism how far the imputed mean is from the true one, in many other worlds.

    Incomes are imputed by regression on age and schooling. Since only incomes are missing, that is
    where EM ends.
    """
    rng = np.random.default_rng(_REPETITION_SEED)
    people = _people(rng, N_REPETITIONS * N_ROWS)
    shape = (N_REPETITIONS, N_ROWS)
    age, school, income = (people[name].to_numpy().reshape(shape) for name in people)
    missing = rng.random(shape) >= _probability_by_age(age)
    predictors = np.stack([np.ones(shape), age - _MEAN_AGE, school - _MEAN_SCHOOL], axis=-1)
    reported = predictors * ~missing[..., None]
    transposed = reported.swapaxes(1, 2)
    weights = np.linalg.solve(transposed @ reported, transposed @ income[..., None])
    imputed = (predictors @ weights)[..., 0]
    mar = ((imputed - income) * missing).mean(axis=1)
    return {"MAR": mar, "MNAR": mar - shift * SPREAD * missing.mean(axis=1)}


def solution(worlds: tuple[World, World], diagnostics: Diagnostics) -> str:
    """Say which world is which, and how far the same imputation is off in each."""
    place, by_name = _places(worlds), {world.mechanism: world for world in worlds}
    return (
        f"World {place['MNAR']} is MNAR, and the tables could not tell: all of their cells are "
        f"equal. Imputation gives a mean income of **{diagnostics.imputed_mean:.1f}** thousand in "
        f"both. The true mean is **{by_name['MAR'].true_mean:.1f}** in World {place['MAR']} and "
        f"**{by_name['MNAR'].true_mean:.1f}** in World {place['MNAR']}, where the missing incomes "
        f"are {USUAL_SHIFT:g} standard deviations higher. Move the slider: nothing observed moves."
    )


def _places(worlds: tuple[World, World]) -> dict[str, int]:
    """Return the number of each world by its mechanism."""
    return {world.mechanism: number for number, world in enumerate(worlds, start=1)}


def shift_words(worlds: tuple[World, World], shift: float) -> str:
    """Say why a shift makes one of the worlds MNAR."""
    if shift == 0:
        return "Without a shift nothing differs: both worlds are MAR, and their truth is the same."
    middle = np.array(_MEAN_AGE), np.array(_MEAN_SCHOOL)
    usual, high = _MEAN, _MEAN + 1.5 * SPREAD
    at_usual, at_high = (
        percent(float(probability_to_report(np.array(income), *middle, shift)))
        for income in (usual, high)
    )
    return (
        f"In World {_places(worlds)['MNAR']}, people of {_MEAN_AGE:.0f} with {_MEAN_SCHOOL:.0f} "
        f"years of school report an income of {usual:.0f} thousand with probability {at_usual} "
        f"and of {high:.0f} thousand with {at_high}."
    )
