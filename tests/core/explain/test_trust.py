"""Notes on columns from a comparison."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.evaluation import compare
from pmae_core.explain import column_notes


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    table = pd.DataFrame(
        {
            "x": x,
            "good": 2 * x + 0.1 * rng.normal(size=300),
            "noise": rng.normal(size=300),
        }
    )
    table.loc[rng.random(300) < 0.2, ["good"]] = np.nan
    table.loc[rng.random(300) < 0.2, ["noise"]] = np.nan
    return table


@pytest.fixture(scope="module")
def comparison(table):
    return compare(table, ["naive", "em"], seeds=[0, 1, 2])


def test_only_columns_with_a_reason_get_a_note(table, comparison):
    notes = column_notes(comparison)

    assert notes["good"] is None
    assert notes["noise"] == "Caution: no method is shown to beat the mean on held-out cells."


def test_little_skill_is_noted(table):
    rng = np.random.default_rng(1)
    weak = pd.DataFrame({"x": rng.normal(size=3000)})
    weak["y"] = 0.28 * weak["x"] + rng.normal(size=3000)
    weak.loc[rng.random(3000) < 0.3, "y"] = np.nan

    note = column_notes(compare(weak, ["em"], seeds=[0, 1, 2]))["y"]

    assert note.startswith("Caution: the best method, em, avoids only ")
    assert note.endswith("% of the mean's error on held-out cells.")


def test_few_held_out_cells_are_noted(table):
    small = table[["x", "good"]].iloc[:40]

    note = column_notes(compare(small, ["em"], seeds=[0]))["good"]

    assert "scored on only" in note


def test_the_table_adds_what_the_comparison_could_not_score(table, comparison):
    more = table.assign(empty=np.nan, rare=[1.0] * 5 + [np.nan] * 295, late=table["noise"], id="a")

    notes = column_notes(comparison, more)

    assert notes["empty"] == "Unreliable: no cell is observed."
    assert notes["rare"] == "Caution: only 5 cells are observed."
    assert notes["late"] == "Caution: no method was scored on this column."
    assert notes["id"] is None
    assert notes["good"] is None
    assert notes["noise"] == "Caution: no method is shown to beat the mean on held-out cells."


def test_without_a_comparison_only_the_table_is_used(table):
    frame = table.assign(nothing=np.nan, few=table["x"].where(table.index < 10))

    assert column_notes(None, frame) == {
        "x": None,
        "good": None,
        "noise": None,
        "nothing": "Unreliable: no cell is observed.",
        "few": "Caution: only 10 cells are observed.",
    }
