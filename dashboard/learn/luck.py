"""Was it luck? An estimate in many repetitions: chance scatters it, bias moves all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dashboard.components.stage.scene import Axis, Bars, Color, Mark, Panel, Scene

_BINS, _MOST_BINS = 28, 40


def luck_scene(
    repeated: Mapping[str, Sequence[float]],
    *,
    truth: float,
    label: str,
    caption: str,
    colors: Mapping[str, Color],
    of_this_table: Mapping[str, float] | None = None,
    truth_words: str = "truth",
    step: float | None = None,
    percent: bool = False,
) -> Scene:
    """Return histograms of estimates that rise from nothing, with the truth as a line.

    Parameters
    ----------
    repeated
        The estimates of each method in all repetitions, by the method's name.
    truth
        What they estimate.
    label
        What they are, with the unit: the label of the horizontal axis.
    caption
        What the repetitions show, in a sentence or two.
    colors
        Of each method.
    of_this_table
        The estimates on the reader's own table, to find it among the repetitions.
    truth_words
        What the line is that estimates are compared with.
    step
        What estimates are multiples of, 1 for counts: all bars then stand for as many values.
    percent
        Whether 0.5 is written as 50%.
    """
    estimates = {name: np.asarray(values, dtype=float) for name, values in repeated.items()}
    own = of_this_table or {}
    everything = np.concatenate([*estimates.values(), [truth], list(own.values())])
    edges = _edges(everything, step)
    counts = {name: np.histogram(values, edges)[0] for name, values in estimates.items()}
    top = 1.15 * max(int(count.max()) for count in counts.values())
    bars = [
        Bars(
            left=edges[:-1],
            right=edges[1:],
            height=[np.zeros(len(count)), count],
            color=colors[name],
            label=name,
        )
        for name, count in counts.items()
    ]
    marks = [
        Mark(value, words=f"{name}, this table", color=colors[name], opacity=[0, 1])
        for name, value in own.items()
    ]
    panel = Panel(
        layers=[*bars, Mark(truth, words=truth_words, color="text", dashed=True), *marks],
        x=Axis(label, float(edges[0]), float(edges[-1]), percent=percent),
        y=Axis("repetitions", 0, top),
    )
    n_repetitions = max(len(values) for values in estimates.values())
    return Scene(
        [panel],
        states=["Before", f"{n_repetitions:,} times"],
        captions=["Before the repetitions.", caption],
        description=f"Histogram of {label} in {n_repetitions:,} repetitions; a line shows: "
        f"{truth_words}.",
    )


def _edges(estimates: np.ndarray, step: float | None) -> np.ndarray:
    """Return where bars begin and end, with a little room on both sides."""
    low, high = float(estimates.min()), float(estimates.max())
    if step is None:
        margin = 0.04 * max(high - low, 1e-9)
        return np.linspace(low - margin, high + margin, _BINS + 1)
    n_values = round((high - low) / step) + 1
    width = step * np.ceil(n_values / _MOST_BINS)
    # Half a step lower: no estimate lies on an edge.
    return np.arange(low - step / 2 - width, high + 2 * width, width)
