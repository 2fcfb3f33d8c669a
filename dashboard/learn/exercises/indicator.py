"""The missing-indicator fallacy on the page: two lines, and the distance between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
import streamlit as st

from dashboard.components.stage.scene import Axis, Color, Line, Panel, Points, Scene
from dashboard.learn import Lesson, indicator
from dashboard.learn.exercises.dots import SMALL, range_of
from dashboard.learn.exercises.exercise import Exercise, choose_setting
from dashboard.learn.indicator import TRUE_EFFECT, IndicatorResult, Treated, TreatedPatients
from dashboard.learn.least_squares import FloatArray
from dashboard.learn.luck import luck_scene
from dashboard.state.allowed_values import AllowedValues, Choice, NumberWithin

_ENDS = np.array([14.0, 84.0])  # of the lines, in severity; between the first ones is the effect
_STRIP = 5.0  # half the width of the strip of patients whose severity was set to 0
_GROUP_COLORS: dict[float, Color] = {0.0: "neutral", 1.0: "accent"}
_LUCK_COLORS: dict[str, Color] = {
    "missing indicator": "missing",
    "complete rows": "observed",
    "imputed": "imputed",
}

SETTINGS: Mapping[str, AllowedValues] = {
    "who": Choice(indicator.TREATED_WORDS),
    "missing": NumberWithin(indicator.LEAST_MISSING, indicator.MOST_MISSING),
}


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask who got the drug; the question is what the indicator does to its effect."""
    who = choose_setting(
        st.selectbox,
        "Who got the drug?",
        lesson,
        "who",
        SETTINGS["who"],
        default="severe",
        format_func=indicator.TREATED_WORDS.get,
    )
    missing = choose_setting(
        st.slider,
        "Severities missing",
        lesson,
        "missing",
        SETTINGS["missing"],
        default=indicator.USUAL_MISSING,
        step=10,
        format="%d%%",
    )
    made = _treated(who, missing, seed)
    solution = effect_scene(made)
    return Exercise(
        right=made.answer,
        question=solution.first(),
        solution=solution,
        sentence=made.sentence(),
        luck=repeated_scene(made),
        settings={"who": who, "missing": missing},
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _treated(who: str, percent_missing: int, seed: int) -> IndicatorResult:
    return indicator.treat_patients(cast(Treated, who), percent_missing, seed)


def effect_scene(made: IndicatorResult) -> Scene:
    """Return the patients and both lines: with severities set to 0, then where they belong."""
    patients = made.patients
    fitted = [patients.with_indicator()[:3], patients.with_true_severity()]
    gaps = _by_state([_heights(one, _ENDS[:1], [0.0, 1.0]) for one in fitted])
    panel = Panel(
        layers=[
            *(_group(patients, treated) for treated in (0.0, 1.0)),
            *(_ghost(fitted[0], treated) for treated in (0.0, 1.0)),
            *(_line(fitted, treated) for treated in (0.0, 1.0)),
            Line(
                x=[_ENDS[0], _ENDS[0]],
                y=gaps,
                color="text",
                opacity=[0, 1, 1],
                width=4,
                label="estimated effect",
            ),
        ],
        x=Axis(
            "severity",
            *range_of([-_STRIP], _ENDS, patients.severity),
            ticks=[0, 30, 50, 70],
            tick_words=["0 (missing)", "30", "50", "70"],
        ),
        y=Axis("pain in points", *range_of(patients.pain, gaps)),
    )
    return Scene(
        [panel],
        states=["Set to 0", "With the indicator", "True severities"],
        captions=[
            f"The {patients.missing.sum()} missing severities are set to 0: the strip at the left.",
            f"With the indicator, the lines are {-fitted[0][1]:.1f} points apart. This is the "
            "estimated effect.",
            f"With the true severities, the lines are {-fitted[1][1]:.1f} points apart. Dashed: "
            "the lines with the indicator.",
        ],
        description="Pain by severity for treated and untreated patients. Patients with missing "
        "severity stand in a strip at 0. Two parallel lines show the estimated effect of the drug.",
    )


def _group(patients: TreatedPatients, treated: float) -> Points:
    chosen = patients.treated == treated
    missing, severity = patients.missing[chosen], patients.severity[chosen]
    # Both groups stand beside each other in the strip, in no order.
    beside = np.linspace(0.1, 1, len(severity)) * _STRIP * (1 if treated else -1)
    set_to_0 = np.where(missing, np.random.default_rng(0).permutation(beside), severity)
    return Points(
        x=[set_to_0, set_to_0, severity],
        y=patients.pain[chosen],
        color=_GROUP_COLORS[treated],
        opacity=0.45,
        radius=SMALL,
        label="with the drug" if treated else "without the drug",
    )


def _line(fitted: list[FloatArray], treated: float) -> Line:
    return Line(
        x=_ENDS,
        y=_by_state([_heights(one, _ENDS, [treated] * 2) for one in fitted]),
        color=_GROUP_COLORS[treated],
        opacity=[0, 1, 1],
    )


def _ghost(fitted: FloatArray, treated: float) -> Line:
    """Return where a line was before the true severities were known."""
    return Line(
        x=_ENDS,
        y=_heights(fitted, _ENDS, [treated] * 2),
        color=_GROUP_COLORS[treated],
        opacity=[0, 0, 0.8],
        width=1.5,
        dashed=True,
    )


def _by_state(heights: list[FloatArray]) -> list[FloatArray]:
    """Return the heights of all states: lines are not shown in the first, but start from it."""
    return [heights[0], *heights]


def _heights(fitted: FloatArray, severity: npt.ArrayLike, treated: Sequence[float]) -> FloatArray:
    level, by_drug, by_severity = fitted
    return level + by_drug * np.asarray(treated) + by_severity * np.asarray(severity)


def repeated_scene(made: IndicatorResult) -> Scene:
    """Return the estimates in many tables, by the way to treat missing severities."""
    spreads = {name: float(values.std()) for name, values in made.repeated.items()}
    return luck_scene(
        made.repeated,
        truth=TRUE_EFFECT,
        label="estimated effect in points",
        caption="Bias moves all estimates to one side; chance scatters them. The standard "
        f"deviation is {spreads['complete rows']:.2f} points with complete rows and "
        f"{spreads['imputed']:.2f} with imputed severities.",
        colors=_LUCK_COLORS,
        of_this_table={"missing indicator": made.effects["missing indicator"]},
    )
