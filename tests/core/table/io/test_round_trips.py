"""Text that other programs write is read as it is, or with a remark, or refused."""

import csv
import io

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pmae_core.errors import TableError
from pmae_core.table import read_table_file
from pmae_core.table.values import MISSING_WORDS
from tests.support.corpus.files import assert_same_table

NAMES = st.text("abcxyz _é", min_size=1, max_size=8).map(str.strip).filter(bool)
TEXTS = st.text("ab1 ,;\t|.\"'\n\r-=#é", max_size=7)
NUMBERS = st.one_of(
    st.integers(-(10**12), 10**12).map(str),
    st.floats(allow_nan=False, width=32).map(repr),
    st.decimals(-9999, 9999, places=2).map(str),
)
WORDS = st.sampled_from(["Ulm", "Bo", "Anna", "New York", "Jean Luc", "Rio de J", "RX4 Wag"])


@st.composite
def cell_tables(draw, kinds, names=NAMES, most_columns=4):
    """Draw names and rows of texts; each column has cells of one kind, some of them missing."""
    n_rows = draw(st.integers(1, 8))
    columns = {}
    for name in draw(st.lists(names, min_size=1, max_size=most_columns, unique=True)):
        cell = st.one_of(st.just(""), draw(kinds))
        columns[name] = draw(st.lists(cell, min_size=n_rows, max_size=n_rows))
    return columns


def written(columns, delimiter, line_end, quoting, encoding):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode(encoding)


def holds(value, text):
    """Say whether a value that was read is what the file says."""
    if text.strip() in MISSING_WORDS:
        return pd.isna(value)
    if isinstance(value, str):
        return value == text
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower() == text.strip().lower()
    return float(value) == float(text)


def is_silently_different(found, columns):
    if found.remarks or found.doubt:
        return False
    frame = found.frame
    if list(frame.columns) != [name.strip() for name in columns]:
        return True
    cells = zip(frame.items(), columns.values(), strict=True)
    return any(
        len(column) != len(texts) or not all(map(holds, column.tolist(), texts))
        for (_, column), texts in cells
    )


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    columns=cell_tables(st.sampled_from([TEXTS, NUMBERS, NUMBERS])),
    delimiter=st.sampled_from(",;\t|"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_delimited_text_is_never_silently_different(columns, delimiter, quoting, encoding):
    content = written(columns, delimiter, "\r\n", quoting, encoding)
    try:
        found = read_table_file(content, name="t.csv")
    except TableError:
        return
    assert not is_silently_different(found, columns)


MARKS = [(".", ""), (".", ","), (",", ""), (",", "."), (",", " "), (".", "'"), (",", "\u202f")]


def number_text(number, places, marks):
    decimal, thousands = marks
    text = f"{number / 10**places:,.{places}f}"
    return text.translate({ord(","): thousands, ord("."): decimal})


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), marks=st.sampled_from(MARKS), n_rows=st.integers(1, 6))
def test_numbers_of_all_countries_are_never_silently_different(data, marks, n_rows):
    # Between commas, nobody writes decimal commas.
    delimiter = data.draw(st.sampled_from(";\t|" if marks[0] == "," else ",;\t|"))
    columns, truth = {}, {}
    for name in "ab":
        places = data.draw(st.integers(0, 4))
        numbers = st.lists(st.integers(-(10**8), 10**8), min_size=n_rows, max_size=n_rows)
        truth[name] = data.draw(numbers)
        columns[name] = [number_text(number, places, marks) for number in truth[name]]
        truth[name] = [number / 10**places for number in truth[name]]
    found = read_table_file(written(columns, delimiter, "\n", csv.QUOTE_MINIMAL, "utf-8"))
    if found.doubt is None and not found.remarks:
        assert found.frame.astype(float).to_dict("list") == truth


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(
    columns=cell_tables(st.sampled_from([NUMBERS, WORDS]), st.text("abc", min_size=1, max_size=9)),
    is_right=st.lists(st.booleans(), min_size=4, max_size=4),
    gap=st.sampled_from([" ", "  ", "    "]),
    leading=st.sampled_from(["", " "]),
)
def test_aligned_text_never_moves_a_value(columns, is_right, gap, leading):
    parts = []
    for (name, texts), right in zip(columns.items(), is_right, strict=False):
        width = max(map(len, (name, *texts)))
        parts.append([text.rjust(width) if right else text.ljust(width) for text in (name, *texts)])
    text = "\n".join(leading + gap.join(row).rstrip() for row in zip(*parts, strict=True))
    told = written(columns, "|", "\n", csv.QUOTE_ALL, "utf-8")
    try:
        found = read_table_file(text.encode(), name="t.txt").frame
        expected = read_table_file(told, delimiter="|", header=True).frame
    except TableError:
        return
    if found.shape[1] > 1:
        with_values = [any(row) for row in zip(*columns.values(), strict=True)]
        assert_same_table(found, expected[with_values].reset_index(drop=True))
