import pandas as pd

from pmae_core.table.encoded_columns import cells_from_dict
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.time_cells import TimeCells


def test_saved_cells_come_back():
    for cells in (
        NumberCells(True, "decimal", 2),
        TimeCells.fit(pd.Series(pd.date_range("2024", periods=3, tz="Asia/Tokyo"))),
    ):
        assert cells_from_dict(cells.to_dict()) == cells
