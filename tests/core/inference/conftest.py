"""A small table with missing values, and the same table imputed."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    table = pd.DataFrame(
        {
            "x": x,
            "y": 1.0 + 0.8 * x + 0.5 * rng.normal(size=120),
            "n": pd.array(rng.integers(0, 9, 120), dtype="Int64"),
            "kind": rng.choice(["a", "b", "c"], 120, p=[0.5, 0.3, 0.2]),
            "smoker": pd.array(rng.random(120) < 0.4, dtype="boolean"),
        }
    )
    table.loc[rng.random(120) < 0.3, ["y", "n", "kind", "smoker"]] = None
    return table


@pytest.fixture
def imputed(frame) -> pd.DataFrame:
    values = {"y": 1.0 + 0.8 * frame["x"], "n": 4, "kind": "a", "smoker": False}
    return frame.fillna(values)
