"""What the masking lab needs to know about a table, kept for the next move of a slider.

All of it is read-only: sessions with the same table share it.
"""

import json

import streamlit as st

from dashboard.amputation.caches import made_in
from dashboard.amputation.scenario import Scenario
from dashboard.masking.lab import MaskingTable, masking_table
from dashboard.state.table_state import OpenTable


def columns_of(table: OpenTable, scenario: Scenario | None = None) -> MaskingTable:
    """Return what the lab needs to know about the open table, or about a scenario in it."""
    settings = None if scenario is None else json.dumps(scenario.to_dict(), sort_keys=True)
    return _columns(table.digest, settings, table)


@st.cache_resource(max_entries=8, show_spinner=False)
def _columns(digest: str, settings: str | None, _table: OpenTable) -> MaskingTable:
    if settings is None:
        return masking_table(_table.frame, _table.schema)
    scenario = Scenario.from_dict(json.loads(settings))
    return masking_table(made_in(_table, scenario).incomplete, _table.schema)
