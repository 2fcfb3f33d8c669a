"""The tables of the Data page that users edit: roles, rules, and values that mean missing.

An editor is given the same table as long as its user works in it: the browser then keeps the edits
that are still on their way, and the place it was scrolled to. What changes the table in another
way has the editors drawn anew.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.data import columns, edits
from dashboard.data.summary import MEANING_OF_ROLE
from dashboard.state import notices, session
from dashboard.state.table_state import OpenTable, TableState
from dashboard.text import code, plain
from dashboard.widgets import errors_as_notices
from pmae_core import colors
from pmae_core.table import Role, SentinelSuggestion

ALL_COLUMNS = "all columns"
ROW_HEIGHT = 35  # pixels, Streamlit's own

_ROUND_KEY = "data:editors"


def draw_editors_anew() -> None:
    """Let the editors start from what is kept: after an undo, or an edit that was refused."""
    st.session_state[_ROUND_KEY] = st.session_state.get(_ROUND_KEY, 0) + 1


def height_of(shown: pd.DataFrame, most: int, n_headers: int = 1) -> int:
    """Return the pixels that a table needs, at most so many."""
    return min(ROW_HEIGHT * (len(shown) + n_headers) + 2, most)


def _shown_in(name: str, digest: str, make: Callable[[], pd.DataFrame]) -> tuple[str, pd.DataFrame]:
    """Return the key of an editor and the table that it was given first."""
    key = f"data:{name}:{digest}:{st.session_state.get(_ROUND_KEY, 0)}"
    if f"{key}:shown" not in st.session_state:
        st.session_state[f"{key}:shown"] = make()
    return key, st.session_state[f"{key}:shown"]


def _edits_of(key: str) -> tuple[pd.DataFrame, edits.Edits]:
    """Return what an editor was given, and what has changed in it since it was last kept."""
    shown, now = st.session_state[f"{key}:shown"], st.session_state[key]["edited_rows"]
    return shown, edits.with_reversals(shown, now, st.session_state.get(f"{key}:kept", {}))


def _note_kept(key: str) -> None:
    now = st.session_state[key]["edited_rows"]
    st.session_state[f"{key}:kept"] = {row: dict(cells) for row, cells in now.items()}


def _keep(keep: Callable[[Mapping[str, Any]], object], changes: Mapping[str, Any]) -> None:
    for reason in (refused := edits.keep_each(keep, changes)):
        notices.notify("error", plain(reason))
    if refused:
        draw_editors_anew()


# Roles


def show_roles(table: OpenTable, state: TableState, meanings: Mapping[str, str]) -> None:
    """Draw the columns with their roles, which can be changed.

    Parameters
    ----------
    table, state
        The open table.
    meanings
        What was measured in a column, where it is known.
    """
    key, shown = _shown_in("roles", state.cells_digest, lambda: columns.role_table(table, meanings))
    st.caption("The role decides how a column is learned. Double-click a role to change it.")
    roles = "; ".join(f"**{role.value}**: {words}" for role, words in MEANING_OF_ROLE.items())
    st.data_editor(
        shown,
        key=key,
        on_change=_keep_roles,
        args=(key,),
        alt="The columns of the table with their roles",
        hide_index=True,
        width="stretch",
        height=height_of(shown, most=322),
        disabled=[name for name in shown.columns if name != columns.ROLE],
        column_config={
            columns.COLUMN: st.column_config.TextColumn(pinned=True),
            columns.ROLE: st.column_config.SelectboxColumn(
                options=[role.value for role in Role],
                required=True,
                width=105,
                help=f"Double-click, or press Enter, to change it. {roles}.",
            ),
            columns.OBSERVED: st.column_config.ProgressColumn(
                format="%.1f%%",
                min_value=0,
                max_value=100,
                color=colors.OBSERVED,
                width=130,
                help="Share of rows in which the column is observed (p_obs).",
            ),
            columns.REMARKS: st.column_config.TextColumn(width=170),
            columns.DIFFERENT: st.column_config.NumberColumn(
                format="localized", width=125, help="Number of different values in the column."
            ),
        },
    )


@errors_as_notices
def _keep_roles(key: str) -> None:
    current = {str(c.name): c.role.value for c in session.open_table().schema}
    _keep(session.workspace().set_roles, edits.changed_roles(*_edits_of(key), current))
    _note_kept(key)


# Limits and derived columns


@st.cache_data(max_entries=8, show_spinner="Checking limits and derived columns …")
def _rule_findings(digest: str, _table: OpenTable) -> list[str]:
    return _table.schema.rule_findings(_table.frame)


def show_rules(table: OpenTable, state: TableState) -> None:
    """Draw the limits and expressions of columns of numbers, which can be changed."""
    key, shown = _shown_in("rules", state.cells_digest, lambda: columns.rule_table(table))
    if shown.empty:
        st.info("No column holds numbers, so there are no limits to set.", icon=":material/rule:")
        return
    st.caption(
        "Imputed values stay within these limits, and derived columns are computed from the other "
        "columns of the row, for example `weight / height**2`. Observed values never change."
    )
    for sentence in _rule_findings(table.digest, table) if table.schema.rules else ():
        st.warning(plain(sentence), icon=":material/rule:")
    st.data_editor(
        shown,
        key=key,
        on_change=_keep_rules,
        args=(key,),
        alt="The columns of numbers with their limits and expressions",
        hide_index=True,
        width="stretch",
        height=height_of(shown, most=322),
        disabled=[columns.COLUMN],
        column_config={
            columns.COLUMN: st.column_config.TextColumn(pinned=True),
            columns.LOWER: st.column_config.NumberColumn(help="No imputed value is lower."),
            columns.UPPER: st.column_config.NumberColumn(help="No imputed value is higher."),
            columns.WHOLE: st.column_config.SelectboxColumn(
                options=list(columns.WHOLE_CHOICES),
                required=True,
                help="As observed: imputed values are whole if all observed values are.",
            ),
            columns.DERIVED: st.column_config.TextColumn(
                width="large",
                help="Column names, numbers, + - * / **, comparisons, abs, exp, log, log10, log2 "
                "and sqrt. Put unusual names in backticks. Limits do not apply to computed values.",
            ),
        },
    )


@errors_as_notices
def _keep_rules(key: str) -> None:
    current = session.open_table().schema.rules
    _keep(session.workspace().set_rules, edits.changed_rules(*_edits_of(key), current))
    _note_kept(key)


# Values that mean missing


def show_sentinels(
    table: OpenTable,
    state: TableState,
    raw: pd.DataFrame,
    suggestions: list[SentinelSuggestion],
) -> None:
    """Draw the values that mean missing, or may mean it, with a tick for each.

    Parameters
    ----------
    table, state
        The open table.
    raw
        The table as it was read, nothing declared.
    suggestions
        What may mean missing; those already declared give the reason for them.
    """
    key, shown = _shown_in(
        "sentinels",
        state.raw,
        lambda: columns.sentinel_table(raw, table.sentinels, suggestions),
    )
    sentence = "Cells with a ticked value, such as ?, -999 or N/A, count as missing on all pages."
    if len(raw) > columns.SUGGESTION_ROWS:
        sentence += (
            f" Suggestions are based on {columns.SUGGESTION_ROWS:,} random rows, counts on all."
        )
    st.caption(sentence)
    if shown.empty:
        st.info("No value looks like a code for a missing one.", icon=":material/check:")
    else:
        _show_sentinel_editor(key, shown)
    _show_other_value(table)


def _show_sentinel_editor(key: str, shown: pd.DataFrame) -> None:
    st.data_editor(
        shown.assign(**{columns.VALUE: shown[columns.VALUE].map(columns.spelling)}),
        key=key,
        on_change=_keep_ticks,
        args=(key,),
        alt="Values that mean, or may mean, missing",
        hide_index=True,
        width="stretch",
        height=height_of(shown, most=250),
        disabled=[name for name in shown.columns if name != columns.MISSING],
        column_config={
            columns.MISSING: st.column_config.CheckboxColumn(
                width=110, help="Tick it, and cells with this value count as missing."
            ),
            columns.CELLS: st.column_config.NumberColumn(
                format="localized", width="small", help="Number of cells with the value."
            ),
            columns.WHY: st.column_config.TextColumn(width="large"),
        },
    )


def _show_other_value(table: OpenTable) -> None:
    with (
        st.form("data:other", border=False, clear_on_submit=True),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        st.text_input(
            "Another value that means missing",
            key="data:other_value",
            max_chars=200,
            help="As it is written in the cells: 99, unknown, 1900-01-01.",
        )
        st.selectbox(
            "In",
            ["", *map(str, table.frame.columns)],
            format_func=lambda name: name or ALL_COLUMNS,
            key="data:other_column",
            help="One column, or all of them.",
        )
        st.form_submit_button("Declare missing", on_click=_declare_other)


@errors_as_notices
def _keep_ticks(key: str) -> None:
    declared = session.open_table().sentinels
    ticks = edits.changed_ticks(*_edits_of(key), declared)
    if ticks:
        session.workspace().set_sentinels(
            edits.with_ticks(declared, ticks), what=edits.ticks_in_words(ticks)
        )
    _note_kept(key)


def declare_missing(values: list[tuple[str, Any]]) -> None:
    """Let values of columns count as missing, as one step that can be undone."""
    declared = session.open_table().sentinels
    ticks = [(column, value, True) for column, value in values]
    session.workspace().set_sentinels(
        edits.with_ticks(declared, ticks), what=edits.ticks_in_words(ticks)
    )
    draw_editors_anew()


@errors_as_notices
def _declare_other() -> None:
    value = st.session_state["data:other_value"].strip()
    column = st.session_state["data:other_column"]
    if not value:
        notices.notify("warning", "Type the value first, then press the button.")
        return
    table = session.open_table()
    names = [column] if column else [str(name) for name in table.frame.columns]
    found = columns.columns_with(table.frame, names, value)
    if not found:
        where = f"{code(column)} does not contain" if column else "No column contains"
        notices.notify("warning", f"{where} {code(value)}; nothing changed.")
        return
    declare_missing([(name, value) for name in found])
