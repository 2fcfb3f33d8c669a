"""A store of its own for each test, and a small table."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.jobs import JobSpec, JobStore


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def store(home):
    store = JobStore(home)
    yield store
    store.close()


@pytest.fixture
def small_table():
    x = np.linspace(0, 1, 40)
    table = pd.DataFrame({"x": x, "y": 2 * x, "z": np.where(x > 0.5, "high", "low")})
    table.loc[::4, "y"] = np.nan
    return table


@pytest.fixture
def spec(store, small_table):
    """A specification whose table the workspace "local" owns."""
    return JobSpec.make("impute", params={"method": "naive"}, table=store.put_table(small_table))
