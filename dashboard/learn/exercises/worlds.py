"""Lesson 6 on the page: two tables that look the same, and the truth behind each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from dashboard.components.stage.scene import Axis, Mark, Panel, Points, Scene, Slider
from dashboard.learn import Lesson, worlds
from dashboard.learn.exercises.exercise import Exercise
from dashboard.learn.luck import luck_scene
from dashboard.learn.worlds import LARGEST_SHIFT, USUAL_SHIFT, VALUE, Diagnostics, World
from dashboard.state.allowed_values import AllowedValues

SHIFTS = np.arange(0, LARGEST_SHIFT + 0.25, 0.25)

Pair = tuple[World, World]

SETTINGS: Mapping[str, AllowedValues] = {}  # the seed decides everything


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Show both tables; the question is which one is MNAR."""
    pairs, found = _worlds(seed), _diagnostics(seed)
    st.caption(f":material/info: Equal in both tables: {diagnostics_words(found)}.")
    return Exercise(
        right="neither",
        question=tables_scene(pairs[USUAL_SHIFT], found),
        solution=truth_scene(pairs, found),
        sentence=worlds.solution(pairs[USUAL_SHIFT], found),
        luck=errors_scene(_repeated_errors()),
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _worlds(seed: int) -> Mapping[float, Pair]:
    return {float(shift): worlds.make_worlds(float(shift), seed) for shift in SHIFTS}


@st.cache_resource(max_entries=32, show_spinner="Running the diagnostics …")
def _diagnostics(seed: int) -> Diagnostics:
    return worlds.diagnose(_worlds(seed)[USUAL_SHIFT][0].incomplete)


@st.cache_resource(show_spinner=False)
def _repeated_errors() -> Mapping[str, np.ndarray]:
    return worlds.repeated_errors(USUAL_SHIFT)


def diagnostics_words(found: Diagnostics) -> str:
    """Return what every diagnostic says, in one line."""
    return "; ".join(f"{name}: {value}" for name, value in found.table().items())


def tables_scene(pair: Pair, found: Diagnostics) -> Scene:
    """Return both tables as they are: missing incomes stand at the foot."""
    panels = []
    for number, world in enumerate(pair, start=1):
        ends = _ends([pair])
        unknown = np.full(int(world.missing.sum()), ends[0] + 1)
        panels.append(_panel(number, world, [unknown], found, ends))
    return Scene(
        panels,
        states=["The tables"],
        captions=[
            "Reported incomes by age. Dots at the foot are people who did not report theirs. The "
            "line is the mean after imputation."
        ],
        description="Scatter plots of income against age in two worlds.",
    )


def truth_scene(pairs: Mapping[float, Pair], found: Diagnostics) -> Scene:
    """Return both tables with the incomes that were not reported, for each shift of them."""
    ends = _ends(list(pairs.values()))
    panels = []
    for number in (1, 2):
        at_shifts = [pair[number - 1] for pair in pairs.values()]
        missing = at_shifts[0].missing
        incomes = [world.truth.loc[missing, VALUE].to_numpy() for world in at_shifts]
        means = [world.true_mean for world in at_shifts]
        truth = Mark(
            means,
            axis="y",
            words=[f"true mean {mean:.1f}" for mean in means],
            color="text",
            dashed=True,
        )
        panels.append(_panel(number, at_shifts[0], incomes, found, ends, truth))
    return Scene(
        panels,
        states=[f"{shift:g} SD" for shift in pairs],
        captions=[worlds.shift_words(pair, shift) for shift, pair in pairs.items()],
        description="Scatter plots of income against age in two worlds, with the incomes that "
        "were not reported.",
        slider=Slider(
            "Missing incomes of the MNAR world, higher by (standard deviations)",
            values=list(pairs),
            start=USUAL_SHIFT,
            decimals=2,
        ),
    )


def _panel(
    number: int,
    world: World,
    missing_incomes: Sequence[np.ndarray],
    found: Diagnostics,
    ends: tuple[float, float],
    *more: Mark,
) -> Panel:
    age, income = world.truth["age"].to_numpy(), world.truth[VALUE].to_numpy()
    reported, missing = ~world.missing, world.missing
    return Panel(
        [
            Points(age[reported], income[reported], opacity=0.6, radius=2.5, label="reported"),
            Points(
                age[missing],
                np.array(missing_incomes),
                color="missing",
                opacity=0.5,
                radius=2.5,
                label="not reported",
            ),
            Mark(
                found.imputed_mean,
                axis="y",
                words=f"imputed mean {found.imputed_mean:.1f}",
                color="imputed",
            ),
            *more,
        ],
        x=Axis("age", float(age.min()) - 2, float(age.max()) + 2),
        y=Axis("income (thousands)", *ends),
        title=f"World {number}",
    )


def _ends(pairs: Sequence[Pair]) -> tuple[float, float]:
    """Return the ends of an axis for all incomes."""
    incomes = np.concatenate([world.truth[VALUE] for pair in pairs for world in pair])
    return float(incomes.min()) - 4, float(incomes.max()) + 2


def errors_scene(repeated: Mapping[str, np.ndarray]) -> Scene:
    """Return the error of the imputed mean in many pairs of worlds."""
    mar, mnar = repeated["MAR"], repeated["MNAR"]
    return luck_scene(
        {"MAR world": mar, "MNAR world": mnar},
        truth=0.0,
        truth_words="no error",
        label="error of the mean after imputation (thousands)",
        caption=f"{len(mar)} other pairs of worlds with equal observed cells: the mean after "
        f"imputation is off by {abs(mar).mean():.1f} on average in the MAR world, up or down, and "
        f"too low by {-mnar.mean():.1f} in the MNAR world.",
        colors={"MAR world": "observed", "MNAR world": "missing"},
    )
