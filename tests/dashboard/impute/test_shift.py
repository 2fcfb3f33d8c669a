"""What if missing values differ from the imputed ones."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dashboard.impute import shift
from pmae_core.inference import tipping_point


def completed(n_imputations, n_rows=100):
    frame = pd.DataFrame({"x": np.append(np.arange(n_rows - 1.0), np.nan)})
    return SimpleNamespace(n_imputations=n_imputations, frame=frame)


@pytest.mark.parametrize(("n_imputations", "pooled"), [(0, 0), (1, 0), (2, 2), (20, 20)])
def test_imputations_are_pooled_where_there_are_several(n_imputations, pooled):
    assert shift.n_pooled_imputations(completed(n_imputations)) == pooled


def test_of_a_large_table_some_imputations_are_pooled_but_two_at_least(monkeypatch):
    monkeypatch.setattr(shift, "MOST_CELLS", 500)
    assert shift.n_pooled_imputations(completed(20)) == 5

    monkeypatch.setattr(shift, "MOST_CELLS", 50)
    assert shift.n_pooled_imputations(completed(20)) == 2


def test_a_mean_is_compared_with_that_of_the_observed_cells():
    assert shift.sensible_null(completed(0), ("mean", "x")) == 49.0
    assert shift.sensible_null(completed(0), ("slope", "x", "y")) == 0.0


def test_every_step_of_the_slider_is_on_the_curve():
    table = completed(0).frame
    curve = tipping_point(table, table.fillna(3.0), "x", ("mean", "x"))

    steps = np.arange(shift.SMALLEST, shift.LARGEST + shift.STEP / 2, shift.STEP)

    assert np.allclose(curve.table["delta"], steps)
    assert shift.at_delta(curve, 0.4)["delta"] == pytest.approx(0.4)
