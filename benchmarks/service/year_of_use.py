"""Does the disk return to its level: a year in which 1,000 workspaces come and go?

Each workspace uploads a table, runs jobs with results, and is used for some days. Time passes by
making everything in the home older, so nobody waits and the clean-up is that of the server.

python -m benchmarks.service.year_of_use
"""

from __future__ import annotations

import argparse
import io
import os
import platform
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.recording import write_result
from dashboard.classroom.store import ClassQuestion, Desk
from dashboard.data import uploads
from dashboard.shell.collection import collect_home
from dashboard.state.one_time_codes import create_code
from dashboard.state.workspace import Workspace
from pmae_core.jobs import JobSpec, JobState, JobStore, ProcessId
from pmae_core.storage.disk import bytes_of
from tests.support.aging import age

DAY = 86400.0
DAYS_OF_USE = 5
# As sent, and as opened by many: the same content is stored once.
SHARE_WITH_SAMPLE = 0.3
QUESTION = ClassQuestion(lesson="patterns", seed=1, settings={}, right="a")


@dataclass
class Year:
    """A home over time, and what was measured in it."""

    home: Path
    random: random.Random
    sample: pd.DataFrame
    visitors: list[tuple[Workspace, int]] = field(default_factory=list)
    n_created: int = 0
    days: list[dict[str, int]] = field(default_factory=list)
    collection_seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store = JobStore(self.home)

    def pass_day(self, n_new: int) -> None:
        """Let visitors come and work, clean up, and let a day pass."""
        for _ in range(n_new):
            self.visitors.append((Workspace.create(self.home), self.random.randint(1, DAYS_OF_USE)))
            self.n_created += 1
        for workspace, _ in self.visitors:
            workspace.touch()
            work(self, workspace)
        self.visitors = [(one, left - 1) for one, left in self.visitors if left > 1]
        started = time.perf_counter()
        collect_home(self.home)
        self.collection_seconds.append(time.perf_counter() - started)
        self.days.append(taken(self.home))
        age(self.home, DAY)


def work(year: Year, workspace: Workspace) -> None:
    """Do what a visitor does on a day: send a table or open the sample, and start runs."""
    is_sample = year.random.random() < SHARE_WITH_SAMPLE
    table = year.sample if is_sample else a_table(year.random.getrandbits(32))
    content = table.to_csv(index=False).encode()
    uploads.receive(workspace, io.BytesIO(content), "table.csv")
    workspace.save_table(table, name="table.csv", source="a visitor")
    workspace.update("masking", a=year.random.random())
    state = year.random.choice([JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED])
    run(year.store, workspace, state)
    if year.random.random() < 0.1:
        create_code(workspace, year.home)
        Desk.start(QUESTION, year.home, rows=table.head(20))
    if year.random.random() < 0.1:  # a process that died while it wrote
        (workspace.folder / "state" / ".table.json.unfinished").write_bytes(bytes(1000))
        (year.store.paths.tables / ".unfinished.tmp").write_bytes(bytes(1000))


def run(store: JobStore, workspace: Workspace, state: JobState) -> None:
    """Submit a run on the open table, and bring it to an end with files of a result."""
    table = workspace.table()
    assert table is not None
    digest = store.copy_table(workspace.tables, workspace.store_content(table), workspace.id)
    spec = JobSpec.make("impute", params={"method": "naive"}, table=digest, schema=table.schema)
    end(store, store.submit(spec, workspace.id).id, state)


def end(store: JobStore, job_id: str, state: JobState) -> None:
    claim = store.claim_next("local", running_limit=9, gpu_limit=0, owner=ProcessId.current())
    assert claim is not None and claim[0].id == job_id
    record, token = claim
    (record.folder / "result").mkdir()
    (record.folder / "result" / "imputed.parquet").write_bytes(os.urandom(20_000))
    store.append_events(job_id, token, [("progress", {"step": step}) for step in range(20)])
    store.finish(job_id, token, state, result={"score": 0.5})


