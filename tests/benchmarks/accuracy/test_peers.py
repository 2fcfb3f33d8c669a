import json

import pytest

from benchmarks import other_packages, recording
from benchmarks.accuracy import peers
from benchmarks.environments import EnvironmentUnavailable
from pmae_core.errors import TableError

MICEFOREST = "miceforest-package"
GCIMPUTE = "gcimpute"


def run(table, method, accuracy, cpu_seconds=1.0, seed=0):
    outcome = {"status": "failed", "sentence": "ValueError"}
    if accuracy is not None:
        outcome = {
            "status": "done",
            "sentence": "",
            peers.ACCURACY: accuracy,
            "cpu_seconds": cpu_seconds,
            "peak_megabytes": 100.0,
            "libraries_megabytes": 50.0,
        }
    return {"table": table, "seed": seed, "max_rows": 300, "method": method, **outcome}


RUNS = [
    run("a", MICEFOREST, 40.0, cpu_seconds=4.0),
    run("b", MICEFOREST, 20.0, cpu_seconds=6.0),
    run("a", GCIMPUTE, 30.0),
    run("b", GCIMPUTE, None),
    run("a", "pmae-mix", 42.0),
    run("b", "pmae-mix", 19.0),
    run("a", "missforest", None),
]


@pytest.fixture
def results(tmp_path, monkeypatch):
    for module in (recording, peers):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    return tmp_path / "peers.json"


@pytest.fixture
def calls(results, monkeypatch):
    made = []

    def measure(impute, amputed, schema, seed, limit):
        made.append(impute.args[0])
        return {
            "status": "done",
            "sentence": "",
            peers.ACCURACY: 50.0,
            "cpu_seconds": 1.0,
            "peak_megabytes": 100.0,
            "libraries_megabytes": 50.0,
            "versions": {"numpy": "1"},
        }

    monkeypatch.setattr(peers, "measure", measure)
    return made


def small(*more):
    return ["--tables=diabetes", "--max-rows=60", "--methods=naive", *more]


def test_means_are_over_what_all_methods_share():
    found = peers.summary(RUNS)
    assert found["shared"] == [{"table": "a", "seed": 0}]
    lines = {line["method"]: line for line in found["methods"]}
    assert lines[MICEFOREST]["mean_accuracy_x100"] == 40
    assert lines[MICEFOREST]["mean_cpu_seconds"] == 4
    assert (lines[GCIMPUTE]["done"], lines[GCIMPUTE]["failed"]) == (1, 1)
    # Nothing finished: counted, but the others are still compared.
    assert (lines["missforest"]["done"], lines["missforest"]["failed"]) == (0, 1)
    assert lines["missforest"]["mean_accuracy_x100"] is None


def test_pairs_are_compared_on_all_that_both_finished():
    by_peer = {pair["against"]: pair for pair in peers.summary(RUNS)["pairs"]}
    assert by_peer[MICEFOREST]["tables_and_seeds"] == 2
    assert by_peer[MICEFOREST]["difference"] == pytest.approx(0.5)
    assert by_peer[MICEFOREST]["better_on"] == 1
    assert by_peer[GCIMPUTE]["tables_and_seeds"] == 1


def test_a_figure_that_a_run_lacks_has_no_mean():
    runs = [{**RUNS[0], "peak_megabytes": None}, RUNS[1]]
    (line,) = peers.summary(runs)["methods"]
    assert line["mean_peak_megabytes"] is None
    assert line["mean_cpu_seconds"] == 5


def test_a_summary_without_a_finished_run_is_no_error():
    found = peers.summary([run("a", GCIMPUTE, None)])
    assert (found["shared"], found["pairs"]) == ([], [])


