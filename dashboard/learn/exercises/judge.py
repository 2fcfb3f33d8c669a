"""RMSE as a judge on the page: points on a line, which then scatter as real values do."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from dashboard.components.stage.scene import Axis, Bars, Mark, Panel, Points, Scene
from dashboard.learn import Lesson, judge
from dashboard.learn.exercises.exercise import Exercise, choose_setting
from dashboard.learn.judge import N_ROWS, PURPOSES, Judged
from dashboard.learn.luck import luck_scene
from dashboard.state.allowed_values import AllowedValues, Choice

SETTINGS: Mapping[str, AllowedValues] = {
    "purpose": Choice(PURPOSES),
}


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask what is wanted; the question is which imputed values serve it better."""
    purpose = choose_setting(
        st.radio,
        "What do you want to know?",
        lesson,
        "purpose",
        SETTINGS["purpose"],
        default="spread",
        format_func=lambda key: PURPOSES[key].title,
    )
    judged = _judged(purpose, seed)
    solution = solution_scene(judged)
    return Exercise(
        right=judged.purpose.right,
        question=solution.first(),
        solution=solution,
        sentence=judged.sentence(),
        luck=repeated_scene(judged),
        settings={"purpose": purpose},
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _judged(purpose: str, seed: int) -> Judged:
    return judge.judge(purpose, seed)


def solution_scene(judged: Judged) -> Scene:
    """Return the imputed points, which leave the line, and what comes out of both."""
    return Scene(
        [_points_panel(judged), _values_panel(judged)],
        states=["On the line", "Scattered", "True values"],
        captions=[
            "Missing values, imputed on the line.",
            "The same values with random scatter around the line.",
            "The true values: they scatter, too, but elsewhere.",
        ],
        description="Blood pressure against age, measured and imputed, and a bar chart of what "
        "comes out of both ways of imputing.",
    )


def _points_panel(judged: Judged) -> Panel:
    table = judged.table
    age, pressure = table.patients.age[0], table.patients.pressure[0]
    seen, gone = table.observed[0], ~table.observed[0]
    on_line, scattered = table.on_line[0, gone], table.scattered[0, gone]
    heights = np.concatenate([pressure, scattered])
    return Panel(
        [
            Points(age[seen], pressure[seen], opacity=0.3, radius=2.5, label="measured"),
            Points(
                age[gone],
                [on_line, scattered, pressure[gone]],
                color="imputed",
                opacity=[0.8, 0.8, 0],
                radius=2.5,
                label="imputed",
            ),
            Points(
                age[gone],
                [on_line, scattered, pressure[gone]],
                color="missing",
                opacity=[0, 0, 0.8],
                radius=2.5,
                label="true value",
            ),
        ],
        x=Axis("age (years)", float(age.min()) - 2, float(age.max()) + 2),
        y=Axis("blood pressure (mmHg)", float(heights.min()) - 3, float(heights.max()) + 3),
    )


def _values_panel(judged: Judged) -> Panel:
    purpose, values = judged.purpose, judged.values
    heights = [values["line"], values["scattered"]]
    bars = Bars(
        left=[0.15, 1.15],
        right=[0.85, 1.85],
        height=[[0, 0], heights, heights],
        color=["neutral", "imputed"],
        opacity=0.8,
    )
    truth = Mark(
        values["truth"],
        axis="y",
        words=f"truth: {purpose.write(values['truth'])}",
        color="text",
        dashed=True,
    )
    return Panel(
        [bars] if purpose is PURPOSES["values"] else [bars, truth],
        x=Axis("", 0, 2, ticks=[0.5, 1.5], tick_words=["on the line", "scattered"]),
        y=Axis(
            purpose.label,
            0,
            1.2 * max(values.values()),
            percent=purpose is PURPOSES["high"],
        ),
    )


def repeated_scene(judged: Judged) -> Scene:
    """Return what comes out of both ways in many tables."""
    line, scattered = "on the line", "scattered"
    is_rmse, is_share = (judged.purpose is PURPOSES[name] for name in ("values", "high"))
    return luck_scene(
        {line: judged.repeated["line"], scattered: judged.repeated["scattered"]},
        truth=float(judged.repeated["truth"].mean()),
        truth_words="no error" if is_rmse else "truth, on average",
        label=judged.purpose.label,
        caption=judged.repeated_sentence(),
        colors={line: "neutral", scattered: "imputed"},
        step=1 / N_ROWS if is_share else None,
        percent=is_share,
        of_this_table={line: judged.values["line"], scattered: judged.values["scattered"]},
    )
