"""Conditions on one column."""

import json

import pandas as pd
import pytest

from pmae_core.errors import SchemaError
from pmae_core.explain import Condition

TABLE = pd.DataFrame({"age": [10.0, 20.0, None, 40.0], "kind": ["a", "b", "c", None]})


@pytest.mark.parametrize(
    ("condition", "rows", "words"),
    [
        (Condition("age", "<=", (20,)), [0, 1], "age is at most 20"),
        (Condition("age", ">", (20,)), [3], "age is above 20"),
        (Condition("age", "is missing"), [2], "age is missing"),
        (Condition("kind", "is", ("a", "b")), [0, 1], "kind is a or b"),
        (Condition("kind", "is not", ("a",)), [1, 2], "kind is not a"),
    ],
)
def test_rows_words_and_json(condition, rows, words):
    assert condition.holds(TABLE).nonzero()[0].tolist() == rows
    assert condition.words == words
    assert Condition.from_dict(json.loads(json.dumps(condition.to_dict()))) == condition


def test_unknown_relations_and_columns_are_refused():
    with pytest.raises(SchemaError, match="no relation 'about'"):
        Condition("a", "about", (1,))
    with pytest.raises(SchemaError, match="no column 'height'"):
        Condition("height", ">", (1,)).holds(TABLE)
