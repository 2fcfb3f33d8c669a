"""Sensitivity on the page: imputed points that move, and the interval that moves with them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from dashboard.components.stage.scene import (
    Axis,
    Intervals,
    Line,
    Mark,
    Panel,
    Points,
    Scene,
    Slider,
)
from dashboard.learn import Lesson, sensitivity
from dashboard.learn.exercises.exercise import Exercise, choose_setting
from dashboard.learn.lesson import independent_numbers
from dashboard.learn.luck import luck_scene
from dashboard.learn.sensitivity import N_ROWS, SPREAD, STEPS_TO_TIPPING_POINT, Tipped
from dashboard.state.allowed_values import AllowedValues, Choice
from pmae_core.words import decimals, percent

SETTINGS: Mapping[str, AllowedValues] = {
    "share": Choice(sensitivity.SHARES_MISSING),
}


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask how many dropped out; the question is how far off their values must be."""
    share = choose_setting(
        st.radio,
        "Missing in the drug group",
        lesson,
        "share",
        SETTINGS["share"],
        default=sensitivity.USUAL_SHARE,
        format_func=percent,
        horizontal=True,
    )
    tipped = _tipped(share, seed)
    return Exercise(
        right="more",
        question=question_scene(tipped),
        solution=solution_scene(tipped),
        sentence=tipped.sentence(),
        luck=repeated_scene(tipped),
        settings={"share": share},
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _tipped(share: float, seed: int) -> Tipped:
    return sensitivity.find_tipping_point(share, seed)


def question_scene(tipped: Tipped) -> Scene:
    """Return the trial as imputed under MAR, and the interval of the difference."""
    found = tipped.differences
    low = float(found.low[0])
    panel = Panel(
        [
            Intervals(found.low[:1], found.center[:1], found.high[:1], [0]),
            Mark(0, words="0", color="text"),
            Mark(low, words=f"interval begins at {low:.1f}", color="observed", dashed=True),
        ],
        x=_difference_axis(tipped),
        y=Axis("", -1, 1, ticks=[]),
    )
    return Scene(
        [_patients_panel(tipped, tipped.deltas[:1]), panel],
        states=["Under MAR"],
        captions=[
            f"Imputed under MAR: the difference is {found.center[0]:.1f} mmHg, and its 95% "
            f"interval begins {low:.1f} mmHg above 0."
        ],
        description=_DESCRIPTION,
    )


_DESCRIPTION = (
    "Improvement of each patient on placebo and drug, and the difference between the groups with "
    "its 95% interval."
)


def solution_scene(tipped: Tipped) -> Scene:
    """Return the trial with a slider that makes the missing values worse."""
    return Scene(
        [_patients_panel(tipped, tipped.deltas), _differences_panel(tipped)],
        states=[f"δ = {delta:.1f}" for delta in tipped.deltas],
        captions=[_caption(tipped, state) for state in range(len(tipped.deltas))],
        description=_DESCRIPTION,
        slider=Slider(
            "Missing values worse by δ (mmHg)",
            tipped.deltas.tolist(),
            start=round(tipped.tipping_point, 1),
        ),
    )


def _caption(tipped: Tipped, state: int) -> str:
    found = tipped.differences
    low, high = found.low[state], found.high[state]
    verdict = "excludes 0" if low > 0 else "includes 0"
    if state == STEPS_TO_TIPPING_POINT:
        verdict = "reaches 0: this is the tipping point"
    return (
        f"Difference {decimals(found.center[state], 1)} mmHg; the 95% interval from "
        f"{decimals(low, 1)} to {decimals(high, 1)} {verdict}."
    )


def _patients_panel(tipped: Tipped, deltas: np.ndarray) -> Panel:
    trial = tipped.trial
    missing = trial.missing[0, 0]
    placebo, drug = trial.placebo[0], trial.drug[0, 0]
    across = independent_numbers(0).uniform(0.1, 0.9, N_ROWS)
    imputed = drug[missing] - deltas[:, None]
    lowest = min(placebo.min(), drug.min(), (drug[missing] - tipped.deltas[-1]).min())
    drug_mean = (placebo.mean() + tipped.differences.center[: len(deltas)])[:, None]
    return Panel(
        [
            Points(across, placebo, opacity=0.5, radius=3),
            Points(1 + across[~missing], drug[~missing], opacity=0.5, radius=3, label="observed"),
            Points(
                1 + across[missing],
                imputed,
                color="imputed",
                opacity=0.8,
                radius=3,
                label="imputed",
            ),
            Line([0.05, 0.95], np.full(2, placebo.mean()), color="text", label="mean"),
            Line([1.05, 1.95], np.repeat(drug_mean, 2, axis=1), color="text"),
        ],
        x=Axis("", 0, 2, ticks=[0.5, 1.5], tick_words=["placebo", "drug"]),
        y=Axis(
            "improvement (mmHg)",
            float(lowest) - 2,
            float(max(placebo.max(), drug.max())) + 2,
        ),
    )


def _differences_panel(tipped: Tipped) -> Panel:
    found, deltas = tipped.differences, tipped.deltas
    excludes = found.low > 0
    ends = np.stack([found.low, found.high], axis=1)
    return Panel(
        [
            *(
                Intervals(
                    found.low[rows],
                    found.center[rows],
                    found.high[rows],
                    deltas[rows],
                    color=color,
                    opacity=0.5,
                    label=label,
                )
                for rows, color, label in (
                    (excludes, "observed", "excludes 0"),
                    (~excludes, "missing", "includes 0"),
                )
            ),
            Mark(0, words="0", color="text"),
            Mark(
                tipped.tipping_point,
                axis="y",
                words=f"tipping point {tipped.tipping_point:.1f}",
                color="text",
                dashed=True,
            ),
            Line(ends, np.stack([deltas, deltas], axis=1), color="accent", width=4),
            Points(found.center[:, None], deltas[:, None], color="accent", opacity=1, radius=5),
        ],
        x=_difference_axis(tipped),
        y=Axis("δ (mmHg)", 0, float(deltas[-1])),
    )


def _difference_axis(tipped: Tipped) -> Axis:
    found = tipped.differences
    return Axis("drug minus placebo (mmHg)", float(found.low.min()) - 1, float(found.high[0]) + 1)


def repeated_scene(tipped: Tipped) -> Scene:
    """Return the tipping point and the distance of the interval from 0 in many trials."""
    distances, tipping_points = tipped.repeated_distances, tipped.repeated_tipping_points
    multiples = tipping_points / distances
    distance, tipping_point = "distance from the interval to 0", "tipping point"
    return luck_scene(
        {distance: distances, tipping_point: tipping_points},
        truth=SPREAD,
        truth_words="SD of improvements",
        label="mmHg",
        caption=f"In {len(multiples)} other trials, the tipping point is {multiples.min():.1f} to "
        f"{multiples.max():.1f} times the distance from the interval to 0.",
        colors={distance: "neutral", tipping_point: "imputed"},
        of_this_table={distance: tipped.distance, tipping_point: tipped.tipping_point},
    )
