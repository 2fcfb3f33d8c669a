"""The settings of the Amputation lab: which missing values to simulate, and in which columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.amputation.controls import SETTINGS, SHARE_BY_HAND, shares_by_hand
from dashboard.amputation.lab import COUPLING_WORDS, MECHANISM_WORDS, PATTERN_WORDS
from dashboard.amputation.scenario import Scenario, TableFacts
from dashboard.state import memory, session
from dashboard.state.table_state import OpenTable
from dashboard.widgets import choose_seed
from pmae_core.amputation.patterns import default_column_share
from pmae_core.words import percent

SECTION = "amputation_lab"
KINDS = {"pattern": "By pattern and mechanism", "like-mine": "Like this table's own"}
BASES = {"complete-rows": "Complete rows only", "completed": "All rows, imputed first"}
PROPORTIONS = {"drawn": "Set by the pattern", "one": "Same in all columns", "by_hand": "By hand"}


def choose_scenario(table: OpenTable, facts: TableFacts) -> Scenario:
    """Ask for all settings of a scenario."""
    kind, base = "pattern", facts.default_base
    if facts.n_missing:
        kind = memory.remembered(
            st.radio,
            "Missing values",
            section=SECTION,
            name="kind",
            default="pattern",
            **SETTINGS["kind"].limits(),
            format_func=KINDS.get,
            help="By a rule that you choose, or copied from the missing values of other rows of "
            "this table.",
        )
        base = memory.remembered(
            st.radio,
            "Rows",
            section=SECTION,
            name="base",
            default=facts.default_base,
            **SETTINGS["base"].limits(),
            format_func=BASES.get,
            help="Judging a method requires true values. Only complete rows have all of them, "
            "unless missing values are imputed first.",
        )
    chosen: dict[str, object] = {}
    if kind == "pattern":
        chosen = _choose_rule()
        with st.expander("Columns and amounts", icon=":material/tune:"):
            chosen |= _choose_amount(table, facts, chosen["pattern"], chosen["mechanism"])
    seed = choose_seed(
        section=SECTION, help="The same seed removes the same cells; another seed removes others."
    )
    return Scenario(kind=kind, base=base, seed=seed, **chosen)


def _choose_rule() -> dict[str, str]:
    pattern = _choose_word("Pattern", "pattern", PATTERN_WORDS, "general")
    mechanism = _choose_word("Mechanism", "mechanism", MECHANISM_WORDS, "MNAR")
    if mechanism == "self-masking":  # each value decides about itself alone
        return {"pattern": pattern, "mechanism": mechanism, "coupling": "independent"}
    coupling = _choose_word("Coupling", "coupling", COUPLING_WORDS, "nested")
    return {"pattern": pattern, "mechanism": mechanism, "coupling": coupling}


def _choose_word(label: str, name: str, words: Mapping[str, tuple[str, str]], default: str) -> str:
    return str(
        memory.remembered(
            st.selectbox,
            label,
            section=SECTION,
            name=name,
            default=default,
            **SETTINGS[name].limits(),
            format_func=lambda word: words[word][0],
            help="\n".join(f"- **{title}**. {meaning}" for title, meaning in words.values()),
        )
    )


def _choose_amount(
    table: OpenTable, facts: TableFacts, pattern: str, mechanism: str
) -> dict[str, object]:
    columns = memory.remembered(
        st.multiselect,
        "Columns that may lose values",
        section=SECTION,
        name="columns",
        default=[],
        options=list(facts.columns),
        wrap=True,
        placeholder="All columns",
        help="Choose none for all columns that are neither identifiers nor ignored.",
    )
    way = memory.remembered(
        st.radio,
        "Share of rows observed",
        section=SECTION,
        name="proportions",
        default="drawn",
        **SETTINGS["proportions"].limits(),
        format_func=PROPORTIONS.get,
        help="For columns with missing values: random within the range of the pattern, the same "
        "for all, or as you enter it.",
    )
    if way == "by_hand":
        by_hand = _choose_by_hand(table, columns or list(facts.columns))
        incomplete = {name: share for name, share in by_hand.items() if share < 1}
        return {"columns": tuple(incomplete), "proportions": incomplete}
    amount: dict[str, object] = {"columns": tuple(columns) or None}
    if way == "one":
        amount["proportions"] = memory.remembered(
            st.slider,
            "Observed in columns with missing values",
            section=SECTION,
            name="proportion",
            default=0.5,
            **SETTINGS["proportion"].limits(),
            step=0.05,
            format="percent",
            help="50% removes every second value on average.",
        )
    usual = 1.0 if columns else default_column_share(pattern, mechanism)
    if memory.remembered(
        st.toggle,
        "Set the share of columns",
        section=SECTION,
        name="own_share",
        default=False,
        help=f"By default, {percent(usual)} of these columns lose values; the seed decides which.",
    ):
        amount["column_share"] = memory.remembered(
            st.slider,
            "Share of columns with missing values",
            section=SECTION,
            name="column_share",
            default=0.6,
            **SETTINGS["column_share"].limits(),
            step=0.05,
            format="percent",
            help="The seed decides which of the columns above lose values.",
        )
    return amount


def _choose_by_hand(table: OpenTable, columns: list[str]) -> dict[str, float]:
    kept = shares_by_hand(session.workspace().get(SECTION).get("by_hand"))
    # The editor starts over when its first table changes, so that one is made once.
    key = f"{SECTION}:by_hand:{table.digest}:{hash(tuple(columns))}"
    # Different shares at first: equal ones, nested, would remove whole rows.
    steps = np.linspace(100, 50, len(columns)).round(-1).tolist()
    start = st.session_state.setdefault(
        f"{key}:start",
        pd.DataFrame(
            {
                "column": columns,
                "observed": [kept.get(n, step) for n, step in zip(columns, steps, strict=True)],
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
                help="Share of rows observed; 100% removes nothing from this column.",
                **SHARE_BY_HAND.limits(),
                format="%d%%",
                required=True,
            ),
        },
    )
    shares = dict(zip(edited["column"], edited["observed"].fillna(100).astype(float), strict=True))
    if any(kept.get(name) != share for name, share in shares.items()):
        session.workspace().update(SECTION, by_hand={**kept, **shares})
    return {name: share / 100 for name, share in shares.items()}
