"""What the benchmark of the blend makes of its runs."""

import json

import pandas as pd
import pytest

from benchmarks.accuracy import blend


def run(method: str, accuracy: float, seed: int = 0, dataset: str = "wages", **more) -> dict:
    cell = {"part": "report", "dataset": dataset, "pattern": "general", "seed": seed}
    return {**cell, "method": method, "accuracy": accuracy, **more}


def test_means_stand_on_cases_that_both_have():
    runs = [
        run("pmae", 40.0, cpu_seconds=20.0),
        run("pmae-fast", 39.0, cpu_seconds=2.0),
        run("pmae-mix", 30.0),
        run("missforest", 32.0, cpu_seconds=8.0),
        run("pmae", 90.0, seed=1),  # no run of MissForest beside it
    ]

    found = blend.summary(pd.DataFrame(runs))["report"]

    assert found["cases"] == 1
    assert found["wanted_cases"] == 11 * 2 * 2
    assert found["mean_accuracy"]["pmae"] == 40.0
    assert found["blend_above"]["missforest"] == {"points": 8.0, "ratio": 1.25}
    assert found["first_or_tied_on"] == 1
    assert found["cost"]["fast_over_missforest"] == 0.25


@pytest.mark.parametrize(("accuracy", "first_or_tied"), [(39.6, 1), (39.4, 0), (41.0, 1)])
def test_the_blend_is_tied_within_half_a_point(accuracy, first_or_tied):
    runs = [run("pmae", accuracy), run("missforest", 40.0), run("pmae-trees", 60.0)]

    found = blend.summary(pd.DataFrame(runs))["report"]

    # Its own earlier answer is no rival.
    assert found["first_or_tied_on"] == first_or_tied
    assert found["largest_distance_to_the_best"] == pytest.approx(max(0.0, 40.0 - accuracy))


def test_distances_are_per_pattern_and_per_table():
    def pair(pattern: str, blend: float, rival: float) -> list[dict]:
        runs = [run("pmae", blend), run("missforest", rival), run("naive", 20.0)]
        return [{**one, "pattern": pattern} for one in runs]

    runs = [*pair("general", 40.0, 42.0), *pair("quasi-monotone", 50.0, 45.0)]

    found = blend.summary(pd.DataFrame(runs))["report"]

    assert found["largest_distance_to_the_best"] == 2.0
    assert found["largest_distance_to_the_best_of_a_table"] == 0.0
    above = found["blend_above"]["missforest"]
    assert above["ratio_of_gains_over_naive"] == round(25.0 / 23.5, 3)


def test_what_is_recorded_is_not_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr(blend, "RUNS", tmp_path / "runs.jsonl")
    monkeypatch.setattr(blend, "RESULTS", tmp_path)
    monkeypatch.setattr("benchmarks.recording.RESULTS", tmp_path)
    asked = []

    def run_method(method, dataset, pattern, seed, max_rows):
        asked.append((method, dataset, pattern, seed, max_rows))
        return [{"method": method, "accuracy": 40.0, "cpu_seconds": 1.0}]

    monkeypatch.setattr(blend, "run_method", run_method)
    flags = ["--parts=report", "--datasets=wages", "--methods=pmae,missforest"]

    blend.main(flags)
    blend.main(flags)

    assert len(asked) == 2 * 2 * 2  # methods, patterns and seeds
    assert {one[-1] for one in asked} == {2_000}
    assert json.loads((tmp_path / "blend.json").read_text())["parts"]["report"]["cases"] == 4


def test_other_methods_are_taken_from_the_papers_table():
    cell = {"part": "few-rows", "dataset": "wine", "pattern": "general", "seed": 0}

    assert blend.from_table2({**cell, "method": "missforest"})["from"] == "paper_table2.csv"
    assert blend.from_table2({**cell, "method": "pmae"}) is None
    assert blend.from_table2({**cell, "part": "report", "method": "missforest"}) is None
