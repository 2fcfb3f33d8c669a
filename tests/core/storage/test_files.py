"""Files that are written all or nothing, last, and show when they are damaged."""

import json
import os

import pytest

from pmae_core.errors import DamagedFileError, DamageWarning
from pmae_core.events import DamageFound
from pmae_core.storage.files import (
    previous_version,
    read_newest,
    read_sealed,
    replacing,
    report_damage,
    write_sealed,
    write_whole,
)
from tests.support.damage import damaged_copies


def test_write_whole_replaces_and_leaves_nothing_beside(tmp_path):
    path = tmp_path / "text"
    write_whole(path, "one")
    write_whole(path, "two")
    assert path.read_text() == "two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "text"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_writes_half_a_file_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "bytes") as unfinished:
        unfinished.write_bytes(b"half")
        assert unfinished.parent == tmp_path
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_must_last_is_on_disk_before_its_name_and_the_name_before_the_end(
    tmp_path, monkeypatch
):
    steps = []
    replace, fsync = os.replace, os.fsync

    def noted_replace(old, new):
        steps.append("rename")
        replace(old, new)

    def noted_fsync(descriptor):
        steps.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    monkeypatch.setattr(os, "replace", noted_replace)
    monkeypatch.setattr(os, "fsync", noted_fsync)
    with replacing(tmp_path / "file", lasting=True) as unfinished:
        unfinished.write_bytes(b"content")
    assert steps == [str(unfinished), "rename", str(tmp_path)]


# Versions


def read_text(path):
    text = path.read_text()
    if text == "damaged":
        raise DamagedFileError(f"{path} is damaged.")
    return text


def write_version(path, text):
    with replacing(path, keep_previous=True) as unfinished:
        unfinished.write_text(text)


def test_the_version_before_the_newest_is_kept(tmp_path):
    path = tmp_path / "state.json"
    for text in ("one", "two", "three"):
        write_version(path, text)
    assert path.read_text() == "three"
    assert previous_version(path).read_text() == "two"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("newest", "previous", "found", "n_damages"),
    [
        ("two", "one", "two", 0),
        ("damaged", "one", "one", 1),
        (None, "one", "one", 0),  # a power cut between the two renames
        ("damaged", "damaged", None, 2),
        ("damaged", None, None, 1),
        (None, None, None, 0),
    ],
)
def test_the_newest_intact_version_is_read(tmp_path, newest, previous, found, n_damages):
    path = tmp_path / "state.json"
    for version, text in ((path, newest), (previous_version(path), previous)):
        if text is not None:
            version.write_text(text)
    read, damages = read_newest(path, read_text)
    assert (read, len(damages)) == (found, n_damages)
    # What is damaged does not take the place of what is intact.
    write_version(path, "three")
    assert previous_version(path).exists() == (found is not None)
    assert read_newest(path, read_text) == ("three", [])


def test_damage_is_reported_to_callbacks_and_as_a_warning():
    events = []
    with pytest.warns(DamageWarning, match="It is damaged"):
        report_damage([events.append], "It is damaged.")
    assert events == [DamageFound(sentence="It is damaged.")]


# JSON with a checksum

CONTENT = {"rows": [1, 0.1, None, "ä"], "nested": {"10": {"x": -1e-9}, "9": True}}


def test_what_is_sealed_comes_back(tmp_path):
    write_sealed(tmp_path / "file", CONTENT | {"numbered": {10: "a", 9: "b"}})
    assert read_sealed(tmp_path / "file") == CONTENT | {"numbered": {"10": "a", "9": "b"}}
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_no_flipped_bit_and_no_cut_changes_what_is_read(tmp_path):
    path = tmp_path / "file"
    write_sealed(path, CONTENT)
    n_noticed = 0
    for damaged in damaged_copies(path.read_bytes()):
        path.write_bytes(damaged)
        try:
            assert read_sealed(path) == CONTENT  # only white space was damaged
        except DamagedFileError as damage:
            assert str(path) in str(damage)
            n_noticed += 1
    assert n_noticed > 300


@pytest.mark.parametrize("content", [b"", b"[1]", b"3", b"\xff\xfe", b"[" * 100_000])
def test_other_content_is_damage(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(DamagedFileError, match="damaged"):
        read_sealed(tmp_path / "file")


def test_files_of_earlier_releases_have_no_checksum(tmp_path):
    (tmp_path / "file").write_text(json.dumps(CONTENT))
    assert read_sealed(tmp_path / "file") == CONTENT
    with pytest.raises(FileNotFoundError):
        read_sealed(tmp_path / "absent")
