import json

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import SchemaError
from pmae_core.table.labels import LabelCells


def test_the_most_frequent_labels_are_kept_where_there_are_too_many():
    series = pd.Series(["a"] * 5 + ["b"] * 4 + ["c"] * 3 + ["d"] * 3 + ["e"] * 2)
    assert LabelCells.fit(series, min_count=2, most_classes=5).n_classes == 5
    labels = LabelCells.fit(series, min_count=2, most_classes=3)
    # Of c and d, equally frequent, neither is chosen.
    assert labels.written == ("a", "b", "c") and labels.codes == (0, 1, 2, 2, 2)


def test_rare_labels_share_the_last_class_and_come_back_as_its_most_frequent():
    series = pd.Series(["a"] * 10 + ["b"] * 8 + ["x", "y", "y", None])
    labels = LabelCells.fit(series, min_count=3)
    assert labels.n_classes == 3
    assert labels.read(pd.Series(["a", "b", "x", "y"])).tolist() == [0, 1, 2, 2]
    assert list(labels.write(np.array([0, 1, 2]), series)) == ["a", "b", "y"]


def test_a_single_rare_label_stays_itself():
    labels = LabelCells.fit(pd.Series(["a"] * 10 + ["b"] * 8 + ["x"]), min_count=3)
    assert labels.written == ("a", "b", "x")


def test_where_all_labels_are_rare_the_most_frequent_has_its_own_class():
    labels = LabelCells.fit(pd.Series(["b", "a", "b", "c"]), min_count=30)
    assert labels.written == ("b", "a")
    assert labels.read(pd.Series(["a", "b", "c"])).tolist() == [1, 0, 1]


def test_two_labels_are_always_two_classes():
    assert LabelCells.fit(pd.Series([True, False]), min_count=30).n_classes == 2


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["10", "9", "1"], ["1", "9", "10"]),
        (["b", "10", "a"], ["10", "a", "b"]),
        ([2.5, -1.0], [-1.0, 2.5]),
        (["nan", "1", "0"], ["0", "1", "nan"]),
        (["x", 2, 1.5], [1.5, 2, "x"]),
    ],
)
def test_codes_follow_numbers_then_the_alphabet(values, expected):
    assert list(LabelCells.fit(pd.Series(values, dtype=object)).labels) == expected


def test_codes_follow_the_declared_order_of_categories():
    series = pd.Series(pd.Categorical(["low", "high"], ["low", "mid", "high"], ordered=True))
    labels = LabelCells.fit(series)
    assert labels.labels == ("low", "high")
    assert labels.declared == ("low", "mid", "high")


def test_missing_and_unseen_labels_have_no_code():
    labels = LabelCells.fit(pd.Series(["a", "b"]))
    assert labels.read(pd.Series(["b", None, "z", "a"])).tolist() == [1, -1, -1, 0]


def test_a_category_column_that_lacks_a_label_gets_the_learned_order():
    learned = pd.Series(pd.Categorical(["s", "m", "l"], ["s", "m", "l"], ordered=True))
    labels = LabelCells.fit(learned)
    new = pd.Series(pd.Categorical(["l", None, "xl"], ["l", "xl"], ordered=True))
    ready = labels.ready(new)
    assert ready.cat.categories.tolist() == ["s", "m", "l", "xl"]
    assert ready.cat.ordered
    assert ready.astype(object).tolist()[::2] == ["l", "xl"]
    assert labels.ready(learned) is learned


def test_lists_are_refused_with_a_sentence():
    with pytest.raises(SchemaError, match="cannot be categories"):
        LabelCells.fit(pd.Series([[1], [2]], name="x"))


def test_json_round_trip_is_exact():
    series = pd.Series(pd.cut(pd.Series([0.0, 1.0, 2.0, 3.0]), 3))
    labels = LabelCells.fit(series, min_count=2)
    assert LabelCells.from_dict(json.loads(json.dumps(labels.to_dict()))) == labels
