"""Every file of results says how it was made, and the page "What we measured" names it."""

import importlib.util
import json
import shlex

import pytest
import typer

from pmae_core.cli.app import app
from pmae_core.replication.experiments import EXPERIMENTS
from tests.support.paths import ROOT
from tools import docs as hooks
from tools import findings, results

FILES = sorted(path for path in hooks.RESULTS.iterdir() if not path.name.startswith("."))
SUMMARIES = [path for path in FILES if path.suffix == ".json"]


def page():
    text = (ROOT / "docs" / "measured.md").read_text(encoding="utf-8")
    return hooks.PLACEHOLDER.sub(hooks.replaced_comment, text)


def is_made_by(command, stem):
    """Whether a command exists and makes the result of this name."""
    words = shlex.split(command)
    if words[:2] == ["python", "-m"]:
        package, _, name = words[2].rpartition(".")
        if not package.startswith("benchmarks.") or not has_main(words[2]):
            return False
        return stem in (name, experiment_of(words[2]))
    is_experiment = words[:2] == ["pmae", "benchmark"] and words[2] in EXPERIMENTS
    return is_experiment and stem == f"paper_{words[2]}" and has_options(words[3:])


def has_main(module):
    return importlib.util.find_spec(module) is not None


def experiment_of(module):
    """The result that a benchmark adds to instead of writing its own."""
    experiment = getattr(importlib.import_module(module), "EXPERIMENT", None)
    return f"paper_{experiment}"


def has_options(words):
    command = typer.main.get_command(app).commands["benchmark"]
    known = {option for param in command.params for option in param.opts}
    return {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("path", SUMMARIES, ids=lambda path: path.stem)
def test_a_result_names_the_commands_that_made_it(path):
    commands = list(findings.commands(json.loads(path.read_text(encoding="utf-8"))))
    assert commands
    assert [one for one in commands if not is_made_by(one, path.stem)] == []


@pytest.mark.parametrize(
    "wrong",
    [
        "python -m benchmarks.accuracy.no_such_benchmark",
        "python -m benchmarks.accuracy.blend",
        "pmae benchmark no_such_experiment",
        "pmae benchmark table2 --no-such-option 3",
    ],
)
def test_other_commands_are_noticed(wrong):
    assert not is_made_by(wrong, "paper_table2")
    assert not is_made_by(wrong, "no_such_benchmark")


def test_the_page_names_every_file_of_results():
    text = page()
    assert [path.name for path in FILES if f"`{path.name}`" not in text] == []


def test_the_page_has_the_command_of_every_result():
    text = page()
    for path in SUMMARIES:
        for command in findings.commands(json.loads(path.read_text(encoding="utf-8"))):
            assert command in text


def test_a_finding_without_results_says_so_and_shows_no_figure(tmp_path):
    for name in findings.SECTIONS:
        blocks = findings.section(name, tmp_path).split("\n\n")
        assert len(blocks) == len(findings.SECTIONS[name])
        assert all(block.endswith("Not measured yet.") for block in blocks)


def test_figures_of_a_finding_are_those_of_its_file(tmp_path):
    fit = {"rows": 1000, "columns": 50, "seconds": 75.0, "peak_in_tables": 2.5, "cpu_seconds": 130}
    smaller = {**fit, "rows": 10, "seconds": 5.0, "cpu_seconds": 10}
    result = {
        "command": "python -m benchmarks.speed.blend_scale",
        "runs": [fit, smaller],
        "written": {"on": "2030-01-02", "commit": "abc", "cores": 4, "python": "3.12.1"},
    }
    (tmp_path / "blend_scale.json").write_text(json.dumps(result))
    text = findings.section("speed", tmp_path)
    assert "1,000 × 50 in 1 min 15 s, with 2.5 times the memory" in text
    assert "Its runs took 2 min 20 s of processor time." in text
    assert "Written on 2030-01-02 at `abc` with 4 cores and Python 3.12.1." in text
    assert "```text\npython -m benchmarks.speed.blend_scale\n```" in text


def test_commands_are_found_wherever_they_stand():
    result = {"runs": [{"command": "a"}, {"settings": {"command": "b"}}], "command": "c"}
    assert sorted(findings.commands(result)) == ["a", "b", "c"]


def test_packages_stand_beside_their_coverage_and_failures_are_said(tmp_path):
    def line(method, accuracy, failed=0):
        return {
            **{"method": method, "done": 2, "failed": failed, "skipped": 0},
            **{"mean_accuracy_x100": accuracy, "mean_cpu_seconds": 1.25},
            **{"mean_peak_megabytes": None, "mean_libraries_megabytes": 90.0},
        }

    failure = {"method": "low", "table": "crime", "status": "failed", "sentence": "ValueError"}
    lines = [line("low", 10.0, failed=1), line("high", 20.0)]
    peers = {"summary": {"methods": lines}, "runs": [failure, {"status": "done"}]}
    (tmp_path / "peers.json").write_text(json.dumps(peers))
    assert "BENCHMARKS=accuracy.coverage" in results.words("peers", tmp_path)
    found = {
        "high": {"replications": 50, "mean_coverage": 0.9},
        "other": {"replications": 200, "mean_coverage": 0.95},
    }
    designs = {"designs": {"linear": found, "distribution": {}}}
    (tmp_path / "coverage.json").write_text(json.dumps(designs))
    table, failures = results.words("peers", tmp_path).split("\n\n")
    assert table.splitlines()[2:] == [
        "| `high` | 2 of 2 | 20.0 | 90.0% (50) | 1.2 | – (90) |",
        "| `low` | 2 of 3 | 10.0 | – | 1.2 | – (90) |",
    ]
    assert failures == "- `low` failed on crime: ValueError"
