import numpy as np
import pandas as pd
import pytest

from dashboard.amputation.scenario import Scenario
from dashboard.compare.plan import (
    ComparisonPlan,
    holdout_words,
    method_sets,
    prepare,
    run_name,
    target_columns,
    uses_scenario,
)
from dashboard.widgets.conclusions import number_columns
from dashboard.widgets.methods import known_methods
from pmae_core.errors import PMAEError, ScoringError
from pmae_core.evaluation import HoldoutPlan
from pmae_core.jobs import JobSpec
from pmae_core.table import Schema

RNG = np.random.default_rng(0)


@pytest.fixture
def table():
    frame = pd.DataFrame(RNG.normal(size=(120, 3)), columns=["a", "b", "c"])
    frame["kind"] = np.where(frame["a"] > 0, "high", "low")
    frame.loc[::5, "b"] = np.nan
    return frame


def spec_of(prepared):
    params = dict(prepared.params)
    if prepared.truth is not None:
        params["truth"] = "1" * 64
    return JobSpec.make("compare", params=params, table="0" * 64, seed=prepared.seed)


def test_own_cells(table):
    plan = ComparisonPlan(
        methods=("naive", "em"), n_seeds=2, share=0.2, budget_seconds=60.0, seed=7
    )
    prepared = prepare(plan, table, Schema.infer(table))

    params = spec_of(prepared).params
    assert prepared.frame is table
    assert (params["holdout"], params["holdout_share"]) == ("like-mine", 0.2)
    assert (params["seeds"], params["budget_seconds"]) == ([7, 8], 60.0)
    assert params["downstream"] is False


def test_a_scenario_simulates_as_the_lab_does(table):
    scenario = Scenario(pattern="monotone", mechanism="MAR", coupling="nested", seed=3)
    schema = Schema.infer(table)
    prepared = prepare(ComparisonPlan(methods=("naive",), scenario=scenario), table, schema)

    params = spec_of(prepared).params
    made = scenario.make(table, schema)
    again = HoldoutPlan(kind="amputation", amputation=params["amputation"]).make(
        prepared.frame, schema, params["seeds"][0]
    )
    pd.testing.assert_frame_equal(again.missing, made.missing)
    assert params["seeds"] == [3, 4, 5]


def test_a_scenario_like_mine_has_a_known_truth(table):
    scenario = Scenario(kind="like-mine", seed=1)
    prepared = prepare(
        ComparisonPlan(methods=("naive",), scenario=scenario), table, Schema.infer(table)
    )

    assert prepared.params["holdout"] == "known-truth"
    assert prepared.truth is not None and prepared.truth["b"].notna().all()
    assert prepared.frame["b"].isna().any()


def test_the_target_is_spared_and_conclusions_go_along(table):
    scenario = Scenario(mechanism="MCAR", columns=("a", "kind"), proportions=0.5)
    plan = ComparisonPlan(
        methods=("naive",), scenario=scenario, target="kind", conclusions=(("slope", "a", "c"),)
    )
    params = spec_of(prepare(plan, table, Schema.infer(table))).params

    assert params["amputation"]["columns"] == ["a"]
    assert params["downstream"] is True and params["target"] == "kind"
    assert params["conclusions"] == [["slope", "a", "c"]]
    assert plan.n_fits == 3 + 3 + 1


def test_an_i_score_costs_a_fit_per_column_and_run(table):
    plan = ComparisonPlan(methods=("naive",), n_seeds=2, i_score_columns=3)

    assert spec_of(prepare(plan, table, Schema.infer(table))).params["i_score"] is True
    assert plan.n_fits == 2 * (1 + 3)


def test_what_cannot_work_is_said_at_once(table):
    schema = Schema.infer(table)
    with pytest.raises(ScoringError, match="at least one method"):
        prepare(ComparisonPlan(methods=()), table, schema)
    lost = Scenario(columns=("no such column",))
    with pytest.raises(PMAEError, match="no such column"):
        prepare(ComparisonPlan(methods=("naive",), scenario=lost), table, schema)
    only_target = ComparisonPlan(methods=("naive",), scenario=Scenario(columns=("a",)), target="a")
    assert "another column" in only_target.problem()


def test_columns_for_conclusions_and_targets(table):
    table = table.assign(when=pd.Timestamp("2024-01-01"), same=1.0, flag=table["a"] > 0)
    schema = Schema.infer(table)

    assert number_columns(table, schema) == ["a", "b", "c"]
    assert set(target_columns(table, schema)) == {"a", "b", "c", "kind", "flag"}


def test_words():
    assert "10%" in holdout_words({"holdout_share": 0.1})
    made = {"amputation": {"pattern": "general", "mechanism": "MAR"}}
    assert holdout_words(made) == "simulated missing values (general, MAR)"
    assert "true values are known" in holdout_words({"truth": "1" * 64})
    assert uses_scenario(made) and not uses_scenario({"holdout_share": 0.1})
    plan = ComparisonPlan(methods=("naive", "em"), n_seeds=1)
    assert run_name(plan, "penguins", {"em": "EM"}) == "naive, EM on penguins, 1 seed"


def test_sets_of_methods():
    assert method_sets(["naive", "em", "own"])["All"] == ["naive", "em", "own"]
    assert method_sets(["naive", "em"])["Quick"] == ["naive", "em"]
    assert {"pmae", "pmae-mix", "masked-trees"} <= set(method_sets(known_methods())["Usual"])


def test_the_preset_goes_to_the_methods_that_have_one(table):
    plan = ComparisonPlan(methods=("em", "pmae", "remasker"))

    params = spec_of(prepare(plan, table, Schema.infer(table))).params

    assert params["method_params"] == {"pmae": {"preset": "fast"}}
    balanced = ComparisonPlan(methods=("pmae-mix",), preset="balanced")
    assert balanced.method_params == {"pmae-mix": {"preset": "balanced"}}
