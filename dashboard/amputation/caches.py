"""What the amputation lab computed last, kept for the next move of a slider.

All of it is read-only: sessions with the same table share it.
"""

import json

import pandas as pd
import streamlit as st

from dashboard.amputation.lab import MOST_ROWS
from dashboard.amputation.scenario import Base, Scenario, TableFacts, base_table
from dashboard.state.table_state import OpenTable
from pmae_core.amputation import Amputation


def facts_of(table: OpenTable) -> TableFacts:
    """Return counts of a table."""
    return _facts(table.digest, table)


@st.cache_data(max_entries=16, show_spinner=False)
def _facts(digest: str, _table: OpenTable) -> TableFacts:
    return TableFacts.of(_table.frame, _table.schema)


def made_in(table: OpenTable, scenario: Scenario) -> Amputation:
    """Return a scenario simulated in the open table, in at most 20,000 of its rows."""
    return _made(table.digest, json.dumps(scenario.to_dict(), sort_keys=True), table)


@st.cache_resource(max_entries=8, show_spinner=False)
def _made(digest: str, settings: str, _table: OpenTable) -> Amputation:
    scenario = Scenario.from_dict(json.loads(settings))
    truth = _base(digest, scenario.base, _table)
    return scenario.make_in(truth, _table.frame, _table.schema)


@st.cache_resource(max_entries=4, show_spinner="Preparing the rows …")
def _base(digest: str, base: Base, _table: OpenTable) -> pd.DataFrame:
    return base_table(_table.frame, _table.schema, base, most_rows=MOST_ROWS)
