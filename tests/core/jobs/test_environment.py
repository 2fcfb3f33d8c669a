"""The environment of processes that run methods."""

import os
from pathlib import Path

import pmae_core
from pmae_core.jobs.environment import process_environment
from pmae_core.threads import THREAD_VARIABLES


def test_all_libraries_are_told_how_many_threads_to_use(monkeypatch):
    monkeypatch.setenv("MKL_NUM_THREADS", "64")

    environment = process_environment(2)

    assert {environment[name] for name in THREAD_VARIABLES} == {"2"}


def test_a_process_finds_this_package_first_and_the_search_path_does_not_grow(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    once = process_environment(1)
    monkeypatch.setenv("PYTHONPATH", once["PYTHONPATH"])

    assert once["PYTHONPATH"].split(os.pathsep) == [
        str(Path(pmae_core.__file__).parents[1]),
        "/somewhere",
    ]
    assert process_environment(1)["PYTHONPATH"] == once["PYTHONPATH"]


def test_everything_else_is_inherited(monkeypatch):
    monkeypatch.setenv("PMAE_HOME", "/home/of/jobs")

    assert process_environment(1)["PMAE_HOME"] == "/home/of/jobs"
