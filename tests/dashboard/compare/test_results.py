"""The results of a comparison so far, from records and task files written by hand."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest

from dashboard.compare.results import read_results, read_tasks, running_now, with_progress
from dashboard.compare.tables import (
    as_complete,
    failures_table,
    forest_rows,
    hardest_first,
    in_order_of,
    points_of,
    reasons_table,
    runs_table,
    skill_table,
    usable_metrics,
)
from pmae_core.evaluation import Comparison
from pmae_core.jobs import JobProgress, JobSpec, JobState
from tests.support.comparisons import SEEDS, comparison, failed, task

METHODS = ["naive", "knn", "em"]


def record_in(folder, state, tasks, progress=None, specification=True, **params):
    """Write the files of a job by hand and return what the page needs of its record."""
    spec = JobSpec.make(
        "compare", params={"methods": METHODS, "seeds": SEEDS, **params}, table="0" * 64
    )
    (folder / "tasks").mkdir(parents=True, exist_ok=True)
    for one in tasks:
        path = folder / "tasks" / f"{one.method}-seed{one.seed}.json"
        path.write_text(json.dumps({"params": {}, "result": one.to_dict()}))
    if specification:
        known = {"holdout": "like-mine", "n_rows": 99, "n_columns": 3, "n_missing": 20}
        (folder / "tasks" / "specification.json").write_text(json.dumps(known))
    return SimpleNamespace(folder=folder, state=JobState(state), spec=spec, progress=progress)


def test_a_waiting_comparison_has_all_runs_before_it(tmp_path):
    results = read_results(record_in(tmp_path, "queued", [], specification=False))

    assert not results.has_scores
    assert len(results.pending) == 9
    assert set(runs_table(results)["seed 0"]) == {"waiting"}


def test_ranks_rest_on_seeds_that_all_have_behind_them(tmp_path):
    # naive has an easy second seed already, which must not lift it above knn.
    tasks = [task("naive", 0, 0.1), task("knn", 0, 0.5), task("em", 0, 0.6), task("naive", 1, 0.9)]
    results = read_results(record_in(tmp_path, "running", tasks))

    assert results.ranked_seeds == [0]
    assert results.ranked.ranking_table()["method"].tolist() == ["em", "knn", "naive"]
    assert len(results.comparison.tasks) == 4


def test_methods_that_have_finished_are_ranked_on_all_seeds(tmp_path):
    quick = [task(name, seed, 0.5) for name in ("naive", "knn") for seed in SEEDS]
    results = read_results(record_in(tmp_path, "running", [*quick, task("em", 0, 0.9)]))

    assert results.ranked.methods == ["naive", "knn"]
    assert results.ranked_seeds == SEEDS
    assert results.basis == "2 of 3 methods"


def test_provisional_ranks_name_what_they_are_based_on(tmp_path):
    first_two = [task(name, seed, 0.5) for name in METHODS for seed in (0, 1)]
    assert read_results(record_in(tmp_path, "running", first_two)).basis == "2 of 3 seeds"
    alone = read_results(record_in(tmp_path / "alone", "running", [task("naive", 0, 0.5)]))
    assert alone.basis == "1 of 3 methods and 1 of 3 seeds"
    third = [task(name, 2, 0.5) for name in METHODS]
    assert read_results(record_in(tmp_path, "running", third)).basis == ""


def test_before_a_seed_is_complete_the_first_one_is_shown(tmp_path):
    results = read_results(record_in(tmp_path, "running", [task("naive", 0, 0.1)]))

    assert results.ranked.methods == ["naive"]
    assert results.has_scores


def test_runs_under_way_are_in_words(tmp_path):
    message = "1 of 9 done; knn (seed 0): column 2 of 5"
    record = record_in(tmp_path, "running", [task("naive", 0, 0.123)])

    runs = runs_table(with_progress(read_results(record), JobProgress(message=message)))

    assert runs.set_index("method")["seed 0"].to_dict() == {
        "naive": "0.123",
        "knn": "running: column 2 of 5",
        "em": "waiting",
    }
    assert running_now(None, [("knn", 0)]) == {}


@pytest.mark.parametrize("state", ["cancelled", "interrupted", "failed"])
def test_what_was_broken_off_says_what_was_not_run(tmp_path, state):
    results = read_results(record_in(tmp_path, state, [task("naive", 0, 0.1)]))

    reasons = failures_table(results.comparison)
    assert results.pending == {}
    assert reasons["method"].tolist() == ["knn", "em", "naive"]
    assert reasons["seeds"].tolist() == ["0, 1, 2", "0, 1, 2", "1, 2"]
    assert all(state in reason for reason in reasons["reason"])


def test_a_finished_comparison_is_read_as_a_whole(tmp_path):
    record = record_in(tmp_path, "succeeded", [])
    whole = Comparison(tasks=[task("naive", 0, 0.1)], settings={"methods": ["naive"], "seeds": [0]})
    (tmp_path / "result").mkdir()
    (tmp_path / "result" / "comparison.json").write_text(whole.to_json())

    results = read_results(record)

    assert results.comparison.to_json() == whole.to_json()
    assert results.pending == {}


def test_a_broken_task_file_counts_as_still_to_come(tmp_path):
    record = record_in(tmp_path, "running", [task("naive", 0, 0.1)])
    (tmp_path / "tasks" / "knn-seed0.json").write_text('{"params": {}')

    assert set(read_tasks(tmp_path / "tasks")) == {("naive", 0)}
    assert ("knn", 0) in read_results(record).pending


def test_reasons_of_failures_are_listed():
    tasks = [task("em", 0, 0.9), failed("em", 1), failed("em", 2)]
    tasks += [failed("knn", s, "Too many rows.") for s in SEEDS]

    reasons = failures_table(comparison(tasks)).set_index("method")["reason"].to_dict()
    assert reasons == {"em": "It broke.", "knn": "Too many rows."}


def test_only_metrics_that_apply_are_offered():
    tasks = [task("naive", 0, 0.1)]
    offered = usable_metrics(comparison(tasks), ["accuracy", "rmse", "energy_distance", "i_score"])
    assert offered == ["rmse", "energy_distance"]


def test_tables_for_the_figures():
    whole = comparison([task("naive", s, 0.1 * s) for s in SEEDS])

    assert skill_table(whole, ["naive", "gone"]).loc["x", "naive"] == pytest.approx(0.1)
    assert points_of(whole, "naive", "x")["truth"] == [1.0, 2.0] * 3
    assert points_of(whole, "naive", "no such column") == {"truth": [], "imputed": []}


def test_an_export_names_what_is_still_to_come():
    whole = as_complete(comparison([task("naive", 0, 0.1)]), {("naive", 1): "waiting"})

    assert Comparison.from_json(whole.to_json()).tasks[1].status == "not run"


def test_conclusions_stand_in_the_order_of_the_ranking():
    rows = pd.DataFrame(
        {
            "method": ["complete cases", "naive", "late", "em"],
            "kind": ["complete cases", "single", "method", "pooled"],
        }
    )

    ordered = in_order_of(["em", "naive"], rows)

    assert ordered["method"].tolist() == ["complete cases", "em", "naive", "late"]
    assert in_order_of(["em"], pd.DataFrame()).empty


def test_conclusions_with_an_estimate_are_drawn():
    rows = pd.DataFrame(
        {
            "estimand": ["mean of x", "mean of x", "mean of y", None],
            "method": ["em", "knn", "em", "gone"],
            "status": ["done", "failed", "failed", "failed"],
            "error": ["", "Too few rows.", "Too few rows.", "No time."],
        }
    )

    assert {name: len(found) for name, found in forest_rows(rows).items()} == {"mean of x": 2}
    assert forest_rows(pd.DataFrame()) == {}
    assert reasons_table(rows)["method"].tolist() == ["knn", "em", "gone"]


def test_columns_that_no_method_imputes_well_come_first():
    skill = pd.DataFrame({"em": [0.9, -0.1], "knn": [0.2, 0.1]}, index=["easy", "hard"])

    assert hardest_first(skill).index.tolist() == ["hard", "easy"]
