"""Nothing outside the home can be named."""

import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmae_core.errors import JobError
from pmae_core.jobs.paths import JobPaths, new_job_id

ID = "0123456789abcdef" * 2

BAD_NAMES = [
    "",
    ".",
    "..",
    "../" + ID,
    "../../etc/passwd",
    "/etc/passwd",
    ID.upper(),
    ID[:-1],
    ID + "0",
    ID + "\n",
    ID + "/..",
    ID[:-1] + "\0",
    "\u0660" * 32,  # digits, but not of ASCII
    None,
    7,
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_malformed_id_is_refused(tmp_path, name):
    with pytest.raises(JobError, match="not a job id"):
        JobPaths(tmp_path).job(name)


@given(name=st.text(max_size=40))
def test_whatever_the_text_nothing_outside_is_named(name):
    paths = JobPaths("/srv/pmae")
    try:
        folder = paths.job(name)
    except JobError:
        return
    assert folder.parent == paths.jobs


def test_ids_are_well_formed_and_differ(tmp_path):
    ids = {new_job_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(JobPaths(tmp_path).job(job_id).name == job_id for job_id in ids)


def test_links_out_of_the_home_are_refused(tmp_path):
    paths = JobPaths(tmp_path / "home")
    paths.make()
    outside = tmp_path / "outside"
    outside.mkdir()
    paths.job(ID).symlink_to(outside)
    with pytest.raises(JobError, match="leads elsewhere"):
        paths.job(ID)


def test_a_linked_folder_of_all_jobs_is_refused(tmp_path):
    paths = JobPaths(tmp_path / "home")
    paths.home.mkdir()
    (tmp_path / "outside").mkdir()
    paths.jobs.symlink_to(tmp_path / "outside")
    with pytest.raises(JobError, match="leads elsewhere"):
        paths.job(ID)


def test_the_home_itself_may_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert JobPaths(tmp_path / "link").job(ID) == tmp_path / "real" / "jobs" / ID


def test_a_new_home_is_closed_to_others(tmp_path):
    paths = JobPaths(tmp_path / "home")
    paths.make()
    assert stat.S_IMODE(os.stat(paths.home).st_mode) == 0o700


def test_a_home_that_cannot_be_made_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(JobError, match="Set PMAE_HOME"):
        JobPaths(tmp_path / "file").make()
