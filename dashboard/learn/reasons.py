"""Lesson 1: what missing data is. A clinic whose holes have known reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dashboard.learn.lesson import Lesson
from dashboard.text import code
from pmae_core.missingness import compare_rows
from pmae_core.table.samples.clinic import EXPLANATIONS, Clinic
from pmae_core.words import percent

LESSON = Lesson(
    name="reasons",
    title="What is missing data?",
    story="These are patients of a clinic that we made up, so that we know what real tables never "
    "say: **why** each cell is empty. A cell that is missing still has a value; nobody wrote it "
    "down.",
    question="Why is this cell missing?",
    answers={
        "MCAR": "By chance alone: it could have hit any patient",
        "MAR": "Because of something else that we know about the patient",
        "MNAR": "Because of the missing value itself",
    },
    takeaways=(
        "A hole has a **reason**, and the reason decides what can be done about it. Its three "
        "kinds have names: missing completely at random (**MCAR**), missing at random given what "
        "is observed (**MAR**), and missing not at random (**MNAR**).",
        "Reasons act by chance: a cell that is likely to be missing may be there, and the other "
        "way round. One cell proves nothing.",
        "What differs between rows is a clue, not a proof. `income` hides itself: whatever the "
        "other columns show, the values that would prove it are the ones that are missing.",
    ),
)

N_PATIENTS = 12
SHOWN = (
    *("age", "region", "smoker"),
    *("bmi", "blood_pressure", "cholesterol", "insulin", "income"),
)

# For each column with holes, what decides how likely a cell is to be missing.
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


def holes(clinic: Clinic) -> list[tuple[int, str]]:
    """Return the shown cells that are missing, as (row, column), row by row."""
    missing = patients(clinic).isna()
    return [(row, name) for row in missing.index for name in SHOWN if missing.loc[row, name]]


def cell_words(name: str, value: Any) -> str:
    """Return a cell as a small table shows it."""
    if pd.isna(value):
        return "?"
    if name == "smoker":
        return "yes" if value else "no"
    if name == "income":
        return f"{value / 1000:.0f}k"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def clicked_cell(points: Sequence[Mapping[str, Any]]) -> tuple[int, str] | None:
    """Return the cell of a click on the figure; None where it hit none of ours."""
    for point in points:
        match point.get("customdata"):
            case [int(row), str(name), *_] if 0 <= row < N_PATIENTS and name in SHOWN:
                return row, name
    return None


def kind_of(column: str) -> str:
    """Return MCAR, MAR or MNAR."""
    return EXPLANATIONS[column].split(":")[0]


def reason(column: str) -> str:
    """Return the reason in words, without the name of its kind."""
    words = EXPLANATIONS[column].split(":", maxsplit=1)[1].strip()
    return words[0].upper() + words[1:]


def cell_story(clinic: Clinic, row: int, column: str) -> str:
    """Say of one cell how likely it was to be missing, why, and what is in it."""
    chance = percent(clinic.p_missing.loc[row, column])
    value = cell_words(column, clinic.truth.loc[row, column])
    facts = " and ".join(
        f"{code(name)} is {cell_words(name, clinic.truth.loc[row, name])}"
        for name in DECIDED_BY[column]
    )
    because = f"Because {facts}, it" if facts else "It"
    return (
        f"{because} was missing with a probability of **{chance}**. "
        f"The value that nobody wrote down is **{value}**."
    )


def clue_sentence(clues: pd.DataFrame, column: str) -> str:
    """Say which columns clearly go with the holes of a column; at most two of them."""
    # Twice what chance does in 19 of 20 tables: among ten columns, luck alone crosses the once.
    clear = clues.index[clues["effect"].abs() > 2 * clues["by_chance"]]
    if clear.empty:
        return f"Nothing that we know clearly goes with the holes of {code(column)}."
    names = " and ".join(code(name) for name in clear[:2])
    return f"The holes of {code(column)} clearly go with {names}."


def clues(clinic: Clinic, column: str) -> pd.DataFrame:
    """Return how rows that miss a column differ from the others (`compare_rows`)."""
    return compare_rows(clinic.frame, column)
