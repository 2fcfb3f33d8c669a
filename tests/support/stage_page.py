"""A page with a stage and scenes of all layers, for tests of the stage: ``streamlit run`` it."""

from __future__ import annotations

import numpy as np

from dashboard.components.stage.scene import (
    Axis,
    Bars,
    Cells,
    Intervals,
    Line,
    Mark,
    Panel,
    Points,
    Scene,
    Slider,
)

HOSTILE = "<img src=x onerror=alert(1)>"


def scatter(n_points: int = 80) -> Scene:
    """Return points that go missing one by one, a line that tilts and a mark that moves."""
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, n_points)
    pressure = 100 + 0.6 * age + rng.normal(0, 9, n_points)
    missing = pressure > 140
    kept = np.polyfit(age[~missing], pressure[~missing], 1)
    full = np.polyfit(age, pressure, 1)
    ends = np.array([20.0, 80.0])
    lines = np.array([np.polyval(line, ends) for line in (full, full, kept)])
    after = np.where(missing, "missing", "observed")
    opacity = np.array([np.full(n_points, 0.7), np.full(n_points, 0.7), np.where(missing, 0, 0.7)])
    points = Points(
        age, pressure, color_after=after.tolist(), opacity=opacity, label=f"patients {HOSTILE}"
    )
    panel = Panel(
        [
            points,
            Line(ends, lines[0], color="text", dashed=True, label="all patients"),
            Line(ends, lines, color="imputed", opacity=[0, 0, 1], label="complete rows"),
            Mark([140, 140, 140], axis="y", words="limit", color="missing", opacity=[0, 1, 1]),
        ],
        x=Axis("age in years", 20, 80),
        y=Axis("blood pressure in mmHg", 90, 180),
        title="How does blood pressure rise with age?",
    )
    means = [pressure.mean(), pressure.mean(), pressure[~missing].mean()]
    edges = np.arange(90, 181, 5)
    counts = [np.histogram(pressure, edges)[0]] * 2 + [np.histogram(pressure[~missing], edges)[0]]
    histogram = Panel(
        [
            Bars(edges[:-1], edges[1:], counts, label="patients"),
            Mark(means[0], words=f"true mean {means[0]:.1f}", color="text", dashed=True),
            Mark(
                means,
                words=["", "", f"observed mean {means[2]:.1f}"],
                color="observed",
                opacity=[0, 0, 1],
            ),
        ],
        x=Axis("blood pressure in mmHg", 90, 180),
        y=Axis("patients", 0, 1.2 * float(np.max(counts))),
        title=HOSTILE,
    )
    return Scene(
        [panel, histogram],
        states=["All patients", "High values", "Values go missing"],
        captions=[
            "All patients were measured.",
            f"Values above 140 will go missing. {HOSTILE}",
            "The observed mean is too low, and the line is too flat. What is left over says "
            "nothing about the patients whose values are missing.",
        ],
        description="Scatter plot and histogram of blood pressure.",
    )


def staircase() -> Scene:
    """Return cells whose rows and columns sort into a staircase, and words in cells."""
    rng = np.random.default_rng(1)
    missing = np.arange(5) >= rng.integers(1, 6, 20)[:, None]
    missing = missing[:, [3, 0, 4, 1, 2]]
    color = np.where(missing, "missing", "observed")
    rows = np.argsort(np.argsort(missing.sum(axis=1), kind="stable"))
    columns = np.argsort(np.argsort(missing.sum(axis=0), kind="stable"))
    names = ["visit_4", "baseline", "visit_5", "visit_2", "a_long_name_of_a_column"]
    sorted_rows = Cells(
        names,
        color,
        place=[np.arange(20), rows],
        column_place=[np.arange(5), columns],
    )
    words = [["34", "?", "high"], ["51", "120", "?"], ["?", "131", "low"], ["62", "?", HOSTILE]]
    small = np.where(np.array(words) == "?", "missing", "observed")
    imputed = np.where(np.array(words) == "?", "imputed", "observed")
    table = Cells(
        ["age", "bp", "risk"],
        [small, imputed],
        words=words,
        row_words=["Ada", "Ben", "Cleo", "Dan"],
    )
    return Scene(
        [Panel([sorted_rows], title="Is there an order?"), Panel([table], title="Four patients")],
        states=["As recorded", "Sorted"],
        captions=["Rows as they were recorded.", "Sorted rows make a staircase: monotone."],
        description="Cells of two tables.",
    )


def coverage() -> Scene:
    """Return intervals that appear one by one, of which some miss the truth."""
    rng = np.random.default_rng(2)
    center = rng.normal(0, 1, 60)
    color = np.where(np.abs(center) > 1.96, "missing", "observed")
    return Scene(
        [
            Panel(
                [
                    Intervals(
                        center - 1.96,
                        center,
                        center + 1.96,
                        place=np.arange(60),
                        color="neutral",
                        color_after=color.tolist(),
                        opacity=[0, 1],
                        label="95% intervals",
                    ),
                    Mark(0, words="truth", color="text", dashed=True),
                    Mark([0.2, 0.4], words="mean of all intervals", color="imputed"),
                    Mark(0.9, words="somebody else", color="masked"),
                ],
                x=Axis("estimate", -5, 5),
                y=Axis("", -1, 60, ticks=[]),
                title="How many intervals contain the truth?",
            )
        ],
        states=["None", "Sixty"],
        captions=["No table yet.", f"{np.mean(color == 'observed'):.0%} contain the truth."],
        description="Intervals of sixty tables.",
    )


def sensitivity() -> Scene:
    """Return a scene with a slider: the mean of imputed values moves with it."""
    x = np.linspace(-4, 8, 60)
    curves = [np.exp(-((x - shift) ** 2) / 2) for shift in (0, 1, 3)]
    return Scene(
        [
            Panel(
                [
                    Line(x, curves[0], color="observed", label="observed"),
                    Line(x, curves, color="imputed", label="imputed"),
                    Mark([0, 0.5, 1.5], words="mean of all", color="accent"),
                ],
                x=Axis("value", -4, 8),
                y=Axis("density", 0, 1.1, percent=True),
            )
        ],
        states=["0", "1", "3"],
        captions=["No difference.", "The conclusion holds.", "The conclusion changes."],
        description="Densities of observed and imputed values.",
        slider=Slider("Shift in standard deviations", [0, 1, 3], start=1, decimals=1),
    )


def many_points() -> Scene:
    """Return more points than the stage draws as elements."""
    return scatter(4_000)


def still() -> Scene:
    """Return a picture with one state."""
    return scatter().first()


SCENES = {
    "scatter": scatter,
    "many points": many_points,
    "staircase": staircase,
    "coverage": coverage,
    "sensitivity": sensitivity,
    "still": still,
}


def show() -> None:
    """Draw the page."""
    import streamlit as st

    from dashboard.components.stage import show_stage
    from tests.support.paths import ROOT

    st.set_page_config(layout="wide")
    st.html(ROOT / "dashboard" / "shell" / "style.css")
    st.session_state.runs = st.session_state.get("runs", 0) + 1
    with st.container(horizontal=True):
        st.button("Rerun")
        play = st.checkbox("Reveal")
    shown = st.radio("Scene", [*SCENES, "nothing"], horizontal=True)
    if shown not in SCENES:
        return
    value = show_stage(SCENES[shown](), key="stage", play=play)
    st.write(f"Run {st.session_state.runs}: Python has {value}.")


if __name__ == "__main__":
    show()
