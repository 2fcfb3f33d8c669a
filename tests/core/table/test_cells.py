import datetime
from zoneinfo import ZoneInfo

import pandas as pd

from pmae_core.table.cells import cell_kind

BERLIN = ZoneInfo("Europe/Berlin")


def test_several_time_zones_have_no_common_clock():
    values = [
        datetime.datetime(2024, 1, 1, tzinfo=BERLIN),
        datetime.datetime(2024, 1, 1, tzinfo=ZoneInfo("Asia/Tokyo")),
    ]
    assert cell_kind(pd.Series(values, dtype=object)) == "label"
