"""Sniffing how a text file is written."""

import pytest

from pmae_core.errors import TableWarning
from pmae_core.table.io.reading import read_table
from pmae_core.table.io.sniffing import sniff_dialect


@pytest.mark.parametrize(
    ("sample", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("a\tb\nx, y\tz\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("a^b\n1^2\n", "^"),
        ("a b\n1 2\n3 4\n", " "),
        ("a,b\n", ","),
        ("name\nAnna Maria\nBert\n", ","),
        ('a,b\n"x;y;z",1\n"p;q",2\n', ","),
        ("a;b\n1;2\n3;", ";"),
    ],
)
def test_delimiters(sample, delimiter):
    assert sniff_dialect(sample).delimiter == delimiter


@pytest.mark.parametrize("cells", [["Smith, John", "Doe, Jane"], ["1,5", "2,5"]])
def test_a_comma_in_a_single_column_is_no_delimiter(cells):
    assert sniff_dialect("\n".join(["name", *cells, ""])).delimiter != ","


@pytest.mark.parametrize(
    ("cells", "delimiter", "decimal", "thousands"),
    [
        (["1.234,56", "0,5"], ";", ",", "."),
        (["1,234.56", "0.5"], ";", ".", ","),
        (["1.5", "2.25"], ",", ".", None),
        (["1,5", "2,25"], ";", ",", None),
        (["1,234", "2,345"], ";", ",", None),
        (["1,234", "2,345"], "\t", ".", ","),
        (["1.234", "2.345"], ",", ".", None),
        (["1.234", "0,5"], ";", ",", "."),
        (["1 234,5", "2,5"], ";", ",", " "),
        (["1'234.5", "2.5"], ";", ".", "'"),
        (["12 345", "x"], ";", ".", None),
        (["x", "y"], ",", ".", None),
        (["12,34,567", "5"], "\t", ".", ","),
        (["−1.234,5", "5"], ";", ",", "."),
    ],
)
def test_number_marks(cells, delimiter, decimal, thousands):
    sample = "\n".join([f"a{delimiter}b", *(f"{cell}{delimiter}x" for cell in cells), ""])
    dialect = sniff_dialect(sample)
    assert (dialect.decimal, dialect.thousands) == (decimal, thousands)


def test_what_is_told_is_not_questioned():
    content = b"a;b\n1,234;x\n2,345;y\n"
    with pytest.warns(TableWarning, match="could also be"):
        assert read_table(content)["a"].tolist() == [1.234, 2.345]
    assert read_table(content, thousands=",")["a"].tolist() == [1234, 2345]
    assert read_table(content, decimal=".", thousands="")["a"].tolist() == ["1,234", "2,345"]
    assert list(read_table(content, delimiter="|").columns) == ["a;b"]


def test_lists_of_answers_between_commas_are_no_numbers():
    content = b'id,answers\n1,"1,2"\n2,"1,3"\n3,2\n'
    assert read_table(content)["answers"].tolist() == ["1,2", "1,3", "2"]
    assert read_table(content, decimal=",")["answers"].tolist() == [1.2, 1.3, 2]
    assert read_table(b'a,b\n1,"1.234,5"\n2,"1,3"\n')["b"].tolist() == [1234.5, 1.3]


def test_plain_numbers_are_understood_beside_decimal_commas():
    frame = read_table(b"a;b\n1,5;0.25\n2,5;0.5\n3,5;0.75\n")
    assert frame["a"].tolist() == [1.5, 2.5, 3.5]
    assert frame["b"].tolist() == [0.25, 0.5, 0.75]


def test_a_space_after_each_delimiter_belongs_to_it():
    frame = read_table(b'a, b, c\n1, x, "p, q"\n2, y, r\n')
    assert frame.to_dict("list") == {"a": [1, 2], "b": ["x", "y"], "c": ["p, q", "r"]}
    assert read_table(b"a, b\n1, x\n2,y\n")["b"].tolist() == [" x", "y"]


def test_single_quotes():
    assert read_table(b"a,b\n'x',1\n'y',2\n")["a"].tolist() == ["x", "y"]
    assert read_table(b"a,b\nit's,1\n'y',2\n")["a"].tolist() == ["it's", "'y'"]


def test_the_separator_line_of_excel():
    assert read_table(b"sep=|\na|b\n1|2\n").to_dict("list") == {"a": [1], "b": [2]}


def test_a_long_cell_does_not_hide_the_delimiter():
    assert sniff_dialect(f"a;b\n1;{'x, ' * 70_000}\n2;y\n").delimiter == ";"


def test_a_cell_that_the_sample_cuts_does_not_count():
    assert sniff_dialect('a;b\n1;"x, y\nz, w\n').delimiter == ";"
    assert sniff_dialect('a;b\n1;2\n3;"x, y, \nz').delimiter == ";"


@pytest.mark.parametrize(
    ("sample", "column_starts"),
    [
        ("name   age\nAnna    41\nBert\n", (0, 7)),
        ("a b\n1 2\n", ()),
        ("name\nAnna  Maria\n", ()),
    ],
)
def test_aligned_text(sample, column_starts):
    assert sniff_dialect(sample).column_starts == column_starts