def test_a_run_goes_on_where_it_was_stopped(results, calls):
    assert peers.main(small(f"--peers={MICEFOREST}")) == 0
    assert peers.main(small(f"--peers={MICEFOREST},gcimpute")) == 0
    assert calls == [MICEFOREST, "naive", "gcimpute"]
    written = json.loads(results.read_text())
    assert [run["method"] for run in written["runs"]] == [MICEFOREST, "naive", GCIMPUTE]
    assert written["versions"][GCIMPUTE] == {"numpy": "1"}
    assert f"--peers={MICEFOREST},gcimpute" in written["command"]
    assert "--methods=naive" in written["command"]


def test_anew_repeats_only_what_is_asked_for(results, calls):
    peers.main(small(f"--peers={MICEFOREST}"))
    peers.main(small("--peers=", "--anew"))
    assert calls == [MICEFOREST, "naive", "naive"]
    written = json.loads(results.read_text())
    assert [run["method"] for run in written["runs"]] == [MICEFOREST, "naive"]


def test_other_numbers_of_rows_are_kept_but_not_summarized(results, calls):
    peers.main(small("--peers="))
    peers.main(["--tables=diabetes", "--max-rows=50", "--methods=naive,em", "--peers="])
    written = json.loads(results.read_text())
    assert len(written["runs"]) == 3
    assert [line["done"] for line in written["summary"]["methods"]] == [1, 1]


def test_a_package_that_cannot_be_installed_is_skipped_and_tried_again(results, monkeypatch):
    tried = []

    def refuse(name):
        tried.append(name)
        raise EnvironmentUnavailable("No matching distribution found.")

    monkeypatch.setattr(other_packages, "environment", refuse)
    arguments = ["--tables=diabetes", "--max-rows=60", "--methods=", "--peers=gcimpute"]
    for _ in range(2):
        other_packages.worker_command.cache_clear()
        assert peers.main([*arguments, "--seeds=2"]) == 0
    other_packages.worker_command.cache_clear()
    assert tried == ["gcimpute", "gcimpute"]  # once per command, not once per table
    runs = json.loads(results.read_text())["runs"]
    assert [(run["status"], run["sentence"]) for run in runs] == [
        ("skipped", "No matching distribution found.")
    ] * 2


def test_a_table_that_cannot_be_loaded_is_skipped(results, monkeypatch):
    def refuse(name, max_rows, seed):
        raise TableError("There is no such file.")

    monkeypatch.setattr(peers, "load_table", refuse)
    assert peers.main(small("--peers=gcimpute")) == 0
    runs = json.loads(results.read_text())["runs"]
    assert [(run["method"], run["status"]) for run in runs] == [
        (GCIMPUTE, "skipped"),
        ("naive", "skipped"),
    ]


@pytest.mark.parametrize("wrong", ["--methods=nothing", "--peers=nothing", "--tables=nothing"])
def test_unknown_names_are_an_error(wrong, capsys):
    with pytest.raises(SystemExit):
        peers.main(["--methods=naive", wrong])
    assert "nothing" in capsys.readouterr().err


def test_our_method_runs_in_a_process_of_its_own(results):
    assert peers.main(small("--peers=")) == 0
    (found,) = json.loads(results.read_text())["runs"]
    assert found["status"] == "done", found["sentence"]
    assert found["cpu_seconds"] >= 0
    assert found["peak_megabytes"] >= found["libraries_megabytes"] > 10


def test_a_package_of_our_requirements_runs_in_a_process_of_its_own(results):
    packages = ["sklearn-knn", "sklearn-iterative"]
    peers.main([*small(f"--peers={','.join(packages)}"), "--methods="])
    found = json.loads(results.read_text())
    assert [(run["method"], run["status"]) for run in found["runs"]] == [
        (name, "done") for name in packages
    ]
    assert set(found["versions"]) == set(packages)


def test_libraries_are_those_that_a_method_needs(results):
    peers.main(["--tables=diabetes", "--max-rows=60", "--methods=pmae-fast,pmae-mix", "--peers="])
    fast, network = json.loads(results.read_text())["runs"]
    assert fast["status"] == network["status"] == "done"
    assert fast["libraries_megabytes"] < 0.8 * network["libraries_megabytes"]
