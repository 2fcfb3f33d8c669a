from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pmae_core.table import write_table


@pytest.fixture
def complete() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 60)
    return pd.DataFrame(
        {
            "age": age,
            "height": rng.normal(1.7, 0.1, 60).round(2),
            "town": rng.choice(["Ulm", "Bonn"], 60),
            "old": age > 50,
        }
    )


@pytest.fixture
def incomplete(complete) -> pd.DataFrame:
    missing = np.random.default_rng(1).random(complete.shape) < 0.2
    return complete.astype({"age": "Int64", "old": "boolean"}).mask(missing)


@pytest.fixture
def survey_csv(tmp_path, incomplete) -> Path:
    write_table(incomplete, tmp_path / "survey.csv")
    return tmp_path / "survey.csv"


@pytest.fixture
def complete_csv(tmp_path, complete) -> Path:
    write_table(complete, tmp_path / "complete.csv")
    return tmp_path / "complete.csv"
