"""Other packages in processes of their own: what they get, what comes back, and what fails."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from benchmarks import environments, exchange, metering, other_packages
from benchmarks.coverage_designs import designs
from benchmarks.environments import EnvironmentUnavailable, environment
from benchmarks.other_packages import PEERS, RunFailed, RunSkipped, impute_with, run_worker
from pmae_core.errors import TableError
from pmae_core.table import Schema
from tests.support.paths import ROOT

REQUIREMENTS = sorted((ROOT / "benchmarks" / "peers").rglob("requirements.txt"))


@pytest.fixture
def table():
    columns = {
        "number, with a comma": [0.1, 1 / 3, None, 4.0],
        "letter": pd.Categorical(["b", None, "a", "b"], categories=["c", "b", "a"]),
        "yes": pd.array([True, None, False, True], dtype="boolean"),
        "same": pd.Categorical(["s", "s", None, "s"]),
    }
    return pd.DataFrame(columns, index=[3, 5, 8, 9])


def worker(tmp_path, monkeypatch, code, limit=60.0):
    (tmp_path / "worker.py").write_text(code)
    monkeypatch.setattr(other_packages, "ROOT", tmp_path)
    with pytest.raises(RunFailed) as error:
        run_worker([sys.executable, "-m", "worker"], tmp_path, limit)
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
    (imputed,) = exchange.read_plain(tmp_path, table, schema)
    assert imputed.index.equals(table.index)
    assert imputed.loc[8].tolist() == [2.5, "a", False, "s"]
    assert imputed.loc[5].tolist() == [1 / 3, "c", True, "s"]


def test_a_code_that_no_category_has_stays_missing(table, tmp_path):
    schema = Schema.infer(table, roles={"number, with a comma": "numerical", "same": "categorical"})
    exchange.write_plain(tmp_path, table, schema)
    given = pd.read_csv(tmp_path / "table.csv")
    given.fillna(0.5).to_csv(tmp_path / "imputed.csv", index=False)
    (imputed,) = exchange.read_plain(tmp_path, table, schema)
    assert pd.isna(imputed.loc[5, "letter"])


def test_dates_are_not_handed_to_other_packages(tmp_path):
    table = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=30)})
    with pytest.raises(TableError, match="day"):
        exchange.write_plain(tmp_path, table, Schema.infer(table))


def test_several_imputations_stand_one_below_the_other(table, tmp_path):
    schema = Schema.infer(table, roles={"number, with a comma": "numerical", "same": "categorical"})
    exchange.write_plain(tmp_path, table, schema)
    assert exchange.categorical_codes(tmp_path) == ["x1", "x2"]
    given = pd.read_csv(tmp_path / "table.csv")
    drawn = [given.fillna({"x0": number, "x1": 0, "x2": 1}) for number in (2.5, 3.5)]
    pd.concat(drawn).to_csv(tmp_path / "imputed.csv", index=False)
    first, second = exchange.read_plain(tmp_path, table, schema)
    assert (first.loc[8, "number, with a comma"], second.loc[8, "number, with a comma"]) == (
        2.5,
        3.5,
    )
    assert first.drop(columns="number, with a comma").equals(
        second.drop(columns="number, with a comma")
    )


def test_imputations_are_pooled_to_means_and_majorities(table):
    schema = Schema.infer(table, roles={"number, with a comma": "numerical", "same": "categorical"})
    draws = [
        table.assign(**{"number, with a comma": number, "letter": letter})
        for number, letter in ((1.0, "b"), (2.0, "a"), (6.0, "a"))
    ]
    pooled = other_packages.pooled(draws, schema)
    assert pooled["number, with a comma"].tolist() == [3.0] * 4
    assert pooled["letter"].tolist() == ["a"] * 4


def test_workers_of_other_packages_do_not_import_ours():
    for path in (ROOT / "benchmarks" / "peers").rglob("*.py"):
        if path.parent.name != "ours":
            assert "pmae_core" not in path.read_text()
    for name in ("metering.py", "plain_worker.py"):
        assert "pmae_core" not in (ROOT / "benchmarks" / name).read_text()


@pytest.mark.parametrize("requirements", REQUIREMENTS, ids=lambda path: path.parent.name)
def test_requirements_are_pinned(requirements):
    lines = requirements.read_text().split()
    assert lines and all("==" in line for line in lines)


@pytest.mark.skipif(not other_packages.has_r_mice(), reason="needs R with its package mice")
def test_r_mice_imputes_and_keeps_observed_cells():
    design = designs()["mixed"]
    _, incomplete = design.tables(0)
    schema = Schema.infer(incomplete, roles=design.roles())
    imputations, cost = impute_with(PEERS["r-mice"], incomplete, schema, 0, n_imputations=3)
    assert len(imputations) == 3
    assert not imputations[0].equals(imputations[1])
    for imputed in imputations:
        assert list(imputed) == list(incomplete)
        assert not imputed.isna().any(axis=None)
        # R writes 15 digits.
        pd.testing.assert_frame_equal(imputed.mask(incomplete.isna()), incomplete, rtol=1e-12)
    assert set(cost["versions"]) == {"R", "mice"}
    assert cost["peak_megabytes"] >= cost["libraries_megabytes"]


def test_without_r_its_package_is_skipped_with_a_sentence(table, monkeypatch):
    monkeypatch.setattr(other_packages.shutil, "which", lambda name: None)
    for cached in (other_packages.has_r_mice, other_packages.worker_command):
        cached.cache_clear()
    with pytest.raises(RunSkipped, match="apt-get install"):
        impute_with(PEERS["r-mice"], table, Schema.infer(table), 0)
    for cached in (other_packages.has_r_mice, other_packages.worker_command):
        cached.cache_clear()


def test_an_error_of_r_is_said_on_one_line():
    said = "Loading\nError in mice(table) : \n  too few rows\nCalls: mice\nExecution halted\n"
    finished = subprocess.CompletedProcess([], 1, stdout="", stderr=said)
    assert other_packages.error_sentence(finished) == "Error in mice(table) : too few rows"


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
