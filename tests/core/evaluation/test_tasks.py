import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import Cancelled, ScoringError
from pmae_core.evaluation import (
    IMPUTATION_METRICS,
    compare,
    energy_i_score,
    energy_score,
    score_imputation,
    score_imputations,
)
from pmae_core.evaluation.holdout import HoldoutPlan
from pmae_core.evaluation.tasks import SCORES, Task, TaskResult, run_task
from pmae_core.imputers import make_imputer
from pmae_core.table import Schema

pytestmark = pytest.mark.usefixtures("stubs")


def task(table, method, seed=0, **kwargs):
    settings = {"schema": Schema.infer(table), "holdout": HoldoutPlan(), **kwargs}
    return Task(method=method, seed=seed, table=table, **settings)


def test_scores_are_those_of_the_library(incomplete):
    job = task(incomplete, "stub-linear", seed=2)
    result = run_task(job)
    held_out = job.holdout.make(incomplete, job.schema, 2)
    imputer = make_imputer("stub-linear", schema=job.schema, random_state=2)
    score = score_imputation(
        held_out.truth, imputer.fit_transform(held_out.incomplete), held_out.missing, job.schema
    )
    assert result.status == "done"
    assert result.error is None
    expected = {name: pytest.approx(value) for name, value in score.overall.items()}
    assert {name: result.scores[name] for name in expected} == expected
    assert tuple(result.scores) == SCORES[:-1]  # an I-Score only if asked for
    assert [row["column"] for row in result.per_column] == ["y", "z", "kind"]


def test_skill_is_over_the_mean(incomplete):
    linear, mean = (
        {row["column"]: row["skill"] for row in run_task(task(incomplete, name)).per_column}
        for name in ("stub-linear", "stub-mean")
    )
    assert linear["y"] > 0.95
    assert mean["y"] == pytest.approx(0, abs=1e-6)


def test_cost_is_measured(incomplete):
    result = run_task(task(incomplete, "stub-mean"))
    assert 0 < result.fit_seconds < 30
    assert 0 < result.impute_seconds < 30
    assert result.peak_memory_mb is None or 0 <= result.peak_memory_mb < 500


def test_points_are_the_same_cells_for_all_methods(incomplete):
    one, other = (run_task(task(incomplete, name)).points for name in ("stub-mean", "stub-linear"))
    assert one["y"]["truth"] == other["y"]["truth"]
    assert one["y"]["imputed"] != other["y"]["imputed"]
    assert set(one["kind"]["truth"]) == {"a", "b"}


def test_points_are_few_in_large_tables():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(4000, 5)), columns=list("abcde"))
    points = run_task(task(table, "stub-mean", holdout=HoldoutPlan(share=0.5))).points
    assert [len(cells["truth"]) for cells in points.values()] == [400] * 5


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        ("stub-refusing", "This table is too strange."),
        ("stub-broken", "The method failed unexpectedly: RuntimeError: <b>divided by zero</b>"),
    ],
)
def test_a_failure_is_a_result_with_its_reason(incomplete, method, reason):
    result = run_task(task(incomplete, method))
    assert (result.status, result.error) == ("failed", reason)
    assert result.scores == {}
    assert (result.traceback is None) == (method == "stub-refusing")


def test_a_method_that_uses_up_its_time_is_stopped(incomplete):
    result = run_task(task(incomplete, "stub-slow", budget_seconds=0.05))
    assert result.status == "stopped"
    assert "time budget of 0.05 s" in result.error


def test_only_the_user_cancels(incomplete):
    with pytest.raises(Cancelled):
        run_task(task(incomplete, "stub-slow", budget_seconds=100.0), cancel=lambda: True)


def test_events_name_their_task(incomplete):
    events = []
    run_task(task(incomplete, "stub-mean", seed=7), callbacks=[events.append])
    (event,) = events
    assert (event.method, event.seed) == ("stub-mean", 7)
    assert event.to_dict()["progress"]["unit"] == "round"


def test_warnings_are_kept_as_notes(incomplete):
    table = incomplete.assign(nothing=np.nan)
    (note,) = run_task(task(table, "stub-mean")).notes
    assert "'nothing' keeps its missing cells" in note


def test_a_column_that_nobody_can_learn_is_not_scored(complete):
    table = complete.assign(rare=[1.0, 2.0] + [np.nan] * 158)
    incomplete = table.mask(
        pd.DataFrame({"rare": True, "y": np.arange(160) < 20}, index=table.index).reindex(
            columns=table.columns, fill_value=False
        )
    )
    job = task(
        incomplete,
        "stub-mean",
        schema=Schema.infer(table),
        holdout=HoldoutPlan(kind="known-truth"),
        truth=table,
    )
    result = run_task(job)
    assert result.status == "done"
    assert [row["column"] for row in result.per_column] == ["y"]
    assert "no method can learn it" in result.skipped["rare"]


