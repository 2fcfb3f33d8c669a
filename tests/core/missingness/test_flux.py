import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pmae_core.missingness import measure_flux


def by_the_book(missing):
    """Influx and outflux as sums over pairs of columns and over rows (van Buuren, 4.1.3)."""
    observed = ~missing
    n_rows, d = missing.shape
    influx, outflux = np.zeros(d), np.zeros(d)
    for j in range(d):
        for k in range(d):
            influx[j] += sum(missing[i, j] and observed[i, k] for i in range(n_rows))
            outflux[j] += sum(observed[i, j] and missing[i, k] for i in range(n_rows))
    return influx / observed.sum(), outflux / missing.sum()


@given(cells=arrays(bool, st.tuples(st.integers(1, 8), st.integers(2, 5))))
def test_flux_is_that_of_the_book(cells):
    cells[0, :2] = [True, False]  # something is missing and something is observed
    flux = measure_flux(pd.DataFrame(np.where(cells, np.nan, 1.0)))
    influx, outflux = by_the_book(cells)
    np.testing.assert_allclose(flux["influx"], influx)
    np.testing.assert_allclose(flux["outflux"], outflux)


def test_complete_and_empty_columns():
    df = pd.DataFrame({"full": [1, 2, 3], "half": [1, None, None], "empty": [None] * 3})
    flux = measure_flux(df)
    assert flux.loc["full"].tolist() == [1, 0, 1]
    assert flux.loc["empty", ["p_obs", "outflux"]].tolist() == [0, 0]
    # Five cells are missing; "half" is observed in the first row, beside one of them.
    assert flux.loc["half", "outflux"] == pytest.approx(1 / 5)
    assert flux.loc["half", "influx"] == pytest.approx(2 / 4)


def test_nothing_missing_and_nothing_observed_leave_one_side_undefined():
    assert measure_flux(pd.DataFrame({"a": [1], "b": [2]}))["outflux"].isna().all()
    assert measure_flux(pd.DataFrame({"a": [None], "b": [None]}))["influx"].isna().all()
