"""What the Missingness page knows about a table, computed once: the digest is the key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd
import streamlit as st

from dashboard.figures.missingno_pictures import missingno_picture
from dashboard.state.table_state import OpenTable
from pmae_core.missingness import (
    LittleTest,
    MissingBlock,
    MissingnessStory,
    MissingnessSummary,
    MissingnessTree,
    MissingPatterns,
    NullityMatrix,
    NullityTree,
    ValueDistribution,
    bin_nullity,
    cluster_columns,
    compare_distributions,
    compare_rows,
    dropping_path,
    dropping_shift,
    find_blocks,
    find_patterns,
    little_test,
    predict_missingness,
    summarize_missingness,
    tell_story,
)


@dataclass(frozen=True, eq=False)
class MissingnessFacts:
    """What every section starts from.

    Attributes
    ----------
    patterns : MissingPatterns
        The missing patterns of the rows.
    summary : MissingnessSummary
        How much is missing.
    blocks : tuple of MissingBlock
        Columns that are missing in the same rows, exactly or nearly, most missing first.
    exact_blocks : tuple of MissingBlock
        Columns that are missing in exactly the same rows.
    story : MissingnessStory
        The main facts.
    """

    patterns: MissingPatterns
    summary: MissingnessSummary
    blocks: tuple[MissingBlock, ...]
    exact_blocks: tuple[MissingBlock, ...]
    story: MissingnessStory

    @classmethod
    def of(cls, frame: pd.DataFrame) -> MissingnessFacts:
        """Return the facts about a table."""
        patterns = find_patterns(frame)
        summary = summarize_missingness(patterns)
        blocks = summary.blocks
        return cls(
            patterns=patterns,
            summary=summary,
            blocks=blocks,
            exact_blocks=find_blocks(patterns, nearly_up_to=0),
            story=tell_story(patterns, blocks),
        )


@st.cache_resource(max_entries=4, show_spinner="Counting missing values …")
def facts_of(digest: str, _frame: pd.DataFrame) -> MissingnessFacts:
    """Return the facts about a table with this digest."""
    return MissingnessFacts.of(_frame)


@st.cache_data(max_entries=8, show_spinner=False)
def matrix_of(
    digest: str, order: Literal["table", "pattern"], _facts: MissingnessFacts
) -> NullityMatrix:
    """Return the table's missing cells with rows in bins."""
    return bin_nullity(_facts.patterns, order=order)


@st.cache_data(max_entries=8, show_spinner=False)
def tree_of(digest: str, _facts: MissingnessFacts) -> NullityTree:
    """Return the tree of blocks of columns."""
    return cluster_columns(_facts.patterns, _facts.blocks)


@st.cache_data(max_entries=16, show_spinner="Comparing rows …")
def comparison_of(digest: str, column: str, _table: OpenTable) -> pd.DataFrame:
    """Return how rows that miss a column differ from the others."""
    return compare_rows(_table.frame, column, schema=_table.schema)


@st.cache_data(max_entries=32, show_spinner=False)
def distribution_of(digest: str, column: str, other: str, _table: OpenTable) -> ValueDistribution:
    """Return the values of a column where another one is observed and missing."""
    return compare_distributions(_table.frame, column, other, schema=_table.schema)


@st.cache_data(max_entries=16, show_spinner="Training a small tree …")
def prediction_of(digest: str, column: str, _table: OpenTable) -> MissingnessTree:
    """Return a small tree that predicts where a column is missing."""
    return predict_missingness(_table.frame, column, schema=_table.schema)


@st.cache_data(max_entries=16, show_spinner="Running Little's test …")
def little_of(digest: str, columns: tuple[str, ...], _table: OpenTable) -> LittleTest:
    """Return Little's test of some numerical columns."""
    return little_test(_table.frame, columns=columns, schema=_table.schema)


@st.cache_data(max_entries=8, show_spinner=False)
def path_of(digest: str, columns: tuple[str, ...], _facts: MissingnessFacts) -> pd.DataFrame:
    """Return how complete rows come back as columns are left out."""
    return dropping_path(_facts.patterns, columns)


@st.cache_data(max_entries=8, show_spinner="Dropping rows …")
def shift_of(digest: str, columns: tuple[str, ...], _table: OpenTable) -> pd.DataFrame:
    """Return how far columns move if incomplete rows are dropped."""
    return dropping_shift(_table.frame, columns, schema=_table.schema)


@st.cache_data(max_entries=16, show_spinner="Drawing the picture …")
def picture_of(digest: str, view: str, kind: str, _frame: pd.DataFrame) -> bytes:
    """Return one of missingno's pictures."""
    return missingno_picture(_frame.isna(), view, kind)
