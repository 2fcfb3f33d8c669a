"""Runs with several imputations, as far as the modules of the page look into them."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from pmae_core.imputers import make_imputer
from pmae_core.table import Schema


@pytest.fixture
def wages() -> pd.DataFrame:
    """Give a table in which pay rises with school and is missing for many."""
    rng = np.random.default_rng(0)
    n_rows = 300
    school = rng.integers(8, 18, n_rows).astype(float)
    sex = rng.choice(["Female", "Male"], n_rows)
    pay = np.exp(1 + 0.08 * school + 0.2 * (sex == "Male") + 0.3 * rng.normal(size=n_rows))
    frame = pd.DataFrame({"pay": pay, "school": school, "sex": sex})
    frame["town"] = rng.choice(["Lima", "Oslo", "Rome"], n_rows)
    frame["noise"] = rng.normal(size=n_rows)
    frame["rich"] = (frame["pay"] > frame["pay"].median()).astype(int)
    frame.loc[rng.random(n_rows) < 0.3, "pay"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "town"] = None
    return frame


@pytest.fixture
def make_completed(wages) -> Callable[..., Any]:
    """Return a function that imputes the table."""
    st.cache_resource.clear()

    def make(n_imputations: int = 5, method: str = "em", roles: Any = None) -> Any:
        schema = Schema.infer(wages, roles)
        imputer = make_imputer("em", random_state=0, schema=schema).fit(wages)
        imputed_frame = imputer.transform(wages)
        several = imputer.sample(wages, n_imputations, random_state=0) if n_imputations else []
        was_imputed = wages.isna() & imputed_frame.notna()
        return SimpleNamespace(
            key=("run", n_imputations, method),
            record=SimpleNamespace(spec=SimpleNamespace(params={"method": method}), result={}),
            frame=wages,
            schema=schema,
            imputed_frame=imputed_frame,
            was_imputed=was_imputed,
            n_imputed=was_imputed.sum(),
            n_imputations=n_imputations,
            imputations=lambda columns: [one[list(columns)] for one in several],
        )

    return make


@pytest.fixture
def completed(make_completed) -> Any:
    """Give a run with five imputations."""
    return make_completed()
