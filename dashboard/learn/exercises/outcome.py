"""Impute with the outcome, on the page: imputed students tilt, and the line with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
import streamlit as st

from dashboard.components.stage.scene import Axis, Color, Line, Panel, Points, Scene
from dashboard.learn import Lesson, outcome
from dashboard.learn.exercises.dots import SMALL, missing_then_imputed, range_of
from dashboard.learn.exercises.exercise import Exercise, choose_setting
from dashboard.learn.luck import luck_scene
from dashboard.learn.outcome import MEAN_HOURS, MEAN_SCORE, TRUE_SLOPE, Model, OutcomeResult
from dashboard.state.allowed_values import AllowedValues, Choice, NumberWithin

_STATES: dict[Model, str] = {
    "without": "Without the score",
    "with": "With the score",
    "guess": "Best guesses",
}
# What each model is contrasted with on the way: the same imputations, by another model.
_CONTRAST: dict[Model, Model] = {"without": "with", "with": "without", "guess": "with"}
_LUCK_COLORS: dict[str, Color] = {
    "without the score": "missing",
    "with the score": "imputed",
    "best guesses": "masked",
}

SETTINGS: Mapping[str, AllowedValues] = {
    "model": Choice(outcome.MODELS),
    "missing": NumberWithin(outcome.LEAST_MISSING, outcome.MOST_MISSING),
}


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask how to impute; the question is what that does to the slope."""
    model = choose_setting(
        st.selectbox,
        "How are missing hours imputed?",
        lesson,
        "model",
        SETTINGS["model"],
        default="without",
        format_func=outcome.MODELS.get,
    )
    missing = choose_setting(
        st.slider,
        "Hours missing",
        lesson,
        "missing",
        SETTINGS["missing"],
        default=outcome.USUAL_MISSING,
        step=10,
        format="%d%%",
    )
    st.caption(f":material/info: {outcome.MODEL_WORDS[model]}")
    made = _imputed(model, missing, seed)
    solution = imputed_scene(made)
    return Exercise(
        right=made.answer,
        question=solution.first(),
        solution=solution,
        sentence=made.sentence(),
        luck=repeated_scene(made),
        settings={"model": model, "missing": missing},
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _imputed(model: str, percent_missing: int, seed: int) -> OutcomeResult:
    return outcome.impute_hours(cast(Model, model), percent_missing, seed)


def imputed_scene(made: OutcomeResult) -> Scene:
    """Return the students: hours missing, imputed by another model, imputed by the chosen one."""
    students = made.students
    missing, score = students.missing, students.score
    models: list[Model] = [_CONTRAST[made.model], made.model]
    hours = [students.impute(model, made.scatter) for model in models]
    at_left = np.zeros(missing.sum())
    ends = np.array(range_of(students.hours, *hours))
    # The line is not shown in the first state, from which it starts.
    lines = [
        score.mean() + made.slopes[model] * (ends - imputed.mean())
        for model, imputed in zip([models[0], *models], [hours[0], *hours], strict=True)
    ]
    panel = Panel(
        layers=[
            Points(
                x=students.hours[~missing],
                y=score[~missing],
                radius=SMALL,
                opacity=0.45,
                label="observed",
            ),
            *missing_then_imputed(
                [at_left, *(imputed[missing] for imputed in hours)], score[missing], n_states=3
            ),
            Line(
                x=ends,
                y=MEAN_SCORE + TRUE_SLOPE * (ends - MEAN_HOURS),
                color="text",
                opacity=[0, 1, 1],
                width=2,
                dashed=True,
                label="true line",
            ),
            Line(
                x=ends,
                y=lines,
                color="imputed",
                opacity=[0, 1, 1],
                label="line after imputation",
            ),
        ],
        x=Axis(
            "hours of study per week",
            *range_of(at_left, ends),
            ticks=[0, 5, 10, 15],
            tick_words=["missing", "5", "10", "15"],
        ),
        y=Axis("exam score in points", *range_of(score, *lines)),
    )
    return Scene(
        [panel],
        states=["Hours missing", *(_STATES[model] for model in models)],
        captions=[
            f"The dots at the left are {missing.sum()} students whose hours are missing.",
            *(_caption(made, model) for model in models),
        ],
        description="Exam score by hours of study. Students whose hours are missing stand at the "
        "left and move to their imputed hours; a line shows the slope after imputation.",
    )


def _caption(made: OutcomeResult, model: Model) -> str:
    return (
        f"{_STATES[model]}: the slope after imputation is {made.slopes[model]:.2f} points per "
        f"hour. The true slope is {TRUE_SLOPE:.2f}."
    )


def repeated_scene(made: OutcomeResult) -> Scene:
    """Return the slopes in many tables, by what the imputations depend on."""
    names = dict(zip(outcome.MODELS, _LUCK_COLORS, strict=True))
    return luck_scene(
        {name: made.repeated[model] for model, name in names.items()},
        truth=TRUE_SLOPE,
        label="slope in points per hour",
        caption="Without the score, all slopes are too flat; with best guesses, all are too "
        "steep. Drawn with the score, they scatter around the truth.",
        colors=_LUCK_COLORS,
        of_this_table={names[made.model]: made.slopes[made.model]},
    )
