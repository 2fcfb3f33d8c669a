"""Decimals or thousands: decided by the whole file, or asked."""

import pytest

from pmae_core.errors import TableWarning
from pmae_core.table import read_table, read_table_file, sniff_dialect
from pmae_core.table.io import delimited, sniffing
from pmae_core.table.io.number_marks import marks_of


def content(cells, delimiter=";"):
    lines = [f"price{delimiter}name", *(f"{cell}{delimiter}x" for cell in cells)]
    return ("\n".join(lines) + "\n").encode()


@pytest.mark.parametrize(
    ("delimiter", "cells", "values"),
    [
        (";", ["1,234", "2,345"], (1.234, 1234)),
        ("\t", ["1,234", "2,345"], (1234, 1.234)),
        ("\t", ["1.234", "999"], (1.234, 1234)),
        (";", ["12.500"], (12.5, 12500)),
        (",", ['"1,234"', "5"], (1234, 1.234)),
    ],
)
def test_a_number_that_nothing_decides_is_a_question(delimiter, cells, values):
    opened = read_table_file(content(cells, delimiter))
    assert opened.doubt is not None
    assert opened.doubt.column == "price" and opened.doubt.text == cells[0].strip('"')
    assert tuple(reading.value for reading in opened.doubt.readings) == values
    assert opened.frame["price"].iloc[0] == values[0]
    assert any(remark.code == "number-marks" for remark in opened.remarks)
    # Each reading, told to the reader, gives its value and no question.
    for reading, value in zip(opened.doubt.readings, values, strict=True):
        told = read_table_file(
            content(cells, delimiter), decimal=reading.decimal, thousands=reading.thousands or ""
        )
        assert told.frame["price"].iloc[0] == value
        assert told.doubt is None


@pytest.mark.parametrize("delimiter", [";", "\t"])
@pytest.mark.parametrize(
    ("decisive", "value"),
    [("0,5", 1.234), ("1,5", 1.234), ("12,3456", 1.234), ("1,234,567", 1234), ("1,234.5", 1234)],
)
def test_one_number_far_down_decides(delimiter, decisive, value):
    opened = read_table_file(content([*["1,234"] * 2000, decisive], delimiter))
    assert opened.doubt is None
    assert opened.frame["price"].iloc[0] == value
    assert opened.frame["price"].dtype == float or value == 1234


def test_marks_below_the_sample_are_found():
    opened = read_table_file(content([*["999"] * 2000, "1,234,567"], "\t"))
    assert opened.frame["price"].tolist()[-1] == 1234567
    opened = read_table_file(content([*["999"] * 2000, "1,234"], "\t"))
    assert opened.doubt is not None and opened.frame["price"].tolist()[-1] == 1234


@pytest.mark.parametrize(
    "cells", [["1", "2"], ["0.5", "1.234"], ["x,y", "1,2,3"], ["2024-01-01", "a"], ["", "NA"]]
)
def test_other_files_raise_no_question(cells):
    assert read_table_file(content(cells)).doubt is None


def test_between_commas_a_point_separates_decimals():
    assert read_table_file(content(["1.234", "2.345"], ",")).doubt is None


@pytest.mark.parametrize("mark", [" ", "\u00a0", "\u202f", "\u2009", "'", "’"])
def test_thousands_marks_of_other_countries(mark):
    frame = read_table(content([f"1{mark}234", f"12{mark}345{mark}678", "17"]))
    assert frame["price"].tolist() == [1234, 12345678, 17]


def test_spaces_group_only_where_all_cells_are_numbers_then():
    assert marks_of([["12 345", "x"]], ";").thousands is None


def test_the_library_warns():
    with pytest.warns(TableWarning, match="'1,234' in column 'price' .* could also be 1234"):
        read_table(content(["1,234"]))


@pytest.mark.parametrize(
    ("cells", "is_sure"), [(["0,5"], True), (["1,234"], False), (["7"], False)]
)
def test_sniffing_says_whether_it_is_sure(cells, is_sure):
    assert sniff_dialect(content(cells).decode()).is_sure_of_marks == is_sure


@pytest.mark.parametrize(("cells", "weighed"), [(["0,5"], ["sample"]), (["7"], ["sample", "all"])])
def test_numbers_are_weighed_again_only_without_a_decision(monkeypatch, cells, weighed):
    calls = []
    for module, name, what in (
        (sniffing, "marks_of", "sample"),
        (delimited, "marks_of_table", "all"),
    ):
        weigh = getattr(module, name)
        monkeypatch.setattr(
            module,
            name,
            lambda *a, weigh=weigh, what=what, **k: calls.append(what) or weigh(*a, **k),
        )
    read_table_file(content(cells))
    assert calls == weighed