def a_table(seed: int, n_rows: int = 200) -> pd.DataFrame:
    values = np.random.default_rng(seed).normal(size=(n_rows, 5)).round(3)
    return pd.DataFrame(values, columns=[f"measurement {n}" for n in range(5)])


def taken(home: Path) -> dict[str, int]:
    """Return what a home takes: bytes and files on disk, and rows in the database."""
    files = [path for path in home.rglob("*") if path.is_file()]
    with sqlite3.connect(home / "jobs.sqlite") as connection:
        n_jobs = connection.execute("SELECT count(*) FROM jobs").fetchone()[0]
    connection.close()
    n_workspaces = len(list((home / "workspaces").glob("*")))
    return {
        "bytes": bytes_of(home),
        "files": len(files),
        "jobs": n_jobs,
        "workspaces": n_workspaces,
    }


def lasting_users(year: Year) -> None:
    """Add what must be there after the year: a job of the command line, which has no workspace."""
    spec = JobSpec.make(
        "impute", params={"method": "naive"}, table=year.store.put_table(year.sample)
    )
    end(year.store, year.store.submit(spec).id, JobState.SUCCEEDED)


def simulate(
    home: Path, n_workspaces: int, n_days: int, *, days_kept: int = 30, seed: int = 0
) -> dict[str, Any]:
    """Let workspaces come over some days, then wait until the last of them is removed.

    Parameters
    ----------
    home
        A new folder.
    n_workspaces, n_days
        How many come, and over how many days.
    days_kept
        After how many days without use they are removed.
    seed
        Of what visitors do.
    """
    with _home_is(home, days_kept):
        year = Year(home, random.Random(seed), a_table(0))
        lasting_users(year)
        # Samples that are opened once more are stored already.
        collect_home(home)
        before = taken(home)
        for day in range(n_days):
            due = n_workspaces * (day + 1) // n_days
            year.pass_day(due - year.n_created)
        while len(list((home / "workspaces").glob("*"))) or year.visitors:
            year.pass_day(0)
            assert len(year.days) < n_days + DAYS_OF_USE + days_kept + 3, "some stay"
        collect_home(home)
        after = taken(home)
        kept = [record.workspace for record in year.store.jobs()]
        year.store.close()
    seconds = year.collection_seconds
    return {
        "workspaces": year.n_created,
        "days": len(year.days),
        "before": before,
        "most": {name: max(day[name] for day in year.days) for name in before},
        "every_30_days": year.days[::30],
        "after": after,
        "owners_of_jobs_after": sorted(set(kept)),
        "clean_up_seconds": {
            "median": round(float(np.median(seconds)), 3),
            "most": round(max(seconds), 3),
        },
    }


def returned(result: dict[str, Any]) -> bool:
    """Return whether the disk is at its level again; a database has some spare pages."""
    before, after = result["before"], result["after"]
    same = all(after[name] == before[name] for name in ("files", "jobs", "workspaces"))
    return same and after["bytes"] <= 1.1 * before["bytes"]


@contextmanager
def _home_is(home: Path, days_kept: int) -> Iterator[None]:
    """Let the dashboard use a home, and keep its workspaces for some days."""
    before = dict(os.environ)
    os.environ.update(PMAE_HOME=str(home), PMAE_WORKSPACE_DAYS=str(days_kept))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def main(arguments: list[str] | None = None) -> int:
    """Simulate, print and write; return 1 if the disk does not return to its level."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workspaces", type=int, default=1000)
    parser.add_argument("--days", type=int, default=365)
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        measured = simulate(Path(folder) / "home", options.workspaces, options.days)
    result = {
        "what": "a simulated year of the dashboard: what its home takes while workspaces come and "
        "go, and when the last of them is removed",
        "command": "python -m benchmarks.service.year_of_use",
        "settings": vars(options),
        "machine": {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
        },
        "seconds": round(time.perf_counter() - started),
        **measured,
        "disk_returned_to_its_level": returned(measured),
    }
    for name in ("before", "most", "after", "clean_up_seconds"):
        print(f"{name:18}{result[name]}")
    write_result("year_of_use", result)
    return int(not result["disk_returned_to_its_level"])


if __name__ == "__main__":
    sys.exit(main())
