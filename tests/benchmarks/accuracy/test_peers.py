import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from benchmarks import environments, exchange, metering, recording
from benchmarks.accuracy import peers
from benchmarks.environments import EnvironmentUnavailable, environment
from pmae_core.errors import TableError
from pmae_core.table import Schema
from tests.support.paths import ROOT

MICEFOREST = peers.label("miceforest")
GCIMPUTE = peers.label("gcimpute")


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


@pytest.fixture
def table():
    columns = {
        "number, with a comma": [0.1, 1 / 3, None, 4.0],
        "letter": pd.Categorical(["b", None, "a", "b"], categories=["c", "b", "a"]),
        "yes": pd.array([True, None, False, True], dtype="boolean"),
        "same": pd.Categorical(["s", "s", None, "s"]),
    }
    return pd.DataFrame(columns, index=[3, 5, 8, 9])


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


def test_a_summary_without_a_finished_run_is_no_error():
    found = peers.summary([run("a", GCIMPUTE, None)])
    assert (found["shared"], found["pairs"]) == ([], [])


def test_a_run_goes_on_where_it_was_stopped(results, calls):
    assert peers.main(small("--peers=miceforest")) == 0
    assert peers.main(small("--peers=miceforest,gcimpute")) == 0
    assert calls == ["miceforest", "naive", "gcimpute"]
    written = json.loads(results.read_text())
    assert [run["method"] for run in written["runs"]] == [MICEFOREST, "naive", GCIMPUTE]
    assert written["versions"][GCIMPUTE] == {"numpy": "1"}
    assert "--peers=miceforest,gcimpute" in written["command"]
    assert "--methods=naive" in written["command"]


def test_anew_repeats_only_what_is_asked_for(results, calls):
    peers.main(small("--peers=miceforest"))
    peers.main(small("--peers=", "--anew"))
    assert calls == ["miceforest", "naive", "naive"]
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

    monkeypatch.setattr(peers, "environment", refuse)
    arguments = ["--tables=diabetes", "--max-rows=60", "--methods=", "--peers=gcimpute"]
    for _ in range(2):
        peers.made_environment.cache_clear()
        assert peers.main([*arguments, "--seeds=2"]) == 0
    peers.made_environment.cache_clear()
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


def worker(tmp_path, monkeypatch, code, limit=60.0):
    (tmp_path / "worker.py").write_text(code)
    monkeypatch.setattr(peers, "ROOT", tmp_path)
    with pytest.raises(peers.RunFailed) as error:
        peers.run_worker(sys.executable, "worker", tmp_path, [], limit)
    return str(error.value)


def test_a_failed_run_says_the_first_line_of_the_error(tmp_path, monkeypatch):
    said = worker(tmp_path, monkeypatch, "raise ValueError('too few rows\\nand more')")
    assert said == "ValueError: too few rows"


def test_what_is_printed_before_an_error_is_kept(tmp_path, monkeypatch):
    said = worker(tmp_path, monkeypatch, "print('Remove it.')\nraise ValueError")
    assert said == "ValueError (printed: Remove it.)"


def test_a_process_that_dies_is_a_failed_run(tmp_path, monkeypatch):
    said = worker(tmp_path, monkeypatch, "import os\nos.kill(os.getpid(), 9)")
    assert "exit code -9" in said


def test_a_run_ends_at_its_time_limit(tmp_path, monkeypatch):
    said = worker(tmp_path, monkeypatch, "import time\ntime.sleep(60)", limit=1.0)
    assert said == "The run exceeded the time limit of 1 s."


def test_a_worker_has_one_thread_and_none_of_our_packages(tmp_path, monkeypatch):
    code = "import json, os, sys\nraise ValueError(json.dumps(dict(os.environ)))"
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    said = worker(tmp_path, monkeypatch, code)
    seen = json.loads(said.removeprefix("ValueError: "))
    assert "PYTHONPATH" not in seen
    assert seen["OMP_NUM_THREADS"] == "1"


