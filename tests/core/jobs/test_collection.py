"""Unused workspaces go with their jobs and tables, and nothing that anybody uses."""

import shutil
import time

import pytest

from pmae_core.jobs import JobSpec, JobState
from pmae_core.jobs.collection import collect
from pmae_core.storage.workspaces import LAST_USED, workspace_id, workspaces_folder
from tests.support.aging import age
from tests.support.job_states import run_through

DAY = 86400.0
DAYS = 30.0


@pytest.fixture
def visit(store):
    """Return a function that makes a workspace, as a visit does; it returns its folder."""

    def make(letter="a"):
        folder = workspaces_folder(store.home) / (letter * 32)
        folder.mkdir(parents=True)
        (folder / LAST_USED).touch()
        (folder / "upload").write_text("sent by a visitor")
        return folder

    return make


def job_of(store, table, folder_or_owner, state=JobState.SUCCEEDED):
    """Run a job of a workspace, or of another owner; return its id and its table."""
    owner = getattr(folder_or_owner, "name", None)
    owner = workspace_id(owner) if owner else folder_or_owner
    digest = store.put_table(table, owner)
    spec = JobSpec.make("impute", params={"method": "naive"}, table=digest)
    return run_through(store, spec, state, workspace=owner), digest


def test_an_unused_workspace_goes_with_its_jobs_and_tables(store, visit, small_table):
    folder = visit()
    job_id, digest = job_of(store, small_table, folder)
    (store.job(job_id).folder / "log.txt").write_text("x" * 1000)
    assert collect(store, unused_days=DAYS).workspaces == []

    age(store.home, 31 * DAY)
    would = collect(store, unused_days=DAYS, dry_run=True)
    assert folder.exists() and store.count() == 1
    report = collect(store, unused_days=DAYS)

    assert report == would
    assert report.workspaces == [workspace_id(folder.name)]
    assert (report.jobs, report.tables) == ([job_id], [digest])
    assert report.bytes_freed > 1000
    left = (folder.parent, store.paths.jobs, store.paths.tables)
    assert [list(place.iterdir()) for place in left] == [[], [], []]


def test_jobs_that_an_earlier_version_left_behind_go_as_well(store, visit, small_table):
    folder = visit()
    job_id, _ = job_of(store, small_table, folder)
    shutil.rmtree(folder)

    assert collect(store, unused_days=DAYS).jobs == []  # perhaps the workspace is just being made
    age(store.home, 31 * DAY)

    assert collect(store, unused_days=DAYS).jobs == [job_id]


def test_jobs_of_the_shell_and_of_library_users_stay(store, visit, small_table):
    kept = [job_of(store, small_table, owner)[0] for owner in ("local", "my-team", "a" * 31)]
    visit()

    age(store.home, 1000 * DAY)
    report = collect(store, unused_days=DAYS)

    assert (len(report.workspaces), report.jobs, report.tables) == (1, [], [])
    assert {record.id for record in store.jobs()} == set(kept)
    assert store.get_table(store.job(kept[0]).spec.table) is not None


def test_a_table_of_a_removed_workspace_stays_for_others(store, visit, small_table):
    unused, used = visit("a"), visit("b")
    _, digest = job_of(store, small_table, unused)
    _, same = job_of(store, small_table, used)
    assert digest == same

    age(store.home, 31 * DAY)
    (used / LAST_USED).touch()
    report = collect(store, unused_days=DAYS)

    assert (len(report.jobs), report.tables) == (1, [])
    assert store.get_table(digest, workspace_id(used.name)) is not None


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING])
def test_a_workspace_does_not_expire_while_its_job_waits_or_runs(store, visit, small_table, state):
    folder = visit()
    job_id, _ = job_of(store, small_table, folder, state)

    age(store.home, 31 * DAY)
    assert collect(store, unused_days=DAYS).workspaces == []
    # The visitor who comes back finds it.
    assert time.time() - (folder / LAST_USED).stat().st_mtime < 60
    assert store.job(job_id).state == state

    store.request_cancel(job_id)
    age(store.home, 31 * DAY)
    if state == JobState.QUEUED:
        assert len(collect(store, unused_days=DAYS).workspaces) == 1


def test_the_end_of_a_job_counts_as_use(store, visit, small_table):
    folder = visit()
    age(store.home, 29 * DAY)  # nobody came since, but a job ends now
    job_of(store, small_table, folder)

    age(store.home, 29 * DAY)
    assert collect(store, unused_days=DAYS).workspaces == []
    age(store.home, 2 * DAY)
    assert len(collect(store, unused_days=DAYS).workspaces) == 1


def test_zero_days_keep_everything(store, visit, small_table):
    folder = visit()
    job_of(store, small_table, folder)

    age(store.home, 1000 * DAY)
    report = collect(store, unused_days=0)

    assert (report.workspaces, report.jobs, report.tables) == ([], [], [])
    assert folder.exists()


def test_what_is_no_workspace_stays(store, visit):
    folder = visit()
    (folder.parent / "notes").mkdir()
    (folder.parent / ("b" * 32)).symlink_to(folder)

    age(store.home, 31 * DAY)
    collect(store, unused_days=DAYS)

    assert sorted(path.name for path in folder.parent.iterdir()) == ["b" * 32, "notes"]


def test_leftovers_in_workspaces_go_once_nobody_can_be_writing_them(store, visit):
    folder = visit()
    half_removed = folder.parent / f".{'c' * 32}.going"
    half_removed.mkdir()
    (folder / "state").mkdir()
    half_written = folder / "state" / ".table.json.x1y2"
    for file in (half_written, folder / "state" / ".lock", folder / "state" / "table.json"):
        file.touch()

    assert collect(store, unused_days=DAYS).leftovers == []
    age(store.home, 2 * 3600.0)
    report = collect(store, unused_days=DAYS)

    assert report.leftovers == sorted([half_removed, half_written])
    kept = sorted(path.name for path in (folder / "state").iterdir())
    assert kept == [".lock", "table.json"]


def test_the_database_shrinks_when_much_of_it_is_unused(store, visit, small_table):
    folder = visit()
    for _ in range(50):
        job_of(store, small_table, folder)
    store.compact()
    before = store.paths.database.stat().st_size

    age(store.home, 31 * DAY)
    collect(store, unused_days=DAYS)

    assert store.paths.database.stat().st_size < before / 2
    assert not store.is_sparse()


def test_a_workspace_that_put_a_table_just_now_is_not_swept(store, visit, small_table):
    folder = visit()
    job_of(store, small_table, folder)
    age(store.home, 31 * DAY)
    owner = workspace_id(folder.name)

    digest = store.put_table(small_table.head(3), owner)  # its job is about to be submitted
    report = store.collect_garbage(unused_workspaces=[owner], unused_days=DAYS)

    assert report.jobs == []
    assert store.get_table(digest, owner) is not None
