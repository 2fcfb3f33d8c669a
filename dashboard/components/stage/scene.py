"""What a stage shows: a picture in several states, between which the browser animates.

A scene is computed in Python, once. Its numbers are the truth; the browser only moves them. It
knows nothing of Streamlit.

Every attribute that may change has one entry per state, or a single one that holds for all:
``opacity=0.6`` or ``opacity=[1, 0]`` of a layer, ``x`` of shape ``(points,)`` or
``(states, points)``. Text is plain, never Markdown.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

Color = Literal["observed", "missing", "imputed", "masked", "neutral", "accent", "text"]
"""Meanings, which the style turns into colors of both themes."""

Number = float | Sequence[float]
"""One for all states, or one per state."""


@dataclass(frozen=True)
class Axis:
    """One side of a panel.

    Attributes
    ----------
    label
        What it measures, with its unit.
    low, high
        Its ends, the same in all states.
    ticks
        Where to write values; chosen by the browser if there are none.
    tick_words
        What to write there instead of the values.
    percent
        Whether 0.5 is written as 50%.
    """

    label: str
    low: float
    high: float
    ticks: Sequence[float] | None = None
    tick_words: Sequence[str] | None = None
    percent: bool = False


@dataclass(frozen=True, eq=False)
class Points:
    """Dots that move, change color and fade, one by one.

    Attributes
    ----------
    x, y
        Their places: one row per state, or one for all states.
    color
        Of all, or one per dot.
    color_after
        The colors in all states but the first; those of the first if there are none.
    opacity
        0 to 1: of all, by state, or one row of dots per state.
    radius
        In pixels.
    label
        In the legend; none without it.
    """

    x: npt.ArrayLike
    y: npt.ArrayLike
    color: Color | Sequence[Color] = "observed"
    color_after: Color | Sequence[Color] | None = None
    opacity: npt.ArrayLike = 0.7
    radius: float = 3.5
    label: str = ""
    kind: Literal["points"] = field(default="points", init=False)


@dataclass(frozen=True, eq=False)
class Bars:
    """A histogram, or bars beside each other, whose heights change.

    Attributes
    ----------
    left, right
        Where each bar begins and ends on the horizontal axis.
    height
        One row per state, or one for all states.
    color, opacity, label
        As for dots; the opacity of all, or by state.
    """

    left: npt.ArrayLike
    right: npt.ArrayLike
    height: npt.ArrayLike
    color: Color | Sequence[Color] = "observed"
    opacity: Number = 0.6
    label: str = ""
    kind: Literal["bars"] = field(default="bars", init=False)


@dataclass(frozen=True, eq=False)
class Line:
    """A line through places that move, such as a regression line or a curve."""

    x: npt.ArrayLike
    y: npt.ArrayLike
    color: Color = "observed"
    opacity: Number = 1.0
    width: float = 3.0
    dashed: bool = False
    label: str = ""
    kind: Literal["line"] = field(default="line", init=False)


@dataclass(frozen=True, eq=False)
class Mark:
    """A straight line across the panel at one value, with its words beside it.

    Attributes
    ----------
    value
        Where it is, by state.
    axis
        The axis that the value is on: "x" draws a vertical line.
    words
        Written beside it; one per state, or one for all.
    """

    value: Number
    axis: Literal["x", "y"] = "x"
    words: str | Sequence[str] = ""
    color: Color = "neutral"
    opacity: Number = 1.0
    dashed: bool = False
    kind: Literal["mark"] = field(default="mark", init=False)


@dataclass(frozen=True, eq=False)
class Intervals:
    """Horizontal intervals stacked above each other, each with its estimate.

    Attributes
    ----------
    low, center, high
        One row per state, or one for all states.
    place
        Of each on the vertical axis.
    color, color_after, opacity, label
        As for dots: intervals that miss the truth can take another color.
    """

    low: npt.ArrayLike
    center: npt.ArrayLike
    high: npt.ArrayLike
    place: npt.ArrayLike
    color: Color | Sequence[Color] = "observed"
    color_after: Color | Sequence[Color] | None = None
    opacity: npt.ArrayLike = 1.0
    label: str = ""
    kind: Literal["intervals"] = field(default="intervals", init=False)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a table, whose rows move to other places and whose cells change color.

    The panel needs no axes.

    Attributes
    ----------
    columns
        Their names.
    color
        Of shape (rows, columns), or (states, rows, columns): colors by their meaning.
    place
        The place of each row from the top, by state or for all; the row's number if not given.
    column_place
        The same for columns.
    words
        What is written into each cell, of shape (rows, columns); nothing if not given.
    row_words
        What is written before each row.
    """

    columns: Sequence[str]
    color: npt.ArrayLike
    place: npt.ArrayLike | None = None
    column_place: npt.ArrayLike | None = None
    words: Sequence[Sequence[str]] | None = None
    row_words: Sequence[str] | None = None
    kind: Literal["cells"] = field(default="cells", init=False)


Layer = Points | Bars | Line | Mark | Intervals | Cells


