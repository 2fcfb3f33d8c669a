"""Data: open a table, say what its columns are for and which values stand for missing ones."""

from typing import BinaryIO

import pandas as pd
import streamlit as st

from dashboard.data import columns, summary, uploads
from dashboard.shell import theme
from dashboard.state import memory, notices, session
from dashboard.state.table_state import OpenTable, TableState
from dashboard.state.workspace import Workspace
from dashboard.text import code, exact_text, plain, shorten
from dashboard.widgets import calm, shown_errors
from dashboard.widgets.errors import sentence_of
from pmae_core.table import Role, SentinelSuggestion, list_datasets

SECTION = "data"
PREVIEW_ROWS = 1_000
ALL_COLUMNS = "all columns"
FIRST_CHOICE = "clinic"  # the reasons of its holes are known
ROW_HEIGHT = 35  # pixels, Streamlit's own

DELIMITERS = {
    "found out": None,
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "vertical bar": "|",
    "colon": ":",
    "space": " ",
}
DECIMALS = {"found out": None, "point (1.5)": ".", "comma (1,5)": ","}
ENCODINGS = {
    "found out": None,
    "UTF-8": "utf-8",
    "UTF-16": "utf-16",
    "Windows, Western Europe": "cp1252",
    "Latin-1": "latin-1",
    "Windows, Central Europe": "cp1250",
    "Windows, Cyrillic": "cp1251",
    "Chinese (GB 18030)": "gb18030",
    "Japanese (Shift JIS)": "shift_jis",
}
HEADERS = {"found out": None, "names of columns": True, "data already": False}


def show() -> None:
    own = session.workspace()
    st.title("Data", anchor=False)
    st.markdown(
        "Begin here: open a table with holes, or stay with the sample. Then **Missingness** shows "
        "what is missing and what goes with it, **Compare** which method suits it, and **Impute** "
        "fills it. If all of this is new to you, begin with **Learn**."
    )
    opening, seeing = st.columns([2, 3], gap="large")
    with opening, shown_errors():
        show_opening(own)
    # Whatever is wrong with the open table: another one can be opened, above.
    with shown_errors():
        table = session.open_table()
        state = own.table_state()
        suggestions = suggested(state.cells_digest, table.frame)
        with seeing:
            show_summary(own, table, suggestions)
        show_preview(table)
        show_roles(table, state)
        show_rules(table, state)
        show_sentinels(own, table, state, suggestions)


# Opening


def show_opening(own: Workspace) -> None:
    st.subheader("Which table do you want to look at?", anchor=False)
    upload, sample = st.tabs(["Your file", "A sample"])
    with upload:
        show_upload(own)
    with sample:
        show_samples()


def show_upload(own: Workspace) -> None:
    round_ = st.session_state.setdefault("data:upload_round", 0)
    file = st.file_uploader(
        "CSV, TSV, Excel, Parquet, Feather or JSON lines",
        key=f"data:upload:{round_}",
        help="Your file stays on the computer that runs this app, in your workspace. "
        "Its first line should hold the names of the columns.",
    )
    if file is not None:
        # A new round empties the widget, whose buffer would keep the file in memory.
        st.session_state["data:upload_round"] += 1
        with st.spinner("Reading the file …"):
            receive_file(own, file)
        st.rerun()
    name = uploads.waiting_file(own)
    if name and (uploads.is_text(name) or uploads.is_workbook(name)):
        show_reading_options(own, name)


def show_reading_options(own: Workspace, name: str) -> None:
    with st.expander("Read the file in another way", icon=":material/settings:"):
        with st.form("data:reading", border=False):
            st.caption(f"For {code(name)}, your last upload.")
            options = workbook_options() if uploads.is_workbook(name) else text_options()
            again = st.form_submit_button("Read it again", icon=":material/refresh:")
        if again:
            with st.spinner("Reading the file …"):
                open_file(own, options)
            st.rerun()


