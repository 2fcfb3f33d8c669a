from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmae_core.table.number_cells import NumberCells


def there_and_back(cells, series):
    return list(cells.write(cells.read(series), series))


@pytest.mark.parametrize(
    ("values", "dtype", "written"),
    [
        ([1, 4], "Int8", 2),
        ([1.0, 4.0], "float64", 2.0),
        ([1.0, 4.5], "float32", np.float32(2.4)),
        ([1, 4], object, 2),
        ([1, 4.5], object, 2.4),
        ([Decimal("1.25"), Decimal("4")], object, Decimal("2.40")),
        ([Decimal("1.25"), Decimal("4")], pd.ArrowDtype(pa.decimal128(9, 2)), Decimal("2.40")),
        (["1", "4"], "str", "2"),
        (["1", "4.5"], "str", "2.4"),
    ],
)
def test_a_number_is_written_as_its_neighbors_are(values, dtype, written):
    series = pd.Series(values, dtype=dtype)
    [cell] = NumberCells.fit(series).write(np.array([2.4]), series)
    assert cell == written
    if series.dtype == "object":
        assert type(cell) is type(written)


def test_infinite_numbers_are_not_usable():
    series = pd.Series([np.inf, 1.0, np.nan, -np.inf])
    np.testing.assert_array_equal(
        NumberCells.fit(series).read(series), [np.nan, 1.0, np.nan, np.nan]
    )


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 2**60 + 1])
def test_huge_integers_stay_in_range_within_the_promised_tolerance(value):
    series = pd.Series([value, None], dtype="Int64")
    [cell, _] = [*there_and_back(NumberCells.fit(series), series.dropna()), None]
    assert abs(int(cell) - value) <= 2e-16 * abs(value)


@pytest.mark.parametrize(
    ("values", "dtype", "decimals"),
    [
        ([22.1, 23.0, -4.5], "float64", 1),
        ([22.1, 23.25], "float64", 2),
        ([0.285, 1.005, 2.675], "float64", 3),
        ([1.0, 2.0], "float64", 0),
        ([1, 2], "Int64", 0),
        ([1e-7, 2e-7], "float64", 7),
        ([22.1, np.inf, np.nan], "float64", 1),
        ([22.1, 23.25], "float32", 2),
        ([22.1, 23.25], "Float32", 2),
        ([22.1, 23.25], pd.ArrowDtype(pa.float32()), 2),
        ([22.1, 23.25], pd.ArrowDtype(pa.float64()), 2),
        (["22.1", "23.25"], "str", 2),
        ([22.1, 23.25], object, 2),
        ([np.pi, 1.5], "float64", None),
        ([np.pi, 1.5], "float32", None),
        ([1 / 3, 1e6], "float64", None),
        ([1e300, 1.5], "float64", None),
        ([np.nan], "float64", None),
    ],
)
def test_decimals_of_observed_cells(values, dtype, decimals):
    assert NumberCells.fit(pd.Series(values, dtype=dtype)).decimals == decimals


@pytest.mark.parametrize("dtype", ["float32", "float64", "Float64", object])
def test_imputed_decimals_have_the_precision_of_the_column(dtype):
    series = pd.Series([22.1, 23.4, None], dtype=dtype)
    written = NumberCells.fit(series).write(np.array([22.86, 23.4, 22.1]), series)
    assert [f"{float(cell):.6g}" for cell in written] == ["22.9", "23.4", "22.1"]
    assert pd.Series(written, dtype=dtype).dtype == series.dtype


def test_a_column_of_full_precision_is_not_rounded():
    values = np.random.default_rng(0).normal(size=2000)
    for dtype in ("float64", "float32"):
        series = pd.Series(values, dtype=dtype)
        written = NumberCells.fit(series).write(values / 3, series)
        np.testing.assert_array_equal(written, (values / 3).astype(dtype))


@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=20, unique=True),
    st.integers(0, 6),
    st.floats(0, 1),
)
def test_rounded_values_stay_within_observed_bounds(steps, decimals, place):
    values = np.array(steps) / 10**decimals
    value = values.min() + place * (values.max() - values.min())
    series = pd.Series(values)
    [written] = NumberCells.fit(series).write(np.array([value]), series)
    assert values.min() <= written <= values.max()
