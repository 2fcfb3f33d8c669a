"""Amputation lab: make holes on purpose, see what they do, keep them for a contest."""

import json

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.amputation.caches import facts_of, made_in
from dashboard.amputation.lab import (
    COUPLING_WORDS,
    MECHANISM_WORDS,
    MOST_ROWS,
    PATTERN_WORDS,
    by_holes,
    chance_sentence,
    pattern_sentence,
    result_sentence,
    scenario_words,
    truth_sentence,
    truths,
    with_advice_of_page,
)
from dashboard.amputation.scenario import Scenario, TableFacts, base_sentence
from dashboard.figures.amputation import (
    MOST_COLUMNS,
    chance_data,
    chance_figure,
    density_data,
    density_figure,
    hole_picture,
    holes_figure,
    propensity_data,
    propensity_figure,
    truth_data,
    truths_figure,
)
from dashboard.state import memory, session
from dashboard.state.table_state import OpenTable
from dashboard.text import file_stem, plain
from dashboard.widgets import choose_seed, fragment, share_button, show_figure, shown_errors
from dashboard.widgets.errors import sentence_of
from dashboard.widgets.focus import choose_column
from pmae_core.amputation import Amputation
from pmae_core.amputation.patterns import default_column_share
from pmae_core.errors import AmputationError, PMAEError
from pmae_core.words import count, percent

SECTION = "amputation_lab"
KINDS = {"pattern": "By pattern and mechanism", "like-mine": "Like those of my table"}
BASES = {"complete-rows": "Its complete rows", "completed": "All rows, holes filled first"}
PROPORTIONS = {"drawn": "As the pattern has it", "one": "One for all", "by_hand": "By hand"}
_SAID = f"{SECTION}:said"


@fragment
def lab(table: OpenTable) -> None:
    facts = facts_of(table)
    if not facts.columns:
        st.info(
            "No column of this table can get holes: all are identifiers, ignored or empty. "
            "Change their roles on the Data page, or open another table."
        )
        return
    controls, picture = st.columns([1, 2], gap="large")
    made = None
    with controls:
        scenario = _choose_scenario(table, facts)
        share_button(SECTION, _shared(scenario))
    with picture, shown_errors():
        made = _make(table, scenario)
        _show_holes(facts, scenario, made)
    if made is not None:
        columns = by_holes(made, facts.columns)
        _show_proportions(columns, made)
        _show_truths(table, columns, made)
        _show_downloads(table, scenario, made)
    _show_scenarios(scenario, keepable=made is not None and bool(made.missing.any(axis=None)))


# The controls


def _choose_scenario(table: OpenTable, facts: TableFacts) -> Scenario:
    kind, base = "pattern", facts.default_base
    if facts.n_missing:
        kind = memory.remembered(
            st.radio,
            "What kind of holes?",
            section=SECTION,
            name="kind",
            default="pattern",
            options=list(KINDS),
            format_func=KINDS.get,
            help="Holes by a known rule, or the holes of your own rows, copied to other rows.",
        )
        base = memory.remembered(
            st.radio,
            "In which rows?",
            section=SECTION,
            name="base",
            default=facts.default_base,
            options=list(BASES),
            format_func=BASES.get,
            help="The truth must be known to judge a method. A table with holes has it in its "
            "complete rows only, unless its holes are filled first.",
        )
    chosen: dict[str, object] = {}
    if kind == "pattern":
        chosen = _choose_rule()
        with st.expander("Which columns, and how much of them?"):
            chosen |= _choose_amount(table, facts, chosen["pattern"], chosen["mechanism"])
    seed = choose_seed(
        section=SECTION,
        help="The same seed makes the same holes again; another one draws others.",
    )
    return Scenario(kind=kind, base=base, seed=seed, **chosen)


def _choose_rule() -> dict[str, str]:
    pattern = _choose_word(
        "Pattern", "pattern", PATTERN_WORDS, "general", "How many cells each column loses."
    )
    mechanism = _choose_word(
        "Mechanism", "mechanism", MECHANISM_WORDS, "MNAR", "What the loss of a cell depends on."
    )
    if mechanism == "self-masking":
        coupling = "independent"
        st.caption("Self-masking has independent holes only: each value hides itself.")
    else:
        coupling = _choose_word(
            "Coupling",
            "coupling",
            COUPLING_WORDS,
            "nested",
            "How the holes of one row hang together.",
        )
    return {"pattern": pattern, "mechanism": mechanism, "coupling": coupling}


