import json

import pandas as pd
import pytest

from pmae_core.errors import ScoringError
from pmae_core.replication import ResultFile

RUN = {"command": "one", "settings": {"max_rows": None}}


def row(method="em", seed=0, max_rows=None, status="done", accuracy=0.5, **more):
    return {
        "dataset": "wine",
        "pattern": "general",
        "mechanism": "MNAR",
        "coupling": "nested",
        "max_rows": max_rows,
        "method": method,
        "variant": method,
        "seed": seed,
        "status": status,
        "imputation_accuracy": accuracy,
        **more,
    }


def write(folder, *rows, run=RUN):
    results = ResultFile(folder, "table2")
    results.add(rows)
    results.write(run)
    return results


def test_without_results_there_is_an_empty_table(tmp_path):
    results = ResultFile(tmp_path, "table2")
    assert results.table().empty
    assert results.runs() == []
    results.write(RUN)
    assert not results.path.exists()


def test_results_are_json_and_csv(tmp_path):
    results = write(tmp_path, row(accuracy=1 / 3), row(method="knn", accuracy=float("nan")))
    assert results.table()["imputation_accuracy"].tolist()[0] == 0.333333
    assert json.loads(results.path.read_text())["rows"][1]["imputation_accuracy"] is None
    assert pd.read_csv(tmp_path / "paper_table2.csv")["method"].tolist() == ["em", "knn"]
    assert results.runs() == [RUN]


def test_rows_are_merged_and_know_their_run(tmp_path):
    write(tmp_path, row(seed=0), row(seed=1))
    other = {**RUN, "command": "two"}
    results = write(tmp_path, row(seed=1, accuracy=0.6), row(seed=2), run=other)
    assert results.table()[["seed", "imputation_accuracy", "run"]].values.tolist() == [
        [0, 0.5, 0],
        [1, 0.6, 1],
        [2, 0.5, 1],
    ]
    assert [run["command"] for run in results.runs()] == ["one", "two"]


def test_the_same_rows_again_change_nothing(tmp_path):
    before = write(tmp_path, row()).path.read_text()
    assert write(tmp_path, row(), run={"command": "again"}).path.read_text() == before


def test_a_run_whose_rows_were_replaced_is_forgotten(tmp_path):
    write(tmp_path, row())
    results = write(tmp_path, row(accuracy=0.7), run={"command": "two"})
    assert results.runs() == [{"command": "two"}]
    assert results.table()["run"].tolist() == [0]


def test_another_cap_is_another_row(tmp_path):
    results = write(tmp_path, row(), row(max_rows=100))
    assert len(results.table()) == 2


def test_a_failure_never_takes_the_place_of_a_result(tmp_path):
    write(tmp_path, row(), row(method="knn", status="failed", accuracy=None))
    results = write(
        tmp_path, row(status="failed", accuracy=None), row(method="knn"), run={"command": "two"}
    )
    assert results.table()["status"].tolist() == ["done", "done"]


def test_a_task_of_many_rows_is_replaced_as_a_whole(tmp_path):
    write(tmp_path, row(status="failed", accuracy=None))
    blocks = [row(block=block, before=1.0) for block in (1, 2)]
    results = write(tmp_path, *blocks)
    assert results.table()["block"].tolist() == [1, 2]


def test_a_file_of_something_else_is_not_overwritten(tmp_path):
    (tmp_path / "paper_table2.json").write_text('{"rows": 3}')
    with pytest.raises(ScoringError, match="Move it elsewhere"):
        write(tmp_path, row())
