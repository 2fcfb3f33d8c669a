"""Lesson 6 on the page: two tables with equal diagnostics, and the truth behind each."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.figures.lessons import densities_figure, means_figure, reporting_figure
from dashboard.learn import Lesson, worlds
from dashboard.learn.exercises.exercise import Exercise
from dashboard.learn.progress import SECTION
from dashboard.shell.theme import IMPUTED, MISSING, NEUTRAL, OBSERVED
from dashboard.state import memory
from dashboard.widgets import show_figure
from pmae_core.words import percent


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Show both tables; the question is which one is MNAR."""
    return Exercise(
        "neither", lambda _revealed: _show_tables(seed), lambda: _show_solution(lesson, seed)
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _worlds(shift: float, seed: int) -> tuple[worlds.World, worlds.World]:
    return worlds.make_worlds(shift, seed)


@st.cache_resource(max_entries=32, show_spinner="Running the diagnostics …")
def _diagnostics(shift: float, seed: int) -> tuple[worlds.Diagnostics, worlds.Diagnostics]:
    one, two = _worlds(shift, seed)
    return worlds.diagnose(one.incomplete), worlds.diagnose(two.incomplete)


def _show_tables(seed: int) -> None:
    pair = _worlds(worlds.USUAL_SHIFT, seed)
    findings = _diagnostics(worlds.USUAL_SHIFT, seed)
    st.subheader("Do the tables differ?", anchor=False)
    shown = {f"World {number}": found.table() for number, found in enumerate(findings, start=1)}
    st.dataframe(
        pd.DataFrame(shown).rename_axis("Diagnostic").reset_index(),
        hide_index=True,
        width="stretch",
    )
    with st.expander("Both tables"):
        for number, (column, world) in enumerate(zip(st.columns(2), pair, strict=True), 1):
            with column:
                st.markdown(f"**World {number}**")
                st.dataframe(world.incomplete.round(1), height=240, width="stretch")


def _show_solution(lesson: Lesson, seed: int) -> None:
    shift = memory.remembered(
        st.slider,
        "How much higher are the missing incomes in the MNAR world, in standard deviations?",
        section=SECTION,
        name=f"{lesson.name}_shift",
        default=worlds.USUAL_SHIFT,
        min_value=0.0,
        max_value=worlds.LARGEST_SHIFT,
        step=0.25,
        help="The truth moves with the slider; no observed cell, test or imputation does.",
    )
    pair, found = _worlds(shift, seed), _diagnostics(shift, seed)[0]
    st.markdown(worlds.solution(pair, found))
    mar, mnar = sorted(pair, key=lambda world: world.mechanism)
    _show_means(mar, mnar, found)
    left, right = st.columns(2, gap="medium")
    with left:
        _show_incomes(mar, mnar)
    with right:
        _show_reporting(shift, found)


def _show_means(mar: worlds.World, mnar: worlds.World, found: worlds.Diagnostics) -> None:
    means = {
        "reported incomes": (float(mar.incomplete[worlds.VALUE].mean()), OBSERVED),
        "after imputation, both worlds": (found.imputed_mean, IMPUTED),
        "truth in the MAR world": (mar.true_mean, NEUTRAL),
        "truth in the MNAR world": (mnar.true_mean, MISSING),
    }
    show_figure(
        means_figure(means, "mean income in thousands"),
        question="How good is the imputation?",
        key="lesson-worlds-means",
        data=pd.DataFrame({"what": list(means), "mean": [value for value, _ in means.values()]}),
    )


def _show_incomes(mar: worlds.World, mnar: worlds.World) -> None:
    value = worlds.VALUE
    groups = {
        "reported": (mar.incomplete[value].dropna().to_numpy(), OBSERVED),
        "missing, MAR": (mar.truth.loc[mar.missing, value].to_numpy(), NEUTRAL),
        "missing, MNAR": (mnar.truth.loc[mnar.missing, value].to_numpy(), MISSING),
    }
    data = mar.truth.assign(reported=~mar.missing, income_in_mnar_world=mnar.truth[value])
    show_figure(
        densities_figure(groups, "income in thousands"),
        question="Where do the worlds differ?",
        key="lesson-worlds-incomes",
        data=data.rename(columns={"income": "income_in_mar_world"}),
        caption="Only in the missing incomes; reported ones are equal. The lines are the means.",
    )


def _show_reporting(shift: float, found: worlds.Diagnostics) -> None:
    curve = worlds.reporting_curve(shift)
    show_figure(
        reporting_figure(curve),
        question="Why is one of them MNAR?",
        key="lesson-worlds-reporting",
        data=curve,
        caption="For a person of 45 with 12 years of school, reporting depends on the income only "
        f"in the MNAR world. In both, {percent(found.share_missing)} of incomes are missing.",
    )
