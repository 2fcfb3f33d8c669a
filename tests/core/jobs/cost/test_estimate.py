"""What an estimate is: totals, limits and plain data."""

import json

from pmae_core.jobs.cost import CostEstimate, MethodCost


def test_an_estimate_is_plain_data_and_takes_the_truth_beside_it():
    costs = [
        MethodCost(method="em", seconds=2.0, low=1.0, high=4.0, memory_mb=300.0, how="Ran."),
        MethodCost(method="gain", error="It failed."),
    ]
    estimate = CostEstimate(per_method=costs, seeds=3, probe_seconds=0.5)

    data = json.loads(json.dumps(estimate.with_actual(9.0), allow_nan=False))

    assert (data["total_seconds"], data["total_low"], data["total_high"]) == (6.0, 3.0, 12.0)
    assert (data["actual_seconds"], data["ratio"], data["memory_mb"]) == (9.0, 1.5, 300.0)
    assert CostEstimate.from_dict(data) == estimate
    assert CostEstimate(per_method=costs[1:]).with_actual(9.0)["ratio"] is None


def test_time_budgets_limit_the_totals():
    cost = MethodCost(method="em", seconds=20.0, low=5.0, high=40.0)
    estimate = CostEstimate(per_method=[cost, cost], seeds=2, method_limit=10.0, limit=25.0)

    assert estimate.total_seconds == 25.0
    assert estimate.total_range == (20.0, 25.0)
