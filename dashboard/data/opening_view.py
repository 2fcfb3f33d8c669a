"""Opening another table on the Data page: a file of one's own, or a sample."""

from typing import Any, BinaryIO

import streamlit as st

from dashboard.data import samples, upload_limits, uploads
from dashboard.data.editors_view import draw_editors_anew
from dashboard.data.readings import Reading
from dashboard.data.storage_view import show_storage
from dashboard.errors import sentence_of
from dashboard.runs import POLL_SECONDS
from dashboard.state import notices, session
from dashboard.state.workspace import Workspace
from dashboard.text import code, plain
from dashboard.widgets import errors_as_notices, shown_errors
from pmae_core.table import list_datasets
from pmae_core.words import duration, shorten

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

# Most files are read within this time; then there is no progress to show.
QUICK_SECONDS = 2.0

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


@errors_as_notices
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
        _receive_file(own, file)
        st.rerun()
    _show_reading(own)
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
            uploads.start_reading(own, options)
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


@errors_as_notices
def _receive_file(own: Workspace, file: BinaryIO) -> None:
    uploads.receive(own, file, file.name)
    uploads.start_reading(own)


# A file that is being read


def _show_reading(own: Workspace) -> None:
    """Open the table of the last upload when it is read; until then, show how long that takes."""
    reading = uploads.current_reading(own)
    if reading is None:
        return
    with st.spinner("Reading the file …"):
        has_ended = uploads.wait_for_reading(own, max(0.0, QUICK_SECONDS - reading.seconds))
    if has_ended:
        _open_upload(own)
        st.rerun()
    st.fragment(_follow_reading, run_every=POLL_SECONDS)(own)


def _follow_reading(own: Workspace) -> None:
    with shown_errors():
        reading = uploads.current_reading(own)
        if reading is None or reading.has_ended:
            st.rerun()
        _show_progress(reading)
        st.button(
            "Cancel",
            key="data:cancel_reading",
            icon=":material/stop_circle:",
            on_click=_cancel_reading,
            args=(own,),
            help="Stops reading the file. The table that is open stays open.",
        )


def _show_progress(reading: Reading) -> None:
    most = upload_limits.process_limits().seconds
    name = code(shorten(reading.name, 40))
    if reading.is_waiting:
        st.markdown(f"{name} is waiting until other files have been read.")
    elif most:
        text = f"Reading {name}: {duration(reading.seconds)} of at most {duration(most)}"
        st.progress(min(1.0, reading.seconds / most), text=text)
    else:
        st.markdown(f"Reading {name}: {duration(reading.seconds)}")


@errors_as_notices
def _cancel_reading(own: Workspace) -> None:
    cancelled = uploads.cancel_reading(own)
    if cancelled is not None:
        notices.notify("info", f"Reading {plain(cancelled.name)} was cancelled.{_stays(own)}")


def _open_upload(own: Workspace) -> None:
    """Open what was read; say what was assumed, or why nothing was opened."""
    try:
        opened = uploads.open_upload(own)
    except Exception as error:
        notices.notify("error", sentence_of(error) + _stays(own))
        return
    if opened is None:
        return
    notices.notify("success", f"{plain(opened.state.name)} is open.")
    for remark in opened.remarks:
        notices.notify("warning", plain(remark))


def _stays(own: Workspace) -> str:
    state = own.table_state()
    return f" {plain(state.name)} stays open." if state else ""


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


@errors_as_notices
def _open_sample() -> None:
    name = st.session_state[_SAMPLE_KEY]
    st.session_state[_SAMPLE_KEY] = None  # the same one can be chosen again
    if name is not None:
        session.open_sample(session.workspace(), name)
        notices.notify("success", f"{plain(name)} is open.")
