import json

import numpy as np

from pmae_core.storage.json_values import without_nan


def test_what_json_has_not_is_none():
    figures = {"a": float("nan"), "b": [np.float64("inf"), (1, np.int64(2))], 3: "three"}
    plain = without_nan(figures)
    assert plain == {"a": None, "b": [None, [1, 2]], "3": "three"}
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