def test_tasks_travel_and_results_are_json(incomplete):
    result = run_task(pickle.loads(pickle.dumps(task(incomplete[["x", "y"]], "stub-mean"))))
    text = json.dumps(result.to_dict(), allow_nan=False)
    again = TaskResult.from_dict(json.loads(text))
    assert np.isnan(again.scores["accuracy"])
    assert again.to_dict() == result.to_dict()


def test_what_is_no_result_is_refused():
    with pytest.raises(ScoringError):
        TaskResult.from_dict({"magic": 1})


def test_random_imputations_are_scored_where_a_method_draws_them(incomplete):
    job = task(incomplete, "stub-drawing", seed=2, imputations=6)
    result = run_task(job)
    held_out = job.holdout.make(incomplete, job.schema, 2)
    imputer = make_imputer("stub-drawing", schema=job.schema, random_state=2)
    imputer.fit(held_out.incomplete)
    tables = imputer.sample(held_out.incomplete, 6, random_state=2)
    expected = score_imputations(held_out.truth, tables, held_out.missing, job.schema)
    assert (result.imputations, result.n_imputations) == (6, 6)
    assert result.sample_seconds > 0
    found = pd.DataFrame(result.per_column).set_index("column")[list(IMPUTATION_METRICS)]
    pd.testing.assert_frame_equal(found, expected, check_names=False)
    assert result.scores["crps"] == pytest.approx(expected["crps"].mean())
    energies = [energy_score(held_out.truth, one, held_out.missing, job.schema) for one in tables]
    assert result.scores["energy_distance"] == pytest.approx(np.mean(energies))


def test_one_imputation_is_scored_as_a_point_mass(incomplete):
    result = run_task(task(incomplete, "stub-linear", imputations=6))
    assert (result.imputations, result.n_imputations) == (6, 1)
    rows = {row["column"]: row for row in result.per_column}
    assert rows["kind"]["brier"] == pytest.approx(1 - rows["kind"]["accuracy"])
    assert math.isnan(result.scores["coverage"])
    assert math.isnan(run_task(task(incomplete, "stub-linear")).scores["crps"])


def test_the_right_spread_wins_over_the_point_and_loses_on_cells(incomplete):
    """The conditional mean is closest on cells; imputations around it resemble the data."""
    point, drawing = (
        run_task(task(incomplete, name, imputations=10)).scores
        for name in ("stub-mean", "stub-drawing")
    )
    assert drawing["distribution_skill"] > point["distribution_skill"]
    assert drawing["energy_distance"] < point["energy_distance"]
    assert drawing["skill"] <= point["skill"] + 1e-9


def test_failing_to_draw_costs_the_scores_of_imputations_alone(incomplete):
    result = run_task(task(incomplete, "stub-undrawable", imputations=3))
    assert result.status == "done"
    assert result.n_imputations == 0
    assert math.isnan(result.scores["crps"])
    assert result.notes == ["Random imputations were not scored: No luck today."]


def test_the_i_score_is_that_of_the_library(incomplete):
    job = task(incomplete, "stub-drawing", imputations=2, i_score=True)
    found = run_task(job).scores["i_score"]
    expected = energy_i_score(
        incomplete, "stub-drawing", schema=job.schema, imputations=2, seed=0
    ).overall
    assert found == pytest.approx(expected)


def test_the_i_score_of_a_simulation_is_on_its_missing_values(complete):
    plan = HoldoutPlan(kind="amputation", amputation={"pattern": "general"})
    result = run_task(task(complete, "stub-mean", holdout=plan, i_score=True))
    assert result.scores["i_score"] > 0


def test_without_missing_values_there_is_no_i_score(complete):
    result = run_task(task(complete, "stub-mean", i_score=True))
    assert result.status == "done"
    assert math.isnan(result.scores["i_score"])
    assert result.notes[0].startswith("No I-Score: There is nothing to score")


def test_levels_are_shown_as_labels_and_scored_by_their_ranks(incomplete):
    grades = np.resize(["pass", "merit", "distinction"], len(incomplete))
    table = incomplete.assign(grade=pd.Series(grades).where(np.arange(len(grades)) % 5 > 0))
    rules = {"grade": {"levels": ["pass", "merit", "distinction"]}}
    schema = Schema.infer(table, {"grade": "ordinal"}, rules)

    (result,) = compare(table, ["naive"], schema=schema, seeds=[0]).tasks

    assert set(result.points["grade"]["truth"]) <= set(grades)
    (row,) = [row for row in result.per_column if row["column"] == "grade"]
    assert row["rmse"] > 0
    assert 0 < row["accuracy"] < 1
