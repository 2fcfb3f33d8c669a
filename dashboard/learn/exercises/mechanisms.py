"""Lesson 2 on the page: patients whose values go missing, and what happens to the mean."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from dashboard.components.stage.scene import Axis, Mark, Panel, Points, Scene
from dashboard.learn import Lesson, mechanisms
from dashboard.learn.exercises.exercise import Exercise, choose_setting
from dashboard.learn.luck import luck_scene
from dashboard.learn.mechanisms import KNOWN, VALUE, MissingPressures
from dashboard.state.allowed_values import AllowedValues, Choice

_PRESSURE = "blood pressure (mmHg)"

SETTINGS: Mapping[str, AllowedValues] = {
    "mechanism": Choice(mechanisms.MECHANISM_WORDS),
}


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask for a mechanism; the question is where it moves the mean."""
    mechanism = choose_setting(
        st.radio,
        "How do values go missing?",
        lesson,
        "mechanism",
        SETTINGS["mechanism"],
        default="MCAR",
        format_func=mechanisms.MECHANISM_WORDS.get,
    )
    pressures = _removed(mechanism, seed)
    st.caption(f":material/info: {pressures.rule()}")
    solution = pressures_scene(pressures)
    return Exercise(
        right=pressures.direction,
        question=solution.first(),
        solution=solution,
        sentence=pressures.sentence(),
        luck=means_scene(pressures),
        settings={"mechanism": mechanism},
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _removed(mechanism: mechanisms.Mechanism, seed: int) -> MissingPressures:
    return mechanisms.remove_pressures(mechanism, seed)


def pressures_scene(pressures: MissingPressures) -> Scene:
    """Return all patients, of whom half fade while the mean of the others moves."""
    truth = pressures.amputation.truth
    missing = pressures.amputation.incomplete[VALUE].isna().to_numpy()
    pressure, age = truth[VALUE].to_numpy(), truth[KNOWN].to_numpy()
    true_mean, observed_mean = pressures.true_mean, pressures.observed_mean
    panel = Panel(
        layers=[
            Points(pressure[~missing], age[~missing], label="observed"),
            Points(
                pressure[missing],
                age[missing],
                color_after="missing",
                opacity=[0.7, 0.15, 0.15],
            ),
            Mark(true_mean, words=f"all patients {true_mean:.1f}", color="text", dashed=True),
            Mark(
                [true_mean, observed_mean, observed_mean],
                words=f"observed {observed_mean:.1f}",
                color="observed",
                opacity=[0, 1, 1],
            ),
            Mark(
                [observed_mean, observed_mean, pressures.imputed_mean],
                words=f"imputed from age {pressures.imputed_mean:.1f}",
                color="imputed",
                opacity=[0, 0, 1],
            ),
        ],
        x=Axis(_PRESSURE, float(pressure.min()) - 3, float(pressure.max()) + 3),
        y=Axis("age", 15, 95),
    )
    n_missing = int(missing.sum())
    return Scene(
        [panel],
        states=["All patients", "Values go missing", "Imputed from age"],
        captions=[
            f"Each dot is one of {len(truth)} patients. The line is the mean blood pressure.",
            f"{n_missing} values are missing. The mean of the observed ones is "
            f"{_moved(true_mean, observed_mean)}.",
            "A regression on age, fitted to all rows, puts the mean at "
            f"{pressures.imputed_mean:.1f}.",
        ],
        description="Scatter plot of age against blood pressure, with means as lines.",
    )


def _moved(before: float, after: float) -> str:
    difference = round(after, 1) - round(before, 1)
    if abs(difference) < 0.05:
        return f"{after:.1f}, as before"
    return f"{after:.1f}, {abs(difference):.1f} {'higher' if difference > 0 else 'lower'}"


def means_scene(pressures: MissingPressures) -> Scene:
    """Return the observed means of all repetitions beside the truth."""
    means = pressures.repeated_means
    bias = float(np.mean(means)) - pressures.true_mean
    size = (
        "on average right" if pressures.direction == "right" else f"off by {bias:+.1f} on average"
    )
    return luck_scene(
        {"observed mean": means},
        truth=pressures.true_mean,
        label=_PRESSURE,
        caption=f"The same patients and the same rule {len(means)} times: the observed mean "
        f"scatters by {means.std():.1f} and is {size}.",
        colors={"observed mean": "observed"},
        of_this_table={"observed mean": pressures.observed_mean},
    )
