"""Lesson 3: patterns of holes and how to recognize them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.learn.lesson import LARGEST_SEED, Lesson, luck
from pmae_core.amputation import ampute
from pmae_core.missingness import MissingnessSummary, summarize_missingness
from pmae_core.words import count, percent

LESSON = Lesson(
    name="patterns",
    title="Patterns of holes",
    story="Eight measurements of 120 people, blue where there is a value, vermilion where there is "
    "none. As they come, most tables look like noise. **Sort** the columns and rows by their "
    "holes, and look again.",
    question="Which pattern do the holes have?",
    answers={
        "monotone": "Monotone: a staircase without a single exception",
        "quasi-monotone": "Quasi-monotone: a staircase with a few exceptions",
        "general": "General: no order",
    },
    takeaways=(
        "**Monotone**: columns can be ordered so that a row that misses one misses all that "
        "follow. People who leave a study do this. It is the easiest to fill: column by column, "
        "each from those before it.",
        "**Quasi-monotone**: a staircase with exceptions. People leave a study, and a few tubes "
        "break.",
        "**General**: any cell may be missing beside any other, as in questionnaires. No order of "
        "columns works; a method must be able to predict every cell from whatever is there.",
        "The pattern says **where** holes are, the mechanism **why**. One does not follow from the "
        "other.",
    ),
)

KINDS = tuple(LESSON.answers)
N_ROWS = 120
MEASUREMENTS = ("weight", "pulse", "sugar", "sleep", "mood", "diet", "steps", "pain")
_EXCEPTIONS = 0.015


@dataclass(frozen=True, eq=False)
class Holes:
    """A table with a pattern of holes, and what the library says about it."""

    incomplete: pd.DataFrame
    summary: MissingnessSummary

    @property
    def kind(self) -> str:
        """The pattern's class."""
        return self.summary.pattern_class

    def sentence(self) -> str:
        """Say which pattern it is, how far from a staircase, and how many patterns rows have."""
        away = self.summary.distance_from_monotone
        exceptions = (
            "not a single cell stands against a staircase"
            if away == 0
            else f"{percent(away)} of the missing cells stand against a staircase"
        )
        rows = count(self.summary.n_patterns, "different row")
        return (
            f"The pattern is **{self.kind}**: {exceptions}. If only holes count, the table has "
            f"{rows} (a pure staircase of {self.summary.n_columns} columns has at most "
            f"{self.summary.n_columns + 1})."
        )


def hidden_kind(seed: int) -> str:
    """Return which pattern a seed makes."""
    return KINDS[int(luck(seed).integers(len(KINDS)))]


def make_pattern(kind: str, seed: int) -> Holes:
    """Make a table with holes of one of the three patterns; columns come in a random order."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(MEASUREMENTS).tolist()
    frame = pd.DataFrame(rng.normal(size=(N_ROWS, len(names))), columns=names)
    left = dict(zip(rng.permutation(names), np.linspace(0.95, 0.3, len(names)), strict=True))
    incomplete = ampute(
        frame,
        mechanism="MCAR",
        coupling="independent" if kind == "general" else "nested",
        columns=names,
        proportions=left,
        seed=seed + LARGEST_SEED + 1,  # other numbers than those of the table
        drop_empty_rows=False,
    ).incomplete
    if kind == "quasi-monotone":
        incomplete = ampute(
            incomplete,
            mechanism="MCAR",
            coupling="independent",
            columns=names,
            proportions=1 - _EXCEPTIONS,
            seed=seed + 2 * (LARGEST_SEED + 1),
            drop_empty_rows=False,
        ).incomplete
    return Holes(incomplete, summarize_missingness(incomplete, max_patterns=5))
