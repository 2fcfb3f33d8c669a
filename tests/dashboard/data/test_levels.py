"""Levels in order, as text."""

import pandas as pd
import pytest

from dashboard.data import levels
from dashboard.state.workspace import Workspace
from pmae_core.errors import SchemaError


@pytest.fixture
def own(tmp_path):
    workspace = Workspace.create(tmp_path)
    frame = pd.DataFrame(
        {
            "size": ["S", "M", "L", None] * 10,
            "pain": ["mild", "none", "severe", "moderate"] * 10,
            "town": [f"town {n}" for n in range(40)],
            "x": [n / 7 for n in range(40)],
        }
    )
    workspace.save_table(frame, name="t", source="a test", roles={"town": "categorical"})
    return workspace


def test_columns_with_some_labels_may_have_levels(own):
    assert levels.columns_with_levels(own.table()) == ["size", "pain"]


def test_a_known_scale_is_in_its_order_and_others_are_in_that_of_the_alphabet(own):
    assert levels.order_of(own.table(), "pain") == ("none < mild < moderate < severe", True)
    assert levels.order_of(own.table(), "size") == ("L < M < S", False)


def test_a_declared_order_makes_the_column_ordinal_in_one_step(own):
    own.set_levels("size", levels.read_order("S < M < L"))

    table = own.table()
    assert table.schema.role("size") == "ordinal"
    assert levels.order_of(table, "size") == ("S < M < L", True)
    assert levels.columns_with_levels(table)[0] == "size"
    assert own.undo() == "size → ordinal"
    assert own.table().schema.role("size") == "categorical"


def test_a_level_that_is_lacking_is_refused(own):
    with pytest.raises(SchemaError, match="M"):
        own.set_levels("size", ["S", "L"])
    assert own.table().schema.role("size") == "categorical"


@pytest.mark.parametrize("text", ["", "low", "low < < high", "<"])
def test_what_is_no_order_is_refused(text):
    with pytest.raises(SchemaError, match="from the lowest to the highest"):
        levels.read_order(text)
