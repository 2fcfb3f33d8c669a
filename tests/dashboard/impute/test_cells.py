"""The rows of an imputed table, and what is known about one of its cells."""

import numpy as np
import pandas as pd
import pytest

from dashboard.impute import cells
from dashboard.impute.completed_tables import CompletedTable
from pmae_core.table import Schema


class Record:
    """As much of a job as the views ask for."""

    id, finished_at, result = "a job", 1.0, None


def make_completed(frame: pd.DataFrame, value: float = 0.5) -> CompletedTable:
    imputed = frame.fillna(value)
    missing = frame.isna()
    return CompletedTable(Record(), frame, Schema.infer(frame), imputed, missing, missing.sum())


@pytest.fixture
def frame():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(130, 3)), columns=list("abc"))
    frame.loc[3::2, "b"] = np.nan
    frame.loc[7, "c"] = np.nan
    return frame


@pytest.fixture(autouse=True)
def forget():
    cells._imputed_rows.clear()
    cells._neighborhood.clear()


def test_rows_with_imputed_cells_and_all_rows(frame):
    completed = make_completed(frame)

    assert list(cells.rows_to_show(completed, only_imputed=True)) == list(range(3, 130, 2))
    assert list(cells.rows_to_show(completed, only_imputed=False)) == list(range(130))
    assert cells.first_imputed(completed) == (3, "b")


@pytest.mark.parametrize(("n_rows", "pages"), [(0, 1), (1, 1), (50, 1), (51, 2), (130, 3)])
def test_pages(n_rows, pages):
    assert cells.n_pages(np.arange(n_rows)) == pages


def test_imputed_cells_are_green_and_missing_ones_orange(frame):
    completed = make_completed(frame)
    completed.imputed_frame.loc[7, "c"] = np.nan
    completed.was_imputed.loc[7, "c"] = False

    styler = cells.marked(completed, np.array([6, 7]), ["a", "b", "c"])
    styler._compute()

    styles = {place: dict(style) for place, style in styler.ctx.items() if style}
    assert set(styles) == {(1, 1), (1, 2)}
    assert "rgba(0, 158, 115" in styles[1, 1]["background-color"]
    assert styles[1, 1]["font-weight"] == "bold"
    assert "rgba(213, 94, 0" in styles[1, 2]["background-color"]


def test_numbers_are_written_short():
    frame = pd.DataFrame({"x": [0.1 + 0.2, 1234567.0, np.nan], "day": pd.Timestamp("2024-02-29")})
    styler = cells.marked(make_completed(frame), np.arange(2), ["x", "day"])
    styler._translate(False, False)

    shown = [[styler._display_funcs[i, j](frame.iloc[i, j]) for j in (0, 1)] for i in (0, 1)]
    assert shown == [["0.3", "2024-02-29"], ["1234567", "2024-02-29"]]


def test_of_many_columns_those_with_most_imputed_cells_are_shown():
    frame = pd.DataFrame(0.0, index=range(20), columns=[f"c{j}" for j in range(160)])
    frame.iloc[:9, 70:80] = np.nan
    frame.iloc[:3, 5] = np.nan
    completed = make_completed(frame)

    shown = cells.columns_to_show(completed, "c150")

    assert len(shown) == cells.MOST_COLUMNS
    assert {"c5", "c150", *(f"c{j}" for j in range(70, 80))} <= set(shown)
    assert shown[:11] == [*(f"c{j}" for j in range(70, 80)), "c5"]
    assert shown[-1] == "c150"


def test_columns_with_imputed_cells_come_first(frame):
    assert cells.columns_to_show(make_completed(frame), "a") == ["b", "c", "a"]


def test_donors_of_a_large_table_are_looked_for_among_some(frame, monkeypatch):
    monkeypatch.setattr(cells, "DONOR_ROWS", 40)
    completed = make_completed(frame)

    hood = cells._neighborhood_of(completed, 3, "b")

    assert len(hood.frame) == 41
    donors = hood.donors(3, "b")["row"]
    assert len(donors) == 5
    assert frame["b"].iloc[donors].notna().all()


def test_observed_and_imputed_values_are_counted_apart(frame):
    cells._distribution.clear()
    frame["town"] = ["Ulm", "Bonn"] * 65
    frame.loc[3::2, "town"] = None
    imputed = frame.fillna({"town": "Ulm", "b": 0.0, "c": 0.0})
    missing = frame.isna()
    completed = CompletedTable(
        Record(), frame, Schema.infer(frame), imputed, missing, missing.sum()
    )

    compared = cells.observed_and_imputed(completed, "town")

    assert (compared.n_observed, compared.n_missing) == (66, 64)
    assert dict(zip(compared.labels, compared.share_missing, strict=True)) == {"Ulm": 1, "Bonn": 0}
