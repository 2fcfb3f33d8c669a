"""Lesson 3: patterns of missing values and how to recognize them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.learn.lesson import LARGEST_SEED, Lesson, independent_numbers
from pmae_core.amputation import ampute
from pmae_core.missingness import MissingnessSummary, summarize_missingness
from pmae_core.missingness.summary import QUASI_MONOTONE_UP_TO
from pmae_core.words import count, percent

LESSON = Lesson(
    name="patterns",
    title="Patterns of missing values",
    story="Eight measurements of 120 people: blue cells are observed, vermilion ones are missing. "
    "At first, most tables look like noise. **Sort** rows and columns by their number of missing "
    "values and look again.",
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
    simplified="Tables with a large share of missing values and few exceptions are easy to name. "
    "The border between quasi-monotone and general is a convention: here, exceptions may be up to "
    f"{percent(QUASI_MONOTONE_UP_TO)} of the missing cells. Real studies mix patterns: dropout in "
    "the visits, single values missing in the questionnaires.",
)

KINDS = tuple(LESSON.answers)
N_ROWS = 120
MEASUREMENTS = ("weight", "pulse", "sugar", "sleep", "mood", "diet", "steps", "pain")
N_REPETITIONS = 200
_SHARES_OBSERVED = np.linspace(0.95, 0.3, len(MEASUREMENTS))
_EXCEPTIONS = 0.015
_REPETITION_SEED = 2**31  # beyond the seeds of readers


@dataclass(frozen=True, eq=False)
class PatternTable:
    """A table with a pattern of missing values, and the library's summary of it."""

    incomplete: pd.DataFrame
    summary: MissingnessSummary

    @property
    def kind(self) -> str:
        """The pattern's class."""
        return self.summary.pattern_class

    @property
    def missing(self) -> np.ndarray:
        """True where a cell is missing."""
        return self.incomplete.isna().to_numpy()

    def row_places(self) -> np.ndarray:
        """Return the place of each row once those that miss least stand at the top."""
        ordered = self.missing[:, np.argsort(self.column_places())]
        # Rows that miss equally many lie beside those that miss the same ones.
        order = np.lexsort((*ordered.T[::-1], ordered.sum(axis=1)))
        return np.argsort(order)

    def column_places(self) -> np.ndarray:
        """Return the place of each column once those that miss least stand at the left."""
        return np.argsort(np.argsort(self.missing.sum(axis=0), kind="stable"))

    def breaks(self) -> np.ndarray:
        """Return True where a cell breaks the staircase nearest to its row."""
        order = np.argsort(self.column_places())
        broken = np.empty_like(self.missing)
        broken[:, order] = breaks_of_staircase(self.missing[:, order])
        return broken

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


def breaks_of_staircase(missing: np.ndarray) -> np.ndarray:
    """Return the cells that would have to change for each row to be observed up to some column.

    Parameters
    ----------
    missing
        True where a cell is missing; the last axis is that of columns, which miss more and more.
    """
    n_columns = missing.shape[-1]
    # All stairs of one row: observed in its first columns, from all to none. Of two stairs that
    # are equally near, the longer one counts: the missing cell is the exception.
    stairs = np.arange(n_columns) >= np.arange(n_columns, -1, -1)[:, None]
    changed = missing[..., None, :] != stairs
    best = changed.sum(axis=-1).argmin(axis=-1)
    return np.take_along_axis(changed, best[..., None, None], axis=-2)[..., 0, :]


def repeated_distances() -> Mapping[str, np.ndarray]:
    """Return by pattern how far many tables are from a staircase, as shares of missing cells."""
    rng = np.random.default_rng(_REPETITION_SEED)
    shape = (N_REPETITIONS, N_ROWS, len(MEASUREMENTS))
    staircase = rng.random((*shape[:2], 1)) >= _SHARES_OBSERVED
    missing = {
        "monotone": staircase,
        "quasi-monotone": staircase | (rng.random(shape) < _EXCEPTIONS),
        "general": rng.random(shape) >= _SHARES_OBSERVED,
    }
    return {kind: _distances(cells) for kind, cells in missing.items()}


def _distances(missing: np.ndarray) -> np.ndarray:
    order = np.argsort(missing.sum(axis=1), axis=1, kind="stable")
    ordered = np.take_along_axis(missing, order[:, None, :], axis=2)
    n_exceptions = np.array([breaks_of_staircase(table).sum() for table in ordered])
    return n_exceptions / missing.sum(axis=(1, 2))


def kind_of_seed(seed: int) -> str:
    """Return the pattern that a seed makes."""
    return KINDS[int(independent_numbers(seed).integers(len(KINDS)))]


def make_pattern(kind: str, seed: int) -> PatternTable:
    """Make a table with one of the three patterns; its columns are in random order."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(MEASUREMENTS).tolist()
    frame = pd.DataFrame(rng.normal(size=(N_ROWS, len(names))), columns=names)
    observed = dict(zip(rng.permutation(names), _SHARES_OBSERVED, strict=True))
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
