"""Rubin's rules on the page: a hundred intervals, from one imputation and from several."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from dashboard.components.stage.scene import Axis, Intervals, Mark, Panel, Scene
from dashboard.learn import Lesson, rubin
from dashboard.learn.exercises.exercise import Exercise, choose_setting
from dashboard.learn.luck import luck_scene
from dashboard.learn.rubin import N_STUDIES, TRUTH, Hundred
from dashboard.state.allowed_values import AllowedValues, Choice
from pmae_core.words import count, percent

SETTINGS: Mapping[str, AllowedValues] = {
    "share": Choice(rubin.SHARES_MISSING),
    "m": Choice(rubin.NUMBERS_OF_IMPUTATIONS),
}


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask how much is missing and how often it is imputed; the question is the coverage."""
    share = choose_setting(
        st.radio,
        "Missing blood pressures",
        lesson,
        "share",
        SETTINGS["share"],
        default=rubin.USUAL_SHARE,
        format_func=percent,
        horizontal=True,
    )
    n_imputations = choose_setting(
        st.radio,
        "Imputations for Rubin's rules (m)",
        lesson,
        "m",
        SETTINGS["m"],
        default=rubin.USUAL_NUMBER,
        horizontal=True,
        help="The solution compares one imputation with m of them, pooled by Rubin's rules.",
    )
    hundred = _hundred(share, n_imputations, seed)
    solution = solution_scene(hundred)
    return Exercise(
        right=hundred.answer,
        question=solution.first(),
        solution=solution,
        sentence=hundred.sentence(),
        luck=coverage_scene(hundred),
        settings={"share": share, "m": n_imputations},
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _hundred(share: float, n_imputations: int, seed: int) -> Hundred:
    return rubin.make_hundred(share, n_imputations, seed)


def solution_scene(hundred: Hundred) -> Scene:
    """Return the intervals: alone, against the truth, and widened by Rubin's rules."""
    single, pooled = hundred.studies.single, hundred.studies.pooled
    hits = np.array([single.contain(TRUTH), pooled.contain(TRUTH)])
    ends = {
        name: np.stack([getattr(single, name), getattr(single, name), getattr(pooled, name)])
        for name in ("low", "center", "high")
    }
    place = np.arange(1, N_STUDIES + 1)
    unseen = np.zeros((1, N_STUDIES))
    n_single, n_pooled = hits.sum(axis=1)
    layers = [
        Intervals(**ends, place=place, color="neutral", opacity=[1, 0, 0]),
        Intervals(
            **ends,
            place=place,
            color="observed",
            opacity=np.concatenate([unseen, hits]),
            label="contains the true mean",
        ),
        Intervals(
            **ends,
            place=place,
            color="missing",
            opacity=np.concatenate([unseen, ~hits]),
            label="misses it",
        ),
        Mark(
            TRUTH,
            words=["", f"{n_single} of 100 contain the truth", f"{n_pooled} of 100 contain it"],
            color="text",
            opacity=[0, 1, 1],
        ),
    ]
    reach = _reach(hundred)
    panel = Panel(
        layers,
        x=Axis("mean blood pressure (mmHg)", TRUTH - reach, TRUTH + reach),
        y=Axis("study", 0, N_STUDIES + 1, ticks=[1, 25, 50, 75, 100]),
    )
    m = hundred.n_imputations
    return Scene(
        [panel],
        states=["100 intervals", "The truth", f"Rubin's rules, m = {m}"],
        captions=[
            "The 95% interval of each study, from one imputation.",
            f"From one imputation, {n_single} of the 100 intervals contain the true mean.",
            f"Pooled over {m} imputations, the intervals are wider, and {n_pooled} contain it."
            + _cut_words(hundred, reach),
        ],
        description="A hundred 95% intervals of a mean, stacked above each other.",
    )


def _reach(hundred: Hundred) -> float:
    """Return how far the axis goes from the truth: somewhat beyond intervals of one imputation."""
    single = hundred.studies.single
    return float(np.ceil(1.2 * max(TRUTH - single.low.min(), single.high.max() - TRUTH)))


def _cut_words(hundred: Hundred, reach: float) -> str:
    pooled = hundred.studies.pooled
    n_cut = int(((pooled.low < TRUTH - reach) | (pooled.high > TRUTH + reach)).sum())
    return f" {count(n_cut, 'extends', 'extend')} beyond the figure." if n_cut else ""


def coverage_scene(hundred: Hundred) -> Scene:
    """Return how many of a hundred contain the truth, in many hundreds."""
    one, rules = "one imputation", f"Rubin's rules, m = {hundred.n_imputations}"
    single, pooled = hundred.repeated.hits()
    return luck_scene(
        {one: single, rules: pooled},
        truth=95,
        truth_words="95 as promised",
        label="intervals of 100 that contain the true mean",
        caption=f"In {len(single)} hundreds of studies: {single.min()} to {single.max()} of 100 "
        f"from one imputation, {pooled.min()} to {pooled.max()} by Rubin's rules.",
        colors={one: "neutral", rules: "imputed"},
        step=1,
    )