def text_options() -> uploads.ReadingOptions:
    def choose(label: str, choices: dict, help_text: str) -> object:
        return choices[st.selectbox(label, list(choices), key=f"data:{label}", help=help_text)]

    return uploads.ReadingOptions(
        delimiter=choose("Cells are separated by", DELIMITERS, "The sign between two cells."),
        decimal=choose("Decimal mark", DECIMALS, "How one and a half is written."),
        encoding=choose("Letters", ENCODINGS, "The encoding, if letters like é look wrong."),
        header=choose("The first line holds", HEADERS, "Without names, columns get numbers."),
    )


def workbook_options() -> uploads.ReadingOptions:
    sheet = st.text_input(
        "Sheet", "1", help="Its number, the first is 1, or its name.", key="data:sheet"
    ).strip()
    return uploads.ReadingOptions(sheet=sheet or 0)


@calm
def receive_file(own: Workspace, file: BinaryIO) -> None:
    uploads.receive(own, file, file.name)
    open_file(own, uploads.ReadingOptions())


def open_file(own: Workspace, options: uploads.ReadingOptions) -> None:
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


def show_samples() -> None:
    infos = {info.name: info for info in list_datasets()}

    def title(name: str) -> str:
        info = infos[name]
        where = "" if info.available else ", needs a download"
        return f"{name} ({info.n_rows:,} rows{where})"

    chosen = st.selectbox(
        "Table",
        list(infos),
        index=list(infos).index(FIRST_CHOICE),
        format_func=title,
        key="data:sample",
        help="penguins, clinic and diabetes come with the app; the others are those of the paper.",
    )
    info = infos[chosen]
    facts = (info.title, f"Source: {info.source}", f"License: {info.license}")
    st.caption(" ".join(fact.rstrip(".") + "." for fact in facts))
    st.button("Open this table", key="data:open_sample", on_click=open_sample, args=(chosen,))


@calm
def open_sample(name: str) -> None:
    session.open_sample(session.workspace(), name)
    notices.notify("success", f"{plain(name)} is open.")


# Seeing


@st.cache_data(max_entries=8, show_spinner="Looking for values that stand for missing ones …")
def suggested(cells_digest: str, _frame: pd.DataFrame) -> list[SentinelSuggestion]:
    return columns.find_suggestions(_frame)


def show_summary(own: Workspace, table: OpenTable, suggestions: list[SentinelSuggestion]) -> None:
    st.subheader("What is in this table?", anchor=False)
    st.markdown(f"**{plain(table.name)}**, {plain(table.source)}")
    st.markdown(f"{summary.sentence_about_cells(table)} {summary.sentence_about_holes(table)}")
    for sentence in summary.cautions(table, suggestions):
        st.markdown(f":material/lightbulb: {sentence}")
    if step := own.undoable():
        st.button(
            f"Undo: {plain(shorten(step, 40))}",
            key="data:undo",
            icon=":material/undo:",
            type="tertiary",
            on_click=undo,
            help="Takes the last step back; the one before can be taken back next.",
        )


@calm
def undo() -> None:
    undone = session.workspace().undo()
    new_editors()
    if undone:
        notices.notify("success", f"Taken back: {plain(undone)}.")


def show_preview(table: OpenTable) -> None:
    st.subheader("What does it look like?", anchor=False)
    only_holes = memory.remembered(
        st.toggle,
        "Only rows with missing cells",
        section=SECTION,
        name="only_holes",
        default=False,
        help="Leaves out the rows in which every cell is observed.",
    )
    rows = table.frame
    if only_holes:
        rows = rows[rows.isna().any(axis=1)]
    if rows.empty:
        st.info("No row has a missing cell.", icon=":material/check:")
        return
    preview = rows.head(PREVIEW_ROWS)
    st.dataframe(
        preview,
        width="stretch",
        height=editor_height(preview, most=322),
        key="data:preview",
        alt="The rows of the table",
        column_config={
            str(name): st.column_config.DatetimeColumn(format="YYYY-MM-DD")
            for name in columns.whole_days(preview)
        },
    )
    shown = min(len(rows), PREVIEW_ROWS)
    kind = "rows with missing cells" if only_holes else "rows"
    st.caption(
        f"The first {shown:,} of {len(rows):,} {kind}."
        if shown < len(rows)
        else f"All {len(rows):,} {kind}. “None” and empty cells are missing."
    )


