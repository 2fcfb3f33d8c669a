"""Lesson 4 on the page: a scatter plot whose line tilts when incomplete rows are dropped."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from dashboard.components.stage.scene import Axis, Line, Panel, Points, Scene
from dashboard.learn import Lesson, slopes
from dashboard.learn.exercises.exercise import Exercise, choose_setting
from dashboard.learn.luck import luck_scene
from dashboard.learn.slopes import DroppedRows, X, Y
from dashboard.state.allowed_values import AllowedValues, Choice, NumberWithin
from pmae_core.words import percent

SETTINGS: Mapping[str, AllowedValues] = {
    "cause": Choice(slopes.CAUSES),
    "strength": NumberWithin(slopes.WEAKEST, slopes.STRONGEST),
}


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask why values are missing; the question is what dropping rows does to the slope."""
    cause = choose_setting(
        st.selectbox,
        "Why are values missing?",
        lesson,
        "cause",
        SETTINGS["cause"],
        default="chance",
        format_func=lambda key: slopes.CAUSES[key].title,
    )
    strength = slopes.USUAL_STRENGTH
    if slopes.CAUSES[cause].depends_on is not None:
        strength = choose_setting(
            st.slider,
            "How strict is the rule?",
            lesson,
            "strength",
            SETTINGS["strength"],
            default=slopes.USUAL_STRENGTH,
            step=0.5,
            help="1 is a tendency, 5 nearly a rule without exceptions.",
        )
    st.caption(f":material/info: {slopes.CAUSES[cause].rule}")
    made = _dropped(cause, strength, seed)
    solution = rows_scene(made)
    return Exercise(
        right=made.cause.effect,
        question=solution.first(),
        solution=solution,
        sentence=made.sentence(),
        luck=slopes_scene(made),
        settings={"cause": cause, "strength": strength},
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _dropped(cause: str, strength: float, seed: int) -> DroppedRows:
    return slopes.drop_rows(cause, strength, seed)


def rows_scene(made: DroppedRows) -> Scene:
    """Return all patients; incomplete rows fade, and the line tilts to the complete ones."""
    age, pressure = made.truth[X].to_numpy(), made.truth[Y].to_numpy()
    ends = np.array([age.min(), age.max()])

    def heights(line: slopes.Line) -> np.ndarray:
        slope, intercept = line
        return slope * ends + intercept

    full, kept = heights(made.full_line), heights(made.kept_line)
    panel = Panel(
        layers=[
            Points(age[made.kept], pressure[made.kept], opacity=0.6, label="complete rows"),
            Points(
                age[~made.kept],
                pressure[~made.kept],
                color_after="missing",
                opacity=[0.6, 0.15, 0.15],
                label="incomplete rows",
            ),
            Line(ends, [full, kept, kept], width=4, label="fitted line"),
            Line(
                ends,
                [kept, kept, heights(made.imputed_line)],
                color="imputed",
                opacity=[0, 0, 1],
                width=4,
                label="after imputation",
            ),
            Line(ends, heights(made.true_line), color="text", dashed=True, label="true line"),
        ],
        x=Axis("age", 15, 95),
        y=Axis("blood pressure (mmHg)", float(pressure.min()) - 3, float(pressure.max()) + 3),
    )
    n_dropped = int((~made.kept).sum())
    return Scene(
        [panel],
        states=["All rows", "Complete rows", "Imputed"],
        captions=[
            f"Each dot is one of {len(made.truth)} patients before values go missing. The line "
            f"fitted to all of them rises by {made.full_line[0]:.2f} per year.",
            f"{n_dropped} incomplete rows are dropped. The line fitted to the others rises by "
            f"{made.kept_line[0]:.2f} per year; the true line by {made.true_slope:.2f}.",
            f"Fitted to all rows, incomplete ones included (EM), it rises by "
            f"{made.imputed_line[0]:.2f} per year.",
        ],
        description="Scatter plot of blood pressure against age, with the true and fitted lines.",
    )


def slopes_scene(made: DroppedRows) -> Scene:
    """Return the slopes of the complete rows in many tables beside the truth."""
    n_flatter = int((made.repeated_slopes < made.true_slope).sum())
    n = len(made.repeated_slopes)
    change = made.change()
    direction = "flatter" if change < 0 else "steeper"
    return luck_scene(
        {"complete rows": made.repeated_slopes},
        truth=made.true_slope,
        label="rise in blood pressure (mmHg per year of age)",
        caption=f"The same rule in {n} tables of other patients: the line was flatter than the "
        f"truth in {n_flatter}, and {percent(abs(change))} {direction} on average.",
        colors={"complete rows": "observed"},
        of_this_table={"complete rows": made.kept_line[0]},
    )
