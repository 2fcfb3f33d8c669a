import json
import multiprocessing
import stat

import pytest

from dashboard.state.documents import Documents


def add_names(folder, prefix):
    documents = Documents(folder)
    for number in range(25):
        with documents.changing("shared") as document:
            document[f"{prefix}{number}"] = number


def test_a_document_is_read_as_it_was_written(tmp_path):
    documents = Documents(tmp_path / "new")
    with documents.changing("a") as document:
        document.update(x=[1, None, "ü"], y={"z": 0.1})

    assert Documents(tmp_path / "new").read("a") == {"x": [1, None, "ü"], "y": {"z": 0.1}}
    assert documents.read("b") == {}


def test_a_block_that_fails_writes_nothing(tmp_path):
    documents = Documents(tmp_path)
    with documents.changing("a") as document:
        document["x"] = 1

    with pytest.raises(RuntimeError), documents.changing("a") as document:
        document["x"] = 2
        raise RuntimeError
    with pytest.raises(ValueError, match="not JSON compliant"), documents.changing("a") as document:
        document["x"] = float("nan")

    assert documents.read("a") == {"x": 1}
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "a.json"]


def test_a_damaged_document_counts_as_empty(tmp_path, caplog):
    (tmp_path / "a.json").write_text('{"x": ')

    assert Documents(tmp_path).read("a") == {}
    assert "treated as empty" in caplog.text


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", "a.json", "a" * 65])
def test_other_names_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match="not the name"):
        Documents(tmp_path).read(name)


def test_processes_do_not_lose_each_other_s_changes(tmp_path):
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=add_names, args=(tmp_path, p)) for p in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)

    assert len(Documents(tmp_path).read("shared")) == 75


def test_documents_are_for_their_user_alone(tmp_path):
    with Documents(tmp_path).changing("a") as document:
        document["x"] = 1

    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o600
    assert json.loads((tmp_path / "a.json").read_text()) == {"x": 1}
