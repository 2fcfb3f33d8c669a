"""The settings that several sections of the Missingness page share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.missingness import lines
from dashboard.missingness.facts import MissingnessFacts, tree_of
from dashboard.state import memory
from dashboard.state.table_state import OpenTable
from dashboard.text import plain
from pmae_core.errors import TableError
from pmae_core.missingness import MissingBlock

SECTION = "missingness"


def beside() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return the places for settings at the left and for the answer at the right."""
    with st.container(key="settings-beside-missingness"):
        settings, answer = st.columns([1, 3], gap="medium")
    return settings, answer


@contextmanager
def reasons() -> Iterator[None]:
    """Say why something cannot be computed for this table: nobody made a mistake."""
    try:
        yield
    except TableError as reason:
        st.info(plain(reason), icon=":material/info:")


def choose_one(
    label: str, name: str, options: Sequence[str], *, default: str | None = None, help: str = ""
) -> str:
    """Ask for one of a few options, one below the other."""
    return str(
        memory.remembered(
            st.radio,
            label,
            section=SECTION,
            name=name,
            default=default or options[0],
            options=list(options),
            help=help or None,
        )
    )


def search_columns() -> str:
    """Ask for a part of columns' names; the sections share it."""
    return str(
        memory.remembered(
            st.text_input,
            "Find columns",
            section=SECTION,
            name="search",
            default="",
            placeholder="Part of a name",
            icon=":material/search:",
            help="Shows only columns whose name contains this text, each on a line of its own. "
            "Clear it to see all columns.",
        )
    )


def choose_order(
    chosen: Sequence[MissingBlock], facts: MissingnessFacts, table: OpenTable
) -> list[MissingBlock]:
    """Ask for the order of lines, and return them in it."""
    order = choose_one(
        "Order",
        "column_order",
        [lines.MOST_MISSING, lines.AS_IN_TABLE, lines.SIMILAR],
        help="Similar: columns that are missing in similar rows follow each other.",
    )
    tree = tree_of(table.digest, facts) if order == lines.SIMILAR else None
    return lines.in_order(chosen, order, facts, tree)


def choose_lines(facts: MissingnessFacts) -> list[MissingBlock]:
    """Ask which columns to draw.

    Returns
    -------
    list of MissingBlock
        One per line; none if no name contains what is searched for.
    """
    search = search_columns()
    blocks = lines.expandable(facts)
    expanded: list[Any] = []
    if blocks and not search.strip():
        expanded = memory.remembered(
            st.multiselect,
            "Expand groups",
            section=SECTION,
            name="expanded",
            default=[],
            options=list(blocks),
            format_func=lambda name: lines.plain_label(blocks[name]),
            placeholder="None",
            help="Columns that are missing in the same rows, exactly or nearly, share a line. "
            "Expanded groups have a line per column.",
        )
    return lines.choose_lines(facts, search=search, expanded=expanded)


def say_nothing_found() -> None:
    """Say that no column has what was searched for."""
    st.info(
        "No column with missing values has this text in its name. Clear **Find columns** to see "
        "all of them.",
        icon=":material/search_off:",
    )
