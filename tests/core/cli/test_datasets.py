"""``pmae datasets``."""

import json

from pmae_core.table import read_table
from tests.support.shell import run


def test_datasets_lists_samples_and_benchmarks():
    output = run("datasets").stdout
    listed = json.loads(run("datasets", "--json").stdout)
    kinds = {info["name"]: info["kind"] for info in listed}
    assert kinds["penguins"] == "sample"
    assert "benchmark" in kinds.values()
    assert all(name in output for name in kinds)


def test_datasets_writes_one(tmp_path):
    run("datasets", "penguins", "--output", tmp_path / "penguins.csv")
    assert read_table(tmp_path / "penguins.csv").shape[0] == 344


def test_an_output_without_a_name_is_wrong_usage():
    run("datasets", "--output", "b.csv", code=2)


def test_datasets_describes_one():
    assert "CC0" in run("datasets", "penguins").stdout


def test_unknown_dataset_is_refused_in_a_sentence():
    assert "magic" in run("datasets", "magic", code=1).stderr
