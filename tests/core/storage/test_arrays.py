"""Arrays and JSON in one safetensors file."""

import errno
import json

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import save_file

from pmae_core.errors import DamagedFileError
from pmae_core.storage.arrays import FORMAT_VERSION, read_arrays, write_arrays
from pmae_core.storage.files import previous_version
from tests.support.damage import damaged_copies


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.array([1e308, -0.0, np.inf]),
        np.arange(5, dtype=np.int16)[::-1],
        np.arange(6.0).reshape(2, 3).T,
        np.zeros((0, 4)),
        np.array(3.5),
        np.array([True, False]),
        np.array([], dtype=np.uint8),
    ],
    ids=["floats", "extremes", "reversed", "transposed", "empty", "scalar", "booleans", "none"],
)
def test_arrays_come_back_bit_by_bit(tmp_path, array):
    write_arrays(tmp_path / "file", {"group": {"name": array}}, {})

    groups, _ = read_arrays(tmp_path / "file")

    again = groups["group"]["name"]
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert again.tobytes() == array.tobytes()


def test_groups_and_state_come_back(tmp_path):
    groups = {"a": {"x": np.zeros(1), "y/z": np.ones(2)}, "b": {"x": np.full(3, 7.0)}}
    path = tmp_path / "deep" / "file.safetensors"

    write_arrays(path, groups, {"step": np.int64(3), "names": ["ä", None]})

    read, state = read_arrays(path)
    assert {group: list(arrays) for group, arrays in read.items()} == {
        "a": ["x", "y/z"],
        "b": ["x"],
    }
    assert read["b"]["x"].tolist() == [7, 7, 7]
    assert state == {"version": FORMAT_VERSION, "step": 3, "names": ["ä", None]}
    assert [file.name for file in path.parent.iterdir()] == ["file.safetensors"]


def test_a_file_may_have_a_state_alone(tmp_path):
    write_arrays(tmp_path / "file", {}, {"step": 1})

    assert read_arrays(tmp_path / "file") == ({}, {"version": FORMAT_VERSION, "step": 1})


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_arrays(path, {"a": {"x": np.zeros(1)}}, {"step": 1})

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr("pmae_core.storage.arrays.save_file", fail)
    with pytest.raises(OSError, match="disk full"):
        write_arrays(path, {"a": {"x": np.ones(1)}}, {"step": 2})
    assert read_arrays(path)[1]["step"] == 1
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x80\x04K\x01."])
def test_other_files_are_refused_with_a_sentence(tmp_path, content):
    (tmp_path / "other").write_bytes(content)

    with pytest.raises(ValueError, match=r"not a file that PMAE wrote \(.+\)\.$"):
        read_arrays(tmp_path / "other")


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    path = tmp_path / "file"
    write_arrays(path, {"a": {"x": np.zeros(100)}}, {})
    path.write_bytes(path.read_bytes()[:-50])

    with pytest.raises(ValueError, match="not a file that PMAE wrote"):
        read_arrays(path)


def test_no_flipped_bit_and_no_cut_changes_what_is_read(tmp_path):
    path = tmp_path / "file"
    groups = {"a": {"x": np.arange(20.0), "n": np.arange(3)}, "b": {"x": np.zeros((2, 2), "f4")}}
    write_arrays(path, groups, {"step": 17})
    content, expected = path.read_bytes(), repr(read_arrays(path))
    n_noticed = 0
    for damaged in damaged_copies(content):
        path.write_bytes(damaged)
        try:
            assert repr(read_arrays(path)) == expected  # only padding was damaged
        except DamagedFileError:
            n_noticed += 1
    assert n_noticed > 2 * len(content) - 20


def test_files_of_earlier_releases_have_no_checksum(tmp_path):
    state = json.dumps({"version": FORMAT_VERSION, "step": 3})
    save_file({"a/x": np.ones(2)}, tmp_path / "file", metadata={"state": state})

    groups, read = read_arrays(tmp_path / "file")

    assert (groups["a"]["x"].tolist(), read["step"]) == ([1, 1], 3)


def test_the_file_before_can_be_kept(tmp_path):
    path = tmp_path / "file.safetensors"
    for step in (1, 2, 3):
        write_arrays(path, {}, {"step": step}, keep_previous=True)

    assert read_arrays(path)[1]["step"] == 3
    assert read_arrays(previous_version(path))[1]["step"] == 2
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("metadata", [None, {"state": "no JSON"}, {"other": "{}"}])
def test_safetensors_of_others_are_refused(tmp_path, metadata):
    save_file({"a/x": np.zeros(1)}, tmp_path / "file", metadata=metadata)

    with pytest.raises(ValueError, match="not a file that PMAE wrote"):
        read_arrays(tmp_path / "file")


@pytest.mark.parametrize("state", [[], 3, None, "text"])
def test_a_state_that_is_no_mapping_is_refused(tmp_path, state):
    save_file({"a/x": np.zeros(1)}, tmp_path / "file", metadata={"state": json.dumps(state)})

    with pytest.raises(ValueError, match=r"not a file that PMAE wrote|format version None"):
        read_arrays(tmp_path / "file")


def test_another_format_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pmae_core.storage.arrays.FORMAT_VERSION", 99)
    write_arrays(tmp_path / "file", {}, {})
    monkeypatch.undo()

    with pytest.raises(
        ValueError, match=f"version 99; this release reads version {FORMAT_VERSION}"
    ):
        read_arrays(tmp_path / "file")


def test_no_file_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path / "absent")


def test_a_full_disk_is_told_as_by_python_itself(tmp_path, monkeypatch):
    def full(*arguments, **metadata):
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    write_arrays(tmp_path / "file", {"a": {"b": np.zeros(3)}}, {})
    before = (tmp_path / "file").read_bytes()
    monkeypatch.setattr("pmae_core.storage.arrays.save_file", full)
    with pytest.raises(OSError, match="No space left") as raised:
        write_arrays(tmp_path / "file", {"a": {"b": np.ones(3)}}, {})
    assert raised.value.errno == errno.ENOSPC
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", before)]
