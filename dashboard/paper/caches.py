"""Measured results, read once while their files stay the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.paper import measured
from dashboard.paper.claims_html import claims_html
from dashboard.paper.measured import Measured
from pmae_core.replication import EXPERIMENTS, judge_claims
from pmae_core.replication.claim_words import tally


def results_of(experiment: str) -> Measured:
    """Return the results of an experiment."""
    folder = measured.results_folder()
    return _results(str(folder), measured.stamp(folder), experiment)


def table_2_means(metric: str) -> pd.DataFrame:
    """Return the means of all methods, those of the benchmark of small tables included."""
    folder = measured.results_folder()
    return _table_2_means(str(folder), measured.stamp(folder), metric)


def claims() -> tuple[str, str]:
    """Return how many claims of the paper have which verdict, and all of them as HTML."""
    folder = measured.results_folder()
    return _claims(str(folder), measured.stamp(folder))


@st.cache_data(max_entries=8, show_spinner=False)
def _claims(folder: str, stamp: Any) -> tuple[str, str]:
    judged = judge_claims({name: _results(folder, stamp, name).rows for name in EXPERIMENTS})
    return tally(judged), claims_html(judged)


@st.cache_data(max_entries=16, show_spinner=False)
def _results(folder: str, stamp: Any, experiment: str) -> Measured:
    return measured.read_measured(Path(folder), experiment)


@st.cache_data(max_entries=8, show_spinner=False)
def _table_2_means(folder: str, stamp: Any, metric: str) -> pd.DataFrame:
    return measured.all_methods(Path(folder), metric)
