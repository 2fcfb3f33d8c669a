"""The cost of a job: its methods, with its parameters, on the table they will get."""

import numpy as np
import pandas as pd

from pmae_core.jobs.cost import CostEstimate, estimate_job
from pmae_core.jobs.cost import job as job_module
from pmae_core.jobs.spec import JobSpec

DIGEST = "0" * 64


def table(n_rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 3))).add_prefix("x")
    return frame.mask(rng.random(frame.shape) < 0.2)


def seen_by_estimate_cost(monkeypatch, spec, frame):
    seen = {}

    def spy(frame, methods, **options):
        seen.update(frame=frame, methods=methods, **options)
        return CostEstimate()

    monkeypatch.setattr(job_module, "estimate_cost", spy)
    estimate = estimate_job(spec, {DIGEST: frame}.__getitem__, budget_seconds=2)
    return seen, estimate


def test_a_training_is_estimated_with_its_parameters(monkeypatch):
    params = {"method": "pmae-mix", "params": {"steps": 7}}
    spec = JobSpec.make("train", params=params, table=DIGEST)

    seen, _ = seen_by_estimate_cost(monkeypatch, spec, table(30))

    assert seen["methods"] == ["pmae-mix"]
    assert seen["method_params"] == {"pmae-mix": {"steps": 7}}
    assert (seen["seeds"], seen["threads"], seen["budget_seconds"]) == (1, 1, 2)
    pd.testing.assert_frame_equal(seen["frame"], table(30))


def test_a_comparison_is_estimated_on_the_cells_it_will_hold_out(monkeypatch):
    complete = table(60).fillna(0.5).assign(target=1.0)
    params = {
        "methods": ["em", "naive"],
        "seeds": [4, 5],
        "amputation": {"pattern": "general"},
        "target": "target",
        "budget_seconds": 60,
        "method_budget_seconds": 9,
        "method_params": {"em": {"max_iter": 3}},
    }
    spec = JobSpec.make("compare", params=params, table=DIGEST)

    seen, estimate = seen_by_estimate_cost(monkeypatch, spec, complete)

    assert seen["frame"].isna().any(axis=None)
    assert "target" not in seen["frame"]
    assert (seen["methods"], seen["seeds"]) == (["em", "naive"], 2)
    assert seen["method_params"] == {"em": {"max_iter": 3}}
    assert (estimate.method_limit, estimate.limit) == (9, 60)


def test_a_benchmark_is_estimated_on_its_table(monkeypatch):
    params = {"dataset": "diabetes", "methods": ["em"], "seeds": [0], "max_rows": 50}
    spec = JobSpec.make("benchmark", params=params)

    seen, _ = seen_by_estimate_cost(monkeypatch, spec, None)

    assert 0 < len(seen["frame"]) <= 50
    assert seen["frame"].isna().any(axis=None)


def test_applying_a_model_is_not_estimated():
    spec = JobSpec.make("impute", params={"model": "a" * 32}, table=DIGEST)

    assert estimate_job(spec, {DIGEST: table(30)}.__getitem__) is None
