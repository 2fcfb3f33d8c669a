"""Lesson 1: what missing data is. A clinic in which the reason of each missing value is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dashboard.learn.lesson import Lesson, independent_numbers
from dashboard.text import code
from pmae_core.missingness import compare_rows
from pmae_core.table.samples.clinic import EXPLANATIONS, Clinic
from pmae_core.words import percent

LESSON = Lesson(
    name="reasons",
    title="What is missing data?",
    story="These patients come from a simulated clinic, so we know what real tables never say: "
    "**why** each value is missing. A missing value still exists; it was just not recorded.",
    question="What decides how likely this value is to be missing?",
    answers={
        "MCAR": "Nothing: it could have happened to any patient",
        "MAR": "Something else that is recorded about the patient",
        "MNAR": "The missing value itself",
    },
    points=(
        "Every missing value has a **reason**, and the reason decides what can be done about it. "
        "The three kinds are missing completely at random (**MCAR**), missing at random given the "
        "observed data (**MAR**) and missing not at random (**MNAR**).",
        "Reasons change probabilities: a value that is likely to be missing may still be observed. "
        "A single cell proves nothing.",
        "Differences between rows are clues, not proof. Patients without `income` are often older "
        "than the others, but age does not decide: income rises with age, and high incomes are "
        "reported less often. The values that would prove it are exactly the missing ones.",
    ),
    simplified="The clinic is simulated, so every reason is known and each column has only one. In "
    "a real table reasons are unknown and mixed, and whether a column is MAR or MNAR depends on "
    "what else was recorded.",
)

N_PATIENTS = 12
N_REPETITIONS = 200
_CLEAR = 2
SHOWN = (
    *("age", "region", "smoker"),
    *("bmi", "blood_pressure", "cholesterol", "insulin", "income"),
)

# For each incomplete column, the columns that decide how likely a cell is to be missing.
DECIDED_BY: Mapping[str, tuple[str, ...]] = {
    "bmi": (),
    "blood_pressure": ("age",),
    "cholesterol": ("age", "smoker"),
    "insulin": ("region",),
    "income": ("income",),
}


def patients(clinic: Clinic) -> pd.DataFrame:
    """Return the rows and columns that the lesson shows."""
    return clinic.frame.loc[: N_PATIENTS - 1, list(SHOWN)]


def missing_cells(clinic: Clinic) -> list[tuple[int, str]]:
    """Return the shown cells that are missing, as (row, column), row by row."""
    missing = patients(clinic).isna()
    return [(row, name) for row in missing.index for name in SHOWN if missing.loc[row, name]]


def cell_words(name: str, value: Any) -> str:
    """Return a cell as the small table of the lesson shows it."""
    if pd.isna(value):
        return "?"
    if name == "smoker":
        return "yes" if value else "no"
    if name == "income":
        return f"{value / 1000:.0f}k"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def kind_of(column: str) -> str:
    """Return MCAR, MAR or MNAR."""
    return EXPLANATIONS[column].split(":")[0]


def reason(column: str) -> str:
    """Return the reason without the name of its kind."""
    words = EXPLANATIONS[column].split(":", maxsplit=1)[1].strip()
    return words[0].upper() + words[1:]


def cell_details(clinic: Clinic, row: int, column: str) -> str:
    """Say how likely a cell was to be missing, why, and what its true value is."""
    chance = percent(clinic.p_missing.loc[row, column])
    value = cell_words(column, clinic.truth.loc[row, column])
    facts = " and ".join(
        f"{code(name)} is {cell_words(name, clinic.truth.loc[row, name])}"
        for name in DECIDED_BY[column]
    )
    because = f"Because {facts}, the" if facts else "The"
    return (
        f"{because} probability of a missing value was **{chance}**. "
        f"The value that was not recorded is **{value}**."
    )


def clear_clues(clinic: Clinic, column: str) -> list[str]:
    """Return the columns in which rows with a missing value clearly differ from the others."""
    differences = compare_rows(clinic.frame, column)
    # Twice the 95% limit of chance, which alone exceeds the limit itself in some tables.
    clear = differences["effect"].abs() > _CLEAR * differences["by_chance"]
    return [str(name) for name in differences.index[clear]]


def clue_sentence(clues: Sequence[str], column: str) -> str:
    """Name the columns in which patients with a missing value clearly differ, at most two."""
    if not clues:
        return f"Patients without {code(column)} do not clearly differ from the others."
    names = " and ".join(code(name) for name in clues[:2])
    return (
        f"Patients without {code(column)} differ from the others in {names}. That is a clue, not "
        "yet a reason."
    )


def repeated_shares(clinic: Clinic, column: str, seed: int) -> pd.Series:
    """Return how often each shown patient's value is missing when the same reason acts again."""
    chance = clinic.p_missing.loc[: N_PATIENTS - 1, column]
    missing = independent_numbers(seed).random((N_REPETITIONS, N_PATIENTS)) < chance.to_numpy()
    return pd.Series(missing.mean(axis=0), index=chance.index)


def order_by_reason(clinic: Clinic, column: str) -> pd.Index:
    """Return the shown patients, those whose value was most likely to be missing first."""
    chance = clinic.p_missing.loc[: N_PATIENTS - 1, column]
    return chance.sort_values(ascending=False, kind="stable").index
