"""What the live figure of the lab gets from Python, and what Python takes from it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from dashboard.masking.lab import (
    PICTURE_ROWS,
    PRESETS,
    UNIFORM_HELP,
    UNIFORM_RATE,
    Masking,
    MaskingTable,
    masking_from,
    notes,
    parameter_values,
    slider_range,
    slider_words,
)
from pmae_core import colors
from pmae_core.masking import MaskingFunction, list_masking_functions
from pmae_core.words import shorten

BATCH_ROWS = 64
_LONGEST_LABEL = 20
_FUNCTION_HELP = (
    "The masking function turns the share of rows in which a column is observed (p_obs) into the "
    "share of its observed cells to mask in training (M_j). Drag the curve or its handles, or use "
    "the sliders."
)
_COLORS = {
    **colors.COLOR_OF,
    "neutral": colors.NEUTRAL,
    "faint": colors.FAINT,
    "good": colors.IMPUTED,
    "warning": colors.MISSING,
}


def lab_data(columns: MaskingTable, settings: Mapping[str, Any], *, key: str) -> dict[str, Any]:
    """Return all that the live figure shows, as JSON can carry it.

    Parameters
    ----------
    columns
        The table.
    settings
        What the workspace remembers of the lab; whatever does not fit is left out.
    key
        Names the table and its missing values: while it is the same, so is the table.
    """
    masking = masking_from(settings)
    return {
        "table": _table_data(columns, key),
        "functions": [_function_data(function) for function in list_masking_functions()],
        "presets": [
            {"title": preset.title, "why": preset.why, "settings": preset.masking.to_dict()}
            for preset in PRESETS
        ],
        "uniform": {"rate": UNIFORM_RATE, "help": UNIFORM_HELP},
        "help": _FUNCTION_HELP,
        "colors": _COLORS,
        "batchRows": BATCH_ROWS,
        "settings": {
            "function": masking.function,
            "values": parameter_values(settings),
            "focus": chosen_column(settings, columns),
        },
        "notes": [asdict(note) for note in notes(columns, masking)],
    }


def released_settings(released: Mapping[str, Any], columns: MaskingTable) -> dict[str, Any]:
    """Return what to remember of the settings that a browser sends."""
    masking: Masking = masking_from(released)
    focus = chosen_column(released, columns)
    return masking.to_dict() | ({} if focus is None else {"focus": focus})


def chosen_column(settings: Mapping[str, Any], columns: MaskingTable) -> str | None:
    """Return the column that was chosen to be highlighted, if the table has it."""
    focus = settings.get("focus")
    return focus if isinstance(focus, str) and focus in columns.names else None


def _table_data(columns: MaskingTable, key: str) -> dict[str, Any]:
    """Return the table: states of sampled rows as bits, random numbers of the rows shown."""
    shown = columns.random_numbers[:PICTURE_ROWS]
    return {
        "key": key,
        "names": columns.names,
        "labels": [shorten(name, _LONGEST_LABEL) for name in columns.names],
        "pObs": columns.p_obs.tolist(),
        "nRows": columns.n_rows,
        "nSampled": len(columns.observed),
        "nShown": len(shown),
        "observed": _base64(np.packbits(columns.observed)),
        "numbers": _base64(shown.astype("<f4")),
    }


def _function_data(function: MaskingFunction) -> dict[str, Any]:
    parameters = []
    for name, default in function.parameters.items():
        low, high, step = slider_range(name, default)
        label, help = slider_words(name)
        parameters.append(
            {"name": name, "label": label, "help": help, "low": low, "high": high, "step": step}
        )
    return {"name": function.name, "title": function.title, "parameters": parameters}


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")
