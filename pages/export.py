"""Export: the imputed table as files, and all it takes to make it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from dashboard import runs
from dashboard.export import files as exports
from dashboard.impute.choose import choose_imputation
from dashboard.impute.completed_tables import (
    CompletedTable,
    comparison_of,
    is_done,
    load,
    method_of,
    title_of,
)
from dashboard.state import memory, session
from dashboard.text import code, plain
from dashboard.widgets import shown_errors
from pmae_core.errors import ImputationError
from pmae_core.evaluation import Comparison
from pmae_core.export import (
    ImputationFormat,
    ImputationReading,
    MethodsText,
    Recipe,
    command_line,
    reproduce_script,
)
from pmae_core.imputers import imputer_info
from pmae_core.jobs import JobRecord
from pmae_core.jobs.worker.recipes import TABLE_FILE
from pmae_core.jobs.worker.results import MODEL_FILE
from pmae_core.words import count, listed

SECTION = "export"
EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PARQUET = "application/vnd.apache.parquet"
BYTES = "application/octet-stream"


class Program(NamedTuple):
    """A program that imputations are written for."""

    title: str
    language: str | None
    mime: str
    help: str


PROGRAMS: dict[ImputationFormat, Program] = {
    "mice": Program(
        "R", "r", "text/csv", "A long CSV file with .imp and .id, which mice::as.mids reads."
    ),
    "stata": Program("Stata", None, BYTES, "A .dta file, which mi import flong reads."),
    "bundle": Program(
        "Python",
        "python",
        "application/zip",
        "Parquet tables with all types, and a manifest of method, settings, seed and digests.",
    ),
}


def show_imputation(completed: CompletedTable) -> None:
    comparison = comparison_of(completed.record)
    how = exports.recipe(completed)
    n_filled = int(completed.n_filled.sum())
    st.markdown(
        f"{count(len(completed.filled), 'row')} and {count(completed.filled.shape[1], 'column')}, "
        f"{count(n_filled, 'cell')} filled by {plain(title_of(method_of(completed.record) or ''))}."
    )
    is_escaped = memory.remembered(
        st.toggle,
        "Safe for spreadsheets",
        section=SECTION,
        name="escaped",
        default=True,
        help="Cells of a CSV file that begin like a formula (=, +, -, @) get an apostrophe before "
        "them, so that no spreadsheet runs them. Numbers stay as they are. Switch it off for "
        "files that programs read. Excel files are always safe.",
    )
    try:
        imputer_info(how.method)
    except ImputationError as error:  # of an earlier version: the table is all there is
        st.warning(plain(error))
        show_table_files(completed, how, is_escaped)
        return
    show_everything(completed, how, comparison, is_escaped)
    show_table_files(completed, how, is_escaped)
    show_imputations(completed, how)
    show_words(exports.methods_text(completed, how, comparison), is_judged=comparison is not None)
    show_ways(completed, how)


def download(
    label: str,
    content: Callable[[], bytes | str],
    *,
    name: str,
    mime: str,
    help: str,
    primary: bool = False,
    disabled: bool = False,
) -> None:
    st.download_button(
        label,
        data=content,
        file_name=name,
        mime=mime,
        on_click="ignore",
        key=f"{SECTION}:{label}",
        icon=":material/download:",
        help=help,
        type="primary" if primary else "secondary",
        disabled=disabled,
    )


def show_everything(
    completed: CompletedTable, how: Recipe, comparison: Comparison | None, is_escaped: bool
) -> None:
    st.subheader("All in one", anchor=False)
    parts = ["the filled table in all formats", "the table with its holes", "script and command"]
    parts += ["words for a paper", "settings"]
    if completed.n_draws:
        parts.append(count(completed.n_draws, "draw"))
    if completed.model_file is not None:
        parts.append("the model")
    if comparison is not None:
        parts.append("the report of your comparison")
    download(
        "Everything as zip",
        lambda: exports.everything(completed, how, comparison, escaped=is_escaped),
        name=f"{exports.stem_of(completed)}-filled.zip",
        mime="application/zip",
        help="Unpack it anywhere: the script in it runs there.",
        primary=True,
    )
    st.caption(f"In it: {', '.join(parts)}. Large tables take a while the first time.")


def show_table_files(completed: CompletedTable, how: Recipe, is_escaped: bool) -> None:
    st.subheader("The filled table", anchor=False)
    stem = exports.stem_of(completed)
    objection = exports.excel_objection(completed)
    with st.container(horizontal=True, gap="small"):
        download(
            "Table as CSV",
            lambda: exports.csv_file(completed, escaped=is_escaped),
            name=f"{stem}-filled.csv",
            mime="text/csv",
            help="For every program.",
        )
        download(
            "Table as Excel",
            lambda: exports.excel_file(completed, how),
            name=f"{stem}-filled.xlsx",
            mime=EXCEL,
            help=objection or "Filled cells are green; a second sheet says what that means.",
            disabled=objection is not None,
        )
        download(
            "Table as Parquet",
            lambda: exports.parquet_file(completed),
            name=f"{stem}-filled.parquet",
            mime=PARQUET,
            help="Keeps all types of columns; for Python and R.",
        )
    if objection is not None:
        st.caption(plain(objection))
    with st.container(horizontal=True, gap="small"):
        for label, ending, mime in (("CSV", "csv", "text/csv"), ("Parquet", "parquet", PARQUET)):
            download(
                f"Mask as {label}",
                lambda ending=ending: exports.mask_file(completed, ending),
                name=f"{stem}-imputed.{ending}",
                mime=mime,
                help="A table of the same shape: true where a cell was filled.",
            )
        model = completed.model_file
        if model is not None:
            download(
                "Model",
                model.read_bytes,
                name=MODEL_FILE,
                mime=BYTES,
                help="The trained network: pmae_core.load_imputer reads it, and fills other "
                "tables with the same columns.",
            )
    st.caption(
        "The mask is a companion that says which cells were filled"
        + (
            "."
            if completed.model_file is not None
            else "; this method leaves no model that could be kept."
        )
    )


def show_imputations(completed: CompletedTable, how: Recipe) -> None:
    if not completed.n_draws:
        return
    st.subheader("Imputations for other programs", anchor=False)
    st.markdown(
        f"All {count(completed.n_draws, 'imputation')} and the table with its missing values in "
        "one file. Fit your model to every imputation there and pool the results."
    )
    with st.container(horizontal=True, gap="small"):
        for format, program in PROGRAMS.items():
            download(
                f"Imputations for {program.title}",
                lambda format=format: exports.imputations_file(completed, how, format),
                name=exports.imputations_name(completed, format),
                mime=program.mime,
                help=program.help,
            )
    for tab, format in zip(
        st.tabs([one.title for one in PROGRAMS.values()]), PROGRAMS, strict=True
    ):
        with tab, shown_errors():
            show_reading(exports.imputations_reading(completed, format), format)


def show_reading(reading: ImputationReading, format: ImputationFormat) -> None:
    st.code(reading.code, language=PROGRAMS[format].language)
    if reading.renamed:
        pairs = [f"{code(str(name))} is {code(new)}" for name, new in reading.renamed.items()]
        st.caption(f"Some column names are not allowed there: {listed(pairs)}.")


def show_words(text: MethodsText, *, is_judged: bool) -> None:
    st.subheader("Words for your paper", anchor=False)
    with st.container(border=True):
        st.markdown(text.markdown)
        st.markdown(
            "\n".join(f"{n}. {plain(work)}" for n, work in enumerate(text.references, start=1))
        )
    if not is_judged:
        st.caption("Compare methods on this table, and the result is added to the paragraph.")
    with st.container(horizontal=True, gap="small"):
        for label, content, ending in (
            ("Paragraph as text", text.to_text, "txt"),
            ("Paragraph as Markdown", text.to_markdown, "md"),
        ):
            download(
                label,
                content,
                name=f"methods.{ending}",
                mime="text/plain",
                help="How the table was filled, with references and seeds.",
            )


def show_ways(completed: CompletedTable, how: Recipe) -> None:
    st.subheader("Do it again", anchor=False)
    how = replace(how, sentinels=())  # the table beside the script lacks them
    files = [TABLE_FILE, *([MODEL_FILE] if how.model is not None else [])]
    st.markdown(
        f"Put the script beside {' and '.join(f'`{name}`' for name in files)}; in the zip they "
        "are together. With the versions it names, it fills the same cells with the same values."
    )
    script = reproduce_script(how)
    with st.container(horizontal=True, gap="small"):
        download(
            "Script",
            lambda: script,
            name="reproduce.py",
            mime="text/x-python",
            help="Python that fills the table once more.",
        )
        download(
            "Table with holes",
            lambda: exports.holes_file(completed),
            name=TABLE_FILE,
            mime=PARQUET,
            help="What the script and the command read.",
        )
    with st.expander("Look at the script", icon=":material/code:"):
        st.code(script, language="python")
    show_command(how)


def show_command(how: Recipe) -> None:
    try:
        command = command_line(how)
    except ImputationError as error:
        st.caption(plain(error))
        return
    st.markdown("The same from the shell:")
    st.code(command, language="bash", wrap_lines=True)


def show_unfinished(found: list[JobRecord]) -> None:
    if not found:
        st.info("This filling was removed. Choose another one.")
        return
    runs.show_job(found[0], key=SECTION)
    st.info("There is nothing to take away of this filling (yet). Choose another one above.")


def main() -> None:
    """Draw the page for the chosen filling."""
    st.title("Export")
    st.markdown(
        "The filled table for your next program, and all it takes to make it again: settings, "
        "seeds, versions and words for a paper."
    )
    table = session.open_table()
    record = choose_imputation(table)
    if record is None:
        st.info(
            "Nothing is filled yet. Fill your table on the page **Impute**, and take it away here.",
            icon=":material/healing:",
        )
        return
    if not is_done(record):
        runs.watch(show_unfinished, [record.id])
        return
    with shown_errors():
        show_imputation(load(record, table))


main()