@dataclass(frozen=True, eq=False)
class Panel:
    """One picture with its axes; later layers lie above earlier ones."""

    layers: Sequence[Layer]
    x: Axis | None = None
    y: Axis | None = None
    title: str = ""


@dataclass(frozen=True)
class Slider:
    """A slider whose positions are the states of the scene, with everything between them.

    Attributes
    ----------
    label
        What it changes, with its unit.
    values
        The value of each state, rising.
    start
        The value at first.
    decimals
        Of the value that is written beside it.
    """

    label: str
    values: Sequence[float]
    start: float
    decimals: int = 1


@dataclass(frozen=True, eq=False)
class Scene:
    """A picture in several states.

    Attributes
    ----------
    panels
        Beside each other; below each other on a telephone.
    states
        What each state is called, in two or three words; they become the steps of the stage.
    captions
        One sentence per state, read out to those who do not see the picture.
    description
        What the picture shows, for those who do not see it.
    slider
        Moves through the states instead of the steps.
    height
        In pixels.
    """

    panels: Sequence[Panel]
    states: Sequence[str]
    captions: Sequence[str]
    description: str
    slider: Slider | None = None
    height: int = 340

    def __post_init__(self) -> None:
        """Refuse a scene that the browser could not draw."""
        if len(self.captions) != len(self.states):
            raise ValueError(f"{len(self.states)} states need as many captions.")
        if self.slider is not None:
            _check_slider(self.slider, len(self.states))
        for panel in self.panels:
            _check_axes(panel)
            for layer in panel.layers:
                _check(layer, len(self.states))

    def first(self) -> Scene:
        """Return the first state alone: the picture of a question, without its solution."""
        return self._alone(0)

    def revealed(self) -> Scene:
        """Return the state in which a reveal ends alone: the picture of a solution on paper."""
        if self.slider is None:
            return self._alone(len(self.states) - 1)
        from_start = np.abs(np.asarray(self.slider.values) - self.slider.start)
        return self._alone(int(from_start.argmin()))

    def _alone(self, state: int) -> Scene:
        panels = [
            dataclasses.replace(panel, layers=[_alone(layer, state) for layer in panel.layers])
            for panel in self.panels
        ]
        return dataclasses.replace(
            self,
            panels=panels,
            states=[self.states[state]],
            captions=[self.captions[state]],
            slider=None,
        )

    def data(self) -> dict[str, Any]:
        """Return the scene for the browser: plain lists, one entry per state throughout."""
        return {
            "states": list(self.states),
            "captions": list(self.captions),
            "description": self.description,
            "height": self.height,
            "slider": _plain_fields(self.slider),
            "panels": [
                {
                    "title": panel.title,
                    "x": _plain_fields(panel.x),
                    "y": _plain_fields(panel.y),
                    "layers": [_layer_data(layer, len(self.states)) for layer in panel.layers],
                }
                for panel in self.panels
            ],
        }


