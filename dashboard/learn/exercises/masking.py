"""Lesson 5 on the page: what each masking trains on, and what networks reach with it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from dashboard.components.stage.scene import Axis, Bars, Color, Panel, Points, Scene
from dashboard.learn import Lesson, masking
from dashboard.learn.exercises.exercise import Exercise, choose_setting
from dashboard.learn.luck import luck_scene
from dashboard.learn.masking import MASKINGS, Trained, TrainingCases
from dashboard.state.allowed_values import AllowedValues, Choice
from pmae_core.words import percent

_COLORS: dict[str, Color] = {
    "missing": "missing",
    "uniform": "neutral",
    "proportional": "masked",
}
_NAMES = {
    "missing": "gain missing",
    "uniform": "uniform",
    "proportional": "proportional",
}
_BAR_WIDTH = 0.27

SETTINGS: Mapping[str, AllowedValues] = {
    "a": Choice(masking.A_WORDS),
}


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask for a; the question is which training cases it makes."""
    a = choose_setting(
        st.radio,
        "a: effect of missingness on masking",
        lesson,
        "a",
        SETTINGS["a"],
        default=masking.USUAL_A,
        format_func=masking.A_WORDS.get,
        horizontal=True,
    )
    cases, trained = _cases(a, seed), masking.read_trained()
    solution = cases_scene(cases, trained)
    return Exercise(
        right=cases.answer,
        question=solution.first(),
        solution=solution,
        sentence=cases.sentence(),
        luck=shares_scene(cases, _repeated(a)),
        settings={"a": a},
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _cases(a: float, seed: int) -> TrainingCases:
    return masking.training_cases(masking.make_trader(seed), a, seed)


@st.cache_resource(max_entries=8, show_spinner=False)
def _repeated(a: float) -> dict[str, np.ndarray]:
    return masking.repeated_shares(a)


def cases_scene(cases: TrainingCases, trained: Trained | None) -> Scene:
    """Return the missing cells, the training cases beside them, and what networks reach."""
    lengths = [] if trained is None else trained.lengths
    n_states = 2 + len(lengths)
    panels = [_cases_panel(cases, n_states)]
    captions = [
        "Where gain is missing, both predictors are observed in "
        f"{percent(cases.with_all_visible('missing'))} of the rows.",
        "In training, both are visible in "
        f"{percent(cases.with_all_visible('uniform'))} of the cases with uniform masking and in "
        f"{percent(cases.with_all_visible('proportional'))} with proportional masking.",
    ]
    if trained is not None:
        panels.append(_trained_panel(trained, n_states))
        captions += [trained.sentence(steps) for steps in lengths]
    return Scene(
        panels,
        states=["Missing cells", "Training cases", *(f"{steps:,} steps" for steps in lengths)],
        captions=captions,
        description="Bars: how many predictors are visible where gain has to be predicted. Dots: "
        "R² of networks trained with each masking.",
    )


def _cases_panel(cases: TrainingCases, n_states: int) -> Panel:
    layers = []
    for place, kind in enumerate(_NAMES):
        left = cases.visible["predictors"].to_numpy() + _BAR_WIDTH * (place - 1.5)
        shares = cases.visible[kind].to_numpy()
        first = shares if kind == "missing" else np.zeros_like(shares)
        layers.append(
            Bars(
                left,
                left + _BAR_WIDTH,
                height=[first, *[shares] * (n_states - 1)],
                color=_COLORS[kind],
                opacity=0.85,
                label=_NAMES[kind],
            )
        )
    return Panel(
        layers,
        x=Axis("visible predictors", -0.5, 2.5, ticks=[0, 1, 2]),
        y=Axis("share of cases", 0, 1, percent=True),
        title="Which cases?",
    )


def _trained_panel(trained: Trained, n_states: int) -> Panel:
    """Draw the R² of each network; those of a longer training rise from those of a shorter one."""
    layers = []
    for which, kind in enumerate(MASKINGS):
        of_kind = [trained.r2(kind, steps) for steps in trained.lengths]
        side = 0.14 * (2 * which - 1) + np.linspace(-0.05, 0.05, len(of_kind[0]))
        for place, r2 in enumerate(of_kind):
            begin = max(place - 1, 0)
            n_before = 2 + place  # states without these networks
            n_after = n_states - n_before
            layers.append(
                Points(
                    [begin + side] * n_before + [place + side] * n_after,
                    [of_kind[begin]] * n_before + [r2] * n_after,
                    color=_COLORS[kind],
                    opacity=[0.0] * n_before + [0.9] * n_after,
                    radius=5,
                )
            )
    lowest = min(0.0, float(trained.runs["r2"].min()) - 0.05)
    places = range(len(trained.lengths))
    return Panel(
        layers,
        x=Axis(
            "training steps",
            -0.5,
            len(trained.lengths) - 0.5,
            ticks=list(places),
            tick_words=[f"{steps:,}" for steps in trained.lengths],
        ),
        y=Axis("R² of imputed gains", lowest, 1),
        title="What do networks reach?",
    )


def shares_scene(cases: TrainingCases, repeated: dict[str, np.ndarray]) -> Scene:
    """Return how often training shows the real case, in many tables."""
    ahead = int((repeated["proportional"] > repeated["uniform"]).sum())
    n = len(repeated["uniform"])
    return luck_scene(
        {_NAMES[kind]: repeated[kind] for kind in MASKINGS},
        truth=cases.with_all_visible("missing"),
        truth_words="rows without gain",
        label="share of cases with both predictors visible",
        caption=f"One epoch on each of {n} other tables: proportional masking showed the case "
        f"more often in {ahead} of them.",
        colors={_NAMES[kind]: _COLORS[kind] for kind in MASKINGS},
    )
