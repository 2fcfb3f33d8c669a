"""Checksums of a folder: what is not as it was written is not read."""

import json
import shutil
import subprocess

import pytest

from pmae_core.errors import DamagedFileError, JobError
from pmae_core.storage import checksums
from pmae_core.storage.checksums import (
    CHECKSUMS_FILE,
    checked,
    read_document,
    undamaged,
    write_checksums,
)
from tests.support.damage import flip_byte

CONTENT = {"n_imputed": 12, "notes": ["one", "two"]}


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps(CONTENT))
    write_checksums(tmp_path)
    return path


def test_a_file_as_it_was_written_is_read(document):
    assert checked(document) == document
    assert read_document(document) == CONTENT


def test_any_changed_byte_is_noticed(document):
    whole = document.read_bytes()
    for place in range(len(whole)):
        flip_byte(document, place)
        checksums._is_listed.cache_clear()  # the clock of the disk may be too coarse for this
        with pytest.raises(DamagedFileError, match=r"result\.json of this result is damaged"):
            read_document(document)
        document.write_bytes(whole)
    checksums._is_listed.cache_clear()
    assert read_document(document) == CONTENT


@pytest.mark.parametrize("length", [0, 1, 10])
def test_a_file_that_was_cut_is_noticed(document, length):
    document.write_bytes(document.read_bytes()[:length])
    with pytest.raises(DamagedFileError):
        checked(document)


def test_a_file_that_is_not_listed_does_not_count_as_written(document):
    other = document.with_name("other.json")
    other.write_text("{}")
    with pytest.raises(DamagedFileError):
        checked(other)


def test_without_checksums_what_cannot_be_read_is_damaged(document):
    document.with_name(CHECKSUMS_FILE).unlink()
    assert read_document(document) == CONTENT
    for content in (b"", b"\xff\xfe\x00", b"[1, 2]", b'"text"', b"[" * 100_000):
        document.write_bytes(content)
        with pytest.raises(DamagedFileError):
            read_document(document)


def test_a_file_that_is_gone_is_not_damaged(document):
    document.unlink()
    with pytest.raises(FileNotFoundError):
        read_document(document)


def test_errors_of_the_library_are_raised_as_they_are(document):
    with pytest.raises(JobError, match="something else"), undamaged(document):
        raise JobError("something else")


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs sha256sum")
def test_the_list_can_be_checked_from_the_shell(document):
    subprocess.run(["sha256sum", "-c", CHECKSUMS_FILE], cwd=document.parent, check=True)
