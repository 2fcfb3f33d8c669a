import json
import warnings

import pandas as pd
import pytest

from pmae_core.errors import DamageWarning, ScoringError
from pmae_core.evaluation.store import SPECIFICATION, ResultStore, table_digest
from pmae_core.evaluation.tasks import TaskResult
from pmae_core.events import DamageFound
from tests.support.damage import damaged_copies

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


def test_a_damaged_result_counts_as_none_and_is_reported(tmp_path):
    events = []
    store = ResultStore(tmp_path, {"table": "abc"}, [events.append])
    store.save(RESULT, {"rounds": 3})
    (path,) = tmp_path.glob("em*.json")
    said = "The stored result of em (seed 3) is damaged, so this run is repeated."
    for damaged in damaged_copies(path.read_bytes(), every=3):
        path.write_bytes(damaged)
        events.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DamageWarning)
            found = store.load("em", 3, {"rounds": 3})
        assert found in (None, RESULT)
        assert events == ([] if found else [DamageFound(sentence=said)])
    store.save(RESULT, {"rounds": 3})
    assert store.load("em", 3, {"rounds": 3}) == RESULT


def test_results_outlive_a_damaged_specification(tmp_path):
    ResultStore(tmp_path, {"table": "abc"}).save(RESULT, {})
    path = tmp_path / SPECIFICATION
    for damaged in damaged_copies(path.read_bytes(), every=5):
        path.write_bytes(damaged)
        assert ResultStore(tmp_path, {"table": "abc"}).load("em", 3, {}) == RESULT
    assert ResultStore(tmp_path, {"table": "abc"}).load("em", 3, {}) == RESULT


def test_results_of_another_comparison_are_not_taken_when_the_specification_is_lost(tmp_path):
    ResultStore(tmp_path, {"table": "abc"}).save(RESULT, {})
    (tmp_path / SPECIFICATION).write_text("")
    store = ResultStore(tmp_path, {"table": "xyz"})
    with pytest.warns(DamageWarning, match="may belong to another comparison"):
        assert store.load("em", 3, {}) is None


def test_results_of_earlier_releases_are_read(tmp_path):
    ResultStore(tmp_path, {"table": "abc"})
    content = {"params": {}, "result": RESULT.to_dict()}
    (tmp_path / "em-seed3.json").write_text(json.dumps(content))
    assert ResultStore(tmp_path, {"table": "abc"}).load("em", 3, {}) == RESULT


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
