"""From the controls of the Impute page to a job."""

import pandas as pd

from dashboard.impute.plan import ImputationPlan, Source, finding_name, sources, stays_missing
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
    assert (first.title, first.method, first.makes_imputations) == (
        "Trained: my model",
        "pmae-trf",
        True,
    )
    assert second.key == "pmae"
    assert not known["knn"].makes_imputations


def test_a_plan_is_a_job_that_the_store_takes():
    table = pd.DataFrame({"smoker": ["no", "yes"] * 30, "packs": [None, 1.5] * 30})
    findings = tuple(find_structural_missingness(table))
    plan = ImputationPlan(Source("em", "em"), n_imputations=2, seed=4, leave_alone=findings)

    spec = JobSpec.make("impute", params=plan.params, table="0" * 64, seed=plan.seed)

    assert spec.params["left_alone"] == [findings[0].to_dict()]
    assert plan.name("my table") == "Expectation maximization on my table, 2 imputations, seed 4"


def test_a_plan_with_a_model():
    plan = ImputationPlan(Source("model:1", "pmae-trf", Training()))

    spec = JobSpec.make("impute", params=plan.params, table="0" * 64)

    assert spec.model == Training.id
    assert plan.name("t") == "PMAE (transformer) on t, already trained, seed 0"


def test_the_name_of_a_finding_depends_on_what_was_found():
    table = pd.DataFrame({"smoker": ["no", "yes"] * 30, "packs": [None, 1.5] * 30})
    (finding,) = find_structural_missingness(table)
    (larger,) = find_structural_missingness(pd.concat([table, table], ignore_index=True))

    assert finding_name(finding) == finding_name(finding)
    assert finding_name(finding) != finding_name(larger)


def test_columns_that_stay_missing():
    table = pd.DataFrame({"x": [1.0, None], "all": [None, None], "note": ["a", None], "y": [1, 2]})
    schema = Schema.infer(table, {"note": "ignored"})

    assert stays_missing(schema) == {
        "all": "none of its cells is observed",
        "note": "its role is ignored",
    }
