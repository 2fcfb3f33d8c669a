"""Lesson 6: two worlds with the same observed cells, one MAR and one MNAR.

Both worlds agree on age, school, who tells an income, and every income that is told. They differ
in the incomes that nobody saw: in the MAR world those are drawn as for anybody of this age and
schooling, in the MNAR world they lie higher by `shift` standard deviations. By Bayes' rule, the
second is a world in which telling depends on the income itself (see :func:`chance_to_tell`).
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
    story="Two countries asked 600 people each for their income, and many did not tell. In one, "
    "who tells depends on **age** alone (MAR). In the other, it depends on the **income itself** "
    "(MNAR). Here are both tables, and every test that we have.",
    question="Which is the MNAR world?",
    answers={"1": "World 1", "2": "World 2", "neither": "These tables cannot tell"},
    takeaways=(
        "**Every** MNAR world has an MAR twin with the same observed cells. So no test, no tree "
        "and no imputer can find out from the table alone: the difference is in the cells that "
        "nobody saw.",
        "“The test found nothing” or “the method did well on cells that we hid” says nothing about "
        "it: both look at observed cells only.",
        "What helps is knowledge from outside: how the data was collected, a second survey of "
        "those who did not answer, or the honest question *how far off would the missing values "
        "have to be to change my conclusion?*",
    ),
)

N_ROWS = 600
VALUE = "income"
USUAL_SHIFT, LARGEST_SHIFT = 1.5, 2.5

# Income in thousands: as it goes with age and school, and its spread around that.
_MEAN, _PER_YEAR, _PER_CLASS, SPREAD = 38.0, 0.35, 2.0, 8.0
_MEAN_AGE, _MEAN_SCHOOL = 45.0, 12.0
_TELL, _TELL_PER_YEAR = 0.5, -0.06


@dataclass(frozen=True, eq=False)
class World:
    """A table with holes and the truth behind it."""

    mechanism: str
    truth: pd.DataFrame
    incomplete: pd.DataFrame

    @property
    def true_mean(self) -> float:
        """Mean income of all people."""
        return float(self.truth[VALUE].mean())

    @property
    def missing(self) -> np.ndarray:
        """True where the income was not told."""
        return self.incomplete[VALUE].isna().to_numpy()


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """All that the library can find out about what goes with missing incomes."""

    share_missing: float
    little: LittleTest
    tree: MissingnessTree
    differences: pd.DataFrame
    filled_mean: float

    def table(self) -> dict[str, str]:
        """Return the findings in words, by what was asked."""
        p_value = self.little.p_value
        effects = self.differences["effect"]
        return {
            "Share of incomes missing": percent(self.share_missing),
            "Mean age, told": f"{self.differences.loc['age', 'mean_observed']:.1f}",
            "Mean age, not told": f"{self.differences.loc['age', 'mean_missing']:.1f}",
            "Difference in age (standard deviations)": f"{effects['age']:+.2f}",
            "Difference in school (standard deviations)": f"{effects['school']:+.2f}",
            "Little's test: statistic": f"{self.little.statistic:.2f}",
            "Little's test: p-value": "below 0.001" if p_value < 0.001 else f"{p_value:.3f}",
            "Tree: pairs told apart, of 100": f"{100 * self.tree.skill:.1f}",
            "Mean income after filling (EM)": f"{self.filled_mean:.2f}",
        }


def make_worlds(shift: float, seed: int) -> tuple[World, World]:
    """Return World 1 and World 2; the seed decides which one is MNAR.

    Parameters
    ----------
    shift
        How far the untold incomes of the MNAR world lie higher, in standard deviations of
        incomes around what age and school make likely.
    seed
        Makes the people, and the order of the worlds.
    """
    rng = np.random.default_rng(seed)
    mnar_first = rng.random() < 0.5
    told_truth = _people(rng)
    told = rng.random(N_ROWS) < _chance_by_age(told_truth["age"].to_numpy())
    incomplete = told_truth.assign(**{VALUE: told_truth[VALUE].where(told)})
    higher = told_truth[VALUE].where(told, told_truth[VALUE] + shift * SPREAD)
    mar = World("MAR", told_truth, incomplete)
    # Its own table, made from its own truth: what agrees, agrees because the cells do.
    truth = told_truth.assign(**{VALUE: higher})
    mnar = World("MNAR", truth, truth.assign(**{VALUE: truth[VALUE].where(told)}))
    return (mnar, mar) if mnar_first else (mar, mnar)


def _people(rng: np.random.Generator) -> pd.DataFrame:
    age = rng.normal(_MEAN_AGE, 12, N_ROWS)
    school = rng.normal(_MEAN_SCHOOL, 2.5, N_ROWS)
    income = expected_income(age, school) + rng.normal(0, SPREAD, N_ROWS)
    return pd.DataFrame({"age": age, "school": school, VALUE: income})


def expected_income(age: np.ndarray, school: np.ndarray) -> np.ndarray:
    """Return what people of this age and schooling earn on average, among those who tell."""
    return _MEAN + _PER_YEAR * (age - _MEAN_AGE) + _PER_CLASS * (school - _MEAN_SCHOOL)


def _chance_by_age(age: np.ndarray) -> np.ndarray:
    return expit(_tell_score(age))


def _tell_score(age: np.ndarray) -> np.ndarray:
    return _TELL + _TELL_PER_YEAR * (age - _MEAN_AGE)


def chance_to_tell(
    income: np.ndarray, age: np.ndarray, school: np.ndarray, shift: float
) -> np.ndarray:
    """Return the probability to tell an income, given all three, in the world with a shift.

    Told and untold incomes are normal around their means with the same spread, so that by Bayes'
    rule the log-odds of telling are those by age, less ``shift`` for each standard deviation that
    the income lies above ``shift / 2``. With a shift of 0 (MAR) the income does not matter.
    """
    above = (income - expected_income(age, school)) / SPREAD
    return expit(_tell_score(age) - shift * (above - shift / 2))


def chance_curve(shift: float) -> pd.DataFrame:
    """Return for a person of middle age and schooling how telling depends on the income."""
    income = np.linspace(_MEAN - 2.5 * SPREAD, _MEAN + 4 * SPREAD, 80)
    middle = (np.array(_MEAN_AGE), np.array(_MEAN_SCHOOL))
    return pd.DataFrame(
        {
            "income": income,
            "MAR": chance_to_tell(income, *middle, 0.0),
            "MNAR": chance_to_tell(income, *middle, shift),
        }
    )


def diagnose(incomplete: pd.DataFrame) -> Diagnostics:
    """Ask a table everything that can be asked about its holes."""
    return Diagnostics(
        share_missing=1 - float(summarize_missingness(incomplete).per_column.loc[VALUE, "p_obs"]),
        little=little_test(incomplete),
        tree=predict_missingness(incomplete, VALUE),
        differences=compare_rows(incomplete, VALUE),
        filled_mean=float(gaussian_of(incomplete).mean[2]),
    )


def solution(worlds: tuple[World, World], diagnostics: Diagnostics) -> str:
    """Say which world is which, and what the same filling is worth in each."""
    place = {world.mechanism: number for number, world in enumerate(worlds, start=1)}
    by_name = {world.mechanism: world for world in worlds}
    return (
        f"World {place['MNAR']} is the MNAR one, and you could not have known: all cells of the "
        "two tables are the same. "
        f"Filling gives a mean income of **{diagnostics.filled_mean:.1f}** thousand in both. The "
        f"truth is **{by_name['MAR'].true_mean:.1f}** in World {place['MAR']} and "
        f"**{by_name['MNAR'].true_mean:.1f}** in World {place['MNAR']}."
    )
