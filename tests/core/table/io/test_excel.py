"""Excel workbooks whose cells lie far apart, are merged, or show what is no value."""

import io
import time

import openpyxl
import pytest

from pmae_core.errors import TableTooLargeError, UnreadableFileError
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.reading import read_table_file
from tests.core.table.io.test_hostile import changed

SHEET = "xl/worksheets/sheet1.xml"


def workbook(rows, *merged):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for cells in merged:
        book.active.merge_cells(cells)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def sheet_of(*rows, more=""):
    """Return a workbook with these rows, each a number and the XML of its cells."""
    data = "".join(f'<row r="{number}">{cells}</row>' for number, cells in rows)

    def replace(sheet):
        head, rest = sheet.split(b"<sheetData>")
        return (
            head + f"<sheetData>{data}</sheetData>{more}".encode() + rest.split(b"</sheetData>")[1]
        )

    return changed(workbook([["a"]]), SHEET, replace)


def cell(place, value):
    return f'<c r="{place}"><v>{value}</v></c>'


def problems(found):
    return [remark.problem for remark in found.remarks]


# Cells that lie far apart


def seconds_to_read(column):
    """Return how long a sheet takes that has a formatted cell in a column of each row."""
    rows = [(n, cell(f"A{n}", n) + f'<c r="{column}{n}" s="0"/>') for n in range(1, 301)]
    content = sheet_of(*rows)
    started = time.perf_counter()
    assert read_table_file(content).frame.shape == (299, 1)
    return time.perf_counter() - started


def test_a_formatted_cell_far_to_the_right_costs_no_more_than_one_nearby():
    assert min(seconds_to_read("ZZZ") for _ in range(2)) < 10 * seconds_to_read("B")


def test_a_value_beyond_the_limit_of_columns_is_named():
    with pytest.raises(
        TableTooLargeError, match=r"18,278 columns \(cell ZZZ2 has a value\)"
    ) as found:
        read_table_file(sheet_of((1, cell("A1", 1)), (2, cell("ZZZ2", 1))))
    assert found.value.code == "max_columns"


def test_empty_columns_between_do_not_count_as_cells():
    content = sheet_of((1, cell("A1", 1) + cell("CV1", 2)), (2, cell("A2", 3) + cell("CV2", 4)))
    found = read_table_file(content, limits=ReadingLimits(max_cells=4, max_columns=100))
    assert found.frame.to_numpy().tolist() == [[3, 4]]
    with pytest.raises(TableTooLargeError, match="100 columns"):
        read_table_file(content, limits=ReadingLimits(max_columns=99))


def test_few_cells_far_below_are_refused_before_the_rows_between_are_made():
    far_below = "".join(cell(f"{letter}1000000", 1) for letter in "ABCDEFGHIJ")
    with pytest.raises(TableTooLargeError, match="cells"):
        read_table_file(
            sheet_of((1, cell("A1", 1)), (1_000_000, far_below)),
            limits=ReadingLimits(max_cells=1_000_000),
        )


def test_rows_in_any_order_are_read():
    found = read_table_file(sheet_of((3, cell("A3", 30)), (1, cell("A1", 1)), (2, cell("A2", 20))))
    assert found.frame.to_numpy().tolist() == [[20], [30]]


def test_a_row_without_a_place_on_the_sheet_is_damage():
    with pytest.raises(UnreadableFileError, match="damaged"):
        read_table_file(sheet_of((0, cell("A1", 1)), (1, cell("A1", 1))))


# Cells that show something in Excel, but have no value


def test_errors_and_formulas_without_a_result_are_told_apart():
    found = read_table_file(
        sheet_of(
            (1, cell("A1", 1) + cell("B1", 2)),
            (2, '<c r="A2" t="e"><f>1/0</f><v>#DIV/0!</v></c>' + cell("B2", 3)),
            (3, '<c r="A3"><f>B2+1</f></c>' + cell("B3", 4)),
            (4, '<c r="A4"><f>B2+1</f><v>4</v></c>' + cell("B4", 5)),
        )
    )
    assert found.frame.iloc[:, 0].isna().tolist() == [True, True, False]
    assert problems(found) == [
        "1 formula in 'unnamed table' without a stored result counts as missing.",
        "1 cell of 'unnamed table' with an error such as #DIV/0! counts as missing.",
    ]


# Merged cells


def test_a_value_merged_over_rows_is_repeated_and_that_is_said():
    rows = [["group", "n"], ["x", 1], [None, 2], [None, 3], ["y", 4], [None, 5]]
    found = read_table_file(workbook(rows, "A2:A4", "A5:A6"))
    assert found.frame["group"].tolist() == ["x", "x", "x", "y", "y"]
    assert problems(found) == [
        "The value of cells merged over several rows is repeated in each row: A2:A4 and A5:A6."
    ]


def test_a_value_merged_over_columns_stays_in_the_first_and_that_is_said():
    rows = [["a", "b", "c"], [1, 2, 3], [4, None, None], [5, 6, 7]]
    found = read_table_file(workbook(rows, "A3:C3"))
    assert found.frame.isna().to_numpy().sum() == 2
    (problem,) = problems(found)
    assert problem.endswith("the other cells count as missing: A3:C3.")


def test_a_block_is_repeated_down_its_first_column_only():
    rows = [["a", "b"], [1, None], [None, None], [5, 6]]
    found = read_table_file(workbook(rows, "A2:B3"))
    assert found.frame["a"].tolist() == [1, 1, 5]
    assert found.frame["b"].isna().tolist() == [True, True, False]
    assert [problem.split(": ")[1] for problem in problems(found)] == ["A2:B3.", "A2:B3."]


def test_a_name_is_not_repeated_in_the_data_below_it():
    rows = [["a", "b"], [None, 1], [2, 3]]
    found = read_table_file(workbook(rows, "A1:A2"))
    assert found.frame["a"].isna().tolist() == [True, False]
    assert problems(found) == [
        "Cells merged with a column name above them count as missing: A1:A2."
    ]


def test_merged_cells_outside_the_data_need_no_remark():
    rows = [["a", "b"], [1, 2], [3, 4]]
    found = read_table_file(workbook(rows, "D1:F1", "A3:A9", "E2:E3", "C2:D2"))
    assert found.frame.to_numpy().tolist() == [[1, 2], [3, 4]]
    assert found.remarks == ()


def test_overlapping_ranges_are_damage():
    ranges = (
        '<mergeCells><mergeCell ref="A1:B3"/>' + '<mergeCell ref="A2:B3"/>' * 3 + "</mergeCells>"
    )
    rows = [(n, cell(f"A{n}", n) + cell(f"B{n}", n)) for n in (1, 2, 3)]
    with pytest.raises(UnreadableFileError, match="overlap"):
        read_table_file(sheet_of(*rows, more=ranges))
