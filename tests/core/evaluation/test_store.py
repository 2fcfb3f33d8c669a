import json

import pandas as pd
import pytest

from pmae_core.errors import ScoringError
from pmae_core.evaluation.store import ResultStore, table_digest
from pmae_core.evaluation.tasks import TaskResult

RESULT = TaskResult(method="em", seed=3, status="done", scores={"r2": 0.5})


def test_results_come_back(tmp_path):
    store = ResultStore(tmp_path / "new" / "folder", {"table": "abc"})
    assert store.load("em", 3, {}) is None
    store.save(RESULT, {})
    again = ResultStore(tmp_path / "new" / "folder", {"table": "abc"})
    assert again.load("em", 3, {}) == RESULT
    assert again.load("em", 4, {}) is None


def test_another_comparison_is_refused(tmp_path):
    ResultStore(tmp_path, {"table": "abc", "share": 0.1})
    with pytest.raises(ScoringError, match=r"another comparison \(different: share\)"):
        ResultStore(tmp_path, {"table": "abc", "share": 0.2})


def test_other_parameters_are_refused(tmp_path):
    store = ResultStore(tmp_path, {})
    store.save(RESULT, {"rounds": (1, 2)})
    assert store.load("em", 3, {"rounds": (1, 2)}) == RESULT
    with pytest.raises(ScoringError, match="other parameters"):
        store.load("em", 3, {"rounds": (1, 3)})


def test_a_write_that_fails_leaves_the_old_result(tmp_path, monkeypatch):
    store = ResultStore(tmp_path, {})
    store.save(RESULT, {})
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        store.save(TaskResult(method="em", seed=3, status="failed"), {})
    assert store.load("em", 3, {}) == RESULT


def test_a_damaged_file_is_named(tmp_path):
    store = ResultStore(tmp_path, {})
    store.save(RESULT, {})
    (path,) = tmp_path.glob("em*.json")
    path.write_text("{")
    with pytest.raises(ScoringError, match=path.name):
        store.load("em", 3, {})
    path.write_text(json.dumps([1]))
    with pytest.raises(ScoringError, match=path.name):
        store.load("em", 3, {})


def test_the_digest_sees_every_change():
    table = pd.DataFrame({"x": [1.0, 2.0], "k": ["a", None], "lists": [[1], [2]]})
    changes = [
        table.assign(x=[1.0, 3.0]),
        table.assign(k=["a", "b"]),
        table.assign(lists=[[1], [3]]),
        table.rename(columns={"x": "y"}),
        table.iloc[::-1],
        table.astype({"x": "float32"}),
    ]
    digests = {table_digest(one) for one in (table, *changes)}
    assert len(digests) == 1 + len(changes)
    assert table_digest(table.copy()) == table_digest(table)
