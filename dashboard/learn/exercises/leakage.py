"""Leakage on the page: predictions on test rows, and what is left of them for new patients."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from dashboard.components.stage.scene import Axis, Bars, Line, Panel, Points, Scene
from dashboard.learn import Lesson, leakage
from dashboard.learn.exercises.exercise import Exercise, choose_setting
from dashboard.learn.leakage import WAYS, Leak
from dashboard.learn.luck import luck_scene
from dashboard.state.allowed_values import AllowedValues, Choice

SETTINGS: Mapping[str, AllowedValues] = {
    "way": Choice(WAYS),
}


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask how values are imputed; the question is whether the test score can be trusted."""
    way = choose_setting(
        st.radio,
        "How is BMI imputed?",
        lesson,
        "way",
        SETTINGS["way"],
        default="outcome",
        format_func=lambda key: WAYS[key].title,
        help="A regression, or the mean, over all rows that have a BMI: training and test rows.",
    )
    leak = _leak(way, seed)
    solution = solution_scene(leak)
    return Exercise(
        right=leak.way.right,
        question=solution.first(),
        solution=solution,
        sentence=leak.sentence(),
        luck=scores_scene(leak),
        settings={"way": way},
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _leak(way: str, seed: int) -> Leak:
    return leakage.leak(way, seed)


def solution_scene(leak: Leak) -> Scene:
    """Return predicted and true pressures of the test rows under three treatments."""
    return Scene(
        [_predictions_panel(leak), _scores_panel(leak)],
        states=["Test rows", "As new patients", "Imputed after the split"],
        captions=[
            f"Test rows, imputed before the split: R² {leak.scores['before']:.2f}.",
            "The same rows as new patients, imputed from training rows without their blood "
            f"pressure: R² {leak.scores['as_new']:.2f}.",
            f"Imputed after the split, in training and test rows: R² {leak.scores['after']:.2f}.",
        ],
        description="True against predicted blood pressure of the test rows, and the R² of each "
        "treatment.",
    )


def _predictions_panel(leak: Leak) -> Panel:
    test = ~leak.rows.training[0]
    truth = leak.rows.pressure[0, test]
    seen = leak.rows.observed[0, test]
    predicted = np.stack([values[0, test] for values in vars(leak.predictions).values()])
    low, high = min(truth.min(), predicted.min()) - 2, max(truth.max(), predicted.max()) + 2
    ends = [float(low), float(high)]
    return Panel(
        [
            Line(ends, ends, color="neutral", width=1.5, dashed=True),
            Points(predicted[:, seen], truth[seen], radius=3, label="BMI measured"),
            Points(
                predicted[:, ~seen], truth[~seen], color="imputed", radius=3, label="BMI imputed"
            ),
        ],
        x=Axis("predicted blood pressure (mmHg)", *ends),
        y=Axis("true blood pressure (mmHg)", *ends),
    )


def _scores_panel(leak: Leak) -> Panel:
    before, as_new, after = (leak.scores[name] for name in ("before", "as_new", "after"))
    bars = Bars(
        left=[0.15, 1.15, 2.15],
        right=[0.85, 1.85, 2.85],
        height=[[before, 0, 0], [before, as_new, 0], [before, as_new, after]],
        color=["neutral", "observed", "imputed"],
        opacity=0.8,
    )
    return Panel(
        [bars],
        x=Axis(
            "",
            0,
            3,
            ticks=[0.5, 1.5, 2.5],
            tick_words=["test rows", "as new patients", "imputed after"],
        ),
        y=Axis("R²", 0, 1),
    )


def scores_scene(leak: Leak) -> Scene:
    """Return the score on the test rows and that on new patients, in many tables."""
    test, new = "test rows", "as new patients"
    before, as_new = leak.repeated["before"], leak.repeated["as_new"]
    return luck_scene(
        {test: before, new: as_new},
        truth=float(as_new.mean()),
        truth_words="new patients, on average",
        label="R²",
        caption=f"{len(before)} other tables. R² is {before.mean():.2f} on test rows and "
        f"{as_new.mean():.2f} as new patients, on average.",
        colors={test: "neutral", new: "observed"},
        of_this_table={test: leak.scores["before"], new: leak.scores["as_new"]},
    )
