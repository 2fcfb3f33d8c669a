"""Lesson 3: patterns of missing values and how to recognize them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.learn.lesson import LARGEST_SEED, Lesson, independent_numbers
from pmae_core.amputation import ampute
from pmae_core.missingness import MissingnessSummary, summarize_missingness
from pmae_core.words import count, percent

LESSON = Lesson(
    name="patterns",
    title="Patterns of missing values",
    story="Eight measurements of 120 people: blue cells are observed, vermilion ones are missing. "
    "At first, most tables look like noise. **Sort** rows and columns by their missing values and "
    "look again.",
    question="Which pattern do the missing values form?",
    answers={
        "monotone": "Monotone: a staircase without exceptions",
        "quasi-monotone": "Quasi-monotone: a staircase with a few exceptions",
        "general": "General: no staircase",
    },
    points=(
        "**Monotone**: the columns can be ordered so that a row that misses one column misses all "
        "later ones, as when participants drop out of a study. It is the easiest pattern to "
        "impute: column by column, each from the earlier ones.",
        "**Quasi-monotone**: a staircase with exceptions. Participants drop out, and a few samples "
        "are lost.",
        "**General**: any cell may be missing, as in questionnaires. No order of columns works, so "
        "a method must be able to predict every cell from whatever is observed.",
        "The pattern describes **where** values are missing, the mechanism **why**. Neither "
        "follows from the other.",
    ),
)

KINDS = tuple(LESSON.answers)
N_ROWS = 120
MEASUREMENTS = ("weight", "pulse", "sugar", "sleep", "mood", "diet", "steps", "pain")
_EXCEPTIONS = 0.015


@dataclass(frozen=True, eq=False)
class PatternTable:
    """A table with a pattern of missing values, and the library's summary of it."""

    incomplete: pd.DataFrame
    summary: MissingnessSummary

    @property
    def kind(self) -> str:
        """The pattern's class."""
        return self.summary.pattern_class

    def sentence(self) -> str:
        """Name the pattern, how far it is from a staircase, and how many patterns the rows have."""
        away = self.summary.distance_from_monotone
        exceptions = (
            "no cell breaks the staircase"
            if away == 0
            else f"{percent(away)} of the missing cells break the staircase"
        )
        patterns = count(self.summary.n_patterns, "different pattern")
        return (
            f"The pattern is **{self.kind}**: {exceptions}. Its rows have {patterns}; those of a "
            f"strict staircase of {self.summary.n_columns} columns have at most "
            f"{self.summary.n_columns + 1}."
        )


def kind_of_seed(seed: int) -> str:
    """Return the pattern that a seed makes."""
    return KINDS[int(independent_numbers(seed).integers(len(KINDS)))]


def make_pattern(kind: str, seed: int) -> PatternTable:
    """Make a table with one of the three patterns; its columns are in random order."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(MEASUREMENTS).tolist()
    frame = pd.DataFrame(rng.normal(size=(N_ROWS, len(names))), columns=names)
    observed = dict(zip(rng.permutation(names), np.linspace(0.95, 0.3, len(names)), strict=True))
    incomplete = ampute(
        frame,
        mechanism="MCAR",
        coupling="independent" if kind == "general" else "nested",
        columns=names,
        proportions=observed,
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
    return PatternTable(incomplete, summarize_missingness(incomplete, max_patterns=5))
