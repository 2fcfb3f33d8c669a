"""From the controls of the Impute page to a job."""

import pandas as pd

from dashboard.impute.plan import ImputationPlan, Source, hole_name, sources, stays_empty
from pmae_core.explain import find_structural_missingness
from pmae_core.jobs import JobSpec
from pmae_core.table import Schema


class Training:
    """As much of a finished training as a source asks for."""

    id, name = "1" * 32, "my model"
    spec = JobSpec.make("train", params={"method": "pmae-trf"}, table="0" * 64)


def test_trained_models_come_before_methods():
    known = sources([Training()])

    first, second, *_ = known.values()
    assert (first.title, first.method, first.draws_samples) == (
        "Trained: my model",
        "pmae-trf",
        True,
    )
    assert second.key == "pmae"
    assert not known["knn"].draws_samples


def test_a_plan_is_a_job_that_the_store_takes():
    table = pd.DataFrame({"smoker": ["no", "yes"] * 30, "packs": [None, 1.5] * 30})
    holes = tuple(find_structural_missingness(table))
    plan = ImputationPlan(Source("em", "em"), draws=2, seed=4, leave_alone=holes)

    spec = JobSpec.make("impute", params=plan.params, table="0" * 64, seed=plan.seed)

    assert spec.params["left_alone"] == [holes[0].to_dict()]
    assert plan.name("my table") == "Expectation maximization on my table, 2 draws, seed 4"


def test_a_plan_with_a_model():
    plan = ImputationPlan(Source("model:1", "pmae-trf", Training()))

    spec = JobSpec.make("impute", params=plan.params, table="0" * 64)

    assert spec.model == Training.id
    assert plan.name("t") == "PMAE (transformer) on t, trained before, seed 0"


def test_the_name_of_a_hole_depends_on_what_was_found():
    table = pd.DataFrame({"smoker": ["no", "yes"] * 30, "packs": [None, 1.5] * 30})
    (hole,) = find_structural_missingness(table)
    (larger,) = find_structural_missingness(pd.concat([table, table], ignore_index=True))

    assert hole_name(hole) == hole_name(hole)
    assert hole_name(hole) != hole_name(larger)


def test_columns_that_stay_empty():
    table = pd.DataFrame({"x": [1.0, None], "all": [None, None], "note": ["a", None], "y": [1, 2]})
    schema = Schema.infer(table, {"note": "ignored"})

    assert stays_empty(schema) == {
        "all": "none of its cells is observed",
        "note": "its role is ignored",
    }