def test_a_table_comes_back_from_another_package_with_its_names_and_categories(table, tmp_path):
    schema = Schema.infer(table, roles={"number, with a comma": "numerical", "same": "categorical"})
    assert exchange.write_plain(tmp_path, table, schema) == ["same"]
    given = pd.read_csv(tmp_path / "table.csv")
    roles = json.loads((tmp_path / "roles.json").read_text())
    assert roles == {"x0": "numerical", "x1": "categorical", "x2": "categorical"}
    assert given["x0"].tolist()[:2] == [0.1, 1 / 3]
    assert given["x1"].dropna().tolist() == [1, 2, 1]
    given.fillna({"x0": 2.5, "x1": 0, "x2": 1}).to_csv(tmp_path / "imputed.csv", index=False)
    imputed = exchange.read_plain(tmp_path, table, schema)
    assert imputed.index.equals(table.index)
    assert imputed.loc[8].tolist() == [2.5, "a", False, "s"]
    assert imputed.loc[5].tolist() == [1 / 3, "c", True, "s"]


def test_a_code_that_no_category_has_stays_missing(table, tmp_path):
    schema = Schema.infer(table, roles={"number, with a comma": "numerical", "same": "categorical"})
    exchange.write_plain(tmp_path, table, schema)
    given = pd.read_csv(tmp_path / "table.csv")
    given.fillna(0.5).to_csv(tmp_path / "imputed.csv", index=False)
    assert pd.isna(exchange.read_plain(tmp_path, table, schema).loc[5, "letter"])


def test_dates_are_not_handed_to_other_packages(tmp_path):
    table = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=30)})
    with pytest.raises(TableError, match="day"):
        exchange.write_plain(tmp_path, table, Schema.infer(table))


def test_workers_of_other_packages_do_not_import_ours():
    for peer in peers.PEERS:
        text = (ROOT / "benchmarks" / "peers" / peer / "impute.py").read_text()
        assert "pmae_core" not in text
    assert "pmae_core" not in (ROOT / "benchmarks" / "metering.py").read_text()


@pytest.mark.parametrize("peer", peers.PEERS)
def test_requirements_are_pinned(peer):
    lines = (ROOT / "benchmarks" / "peers" / peer / "requirements.txt").read_text().split()
    assert lines and all("==" in line for line in lines)


def test_an_environment_is_made_once_for_its_requirements(tmp_path, monkeypatch):
    made = []

    def pretend(name, command):
        made.append(command[2])
        (tmp_path / "build" / name).mkdir(parents=True, exist_ok=True)

    (tmp_path / "some").mkdir()
    requirements = tmp_path / "some" / "requirements.txt"
    requirements.write_text("some==1\n")
    monkeypatch.setattr(environments, "_run", pretend)
    monkeypatch.setattr(environments, "REQUIREMENTS", tmp_path)
    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path / "build")
    assert environment("some") == environment("some")
    assert made == ["venv", "pip"]
    requirements.write_text("some==2\n")
    environment("some")
    assert made == ["venv", "pip"] * 2


def test_an_environment_that_cannot_be_made_says_why(monkeypatch):
    def fail(command, **_):
        text = "WARNING: slow\nERROR: No matching distribution found for some==1\n"
        return subprocess.CompletedProcess(command, 1, stdout="", stderr=text)

    monkeypatch.setattr(environments.subprocess, "run", fail)
    with pytest.raises(EnvironmentUnavailable, match="No matching distribution found for some"):
        environments._run("some", ["pip"])


def test_memory_and_time_of_a_block_are_measured():
    with metering.metered() as cost:
        numbers = np.ones(30 * 2**20 // 8)
        while sum(numbers[:1000]) and cost.get("n", 0) < 200:
            cost["n"] = cost.get("n", 0) + 1
    assert cost["peak_megabytes"] >= cost["libraries_megabytes"]
    assert 0 <= cost["cpu_seconds"] <= cost["seconds"] + 1
