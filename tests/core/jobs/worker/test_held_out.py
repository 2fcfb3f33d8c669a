"""The sample of held-out cells that a training leaves."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.imputers import PMAEImputer, PMAENetworkImputer
from pmae_core.jobs.worker import held_out
from pmae_core.jobs.worker.held_out import read_held_out, write_held_out


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    frame = pd.DataFrame(
        {
            "id": [f"r{i}" for i in range(300)],
            "x": x,
            "count": np.round(10 * x).astype(int),
            "kind": np.where(x > 0, "a", "b"),
            "flag": x > 0.5,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta((30 * x).round(), "D"),
        }
    )
    frame.loc[::4, "x"] = np.nan
    frame.loc[1::5, "kind"] = None
    frame.loc[2::5, "day"] = pd.NaT
    return frame


def trained(table, method=PMAENetworkImputer, **params):
    schema = {"id": "identifier"}
    return method(schema=schema, random_state=0, **params).fit(table)


@pytest.mark.parametrize("method", [PMAENetworkImputer, PMAEImputer])
def test_held_out_cells_and_what_is_predicted(tmp_path, table, method):
    params = {"steps": 60} if method is PMAENetworkImputer else {"preset": "fast", "n_trees": 20}
    write_held_out(trained(table, method, **params), table, 0, tmp_path)

    found = read_held_out(tmp_path)

    assert {name: one["kind"] for name, one in found.items()} == {
        "x": "number", "count": "number", "kind": "label", "flag": "label", "day": "time",
    }  # fmt: skip
    assert {str(cell) for cell in found["x"]["truth"]} <= {
        str(float(f"{cell:.6g}")) for cell in table["x"].dropna()
    }
    truth, predicted = (np.array(found["x"][name]) for name in ("truth", "predicted"))
    assert len(truth) >= 10
    # The others tell x nearly exactly, and it was not copied.
    assert np.corrcoef(truth, predicted)[0, 1] > 0.8
    assert (truth != predicted).any()
    assert set(found["flag"]["predicted"]) <= {"True", "False"}


def test_the_sample_is_small_and_spares_no_column(tmp_path, table, monkeypatch):
    monkeypatch.setattr(held_out, "MOST_CELLS", 20)
    write_held_out(trained(table, steps=5), table, 0, tmp_path)

    found = read_held_out(tmp_path)

    sizes = [len(one["truth"]) for one in found.values()]
    assert sum(sizes) <= 20
    assert len(found) == 5
    assert min(sizes) >= 1
    assert all(one["n_cells"] >= len(one["truth"]) for one in found.values())


def test_a_training_that_holds_nothing_out_leaves_no_sample(tmp_path, table):
    write_held_out(trained(table, steps=5, validation_share=0.0), table, 0, tmp_path)

    assert read_held_out(tmp_path) is None
