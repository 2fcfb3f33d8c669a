"""How many threads a process may use."""

import os

import pytest

from pmae_core.threads import allowed_threads


def test_a_user_decides_first(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert allowed_threads(5) == 5
    assert allowed_threads(-1) == os.cpu_count()


def test_the_environment_decides_next(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert allowed_threads() == 3


@pytest.mark.parametrize("nothing", ["", "0", "many", "-2"])
def test_else_all_cores_are_used(monkeypatch, nothing):
    monkeypatch.setenv("OMP_NUM_THREADS", nothing)
    assert 1 <= allowed_threads() <= (os.cpu_count() or 1)
