"""``pmae jobs estimate``."""

import json

from tests.support.shell import one_line, run_jobs


def test_the_cost_is_estimated_before(store, survey):
    options = ("--methods", "naive,em", "--seeds", 4, "--budget", "2s", "--param", "em.max_iter=5")

    data = json.loads(run_jobs("estimate", survey, *options, "--json").stdout)
    text = one_line(run_jobs("estimate", survey, *options).stdout)

    assert [cost["method"] for cost in data["per_method"]] == ["naive", "em"]
    assert data["total_seconds"] > 0 and data["seeds"] == 4
    assert "Ran to its end on the whole table" in text
    assert "About" in text or "Less than 1 s" in text