# Roles


def new_editors() -> None:
    """Let the editors start from what is kept: after an undo, or an edit that was refused."""
    st.session_state["data:editors"] = st.session_state.get("data:editors", 0) + 1


def editor_height(shown: pd.DataFrame, most: int) -> int:
    return min(ROW_HEIGHT * (len(shown) + 1) + 2, most)


def show_roles(table: OpenTable, state: TableState) -> None:
    st.subheader("What is each column for?", anchor=False)
    st.caption(
        "The role decides how a column is learned: "
        + ", ".join(f"**{role.value}** {words}" for role, words in summary.MEANING_OF_ROLE.items())
        + "; nothing is learned from the last two. Choose another where it was inferred wrongly."
    )
    key = f"data:roles:{state.cells_digest}:{st.session_state.get('data:editors', 0)}"
    # The editor keeps its own edits: given the same table again, it stays where it was scrolled.
    shown = st.session_state.setdefault(f"{key}:shown", columns.role_table(table))
    st.data_editor(
        shown,
        key=key,
        on_change=keep_roles,
        args=(key,),
        alt="The columns of the table with their roles",
        hide_index=True,
        width="stretch",
        height=editor_height(shown, most=460),
        disabled=[name for name in shown.columns if name != columns.ROLE],
        column_config={
            columns.COLUMN: st.column_config.TextColumn(pinned=True),
            columns.ROLE: st.column_config.SelectboxColumn(
                options=[role.value for role in Role],
                required=True,
                help="Double-click, or press Enter, to choose another role.",
            ),
            columns.OBSERVED: st.column_config.ProgressColumn(
                format="%.1f %%",
                min_value=0,
                max_value=100,
                color=theme.OBSERVED,
                width=150,
                help="Share of rows in which the column is observed (p_obs).",
            ),
            columns.REMARKS: st.column_config.TextColumn(width=170),
            columns.DIFFERENT: st.column_config.NumberColumn(
                format="localized", width=125, help="How many different values the column holds."
            ),
        },
    )


@calm
def keep_roles(key: str) -> None:
    edits = st.session_state[key]["edited_rows"]
    current = {str(c.name): c.role.value for c in session.open_table().schema}
    roles = columns.changed_roles(st.session_state[f"{key}:shown"], edits, current)
    try:
        if roles:
            session.workspace().set_roles(roles)
    except Exception:
        new_editors()
        raise


# Limits and derived columns


@st.cache_data(max_entries=8, show_spinner="Checking limits and derived columns …")
def rule_findings(digest: str, _table: OpenTable) -> list[str]:
    return _table.schema.rule_findings(_table.frame)


def show_rules(table: OpenTable, state: TableState) -> None:
    key = f"data:rules:{state.cells_digest}:{st.session_state.get('data:editors', 0)}"
    shown = st.session_state.setdefault(f"{key}:shown", columns.rule_table(table))
    if shown.empty:
        return
    with st.expander("Limits and derived columns", icon=":material/rule:"):
        st.caption(
            "Every imputed value keeps these rules; observed values never change. Limits narrow "
            "the observed range. A derived column is computed from the other columns of its row, "
            "for example `weight / height**2`; its own limits do not apply to computed values."
        )
        show_rule_editor(key, shown)
    for sentence in rule_findings(table.digest, table) if table.schema.rules else ():
        st.warning(plain(sentence), icon=":material/rule:")


def show_rule_editor(key: str, shown: pd.DataFrame) -> None:
    st.data_editor(
        shown,
        key=key,
        on_change=keep_rules,
        args=(key,),
        alt="The columns of numbers with their limits and expressions",
        hide_index=True,
        width="stretch",
        height=editor_height(shown, most=460),
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
                "and sqrt. Put names with spaces or signs in backticks.",
            ),
        },
    )


@calm
def keep_rules(key: str) -> None:
    edits = st.session_state[key]["edited_rows"]
    current = session.open_table().schema.rules
    rules = columns.changed_rules(st.session_state[f"{key}:shown"], edits, current)
    try:
        if rules:
            session.workspace().set_rules(rules)
    except Exception:
        new_editors()
        raise


