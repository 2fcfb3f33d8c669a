"""Tables among the results of a job."""

import contextlib
import json

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import DamagedFileError, JobError, StorageError
from pmae_core.jobs.worker.consequences import read_consequences
from pmae_core.jobs.worker.held_out import read_held_out
from pmae_core.jobs.worker.results import read_frame, replacing_folder, write_frame
from pmae_core.storage import checksums
from tests.support.damage import damaged_copies, flip_byte, scramble


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {"a": [1, 2], "a.b": ["x", None], 3: pd.Categorical(["u", "v"]), "a.b.c": [True, False]},
        index=pd.Index(["p", "q"], name="row"),
    )


@pytest.mark.parametrize("columns", [["a"], ["a.b"], [3, "a"], ["a.b.c", "a.b", 3, "a"], []])
def test_some_columns_are_read_without_the_others(frame, columns, tmp_path):
    write_frame(frame, tmp_path / "t.parquet")

    pd.testing.assert_frame_equal(
        read_frame(tmp_path / "t.parquet", columns), frame[columns], check_column_type=False
    )


def test_what_is_not_there_is_a_sentence(frame, tmp_path):
    write_frame(frame, tmp_path / "t.parquet")

    with pytest.raises(StorageError, match="no column z"):
        read_frame(tmp_path / "t.parquet", ["a", "z"])
    with pytest.raises(JobError, match=r"no result u\.parquet"):
        read_frame(tmp_path / "u.parquet", ["a"])


@pytest.fixture
def folder(frame, tmp_path):
    """The folder of a job with one file of each kind that pages read."""
    with replacing_folder(tmp_path / "result") as out:
        write_frame(frame, out / "imputed.parquet")
        (out / "held_out.json").write_text(json.dumps({"a": {"kind": "number", "n_cells": 2}}))
        (out / "consequences.json").write_text(json.dumps({"conclusions": [{"method": "em"}]}))
    return tmp_path


READERS = {
    "imputed.parquet": lambda folder: read_frame(folder / "result" / "imputed.parquet"),
    "held_out.json": lambda folder: read_held_out(folder / "result"),
    "consequences.json": read_consequences,
}


@pytest.mark.parametrize("name", READERS)
def test_a_result_with_any_flipped_byte_is_damaged(folder, name):
    """Property: no byte of a result changes what is read; it is noticed."""
    path = folder / "result" / name
    whole = path.read_bytes()
    READERS[name](folder)
    for place in np.random.default_rng(0).integers(len(whole), size=60):
        flip_byte(path, int(place))
        checksums._is_listed.cache_clear()
        with pytest.raises(DamagedFileError, match=r"is damaged\. Run it again\."):
            READERS[name](folder)
        path.write_bytes(whole)


@pytest.mark.parametrize("name", READERS)
def test_random_bytes_in_an_older_result_are_damage(folder, name):
    (folder / "result" / checksums.CHECKSUMS_FILE).unlink()
    for seed in range(20):
        scramble(folder / "result" / name, seed)
        with pytest.raises(DamagedFileError):
            READERS[name](folder)


@pytest.mark.parametrize("name", READERS)
def test_a_flipped_byte_in_an_older_result_is_read_or_damage(folder, name):
    (folder / "result" / checksums.CHECKSUMS_FILE).unlink()
    path = folder / "result" / name
    whole = path.read_bytes()
    for place in np.random.default_rng(1).integers(len(whole), size=100):
        flip_byte(path, int(place))
        with contextlib.suppress(DamagedFileError):
            READERS[name](folder)
        path.write_bytes(whole)


def test_damaged_cells_are_a_sentence(tmp_path):
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"a": range(200), "b": ["x", None] * 100})
    write_frame(frame, path)
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    n_noticed = 0
    for damaged in damaged_copies(content[:footer], every=29):
        path.write_bytes(damaged + content[len(damaged) :])
        try:
            pd.testing.assert_frame_equal(read_frame(path), frame)
        except DamagedFileError as error:
            assert "The file t.parquet of this result is damaged. Run it again." in str(error)
            n_noticed += 1
    assert n_noticed
    for cut in damaged_copies(content, every=97):
        if len(cut) < len(content):
            path.write_bytes(cut)
            with pytest.raises(DamagedFileError):
                read_frame(path)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PAR1" + bytes(200) + b"PAR1"])
def test_other_files_are_a_sentence(tmp_path, content):
    (tmp_path / "t.parquet").write_bytes(content)

    with pytest.raises(DamagedFileError, match=r"t\.parquet of this result is damaged"):
        read_frame(tmp_path / "t.parquet")


def test_a_result_is_on_disk_before_it_has_its_name(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(
        "pmae_core.jobs.worker.results.sync", lambda path: synced.append((path, path.exists()))
    )
    with replacing_folder(tmp_path / "result") as out:
        (out / "file").write_text("content")
    files = {(out / "file", True), (out / checksums.CHECKSUMS_FILE, True)}
    assert set(synced[:2]) == files
    assert synced[2:] == [(out, True), (tmp_path, True)]
    assert (tmp_path / "result" / "file").read_text() == "content"
