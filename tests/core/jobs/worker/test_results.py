"""Tables among the results of a job."""

import pandas as pd
import pytest

from pmae_core.errors import JobError, StorageError
from pmae_core.jobs.worker.results import read_frame, replacing_folder, write_frame
from tests.support.damage import damaged_copies


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
        except JobError as error:
            assert "The result t.parquet cannot be read: its file is damaged." in str(error)
            n_noticed += 1
    assert n_noticed
    for cut in damaged_copies(content, every=97):
        if len(cut) < len(content):
            path.write_bytes(cut)
            with pytest.raises(JobError, match="damaged"):
                read_frame(path)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PAR1" + bytes(200) + b"PAR1"])
def test_other_files_are_a_sentence(tmp_path, content):
    (tmp_path / "t.parquet").write_bytes(content)

    with pytest.raises(JobError, match="its file is damaged"):
        read_frame(tmp_path / "t.parquet")


def test_a_result_is_on_disk_before_it_has_its_name(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(
        "pmae_core.jobs.worker.results.sync", lambda path: synced.append((path, path.exists()))
    )
    with replacing_folder(tmp_path / "result") as out:
        (out / "file").write_text("content")
    assert synced == [(out / "file", True), (out, True), (tmp_path, True)]
    assert (tmp_path / "result" / "file").read_text() == "content"
