import numpy as np
import pandas as pd
import pytest

from pmae_core.jobs import JobStore, engines
from pmae_core.table import write_table
from tests.support.inline_engine import InlineEngine


@pytest.fixture
def store(tmp_path, monkeypatch) -> JobStore:
    """A store of its own, whose jobs run in this process."""
    monkeypatch.setenv("PMAE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(engines, "make_engine", lambda store, name=None: InlineEngine(store))
    return JobStore()


@pytest.fixture
def survey(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=80).round(3)
    frame = pd.DataFrame({"x": x, "y": (2 * x).round(3), "kind": np.where(x > 0, "a", "b")})
    frame.loc[::4, "y"] = np.nan
    frame.loc[1::5, "x"] = np.nan
    write_table(frame, path := tmp_path / "survey.csv")
    return path