def _choose_word(
    label: str, name: str, words: dict[str, tuple[str, str]], default: str, explanation: str
) -> str:
    chosen = memory.remembered(
        st.selectbox,
        label,
        section=SECTION,
        name=name,
        default=default,
        options=list(words),
        format_func=lambda word: words[word][0],
        help=explanation,
    )
    st.caption(words[chosen][1])
    return chosen


def _choose_amount(
    table: OpenTable, facts: TableFacts, pattern: str, mechanism: str
) -> dict[str, object]:
    columns = memory.remembered(
        st.multiselect,
        "Columns that may get holes",
        section=SECTION,
        name="columns",
        default=[],
        options=list(facts.columns),
        wrap=True,
        placeholder="All columns",
        help="Leave it empty for all columns that are neither identifiers nor ignored.",
    )
    way = memory.remembered(
        st.radio,
        "Share of rows observed",
        section=SECTION,
        name="proportions",
        default="drawn",
        options=list(PROPORTIONS),
        format_func=PROPORTIONS.get,
        help="How much of each column with holes is left: drawn at random in the range of the "
        "pattern, the same for all, or as you say.",
    )
    if way == "by_hand":
        by_hand = _choose_by_hand(table, columns or list(facts.columns))
        with_holes = {name: share for name, share in by_hand.items() if share < 1}
        return {"columns": tuple(with_holes), "proportions": with_holes}
    amount: dict[str, object] = {"columns": tuple(columns) or None}
    if way == "one":
        amount["proportions"] = memory.remembered(
            st.slider,
            "Share of rows observed in each column with holes",
            section=SECTION,
            name="proportion",
            default=0.5,
            min_value=0.05,
            max_value=0.95,
            step=0.05,
            format="percent",
            help="0.5 leaves every second cell.",
        )
    usual = 1.0 if columns else default_column_share(pattern, mechanism)
    if memory.remembered(
        st.toggle,
        "Set the share of columns with holes",
        section=SECTION,
        name="own_share",
        default=False,
        help=f"Otherwise {percent(usual)} of these columns get holes, chosen by the seed.",
    ):
        amount["column_share"] = memory.remembered(
            st.slider,
            "Share of columns with holes",
            section=SECTION,
            name="column_share",
            default=0.6,
            min_value=0.1,
            max_value=1.0,
            step=0.05,
            format="percent",
            help="So many of the columns above get holes, chosen by the seed.",
        )
    return amount


def _choose_by_hand(table: OpenTable, columns: list[str]) -> dict[str, float]:
    kept = session.workspace().get(SECTION).get("by_hand", {})
    # The editor starts over when its first table changes, so that one is made once.
    key = f"{SECTION}:by_hand:{table.digest}:{hash(tuple(columns))}"
    # Different shares to begin with: equal ones, nested, would take whole rows away.
    stairs = np.linspace(100, 50, len(columns)).round(-1).tolist()
    start = st.session_state.setdefault(
        f"{key}:start",
        pd.DataFrame(
            {
                "column": columns,
                "observed": [kept.get(n, stair) for n, stair in zip(columns, stairs, strict=True)],
            }
        ),
    )
    edited = st.data_editor(
        start,
        key=key,
        width="stretch",
        hide_index=True,
        disabled=["column"],
        column_config={
            "column": st.column_config.TextColumn("Column", width="small"),
            "observed": st.column_config.NumberColumn(
                "Observed",
                width="small",
                help="Share of rows to leave; 100 makes no holes in this column.",
                min_value=0,
                max_value=100,
                format="%d %%",
                required=True,
            ),
        },
    )
    shares = dict(zip(edited["column"], edited["observed"].fillna(100).astype(float), strict=True))
    if any(kept.get(name) != share for name, share in shares.items()):
        session.workspace().update(SECTION, by_hand={**kept, **shares})
    return {name: share / 100 for name, share in shares.items()}


def _make(table: OpenTable, scenario: Scenario) -> Amputation:
    try:
        if scenario.columns == ():
            raise AmputationError("Give at least one column less than 100% by hand.")
        return made_in(table, scenario)
    except AmputationError as error:
        raise with_advice_of_page(error) from error


