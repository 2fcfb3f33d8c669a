import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks.accuracy import blend, ceiling
from benchmarks.recording import RESULTS

RECORDED = json.loads((RESULTS / "ceiling.json").read_text())


@pytest.fixture
def tiny(monkeypatch):
    """A table whose columns tell each other's values, in place of those that are kept aside."""
    rng = np.random.default_rng(0)
    cause = rng.normal(size=240)
    frame = pd.DataFrame(
        {
            "x": cause + 0.1 * rng.normal(size=240),
            "y": cause + 0.1 * rng.normal(size=240),
            "z": rng.normal(size=240),
            "kind": pd.Categorical(np.where(cause > 0, "high", "low")),
        }
    )
    table = SimpleNamespace(frame=frame, schema=None)
    monkeypatch.setattr(blend, "load_table", lambda name, max_rows: table)
    monkeypatch.setattr(
        ceiling,
        "_models",
        lambda is_number, seed, models=ceiling._models: [
            model.set_params(n_estimators=20) if hasattr(model, "n_estimators") else model
            for model in models(is_number, seed)
        ],
    )


def test_models_that_know_the_other_rows_find_what_is_related(tiny):
    # x, y and kind follow from each other, z from nothing.
    reached = ceiling.ceiling("tiny", "general", 0, 240)
    assert 40 < reached < 90
    assert reached == ceiling.ceiling("tiny", "general", 0, 240)


def test_shares_by_the_truth_are_those_of_the_better_estimate():
    truth = np.arange(10.0)
    estimates = np.stack([truth, np.ones(10)])[:, :, None]
    assert np.allclose(ceiling._mixed(estimates, truth, None), truth)


def test_shares_by_the_truth_choose_categories():
    truth, classes = np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0])
    right = (truth[:, None] == classes).astype(float)
    assert (ceiling._mixed(np.stack([right, 1 - right]), truth, classes) == truth).all()


def test_rows_that_have_a_column_are_masked_like_rows_without():
    observed = np.array([[True, True, True], [False, False, True], [True, True, True]])
    kept = ceiling._masked_alike(observed, 0, np.random.default_rng(0))
    assert (kept == [[False, False, True]] * 3).all()


def test_recorded_cases_are_all_those_of_the_tables_kept_aside():
    done = [(run["dataset"], run["pattern"], run["seed"]) for run in RECORDED["runs"]]
    assert done == list(ceiling.cases())


def test_recorded_summary_follows_from_the_recorded_runs():
    found = ceiling.summary(RECORDED["runs"], pd.DataFrame(blend.recorded()))
    assert found == RECORDED["summary"]
