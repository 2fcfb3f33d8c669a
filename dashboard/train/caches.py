"""The curves of trainings, kept so that only new events are read."""

import streamlit as st

from dashboard import runs
from dashboard.train.curves import Curves


def read_curves(job_id: str) -> Curves:
    """Return the curves of a training with all events so far."""
    curves = _curves(job_id)
    curves.read(runs.store().events(job_id, after=curves.last_event))
    return curves


@st.cache_resource(max_entries=32, show_spinner=False)
def _curves(job_id: str) -> Curves:
    return Curves()
