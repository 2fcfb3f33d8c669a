"""``pmae jobs list``."""

import json

from tests.support.damage import set_column
from tests.support.shell import one_line, run_jobs, submitted


def test_jobs_are_listed_newest_first(store, survey):
    ids = [submitted("impute", survey, "--method", "em", "--name", f"n{i}") for i in range(3)]

    assert [job["id"] for job in json.loads(run_jobs("list", "--json").stdout)] == ids[::-1]
    shown = run_jobs("list", "--limit", 2)
    assert "n2" in shown.stdout and "n0" not in shown.stdout
    assert "2 of 3 jobs" in shown.stderr
    assert json.loads(run_jobs("list", "--state", "failed", "--json").stdout) == []


def test_an_unknown_state_is_refused_in_a_sentence(store):
    result = run_jobs("list", "--state", "asleep", code=1)
    assert "unknown. Choose queued" in one_line(result.output)


def test_a_damaged_job_is_listed_beside_the_others(store, survey):
    bad, good = (submitted("impute", survey, "--method", "em", "--name", name) for name in "ab")
    set_column(store.home, bad, "progress", "{")

    shown = run_jobs("list").stdout

    assert "damaged" in shown and bad[:8] in shown and good[:8] in shown
    assert [job["id"] for job in json.loads(run_jobs("list", "--json").stdout)] == [good]
    assert "Its progress cannot be read." in one_line(run_jobs("show", bad, code=1).output)
