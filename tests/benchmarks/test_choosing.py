"""Choices of settings: measured one by one, resumed, and compared on the same tables."""

import json

import pytest

from benchmarks import choosing, recording
from benchmarks.accuracy import blend_choices, choices, wide_choices
from benchmarks.choosing import Choice, ChoiceBenchmark, parser
from pmae_core.imputers import make_imputer

EM = Choice(method="em", against="em")
SLOW = Choice(method="em", settings={"max_iter": 9}, against="em")
OLD = Choice(method="gone", against="em")


def run(dataset, choice, accuracy, **others):
    measured = {"imputation_accuracy": accuracy, "cpu_seconds": 2.0}
    return {"dataset": dataset, "seed": 0, "choice": choice, **measured, **others}


def benchmark(**choices):
    return ChoiceBenchmark(name="choices", what="x", choices=choices, shared=("tol",))


@pytest.fixture
def measure(tmp_path, monkeypatch):
    """Measure choices without fitting them; return what was fitted and what was written."""
    monkeypatch.setattr(recording, "RESULTS", tmp_path)
    fitted = []

    def score(imputer, held_out, schema):
        fitted.append((imputer.max_iter, imputer.tol))
        return {"imputation_accuracy": 10 * imputer.tol, "cpu_seconds": 1.0}

    def measure(benchmark, *arguments):
        fitted.clear()
        options = parser("x", datasets=["diabetes"], seeds=1, max_rows=100)
        options.add_argument("--tol", type=float, default=0.01)
        benchmark.measure(options.parse_args(arguments))
        written = tmp_path / f"{benchmark.name}.json"
        return list(fitted), json.loads(written.read_text()) if written.exists() else None

    monkeypatch.setattr(choosing, "score_held_out", score)
    return measure


def test_choices_are_compared_on_the_same_tables_only():
    runs = [
        *(run("a", "em", 0.40), run("b", "em", 0.20), run("a", "slow", 0.42)),
        *(run("b", "slow", 0.18), run("c", "slow", 0.99), run("a", "fast", 0.35)),
    ]

    found = {line["choice"]: line for line in benchmark(em=EM, slow=SLOW, fast=SLOW).summary(runs)}

    assert found["em"]["difference"] == 0
    assert found["slow"]["tables_and_seeds"] == 2
    assert found["slow"]["difference"] == pytest.approx(0)
    assert found["slow"]["standard_error"] == pytest.approx(2)
    assert found["slow"]["mean_cpu_seconds"] == 2
    assert found["fast"]["difference"] == pytest.approx(-5)
    assert found["fast"]["standard_error"] is None


def test_what_was_not_measured_has_no_line():
    assert benchmark(em=EM, slow=SLOW).summary([run("a", "slow", 0.4)]) == []


def test_a_run_goes_on_where_it_was_stopped(measure):
    usual = make_imputer("em").max_iter
    assert measure(benchmark(em=EM))[0] == [(usual, 0.01)]

    fitted, written = measure(benchmark(em=EM, slow=SLOW))

    assert fitted == [(9, 0.01)]
    assert [line["choice"] for line in written["summary"]] == ["em", "slow"]
    assert written["command"].endswith(
        "choices --datasets=diabetes --seeds=1 --max-rows=100 --tol=0.01"
    )


def test_a_summary_is_of_runs_with_the_same_options(measure):
    measure(benchmark(em=EM), "--tol=0.05", "--seeds=2")

    _, written = measure(benchmark(em=EM))

    assert len(written["runs"]) == 3
    assert [line["mean_accuracy"] for line in written["summary"]] == [10.0]


def test_runs_of_a_retired_method_stay(measure, tmp_path):
    kept = run("diabetes", "old", 0.3, max_rows=100, tol=0.01)
    again = run("diabetes", "em", 0.9, max_rows=100, tol=0.01)
    (tmp_path / "choices.json").write_text(json.dumps({"runs": [kept, again]}))
    retiring = ChoiceBenchmark(
        name="choices", what="x", choices={"em": EM}, retired={"old": OLD}, shared=("tol",)
    )

    fitted, written = measure(retiring, "--anew")

    assert len(fitted) == 1
    assert [line["choice"] for line in written["summary"]] == ["em", "old"]
    assert written["summary"][1]["difference"] == pytest.approx(20)


every_benchmark = pytest.mark.parametrize(
    "module", [choices, blend_choices, wide_choices], ids=lambda module: module.__name__
)


@every_benchmark
def test_every_choice_can_be_made_and_compared(module):
    for choice in module.BENCHMARK.choices.values():
        make_imputer(choice.method, **choice.settings)._check_parameters()
    every = {**module.BENCHMARK.choices, **module.BENCHMARK.retired}
    assert {choice.against for choice in every.values()} <= set(module.BENCHMARK.choices)


@every_benchmark
def test_the_recorded_summary_is_that_of_the_recorded_runs(module):
    path = recording.RESULTS / f"{module.BENCHMARK.name}.json"
    recorded = json.loads(path.read_text())
    flags = dict(flag.split("=") for flag in recorded["command"].split() if "=" in flag)
    n_rows = int(flags["--max-rows"])
    runs = [one for one in recorded["runs"] if one["max_rows"] == n_rows]
    found = json.loads(json.dumps(module.BENCHMARK.summary(runs)))

    assert [{**new, **old} for new, old in zip(found, recorded["summary"], strict=True)] == found
