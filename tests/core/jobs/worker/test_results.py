"""Tables among the results of a job."""

import pandas as pd
import pytest

from pmae_core.errors import JobError, StorageError
from pmae_core.jobs.worker.results import read_frame, write_frame


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
