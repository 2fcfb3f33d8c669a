import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmae_core.errors import SchemaError
from pmae_core.table.time_cells import TimeCells

BERLIN = ZoneInfo("Europe/Berlin")


def there_and_back(cells, series):
    return list(cells.write(cells.read(series), series))


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        (["2024-01-01", "2024-01-03", "2024-03-01"], 86400),
        (["2024-01-01 09:30", "2024-01-03 09:30"], 86400),
        (["2024-01-01 09:30", "2024-01-03 10:30"], 3600),
        (["2024-01-01 09:30", "2024-01-03 10:31"], 60),
        (["2024-01-01 09:30:00", "2024-01-03 10:31:01"], 1),
        (["2024-01-01 09:30:00.000", "2024-01-03 10:31:01.250"], 1e-3),
        (["2024-01-01", "2024-01-03 00:00:00.000001"], 1e-6),
        (["2024-01-01", "2024-01-03 00:00:00.000000001"], 1e-9),
        (["1960-01-01", "2024-01-03 01:00"], 3600),
    ],
)
def test_the_step_is_the_coarsest_unit_between_times(times, seconds):
    series = pd.Series(pd.to_datetime(times, format="ISO8601")).astype("datetime64[ns]")
    cells = TimeCells.fit(series)
    assert cells._step_seconds == seconds
    assert there_and_back(cells, series) == series.tolist()


def test_local_midnights_stay_midnights_when_the_clocks_change():
    series = pd.Series(pd.date_range("2024-03-28", "2024-04-04", tz="Europe/Berlin"))
    cells = TimeCells.fit(series)
    assert cells.wall_clock
    assert there_and_back(cells, series) == series.tolist()
    assert [stamp.hour for stamp in cells.write(np.arange(7.0), series)] == [0] * 7


def test_hours_across_a_change_of_clocks_are_real_time():
    series = pd.Series(pd.date_range("2024-10-26", "2024-10-28", freq="h", tz="Europe/Berlin"))
    cells = TimeCells.fit(series)
    assert not cells.wall_clock
    assert there_and_back(cells, series) == series.tolist()


@pytest.mark.parametrize(
    "values",
    [
        [datetime.date(2024, 1, 1), datetime.date(2024, 2, 1)],
        [datetime.datetime(2024, 1, 1, 8), datetime.datetime(2024, 2, 1)],
        [
            datetime.datetime(2024, 1, 1, 8, tzinfo=BERLIN),
            datetime.datetime(2024, 7, 1, tzinfo=BERLIN),
        ],
        [pd.Timestamp("2024-01-01"), pd.Timestamp("2024-02-01")],
        [datetime.timedelta(hours=1), datetime.timedelta(hours=5)],
    ],
)
def test_object_columns_keep_the_type_of_their_cells_even_when_all_are_missing(values):
    series = pd.Series(values, dtype=object)
    cells = TimeCells.fit(series)
    steps = cells.read(series)
    empty = pd.Series([None, None], dtype=object)
    assert np.isnan(cells.read(empty)).all()
    for like in (series, empty):
        written = list(cells.write(steps, like))
        assert written == values
        assert [type(cell) for cell in written] == [type(value) for value in values]


@given(st.lists(st.datetimes(), min_size=1))
def test_any_python_times_come_back_exactly(values):
    series = pd.Series(values, dtype="datetime64[us]")
    assert there_and_back(TimeCells.fit(series), series) == series.tolist() or _too_wide(series)


def _too_wide(series):
    # float64 counts 2**53 microseconds, 285 years, without rounding.
    cells = TimeCells.fit(series)
    return (cells.last - cells.first) / cells.step > 2**53


def test_the_widest_times_do_not_overflow():
    times = ["1677-09-22 00:00:00.000000001", "2262-04-11"]
    series = pd.Series(pd.to_datetime(times, format="ISO8601"))
    back = there_and_back(TimeCells.fit(series), series)
    assert back[0] == series[0]
    assert abs(back[1] - series[1]) < pd.Timedelta("10us")


@pytest.mark.parametrize(
    "other",
    [
        pd.Series(pd.to_datetime(["2024-01-01"])).dt.tz_localize("UTC"),
        pd.Series(pd.to_timedelta([1], unit="D")),
        pd.Series(["a"]),
    ],
)
def test_another_kind_of_time_is_refused(other):
    cells = TimeCells.fit(pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02"])))
    with pytest.raises(SchemaError):
        cells.read(other)


def test_other_resolutions_and_times_out_of_range_are_read():
    cells = TimeCells.fit(pd.Series(pd.to_datetime(["2024-01-01", "2024-01-11"])))
    late = pd.Series(pd.to_datetime(["2024-01-05", "3024-01-05"])).astype("datetime64[s]")
    assert cells.read(late).tolist() == [4.0, 10.0]
