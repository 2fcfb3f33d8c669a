"""Opening another table on the Data page: a file of one's own, or a sample."""

from typing import Any, BinaryIO

import streamlit as st

from dashboard.data import samples, uploads
from dashboard.data.editors_view import draw_editors_anew
from dashboard.data.storage_view import show_storage
from dashboard.errors import sentence_of
from dashboard.state import notices, session
from dashboard.state.workspace import Workspace
from dashboard.text import code, plain, shorten
from dashboard.widgets import calm
from pmae_core.table import list_datasets

AUTOMATIC = "automatic"
DELIMITERS = {
    AUTOMATIC: None,
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "vertical bar": "|",
    "colon": ":",
    "space": " ",
}
DECIMALS = {AUTOMATIC: None, "point (1.5)": ".", "comma (1,5)": ","}
ENCODINGS = {
    AUTOMATIC: None,
    "UTF-8": "utf-8",
    "UTF-16": "utf-16",
    "Windows, Western Europe": "cp1252",
    "Latin-1": "latin-1",
    "Windows, Central Europe": "cp1250",
    "Windows, Cyrillic": "cp1251",
    "Chinese (GB 18030)": "gb18030",
    "Japanese (Shift JIS)": "shift_jis",
}
HEADERS = {AUTOMATIC: None, "column names": True, "data": False}

_SAMPLE_KEY = "data:sample"
_ROUND_KEY = "data:upload_round"


def show_opening(own: Workspace) -> None:
    """Draw the ways to another table, and the way back."""
    _show_upload(own)
    _show_samples()
    if step := own.undoable():
        st.button(
            f"Undo: {plain(shorten(step, 40))}",
            key="data:undo",
            icon=":material/undo:",
            type="tertiary",
            on_click=_undo,
            help="Undoes the last step. Press again to undo the step before it.",
        )
    show_storage(own)


@calm
def _undo() -> None:
    undone = session.workspace().undo()
    draw_editors_anew()
    if undone:
        notices.notify("success", f"Undone: {plain(undone)}")


# A file


def _show_upload(own: Workspace) -> None:
    times = st.session_state.setdefault(_ROUND_KEY, 0)
    file = st.file_uploader(
        "Open your file",
        key=f"data:upload:{times}",
        help="CSV, TSV, Excel, Parquet, Feather or JSON lines, with column names in the first "
        "line. Your file stays on the computer that runs this app, in your workspace.",
    )
    if file is not None:
        # A new round empties the widget, whose buffer would keep the file in memory.
        st.session_state[_ROUND_KEY] += 1
        with st.spinner("Reading the file …"):
            _receive_file(own, file)
        st.rerun()
    name = uploads.waiting_file(own)
    if name and (uploads.is_text(name) or uploads.is_workbook(name)):
        _show_reading_options(own, name)


def _show_reading_options(own: Workspace, name: str) -> None:
    with st.expander("Read the file in another way"):
        with st.form("data:reading", border=False):
            st.caption(f"For {code(name)}, your last upload.")
            options = _workbook_options() if uploads.is_workbook(name) else _text_options()
            again = st.form_submit_button("Read it again", icon=":material/refresh:")
        if again:
            with st.spinner("Reading the file …"):
                open_file(own, options)
            st.rerun()


def _text_options() -> uploads.ReadingOptions:
    def choose(label: str, choices: dict[str, Any], help_text: str) -> Any:
        return choices[st.selectbox(label, list(choices), key=f"data:{label}", help=help_text)]

    return uploads.ReadingOptions(
        delimiter=choose("Separator", DELIMITERS, "The character between two cells."),
        decimal=choose("Decimal mark", DECIMALS, "How one and a half is written."),
        encoding=choose("Encoding", ENCODINGS, "Change it if letters such as é look wrong."),
        header=choose("First line", HEADERS, "Without names, columns are numbered."),
    )


def _workbook_options() -> uploads.ReadingOptions:
    sheet = st.text_input(
        "Sheet", "1", help="Its name, or its number; the first is 1.", key="data:sheet"
    ).strip()
    return uploads.ReadingOptions(sheet=sheet or 0)


@calm
def _receive_file(own: Workspace, file: BinaryIO) -> None:
    uploads.receive(own, file, file.name)
    open_file(own, uploads.ReadingOptions())


def open_file(own: Workspace, options: uploads.ReadingOptions) -> None:
    """Read the last upload and open it; say what was assumed, or why nothing was opened."""
    before = own.table_state()
    try:
        opened = uploads.open_upload(own, options)
    except Exception as error:
        stays = f" {plain(before.name)} stays open." if before else ""
        notices.notify("error", sentence_of(error) + stays)
        return
    notices.notify("success", f"{plain(opened.state.name)} is open.")
    for remark in opened.remarks:
        notices.notify("warning", plain(remark))


# A sample


def _show_samples() -> None:
    infos = {info.name: info for info in list_datasets()}
    st.selectbox(
        "Or a sample",
        list(infos),
        index=None,
        placeholder="Choose a sample",
        format_func=lambda name: samples.label(infos[name]),
        key=_SAMPLE_KEY,
        on_change=_open_sample,
        help=samples.help_text(list(infos.values())),
    )


@calm
def _open_sample() -> None:
    name = st.session_state[_SAMPLE_KEY]
    st.session_state[_SAMPLE_KEY] = None  # the same one can be chosen again
    if name is not None:
        session.open_sample(session.workspace(), name)
        notices.notify("success", f"{plain(name)} is open.")