# What the holes did


def _show_holes(facts: TableFacts, scenario: Scenario, made: Amputation) -> None:
    ordered = memory.remembered(
        st.toggle,
        "Order rows and columns by their holes",
        section=SECTION,
        name="ordered",
        default=True,
        help="Shows a staircase where there is one. Otherwise as in the table.",
    )
    picture = hole_picture(made.missing[list(facts.columns)], ordered=ordered)
    bands = (
        f" Each line stands for about {count(round(picture.rows_per_band), 'row')}."
        if picture.rows_per_band > 1.5
        else ""
    )
    show_figure(
        holes_figure(picture),
        question="Where are the holes?",
        key="amputation-holes",
        data=lambda: pd.DataFrame(picture.share_missing, columns=picture.columns),
        caption=base_sentence(facts, scenario.base) + bands,
    )
    n_rows = facts.n_base_rows(scenario.base)
    if n_rows > MOST_ROWS:
        st.caption(
            f"The lab works on {count(MOST_ROWS)} of these {count(n_rows, 'row')}, drawn at "
            "random; a kept scenario makes its holes in all of them."
        )
    result = result_sentence(made, facts.columns, min(n_rows, MOST_ROWS))
    if made.missing.to_numpy().any():
        st.markdown(result)
        st.markdown(pattern_sentence(made))
    else:
        st.warning(result, icon=":material/lightbulb:")


def _show_proportions(columns: list[str], made: Amputation) -> None:
    left, right = st.columns(2, gap="large")
    p_obs = 1.0 - made.missing[columns].mean()
    with left:
        show_figure(
            density_figure(density_data(p_obs.to_numpy()), p_obs),
            question="How much is left?",
            key="amputation-proportions",
            data=lambda: p_obs.rename_axis("column").reset_index(name="p_obs"),
            caption="The higher the curve, the more columns keep that share of their cells. The "
            "more general a pattern, the wider the curve.",
        )
    chances = propensity_data(made.propensity, columns)
    with right:
        show_figure(
            propensity_figure(chances),
            question="How likely was each cell to stay?",
            key="amputation-chances",
            data=chances,
            caption="A dot without a line: all rows had the same chance. A long line: some rows "
            "lost the cell almost surely, others hardly ever."
            + (f" The first {MOST_COLUMNS} columns." if len(columns) > MOST_COLUMNS else ""),
        )


def _show_truths(table: OpenTable, columns: list[str], made: Amputation) -> None:
    name = choose_column(
        "Look at one column",
        columns,
        section=SECTION,
        help="The columns with most holes come first.",
    )
    with shown_errors():
        column = truths(made, name, table.schema.role(name))
        left, right = st.columns(2, gap="large")
        shares = truth_data(column.values, column.missing, column.scale)
        chances = chance_data(column.values, column.propensity, column.scale)
        with left:
            show_figure(
                truths_figure(shares, column.name, column.scale),
                question="Are the lost values different?",
                key="amputation-truths",
                data=shares,
            )
            st.markdown(truth_sentence(column))
        with right:
            show_figure(
                chance_figure(chances, column.name, column.scale),
                question="Did it depend on the value?",
                key="amputation-dependence",
                data=chances,
            )
            st.markdown(chance_sentence(column))


# To take away and to keep


def _show_downloads(table: OpenTable, scenario: Scenario, made: Amputation) -> None:
    st.subheader("Take it away", anchor=False)
    stem = file_stem(table.name.rsplit(".", 1)[0], "table")
    files = {
        "Table with holes": (f"{stem}-incomplete.csv", lambda: _csv(made.incomplete), "text/csv"),
        "Which cells are missing": (f"{stem}-missing.csv", lambda: _csv(made.missing), "text/csv"),
        "Settings": (
            f"{stem}-amputation.json",
            lambda: json.dumps(
                {"table": table.name, "rows": len(made.truth), **scenario.to_dict()}, indent=2
            ),
            "application/json",
        ),
    }
    with st.container(horizontal=True, gap="small"):
        for label, (file_name, content, mime) in files.items():
            st.download_button(
                label,
                data=content,
                file_name=file_name,
                mime=mime,
                on_click="ignore",
                key=f"{SECTION}:download:{label}",
                icon=":material/download:",
                help=f"{file_name}, {count(len(made.truth), 'row')}.",
            )


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


