"""Was it luck? An estimate in many repetitions: chance scatters it, bias moves all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dashboard.components.stage.scene import Axis, Bars, Color, Mark, Panel, Scene

_BINS = 28


def luck_scene(
    repeated: Mapping[str, Sequence[float]],
    *,
    truth: float,
    label: str,
    caption: str,
    colors: Mapping[str, Color],
    of_this_table: Mapping[str, float] | None = None,
    truth_words: str = "truth",
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
        What is written beside the truth.
    """
    estimates = {name: np.asarray(values, dtype=float) for name, values in repeated.items()}
    own = of_this_table or {}
    everything = np.concatenate([*estimates.values(), [truth], list(own.values())])
    margin = 0.04 * max(float(np.ptp(everything)), 1e-9)
    low, high = float(everything.min() - margin), float(everything.max() + margin)
    edges = np.linspace(low, high, _BINS + 1)
    counts = {name: np.histogram(values, edges)[0] for name, values in estimates.items()}
    top = 1.15 * max(int(count.max()) for count in counts.values())
    bars = [
        Bars(
            left=edges[:-1],
            right=edges[1:],
            height=[np.zeros(_BINS), count],
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
        x=Axis(label, low, high),
        y=Axis("repetitions", 0, top),
    )
    n_repetitions = max(len(values) for values in estimates.values())
    return Scene(
        [panel],
        states=["Before", f"{n_repetitions:,} times"],
        captions=["The truth.", caption],
        description=f"Histogram of {label} in {n_repetitions:,} repetitions, with the truth.",
    )
