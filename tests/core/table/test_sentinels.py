"""Values that stand for missing ones."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.table.declaring import declare_missing
from pmae_core.table.io.reading import read_table
from pmae_core.table.sentinels import suggest_sentinels

AGES = [41, 37, 52, 19, 88, 64, 23, 30]


def suggested(*cells, dtype=None):
    frame = pd.DataFrame({"a": pd.Series(list(cells), dtype=dtype)})
    return {suggestion.value: suggestion.count for suggestion in suggest_sentinels(frame)}


@pytest.mark.parametrize("code", [-999, -99, 999, 9999, -1, -9, 99999, -999.9, 999.99])
def test_codes_among_numbers(code):
    assert suggested(*AGES, code, code) == {code: 2}


@pytest.mark.parametrize("dtype", ["Int64", "float64", "Float64"])
def test_codes_in_columns_with_holes(dtype):
    assert suggested(*AGES, None, -999, dtype=dtype) == {-999: 1}


def test_several_codes_at_once():
    assert suggested(*AGES, -999, -99, 999) == {-999: 1, -99: 1, 999: 1}


@pytest.mark.parametrize(
    "cells",
    [
        range(1000),
        range(90, 110),
        [-1, 0, 1, 1, 0],
        [-5, -1, 3, 8],
        [0, 0, 0, 7, 99, 250],
        [9, 8, 7, 6],
        [0, 0, 0, 0, 20_000, 20_500, 21_000, 22_000, 23_000, 24_000],
        [True, False],
        [np.nan, np.nan],
        [np.inf, 1.0, 2.0],
        ["yes", "no"],
        ["+", "-", "+"],
        ["a", "b", "1", "2"],
        ["ok", "fine", "na-1"],
    ],
)
def test_ordinary_columns_are_left_alone(cells):
    assert suggested(*cells) == {}


def test_repeated_numbers_far_out():
    assert suggested(*AGES, 1_000_000, 1_000_000, 1_000_000) == {1_000_000: 3}
    assert suggested(*AGES, 1_000_000) == {}


@pytest.mark.parametrize(
    "word", ["?", "-", "none", "None", "unknown", "n.a.", "missing", " ", "NA"]
)
def test_words(word):
    assert suggested("x", "y", word, word) == {word: 2}
    assert suggested("x", "y", word, dtype="category") == {word: 1}


@pytest.mark.parametrize("code", ["-9", "99", "-999", " 9999 "])
def test_codes_among_words(code):
    assert suggested(*["yes", "no"] * 6, code, code) == {code: 2}


@pytest.mark.parametrize("number", ["7", "-3", "98"])
def test_other_numbers_among_words_are_left_alone(number):
    assert not suggested(*["yes", "no"] * 6, number, "99")


def test_a_code_among_titles_is_left_alone():
    assert not suggested(*[f"title {i}" for i in range(30)], "99")


def test_words_among_numbers():
    numbers = [str(number) for number in range(20)]
    assert suggested(*numbers, "low") == {"low": 1}
    assert suggested(*numbers, "?", "-999") == {"?": 1, "-999": 1}
    assert suggested(*numbers[:2], "a", "b", "c") == {}


def test_placeholder_dates():
    dates = pd.to_datetime(["2020-05-01", "2021-01-01", "1900-01-01", "1900-01-01", "9999-12-31"])
    assert suggested(*dates) == {
        pd.Timestamp("1900-01-01"): 2,
        pd.Timestamp("9999-12-31"): 1,
    }
    assert suggested(*dates.tz_localize("UTC")).keys() == {
        pd.Timestamp("1900-01-01", tz="UTC"),
        pd.Timestamp("9999-12-31", tz="UTC"),
    }
    assert suggested(*pd.date_range("1969-12-25", "1970-01-05")) == {}


def test_reasons_are_sentences_with_the_place():
    frame = pd.DataFrame({"age": [*AGES, -999], "city": ["Kyiv"] * 8 + ["?"]})
    suggestions = suggest_sentinels(frame)
    assert [suggestion.column for suggestion in suggestions] == ["age", "city"]
    assert "between 19 and 88" in suggestions[0].reason
    assert all(suggestion.reason.endswith(".") for suggestion in suggestions)


def test_every_suggestion_can_be_declared():
    frame = pd.DataFrame(
        {
            "i": [*AGES, -999],
            "f": [*map(float, AGES), 999.0],
            "t": [*map(str, AGES), "?"],
            "c": pd.Categorical(["x"] * 8 + ["none"]),
            "d": pd.to_datetime(["2020-01-01"] * 8 + ["1900-01-01"]),
        }
    )
    suggestions = suggest_sentinels(frame)
    declared = declare_missing(frame, {s.column: [s.value] for s in suggestions})
    assert declared.isna().sum().tolist() == [1] * 5
    assert declared.isna().iloc[-1].all()
    assert declared.dtypes.astype(str).to_dict() == {
        "i": "Int64",
        "f": "float64",
        "t": "Int64",
        "c": "category",
        "d": frame["d"].dtype.name,
    }
    assert declared["c"].cat.categories.tolist() == ["x"]
    assert frame.notna().all(axis=None), "the table itself must stay as it is"


def test_suggestions_of_a_file_from_start_to_end():
    content = b"age,city\n" + b"".join(b"%d,Kyiv\n" % age for age in AGES) + b"-99,?\n"
    frame = read_table(content)
    sentinels = {s.column: [s.value] for s in suggest_sentinels(frame)}
    assert sentinels == {"age": [-99], "city": ["?"]}
    clean = read_table(content, sentinels=sentinels)
    assert clean.isna().sum().tolist() == [1, 1]
    assert suggest_sentinels(clean) == []


TITLES = [f"The {n}th Day" for n in range(40)]


@pytest.mark.parametrize("title", ["None", "?", "Missing", "Blank", "99", "-"])
def test_titles_and_names_are_not_suspected(title):
    assert suggest_sentinels(pd.DataFrame({"title": [*TITLES, title]})) == []
    remakes = [*TITLES, "Alice", "Alice", title, title]
    assert suggest_sentinels(pd.DataFrame({"title": remakes})) == []


def test_a_word_that_repeats_among_names_is_suspected():
    assert suggested(*TITLES, "Alice", "Alice", "n/a", "n/a", "n/a") == {"n/a": 3}


def test_one_word_among_different_numbers_is_suspected():
    assert suggested(*(f"{n}.5" for n in range(40)), "?") == {"?": 1}
