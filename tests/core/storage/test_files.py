"""Files that are written all or nothing."""

import pytest

from pmae_core.storage.files import replacing, write_whole


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
