import json

import numpy as np
import pandas as pd
import pytest

from dashboard.masking.lab import PRESETS, masking_table
from dashboard.masking.live import lab_data, released_settings
from pmae_core.masking import list_masking_functions
from pmae_core.table import Schema


@pytest.fixture(scope="module")
def columns():
    frame = pd.DataFrame({"insulin": np.arange(100) / 7, "age": np.arange(100) / 3})
    frame.loc[26:, "insulin"] = np.nan
    return masking_table(frame, Schema.infer(frame))


def test_the_live_figure_gets_plain_data(columns):
    data = json.loads(json.dumps(lab_data(columns, {}, key="k"), allow_nan=False))

    assert data["table"]["names"] == ["insulin", "age"]
    assert data["table"]["pObs"] == [0.26, 1.0]
    assert [function["name"] for function in data["functions"]] == [
        function.name for function in list_masking_functions()
    ]
    assert data["settings"] == {
        "function": "logit",
        "values": {"a": 0.05, "b": 0.5, "rate": 0.5, "slope": 10.0},
        "focus": None,
    }
    assert [note["level"] for note in data["notes"]] == ["good"]


def test_every_preset_is_within_the_sliders_of_its_function(columns):
    data = lab_data(columns, {}, key="k")
    functions = {function["name"]: function for function in data["functions"]}

    assert len(data["presets"]) == len(PRESETS)
    for preset in data["presets"]:
        parameters = functions[preset["settings"]["function"]]["parameters"]
        for parameter in parameters:
            value = preset["settings"][parameter["name"]]
            assert parameter["low"] <= value <= parameter["high"]


def test_long_names_are_shortened_for_the_figure_alone():
    name = "a_very_long_name_of_a_column_indeed"
    frame = pd.DataFrame({name: np.arange(9) / 7})

    table = lab_data(masking_table(frame, Schema.infer(frame)), {}, key="k")["table"]

    assert table["names"] == (name,)
    assert len(table["labels"][0]) == 20


def test_released_settings_are_kept(columns):
    released = {"function": "sigmoid", "slope": 12.5, "focus": "age"}

    assert released_settings(released, columns) == released


@pytest.mark.parametrize(
    "released",
    [
        {},
        {"function": "magic", "a": "0.3", "focus": 7},
        {"function": {"name": "logit"}, "focus": "no such column"},
        {"a": None, "b": [0.5], "unknown": "x" * 10_000},
    ],
)
def test_what_a_browser_may_send_is_not_believed(columns, released):
    assert released_settings(released, columns) == {"function": "logit", "a": 0.05, "b": 0.5}
