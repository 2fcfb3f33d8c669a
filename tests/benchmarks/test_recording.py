"""Records of runs, one per line: several processes append, and each may be killed."""

import json
import subprocess
from datetime import date

import pytest

from benchmarks import recording
from benchmarks.recording import append_records, commit, read_records, write_result

RECORDS = [{"method": "em", "seed": seed, "score": 0.5} for seed in range(3)]


def test_records_come_back(tmp_path, capsys):
    path = tmp_path / "runs.jsonl"
    assert read_records(path) == []
    append_records(path, RECORDS[:1])
    append_records(path, RECORDS[1:])
    assert read_records(path) == RECORDS
    assert len(path.read_text().splitlines()) == 3
    assert capsys.readouterr().out == ""


def test_half_a_line_costs_its_run_alone(tmp_path, capsys):
    path = tmp_path / "runs.jsonl"
    append_records(path, RECORDS[:2])
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[1]
    for n_lost in range(1, len(last)):
        path.write_bytes(whole[:-n_lost])
        found = read_records(path)
        assert found == RECORDS[: 2 if n_lost == 1 else 1]  # the line break alone is no loss
        append_records(path, RECORDS[2:])
        assert read_records(path) == [*found, RECORDS[2]]
    assert "Line 2 of runs.jsonl is damaged; its run is repeated." in capsys.readouterr().out


@pytest.fixture
def checkout(tmp_path):
    """Return a repository with code and a result, and a function that runs git in it."""
    (tmp_path / "results").mkdir()
    for name in ("code.py", "results/a.json"):
        (tmp_path / name).write_text("1")

    def git(*arguments):
        author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", tmp_path, *author, *arguments], check=True, timeout=60)

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--no-gpg-sign", "--message=First")
    return tmp_path


def test_a_changed_result_makes_no_checkout_dirty_but_changed_code_does(checkout):
    clean = commit(checkout)
    assert clean not in ("", "unknown")
    (checkout / "results" / "a.json").write_text("2")
    assert commit(checkout / "results") == clean
    (checkout / "code.py").write_text("2")
    assert commit(checkout) == commit(checkout / "results") == f"{clean}-dirty"


def test_without_git_the_checkout_is_unknown(tmp_path, monkeypatch):
    assert commit(tmp_path) == "unknown"
    monkeypatch.setattr(recording.shutil, "which", lambda name: None)
    assert commit(tmp_path) == "unknown"


def test_a_result_says_when_it_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "RESULTS", tmp_path / "results")
    write_result("a", {"what": "something", "runs": []})
    written = json.loads((tmp_path / "results" / "a.json").read_text())
    assert list(written) == ["what", "runs", "written"]
    assert date.fromisoformat(written["written"]["on"]) <= date.today()
    assert written["written"]["commit"]
