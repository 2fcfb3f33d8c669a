"""What the benchmark of coverage simulates, and what it makes of its runs."""

import json

import numpy as np
import pytest

from benchmarks.accuracy import coverage
from benchmarks.coverage_designs import Quantity, designs
from benchmarks.distribution_tables import shape_tables
from benchmarks.variants import VARIANTS
from pmae_core.imputers.masked._category_errors import CategoryErrors
from pmae_core.imputers.masked._number_errors import NumberErrors


def run(method: str, replication: int, low: float, high: float) -> dict:
    names = designs()["linear"].quantities
    limits = {name: [(low + high) / 2, low, high] for name in names}
    task = {"design": "linear", "replication": replication, "method": method}
    return {**task, "estimates": limits}


@pytest.mark.parametrize("name", designs())
def test_only_the_named_columns_are_missing_and_by_the_named_share(name):
    design = designs()[name]
    complete, incomplete = design.tables(0)
    shares = incomplete.isna().mean()
    expected = {column: share for column, (_, _, share) in design.missing.items()}
    assert shares[shares > 0].round(2).to_dict() == expected
    assert not complete.isna().any(axis=None)
    assert complete.equals(design.tables(0)[0])


def test_true_values_are_those_of_the_model():
    truths = designs()["linear"].truths
    assert truths["mean of y"] == pytest.approx(1, abs=0.01)
    assert truths["share of b"] == pytest.approx(0.5, abs=0.005)
    assert truths["slope of y on x1"] == pytest.approx(0.5, abs=0.01)
    assert truths["slope of y on x2"] == pytest.approx(0.8, abs=0.01)
    assert designs()["non-linear"].truths["slope of y on x1 x2"] == pytest.approx(0.5, abs=0.01)
    assert designs()["mixed"].truths["slope of y on x1 in c"] == pytest.approx(0.8, abs=0.02)


def test_intervals_of_complete_tables_cover():
    runs = [
        {
            "design": name,
            "replication": seed,
            "method": coverage.TRUTH,
            **coverage.run_design(design, coverage.TRUTH, seed),
        }
        for name, design in designs().items()
        for seed in range(100)
    ]
    found = coverage.summary(runs)
    for name in designs():
        assert 0.92 <= found[name][coverage.TRUTH]["mean_coverage"] <= 0.98


def test_a_correlation_of_normal_columns_has_the_known_error():
    x, y = np.random.default_rng(0).normal(size=(2, 50_000))
    found = Quantity("correlation", ("x", "y")).estimate({"x": x, "y": x + y})
    assert found.variance == pytest.approx(1 / 49_997, rel=0.05)


def test_coverage_and_widths_stand_on_the_same_tables():
    runs = [
        run("complete", 0, 0.0, 1.0),
        run("r-mice", 0, 0.0, 2.0),
        run("mice", 0, -1.0, 2.0),
        run("mice", 1, 8.0, 9.0),  # nothing beside it
    ]
    found = coverage.summary(runs)["linear"]
    assert found["mice"]["mean_coverage"] == 0.5
    assert found["mice"]["width_over_complete"] == 3
    assert found["mice"]["width_over_r-mice"] == 1.5
    assert found["complete"]["quantities"]["mean of y"]["bias"] == pytest.approx(-0.5, abs=0.01)


def test_the_commands_make_all_runs():
    runs = [run("mice", 1, 0, 1), run("em", 0, 0, 1), run("em", 1, 0, 1), run("r-mice", 0, 0, 1)]
    both, one = [entry["command"] for entry in coverage.commands(runs)]
    assert both.endswith("--methods=mice,em --designs=linear --replications=2")
    assert one.endswith("--methods=r-mice --designs=linear --replications=1")


def test_what_is_recorded_is_not_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr(coverage, "RUNS", tmp_path / "runs.jsonl")
    monkeypatch.setattr("benchmarks.recording.RESULTS", tmp_path)
    flags = ["--methods=complete,complete-cases", "--designs=linear", "--replications=2"]
    coverage.main(flags)
    coverage.main(flags)
    assert len(coverage.RUNS.read_text().splitlines()) == 4
    written = json.loads((tmp_path / "coverage.json").read_text())
    assert written["designs"]["linear"]["complete"]["replications"] == 2


def test_a_package_that_is_not_there_is_left_out_with_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(coverage, "RUNS", tmp_path / "runs.jsonl")
    monkeypatch.setattr("benchmarks.recording.RESULTS", tmp_path)
    monkeypatch.setattr(coverage, "worker_command", lambda folder: f"There is no {folder}.")
    coverage.main(["--methods=r-mice,complete", "--designs=linear", "--replications=1"])
    assert "r-mice: There is no mice." in capsys.readouterr().out
    assert len(coverage.RUNS.read_text().splitlines()) == 1


def test_a_package_imputes_as_often_as_our_methods():
    design = designs()["mixed"]
    _, incomplete = design.tables(0)
    imputations = coverage.impute("sklearn-iterative", incomplete, design.roles(), seed=0)
    assert len(imputations) == coverage.N_IMPUTATIONS
    assert not imputations[0].equals(imputations[1])


def test_true_values_have_the_shapes():
    figures = coverage.run_distribution(coverage.TRUTH, 0)["figures"]
    assert figures["lognormal: share at the bounds"] < 0.02
    assert figures["two peaks: share between them"] == 0
    assert figures["growing spread: SD ratio, high x over low x"] > 3
    assert figures["three categories: share of a"] == pytest.approx(0.82, abs=0.1)
    assert all(table.incomplete["v"].isna().any() for table in shape_tables(0))


@pytest.mark.parametrize("method", ["em", "mice", "few-trees"])
def test_intervals_of_proper_imputations_cover(method, monkeypatch):
    """A short version of the benchmark: 30 tables, six intervals each."""
    monkeypatch.setattr(coverage, "N_IMPUTATIONS", 5)
    few_trees = ("pmae", {"preset": "fast", "n_trees": 10})
    monkeypatch.setitem(VARIANTS, "few-trees", few_trees)
    design = designs()["linear"]
    runs = [
        {
            "design": "linear",
            "replication": seed,
            "method": method,
            **coverage.run_design(design, method, seed),
        }
        for seed in range(30)
    ]
    found = coverage.summary(runs)["linear"][method]
    assert found["mean_coverage"] > 0.88
    assert found["lowest_coverage"] > 0.75


def test_a_model_that_is_taken_as_exact_has_narrower_intervals(monkeypatch):
    design = designs()["linear"]

    def width() -> float:
        found = [coverage.run_design(design, "em", seed)["estimates"] for seed in range(8)]
        return sum(high - low for one in found for _, low, high in one.values())

    proper = width()
    monkeypatch.setattr(CategoryErrors, "drawn", lambda self, rng: self)
    monkeypatch.setattr(NumberErrors, "drawn", lambda self, rng: self)

    assert width() < 0.95 * proper
