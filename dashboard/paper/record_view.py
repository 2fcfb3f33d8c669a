"""What was run and what was not, with the commands that do it."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.paper import measured, words
from dashboard.paper.measured import Measured
from dashboard.paper.settings_view import SECTION
from dashboard.text import plain
from pmae_core.words import count

RUNS = "Runs"


def show_not_run(experiment: str, until: str = "") -> None:
    """Say that an experiment was not run, and how to run it."""
    st.info(
        f"This experiment has not been run here yet. {until}".strip(),
        icon=":material/hourglass_empty:",
    )
    st.markdown("This command runs it; it can be stopped and resumed:")
    st.code(words.command_for(experiment), language="sh")


def show_coverage(experiment: str, results: Measured, means: pd.DataFrame) -> None:
    """Say what was measured and what was not run, and show the record of the runs."""
    st.caption(words.coverage(means))
    tried = pd.concat([part for part in (means, results.rows) if not part.empty] or [means])
    if not tried.empty:
        covered = measured.coverage_of(tried, experiment)
        if sentence := words.not_run_sentence(covered):
            st.markdown(sentence)
            st.code(words.command_for(experiment, covered), language="sh", wrap_lines=True)
    show_record(results, experiment)


def show_record(results: Measured, experiment: str) -> None:
    """Show commands, versions and failures of an experiment."""
    failures = results.failures
    if not failures.empty:
        title = f"{count(len(failures), 'run')} without a result"
        with st.expander(title, icon=":material/error_outline:"):
            names = ["dataset", "pattern", "mechanism", "variant", "seed", "status", "error"]
            st.dataframe(
                failures[names],
                hide_index=True,
                width="stretch",
                key=f"{SECTION}:{experiment}:failures",
                column_config={"error": st.column_config.TextColumn("reason", width="large")},
            )
    if results.n_unusual:
        st.caption(
            f"{count(results.n_unusual, 'row')} of the file with other settings of a method (such "
            "as fewer steps) are not shown."
        )
    if results.runs:
        with st.expander("Commands and versions", icon=":material/terminal:"):
            for run in results.runs:
                st.code(run.get("command", ""), language="sh", wrap_lines=True)
                if versions := run.get("versions"):
                    st.caption(plain(", ".join(f"{name} {v}" for name, v in versions.items())))