def digest_of(data: dict[str, Any]) -> str:
    """Return what tells the data of one scene from that of another."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


# How many dimensions an attribute has within one state: a number, one per element, a table.
_DIMENSIONS: dict[str, dict[str, int]] = {
    "points": {"x": 1, "y": 1, "opacity": 1},
    "bars": {"height": 1, "opacity": 0},
    "line": {"x": 1, "y": 1, "opacity": 0},
    "mark": {"value": 0, "words": 0, "opacity": 0},
    "intervals": {"low": 1, "center": 1, "high": 1, "opacity": 1},
    "cells": {"color": 2, "place": 1, "column_place": 1},
}


def _by_state(layer: Layer, name: str, n_states: int) -> np.ndarray:
    """Return an attribute with one entry per state."""
    values = np.asarray(getattr(layer, name))
    if name == "opacity" and values.ndim < 2 and _DIMENSIONS[layer.kind][name] == 1:
        # One number holds for all elements; one per state holds for the elements of that state.
        n_elements = _n_elements(layer)
        values = np.broadcast_to(values.reshape(-1, 1), (values.size, n_elements))
        values = values[0] if len(values) == 1 else values
    if values.ndim == _DIMENSIONS[layer.kind][name]:
        values = np.broadcast_to(values, (n_states, *values.shape))
    if values.ndim != _DIMENSIONS[layer.kind][name] + 1 or len(values) != n_states:
        raise ValueError(
            f"{name} of {layer.kind} has the shape {values.shape}, which does not fit "
            f"{n_states} states."
        )
    return values


def _n_elements(layer: Layer) -> int:
    return int(np.asarray(layer.x if isinstance(layer, Points) else layer.place).shape[-1])  # type: ignore[union-attr]


def _check_axes(panel: Panel) -> None:
    cells = [layer for layer in panel.layers if isinstance(layer, Cells)]
    if cells and len(panel.layers) > 1:
        raise ValueError("Cells need a panel of their own.")
    if not cells and (panel.x is None or panel.y is None):
        raise ValueError("A panel needs both axes, unless it shows cells.")
    for axis in (panel.x, panel.y):
        if axis is not None:
            _check_axis(axis)


def _check_axis(axis: Axis) -> None:
    if not axis.low < axis.high:
        raise ValueError(f"The axis {axis.label!r} needs a low end below its high end.")
    n_ticks = 0 if axis.ticks is None else len(axis.ticks)
    if axis.tick_words is not None and len(axis.tick_words) != n_ticks:
        raise ValueError(f"The axis {axis.label!r} needs words for {n_ticks} ticks.")


def _check_slider(slider: Slider, n_states: int) -> None:
    if len(slider.values) != n_states:
        raise ValueError(f"{n_states} states need as many values of the slider.")
    if n_states < 2:
        raise ValueError("A slider needs at least two states.")
    if not (np.diff(slider.values) > 0).all():
        raise ValueError("The values of the slider must rise.")
    if not slider.values[0] <= slider.start <= slider.values[-1]:
        raise ValueError("The start of the slider must lie between its values.")


def _check(layer: Layer, n_states: int) -> None:
    for name in _DIMENSIONS[layer.kind]:
        if getattr(layer, name) is not None:
            _by_state(layer, name, n_states)
    _check_finite(layer)
    _check_colors(layer)
    if isinstance(layer, Cells):
        _check_cells(layer)
    else:
        _check_lengths(layer)


def _check_finite(layer: Layer) -> None:
    for attribute in dataclasses.fields(layer):
        values = np.asarray(getattr(layer, attribute.name))
        if values.dtype.kind in "fiu" and not np.isfinite(values).all():
            raise ValueError(f"{attribute.name} of {layer.kind} has values that are not finite.")


def _check_colors(layer: Layer) -> None:
    for name in ("color", "color_after"):
        colors = getattr(layer, name, None)
        unknown = set() if colors is None else set(np.ravel(colors)) - set(get_args(Color))
        if unknown:
            names = ", ".join(sorted(map(str, unknown)))
            raise ValueError(f"{name} of {layer.kind} has unknown colors: {names}.")


# What has one entry per element, the first of them deciding how many there are.
_PER_ELEMENT = {
    "points": ("x", "y", "color", "color_after", "opacity"),
    "bars": ("left", "right", "height", "color"),
    "line": ("x", "y"),
    "mark": (),
    "intervals": ("place", "low", "center", "high", "color", "color_after", "opacity"),
}


def _check_lengths(layer: Layer) -> None:
    lengths = {
        name: np.shape(getattr(layer, name))[-1]
        for name in _PER_ELEMENT[layer.kind]
        # A single color or opacity holds for all elements; opacities in one row hold for states.
        if np.ndim(getattr(layer, name)) > (1 if name == "opacity" else 0)
    }
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"{layer.kind} need as many of each: {counts}.")


def _check_cells(layer: Cells) -> None:
    n_rows, n_columns = np.shape(layer.color)[-2:]
    expected = {
        "columns": (n_columns,),
        "place": (n_rows,),
        "column_place": (n_columns,),
        "words": (n_rows, n_columns),
        "row_words": (n_rows,),
    }
    for name, shape in expected.items():
        values = getattr(layer, name)
        if values is not None and np.shape(values)[-len(shape) :] != shape:
            raise ValueError(
                f"{name} of cells has the shape {np.shape(values)}, which does not fit "
                f"{n_rows} rows and {n_columns} columns."
            )


def _alone(layer: Layer, state: int) -> Layer:
    """Return a layer with one of its states alone."""
    changes: dict[str, Any] = {}
    for name, dimensions in _DIMENSIONS[layer.kind].items():
        values = getattr(layer, name)
        # Opacities in one row are by state, also where each element may have its own.
        by_state = np.ndim(values) > (0 if name == "opacity" else dimensions)
        if values is not None and by_state:
            changes[name] = np.asarray(values)[state : state + 1]
    if getattr(layer, "color_after", None) is not None:
        changes["color_after"] = None
        if state > 0:
            changes["color"] = layer.color_after  # type: ignore[union-attr]
    return dataclasses.replace(layer, **changes) if changes else layer


def _plain_fields(part: Axis | Slider | None) -> dict[str, Any] | None:
    if part is None:
        return None
    return {f.name: _plain(getattr(part, f.name)) for f in dataclasses.fields(part)}


def _layer_data(layer: Layer, n_states: int) -> dict[str, Any]:
    data = {f.name: getattr(layer, f.name) for f in dataclasses.fields(layer)}
    for name in _DIMENSIONS[layer.kind]:
        if data[name] is not None:
            data[name] = _by_state(layer, name, n_states)
    return {name: _plain(value) for name, value in data.items()}


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; numbers with six digits, which no screen can tell apart."""
    if value is None or isinstance(value, str | bool):
        return value
    array = np.asarray(value)
    return (_six_digits(array) if array.dtype.kind in "fiu" else array).tolist()


def _six_digits(array: np.ndarray) -> np.ndarray:
    numbers = array.astype(float)
    size = np.where(numbers == 0, 1.0, np.abs(numbers))
    scale = 10.0 ** (5 - np.floor(np.log10(size)))
    return np.round(numbers * scale) / scale
