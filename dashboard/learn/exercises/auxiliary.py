"""Auxiliary variables on the page: missing answers rise to where overtime puts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
import streamlit as st

from dashboard.components.stage.scene import Axis, Color, Line, Panel, Points, Scene
from dashboard.learn import Lesson, auxiliary
from dashboard.learn.auxiliary import (
    CORRELATIONS,
    AuxiliaryResult,
    Rule,
)
from dashboard.learn.exercises.dots import SMALL, missing_then_imputed, range_of
from dashboard.learn.exercises.exercise import Exercise, choose_setting
from dashboard.learn.luck import luck_scene
from dashboard.state.allowed_values import AllowedValues, Choice

_LUCK_COLORS: dict[str, Color] = {"observed": "observed", "imputed": "imputed"}

SETTINGS: Mapping[str, AllowedValues] = {
    "rule": Choice(auxiliary.RULES),
    "correlation": Choice(CORRELATIONS),
}


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask who does not answer; the question is how much of the bias overtime removes."""
    rule = choose_setting(
        st.selectbox,
        "What decides who does not answer?",
        lesson,
        "rule",
        SETTINGS["rule"],
        default="overtime",
        format_func=auxiliary.RULES.get,
    )
    correlation = choose_setting(
        st.select_slider,
        "Correlation of overtime and stress",
        lesson,
        "correlation",
        SETTINGS["correlation"],
        default=auxiliary.USUAL_CORRELATION,
    )
    st.caption(f":material/info: {auxiliary.RULE_WORDS[rule]}")
    made = _asked(rule, correlation, seed)
    solution = imputed_scene(made)
    return Exercise(
        right=made.answer,
        question=solution.first(),
        solution=solution,
        sentence=made.sentence(),
        luck=repeated_scene(made),
        settings={"rule": rule, "correlation": correlation},
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _asked(rule: str, correlation: float, seed: int) -> AuxiliaryResult:
    return auxiliary.run_survey(cast(Rule, rule), correlation, seed)


def imputed_scene(made: AuxiliaryResult) -> Scene:
    """Return overtime and stress: missing answers at the bottom, then imputed from overtime."""
    survey, missing = made.survey, ~made.survey.answered
    observed, imputed, truth = (
        float(mean) for mean in (survey.observed_mean(), survey.imputed_mean(), survey.true_mean())
    )
    x_ends, y_ends = range_of(survey.overtime), range_of(survey.stress, made.imputed, [0.0])
    at_bottom = np.zeros(missing.sum())
    panel = Panel(
        layers=[
            Points(
                x=survey.overtime[~missing],
                y=survey.stress[~missing],
                radius=SMALL,
                opacity=0.45,
                label="answered",
            ),
            _mean_line(x_ends, [observed, observed], "observed", "observed mean"),
            *missing_then_imputed(
                survey.overtime[missing], [at_bottom, made.imputed[missing]], n_states=2
            ),
            _mean_line(x_ends, [truth, truth], "text", "true mean", opacity=[0, 1]),
            _mean_line(x_ends, [observed, imputed], "imputed", "imputed mean", opacity=[0, 1]),
        ],
        x=Axis("overtime in hours per month", *x_ends),
        y=Axis(
            "stress in points",
            *y_ends,
            ticks=[0, 25, 50, 75],
            tick_words=["missing", "25", "50", "75"],
        ),
    )
    return Scene(
        [panel],
        states=["Missing", "Imputed from overtime"],
        captions=[
            f"The dots at the bottom are the {missing.sum()} employees who did not answer. The "
            f"mean of the others is {observed:.1f}.",
            f"Imputed from overtime, the mean is {imputed:.1f}. The true mean is {truth:.1f}.",
        ],
        description="Stress by overtime. Employees who did not answer stand at the bottom and "
        "rise to their imputed stress; lines show the observed, imputed and true mean.",
    )


def _mean_line(
    ends: tuple[float, float],
    by_state: list[float],
    color: Color,
    label: str,
    opacity: float | list[float] = 1.0,
) -> Line:
    return Line(
        x=ends,
        y=[[mean, mean] for mean in by_state],
        color=color,
        opacity=opacity,
        width=2.5,
        dashed=color == "text",
        label=label,
    )


def repeated_scene(made: AuxiliaryResult) -> Scene:
    """Return how far both means are off in many companies."""
    spreads = {name: float(values.std()) for name, values in made.repeated_errors.items()}
    return luck_scene(
        made.repeated_errors,
        truth=0.0,
        label="error of the mean, in points",
        caption="Estimated mean less true mean. The errors scatter with a standard deviation of "
        f"{spreads['observed']:.2f} points for the observed mean and {spreads['imputed']:.2f} "
        "after imputation.",
        colors=_LUCK_COLORS,
        of_this_table=made.errors(),
    )
