"""How long the rest of a comparison takes."""

import pytest

from pmae_core.jobs.worker.task_times import seconds_left

RUN_SECONDS = {"naive": 1.0, "knn": 2.0, "em": 90.0}


def test_methods_that_are_left_weigh_as_much_as_their_runs():
    """Quick methods that are done say how long a slow one takes, not that it is quick."""
    assert seconds_left(["em"], {"naive": 3.0, "knn": 3.0}, RUN_SECONDS) == pytest.approx(180)


def test_results_from_disk_leave_one_run_of_each_method():
    assert seconds_left(["knn", "em"], {}, RUN_SECONDS) == 92


def test_methods_without_a_time_count_alike():
    assert seconds_left(["b", "c"], {"a": 5.0}, {}) == 10
    assert seconds_left([], {"a": 5.0}, {}) == 0
