"""What the page Export draws: one row per thing to export, and previews below."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import runs
from dashboard.export import files, items
from dashboard.export.items import ExportFile, ExportItem
from dashboard.impute.choose import choose_imputation, shown_imputation
from dashboard.impute.completed_tables import (
    CompletedTable,
    comparison_of,
    is_done,
    load,
    method_of,
    title_of,
)
from dashboard.state import memory
from dashboard.state.table_state import OpenTable
from dashboard.text import code, plain
from dashboard.widgets import fragment, shown_errors
from dashboard.widgets.links import page_link
from pmae_core.errors import ImputationError
from pmae_core.export import MethodsText, Recipe, command_line, reproduce_script
from pmae_core.imputers import imputer_info
from pmae_core.jobs import JobRecord
from pmae_core.words import count, listed

SECTION = "export"
LANGUAGES = {"R": "r", "Stata": None, "Python": "python"}
ESCAPED_HELP = (
    "Cells of a CSV file that begin like a formula (=, +, -, @) get an apostrophe, so that no "
    "spreadsheet runs them. Numbers stay as they are. Switch it off for files that programs read. "
    "Excel files are always safe."
)


def show_export(table: OpenTable) -> None:
    """Draw the page for the chosen imputation."""
    title_place, choice_place = st.columns([1, 3], gap="medium", vertical_alignment="bottom")
    notice_place = st.container()
    title_place.title("Export", anchor=False)
    with choice_place:
        record = choose_imputation(table, notice_place)
    if record is None:
        st.info(
            "Nothing is imputed yet. Impute your table first, then export it here.",
            icon=":material/healing:",
        )
        page_link("impute.py", "Go to Impute", ":material/healing:")
    elif is_done(record):
        with shown_imputation(record):
            _show_imputation(load(record, table))
    else:
        runs.watch(_show_unfinished, [record.id])


def _show_unfinished(found: list[JobRecord]) -> None:
    if not found:
        st.info("This imputation was removed. Choose another one.")
        return
    runs.show_job(found[0], key=SECTION)
    st.info("This imputation has nothing to export yet. Choose another one above.")


@fragment
def _show_imputation(completed: CompletedTable) -> None:
    how = files.recipe(completed)
    method = plain(title_of(method_of(completed.record) or ""))
    imputed = count(int(completed.n_imputed.sum()), "cell")
    st.markdown(f"**{imputed} imputed by {method}.** Observed cells are unchanged.")
    rows_place = st.container(gap="small")
    is_escaped = bool(
        memory.remembered(
            st.toggle,
            "CSV safe for spreadsheets",
            section=SECTION,
            name="escaped",
            default=True,
            help=ESCAPED_HELP,
        )
    )
    try:
        imputer_info(how.method)
    except ImputationError as error:  # of an earlier version: the table is all there is
        st.warning(plain(error))
        _show_rows(items.table_items(completed, how, is_escaped=is_escaped), rows_place)
        return
    comparison = comparison_of(completed.record)
    text = files.methods_text(completed)
    listed_items = items.all_items(completed, how, comparison, text, is_escaped=is_escaped)
    chosen = _show_rows(listed_items, rows_place)
    _show_previews(completed, how, text, chosen, is_judged=comparison is not None)


# One row per thing


def _show_rows(shown: list[ExportItem], place: DeltaGenerator) -> dict[str, str]:
    """Draw the items, and return the chosen format of each."""
    with place:
        return {item.key: _show_row(item, is_first=item is shown[0]) for item in shown}


def _show_row(item: ExportItem, *, is_first: bool) -> str:
    title_place, format_place, button_place = st.columns(
        [11, 7, 6], gap="small", vertical_alignment="center"
    )
    title_place.markdown(f"**{item.title}**  \n:small[{plain(item.about)}]")
    with format_place:
        chosen = _choose_format(item)
    with button_place:
        st.download_button(
            f"Download {item.noun}",
            data=chosen.content,
            file_name=chosen.name,
            mime=chosen.mime,
            on_click="ignore",
            key=f"{SECTION}:{item.key}",
            icon=":material/download:",
            help=f"{chosen.name}: {chosen.help}",
            type="primary" if is_first else "secondary",
            disabled=chosen.objection is not None,
            width="stretch",
        )
    if chosen.objection is not None:
        st.caption(plain(chosen.objection))
    return chosen.label


def _choose_format(item: ExportItem) -> ExportFile:
    by_label = {one.label: one for one in item.formats}
    if len(by_label) == 1:
        (only,) = item.formats
        st.caption(code(only.name))
        return only
    label = memory.remembered(
        st.segmented_control,
        f"Format: {item.title}",
        section=SECTION,
        name=f"{item.key}_format",
        default=item.formats[0].label,
        options=list(by_label),
        required=True,
        label_visibility="collapsed",
    )
    return by_label[label]


# Previews


def _show_previews(
    completed: CompletedTable,
    how: Recipe,
    text: MethodsText,
    chosen: dict[str, str],
    *,
    is_judged: bool,
) -> None:
    program = chosen.get("imputations")
    reading = [] if program is None else [f"Read in {program}"]
    methods_tab, script_tab, shell_tab, *reading_tab = st.tabs(
        ["Methods text", "Script", "Shell", *reading]
    )
    with methods_tab:
        _show_methods(text, is_judged=is_judged)
    with script_tab:
        st.code(reproduce_script(items.script_recipe(how)), language="python", height=320)
    with shell_tab:
        _show_command(how)
    if program is not None:
        with reading_tab[0], shown_errors():
            _show_reading(completed, program)


def _show_methods(text: MethodsText, *, is_judged: bool) -> None:
    st.markdown(text.markdown)
    st.markdown("\n".join(f"{n}. {plain(work)}" for n, work in enumerate(text.references, start=1)))
    if not is_judged:
        st.caption("Compare methods on this table to add the result to the paragraph.")


def _show_command(how: Recipe) -> None:
    try:
        command = command_line(items.script_recipe(how))
    except ImputationError as error:
        st.caption(plain(error))
        return
    st.code(command, language="bash", wrap_lines=True)


def _show_reading(completed: CompletedTable, program: str) -> None:
    reading = files.imputations_reading(completed, items.PROGRAMS[program])
    st.code(reading.code, language=LANGUAGES[program])
    if reading.renamed:
        pairs = [f"{code(str(name))} is {code(new)}" for name, new in reading.renamed.items()]
        st.caption(f"Column names that {program} does not allow are changed: {listed(pairs)}.")