# Values that stand for missing ones


def show_sentinels(
    own: Workspace, table: OpenTable, state: TableState, suggestions: list[SentinelSuggestion]
) -> None:
    st.subheader("Which values stand for missing ones?", anchor=False)
    st.caption(
        "Some tables write ?, -999 or N/A where nothing was measured. Tick such values, and they "
        "count as missing on all pages. Undo, above, takes every step back."
    )
    if len(table.frame) > columns.SUGGESTION_ROWS:
        st.caption(f"Looked for in {columns.SUGGESTION_ROWS:,} rows at random, counted in all.")
    raw = own.raw_table(state)
    # The reasons of those that are declared already; in the open table they are gone.
    reasons = suggested(state.raw, raw) if table.sentinels else []
    shown = columns.sentinel_table(raw, table.sentinels, [*reasons, *suggestions])
    if shown.empty:
        st.info("No value looks like a stand-in for a missing one.", icon=":material/check:")
    else:
        show_sentinel_editor(state, shown)
    if suggestions:
        several = f"all {len(suggestions):,} suggestions" if len(suggestions) > 1 else "it"
        st.button(
            f"Declare {several} missing",
            key="data:declare_all",
            icon=":material/done_all:",
            on_click=declare,
            args=([(s.column, s.value) for s in suggestions], "accept the suggestions"),
            help="Ticks every value in the list.",
        )
    show_other_value(table)


def show_sentinel_editor(state: TableState, shown: pd.DataFrame) -> None:
    key = f"data:sentinels:{state.digest}:{st.session_state.get('data:editors', 0)}"
    st.data_editor(
        shown.assign(**{columns.VALUE: shown[columns.VALUE].map(exact_text)}),
        key=key,
        on_change=keep_sentinels,
        args=(key, shown),
        alt="Values that stand, or may stand, for missing ones",
        hide_index=True,
        width="stretch",
        height=editor_height(shown, most=320),
        disabled=[name for name in shown.columns if name != columns.MISSING],
        column_config={
            columns.MISSING: st.column_config.CheckboxColumn(
                width=110, help="Tick: cells with this value count as missing."
            ),
            columns.CELLS: st.column_config.NumberColumn(
                format="localized", width="small", help="How many cells hold the value."
            ),
            columns.WHY: st.column_config.TextColumn(width="large"),
        },
    )


def show_other_value(table: OpenTable) -> None:
    with (
        st.form("data:other", border=False, clear_on_submit=True),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        st.text_input(
            "Another value that means missing",
            key="data:other_value",
            max_chars=200,
            help="As it stands in the cells: 99, unknown, 1900-01-01.",
        )
        st.selectbox(
            "In",
            ["", *map(str, table.frame.columns)],
            format_func=lambda name: name or ALL_COLUMNS,
            key="data:other_column",
            help="One column, or all of them.",
        )
        st.form_submit_button("Declare missing", on_click=declare_other)


@calm
def keep_sentinels(key: str, shown: pd.DataFrame) -> None:
    declared = session.open_table().sentinels
    edits = st.session_state[key]["edited_rows"]
    changed = columns.with_edits(declared, shown, edits)
    session.workspace().set_sentinels(changed, what=columns.edits_in_words(shown, edits))


@calm
def declare(values: list[tuple[str, object]], what: str) -> None:
    declared = session.open_table().sentinels
    for column, value in values:
        declared = columns.with_value(declared, [column], value)
    session.workspace().set_sentinels(declared, what=what)


@calm
def declare_other() -> None:
    value = st.session_state["data:other_value"].strip()
    column = st.session_state["data:other_column"]
    if not value:
        notices.notify("warning", "Write the value first, then press the button.")
        return
    table = session.open_table()
    names = [column] if column else [str(name) for name in table.frame.columns]
    found = columns.columns_with(table.frame, names, value)
    if not found:
        where = f"{code(column)} does not hold" if column else "No column holds"
        notices.notify("warning", f"{where} {code(value)}; nothing changed.")
        return
    declare([(name, value) for name in found], f"declare {value} missing")


show()
