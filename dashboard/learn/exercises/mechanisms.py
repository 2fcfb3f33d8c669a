"""Lesson 2 on the page: how a mechanism moves the mean of the observed values."""

from __future__ import annotations

import streamlit as st

from dashboard.figures.lessons import densities_figure
from dashboard.learn import Lesson, mechanisms
from dashboard.learn.exercises.exercise import Exercise, choose_setting, show_repetitions
from dashboard.learn.mechanisms import VALUE, MissingPressures
from dashboard.shell.theme import NEUTRAL, OBSERVED
from dashboard.widgets import show_figure


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask for a mechanism; the question is where it moves the mean."""
    mechanism = choose_setting(
        st.radio,
        "How do values go missing?",
        lesson,
        "mechanism",
        default="MCAR",
        options=list(mechanisms.MECHANISM_WORDS),
        format_func=mechanisms.MECHANISM_WORDS.get,
    )
    pressures = _removed(mechanism, seed)
    st.caption(f":material/info: {pressures.rule()}")

    def solve() -> None:
        st.markdown(pressures.sentence())
        show_repetitions(
            lesson,
            "mean",
            of="observed values",
            repeated=pressures.repeated_means,
            truth=pressures.true_mean,
            imputed=("imputed from age", pressures.imputed_mean),
            how=f"The same rule {len(pressures.repeated_means)} times.",
        )

    return Exercise(
        pressures.direction,
        lambda revealed: _show_pressures(pressures, revealed),
        solve,
        {"mechanism": mechanism},
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _removed(mechanism: mechanisms.Mechanism, seed: int) -> MissingPressures:
    return mechanisms.remove_pressures(mechanism, seed)


def _show_pressures(pressures: MissingPressures, revealed: bool) -> None:
    truth = pressures.amputation.truth[VALUE].to_numpy()
    groups = {"all patients": (truth, NEUTRAL)}
    if revealed:
        observed = pressures.amputation.incomplete[VALUE].dropna().to_numpy()
        groups["observed"] = (observed, OBSERVED)
    show_figure(
        densities_figure(groups, "blood pressure"),
        question="Which values are observed?" if revealed else "How high is blood pressure?",
        key="lesson-mechanisms-after" if revealed else "lesson-mechanisms-before",
        data=pressures.amputation.incomplete if revealed else pressures.amputation.truth,
        caption=(
            "The lines are the means."
            if revealed
            else f"The line is the mean, {pressures.true_mean:.1f}. Half of the values will be "
            "missing."
        ),
    )
