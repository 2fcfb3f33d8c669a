"""What the labs computed last, kept for the next move of a slider.

All of it is read-only: sessions with the same table share it.
"""

import json

import pandas as pd
import streamlit as st

from dashboard.labs.amputation import MOST_ROWS
from dashboard.labs.masking import MaskingTable, masking_table
from dashboard.labs.scenario import Base, Scenario, TableFacts, base_table
from dashboard.workspace import OpenTable
from pmae_core.amputation import Amputation


def facts_of(table: OpenTable) -> TableFacts:
    """Return counts of a table."""
    return _facts(table.digest, table)


@st.cache_data(max_entries=16, show_spinner=False)
def _facts(digest: str, _table: OpenTable) -> TableFacts:
    return TableFacts.of(_table.frame, _table.schema)


def made_in(table: OpenTable, scenario: Scenario) -> Amputation:
    """Return the holes of a scenario in the open table, at most in 20,000 of its rows."""
    return _made(table.digest, json.dumps(scenario.to_dict(), sort_keys=True), table)


@st.cache_resource(max_entries=8, show_spinner=False)
def _made(digest: str, settings: str, _table: OpenTable) -> Amputation:
    scenario = Scenario.from_dict(json.loads(settings))
    truth = _base(digest, scenario.base, _table)
    return scenario.make_in(truth, _table.frame, _table.schema)


@st.cache_resource(max_entries=4, show_spinner="Preparing the rows …")
def _base(digest: str, base: Base, _table: OpenTable) -> pd.DataFrame:
    return base_table(_table.frame, _table.schema, base, most_rows=MOST_ROWS)


def columns_of(table: OpenTable, scenario: Scenario | None = None) -> MaskingTable:
    """Return what the masking lab needs of the open table, or of a scenario's holes in it."""
    settings = None if scenario is None else json.dumps(scenario.to_dict(), sort_keys=True)
    return _columns(table.digest, settings, table)


@st.cache_resource(max_entries=8, show_spinner=False)
def _columns(digest: str, settings: str | None, _table: OpenTable) -> MaskingTable:
    if settings is None:
        return masking_table(_table.frame, _table.schema)
    return masking_table(_made(digest, settings, _table).incomplete, _table.schema)
