import json

import pytest

from benchmarks import recording
from benchmarks.accuracy import choices
from benchmarks.accuracy.choices import main, summary

RUNS = [
    {"dataset": dataset, "seed": 0, "choice": choice, "imputation_accuracy": accuracy}
    for dataset, choice, accuracy in (
        ("a", "as it is", 0.40),
        ("b", "as it is", 0.20),
        ("a", "width 64", 0.42),
        ("b", "width 64", 0.18),
        ("c", "width 64", 0.99),
        ("a", "dropout 0.1", 0.35),
    )
]


def test_choices_are_compared_on_the_same_tables_only():
    found = {line["choice"]: line for line in summary(RUNS)}
    assert set(found) == {"as it is", "width 64", "dropout 0.1"}
    assert found["as it is"]["difference"] == 0
    assert found["width 64"]["tables_and_seeds"] == 2
    assert found["width 64"]["difference"] == pytest.approx(0)
    assert found["width 64"]["standard_error"] == pytest.approx(2)
    assert found["dropout 0.1"]["difference"] == pytest.approx(-5)
    assert found["dropout 0.1"]["standard_error"] is None


def test_a_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    fitted = []

    def measure(held_out, schema, preset, seed, choice):
        fitted.append(choice)
        return {"imputation_accuracy": 0.5, "cpu_seconds": 1.0}

    for module in (recording, choices):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    monkeypatch.setattr(choices, "measure", measure)
    arguments = ["--datasets=diabetes", "--seeds=1"]
    monkeypatch.setattr(choices, "CHOICES", {"as it is": {}})
    assert main(arguments) == 0
    monkeypatch.setattr(choices, "CHOICES", {"as it is": {}, "width 64": {"width": 64}})
    assert main(arguments) == 0
    assert fitted == ["as it is", "width 64"]
    written = json.loads((tmp_path / "choices.json").read_text())
    assert [line["choice"] for line in written["summary"]] == ["as it is", "width 64"]


def test_a_summary_is_of_one_preset_alone(tmp_path, monkeypatch):
    def measure(held_out, schema, preset, seed, choice):
        return {"imputation_accuracy": 0.5 if preset == "fast" else 0.1, "cpu_seconds": 1.0}

    for module in (recording, choices):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    monkeypatch.setattr(choices, "measure", measure)
    monkeypatch.setattr(choices, "CHOICES", {"as it is": {}})
    for preset, seeds in (("balanced", 2), ("fast", 1)):
        assert main(["--datasets=diabetes", f"--seeds={seeds}", f"--preset={preset}"]) == 0
    written = json.loads((tmp_path / "choices.json").read_text())
    assert len(written["runs"]) == 3
    assert [line["mean_accuracy"] for line in written["summary"]] == [50.0]