def _show_scenarios(scenario: Scenario, *, keepable: bool) -> None:
    st.subheader("Keep it as a scenario", anchor=False)
    st.caption(
        "A scenario is these settings under a name. It makes the same holes again: in the Masking "
        "lab, and on Compare, where methods are judged by how well they fill them."
    )
    with (
        st.form(f"{SECTION}:keep", border=False, clear_on_submit=True),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        name = st.text_input(
            "Name of the scenario",
            key=f"{SECTION}:new_name",
            placeholder="for example: half of the incomes lost",
            max_chars=80,
            help="A name that exists already is given to these settings instead.",
        )
        submitted = st.form_submit_button(
            "Keep", type="primary", disabled=not keepable, icon=":material/bookmark_add:"
        )
    if submitted:
        _keep(name, scenario)
    for kind, sentence in st.session_state.pop(_SAID, []):
        getattr(st, kind)(sentence)
    scenarios = session.workspace().scenarios()
    if not scenarios:
        st.caption("No scenario is kept yet.")
    for number, (kept, settings) in enumerate(reversed(scenarios.items())):
        _show_scenario(kept, settings, number)


def _show_scenario(name: str, settings: dict[str, object], number: int) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        try:
            kept = Scenario.from_dict(settings)
            words = scenario_words(kept)
        except PMAEError as error:
            kept, words = None, sentence_of(error)
        st.markdown(f"**{plain(name)}**: {words}", width="stretch")
        with st.container(horizontal=True, width="content"):
            if kept is not None:
                st.button(
                    "Open",
                    key=f"{SECTION}:open:{number}",
                    on_click=_open,
                    args=(name, kept),
                    help="Set the controls above to this scenario.",
                )
            st.button(
                "Delete",
                key=f"{SECTION}:delete:{number}",
                on_click=_delete,
                args=(name,),
                help="Forget this scenario.",
            )


def _keep(name: str, scenario: Scenario) -> None:
    try:
        session.workspace().save_scenario(name, scenario.to_dict())
    except PMAEError as error:
        _say("error", sentence_of(error))
    else:
        _say("success", f"Kept as **{plain(name)}**.")


def _delete(name: str) -> None:
    session.workspace().delete_scenario(name)
    _say("info", f"**{plain(name)}** is deleted.")


def _open(name: str, scenario: Scenario) -> None:
    memory.remember(SECTION, **_controls(scenario))
    if isinstance(scenario.proportions, dict):
        by_hand = {column: 100 * share for column, share in scenario.proportions.items()}
        session.workspace().update(SECTION, by_hand=by_hand)
        for key in [key for key in st.session_state if f"{SECTION}:by_hand:" in str(key)]:
            del st.session_state[key]
    _say("info", f"The controls above have the settings of **{plain(name)}**.")


def _say(kind: str, sentence: str) -> None:
    st.session_state.setdefault(_SAID, []).append((kind, sentence))


def _controls(scenario: Scenario) -> dict[str, object]:
    """Return the values of the controls that make this scenario."""
    proportions = scenario.proportions
    by_hand = isinstance(proportions, dict)
    values = {
        "kind": scenario.kind,
        "base": scenario.base,
        "pattern": scenario.pattern,
        "mechanism": scenario.mechanism,
        "columns": list(scenario.columns or ()),
        "proportions": "by_hand" if by_hand else "drawn" if proportions is None else "one",
        "own_share": scenario.column_share is not None,
        "seed": scenario.seed,
    }
    if scenario.coupling is not None:
        values["coupling"] = scenario.coupling
    if isinstance(proportions, float):
        values["proportion"] = proportions
    if scenario.column_share is not None:
        values["column_share"] = scenario.column_share
    return values


def _shared(scenario: Scenario) -> dict[str, object]:
    """Return what a link may carry: no names of columns, which are the table's."""
    values = _controls(scenario)
    del values["columns"]
    if values["proportions"] == "by_hand":
        del values["proportions"]
    return values


st.title("Amputation lab")
st.markdown(
    "Nobody knows what stood in a real hole. So make holes **on purpose** where the truth is "
    "known: then every method that fills them can be judged. Choose how cells get lost and watch "
    "what that does to the table."
)
lab(session.open_table())
