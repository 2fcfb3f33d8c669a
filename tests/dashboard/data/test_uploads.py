import io
import sys

import pandas as pd
import pytest

from dashboard.data import upload_limits, uploads
from dashboard.data.uploads import ReadingOptions
from dashboard.state.workspace import Workspace
from pmae_core.errors import TableError
from pmae_core.table import ReadingLimits, sniff_dialect, write_table

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})


@pytest.fixture
def own(tmp_path, read_inline):
    return Workspace.create(tmp_path)


def send(own, content, name, **options):
    uploads.receive(own, io.BytesIO(content), name)
    return read_again(own, ReadingOptions(**options))


def read_again(own, options=None):
    uploads.start_reading(own, options)
    return uploads.open_upload(own)


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("t.csv", "csv"),
        ("t.tsv", "tsv"),
        ("t.xlsx", "excel"),
        ("t.parquet", "parquet"),
        ("t.feather", "feather"),
        ("t.jsonl", "jsonl"),
    ],
)
def test_all_formats_are_opened(own, name, format):
    buffer = io.BytesIO()
    write_table(FRAME, buffer, format=format)

    opened = send(own, buffer.getvalue(), name)

    assert opened.state.name == name
    assert opened.remarks == ()
    pd.testing.assert_frame_equal(own.table().frame, FRAME)


def test_what_cannot_be_read_leaves_the_table_open_and_the_file_to_read_again(own):
    send(own, b"a,b\n1,2\n", "good.csv")

    with pytest.raises(TableError, match="choose another separator under"):
        send(own, b"a,b\n1,2,3\n", "bad.csv")

    assert own.table_state().name == "good.csv"
    assert uploads.waiting_file(own) == "bad.csv"
    assert read_again(own, ReadingOptions(delimiter=";")).state.name == "bad.csv"


def test_how_numbers_are_written_is_remembered_for_sentinels(own):
    send(own, b"x;y\n1,5;2\n?;3\n2,5;4\n1,25;5\n", "comma.csv")

    own.set_sentinels({"x": ["?"]})

    assert own.table().frame["x"].dropna().tolist() == [1.5, 2.5, 1.25]


def test_how_numbers_are_written_is_remembered_from_utf_16(own):
    content = "x;y\n1,5;2\n?;3\n2,5;4\n1,25;5\n".encode("utf-16")
    send(own, content, "comma.csv")

    own.set_sentinels({"x": ["?"]})

    assert own.table().frame["x"].dropna().tolist() == [1.5, 2.5, 1.25]


def test_an_upload_is_sniffed_once(own, monkeypatch):
    sniffed = []

    def counted(sample, **known):
        sniffed.append(known)
        return sniff(sample, **known)

    sniff = sniff_dialect
    for name, module in list(sys.modules.items()):
        if name.startswith(("pmae_core", "dashboard")) and hasattr(module, "sniff_dialect"):
            monkeypatch.setattr(module, "sniff_dialect", counted)
    send(own, b"x;y\n1,5;2\n2,5;4\n", "comma.csv")

    assert len(sniffed) == 1


def test_remarks_speak_of_buttons_not_of_parameters(own):
    opened = send(own, "ort,n\nKöln,1\nUlm,2\n".encode("latin-1"), "latin.csv")

    (remark,) = opened.remarks
    assert "read as cp1252" in remark
    assert 'choose another encoding under "Read the file in another way"' in remark
    assert "encoding=" not in remark


def test_text_with_spaces_is_explained_with_buttons(own):
    (remark,) = send(own, b"name   age\nAnna    41\nBert\n", "aligned.txt").remarks
    assert remark.startswith("'aligned.txt' was read as 2 columns aligned with spaces.")
    assert 'choose another separator under "Read the file in another way"' in remark

    (remark,) = send(own, b"full name\nAnna Lee\nBo Li\n", "names.txt").remarks
    assert "choose the space as separator" in remark

    with pytest.raises(TableError, match="not aligned in every line") as error:
        send(own, b"a     b\nx y   z\np  q\n", "spaces.txt")
    assert "delimiter=" not in str(error.value)


def test_limits_are_said_without_parameters(own, monkeypatch):
    monkeypatch.setattr(upload_limits, "table_limits", lambda: ReadingLimits(max_rows=2))

    with pytest.raises(TableError, match="more than the limit of 2") as error:
        send(own, b"a,b\n1,2\n3,4\n5,6\n", "long.csv")

    assert "max_rows" not in str(error.value)
    assert str(error.value).endswith("Take a sample of its rows.")


def test_a_sheet_by_name_or_number(own):
    buffer = io.BytesIO()
    with pd.ExcelWriter(buffer) as book:
        FRAME.to_excel(book, sheet_name="first", index=False)
        FRAME.assign(c=1).to_excel(book, sheet_name="second", index=False)

    send(own, buffer.getvalue(), "book.xlsx", sheet="second")
    assert own.table().frame.shape == (3, 3)
    read_again(own, ReadingOptions(sheet=0))
    assert own.table().frame.shape == (3, 2)
    read_again(own, ReadingOptions(sheet="2"))
    assert own.table().frame.shape == (3, 3)
    with pytest.raises(TableError, match=r"no sheet '²'.*or a number, under"):
        read_again(own, ReadingOptions(sheet="²"))


def test_only_the_name_of_a_file_is_kept_never_its_folder(own):
    opened = send(own, b"a,b\n1,2\n", "../../etc/passwd.csv")

    assert opened.state.name == "passwd.csv"
    assert own.upload_path.parent == own.folder


def test_without_a_file_there_is_nothing_to_read(own):
    assert uploads.waiting_file(own) is None
    with pytest.raises(TableError, match="Upload one first"):
        uploads.start_reading(own)


@pytest.mark.parametrize(
    ("name", "text", "workbook"),
    [("a.csv", True, False), ("a", True, False), ("a.XLSX", False, True), ("a.pq", False, False)],
)
def test_kinds_of_files(name, text, workbook):
    assert (uploads.is_text(name), uploads.is_workbook(name)) == (text, workbook)


def test_a_full_disk_is_said_and_leaves_no_half_file(own):
    class Broken(io.BytesIO):
        def read(self, size=-1):
            raise OSError(28, "No space left on device")

    with pytest.raises(TableError, match=r"No space left on device\. Make room"):
        uploads.receive(own, Broken(), "t.csv")

    assert uploads.waiting_file(own) is None


def test_numbers_that_nothing_decides_are_asked_about(own):
    opened = send(own, b"price;name\n1,234;x\n2,345;y\n", "prices.csv")

    question = uploads.number_question(own, opened.state)
    assert (question.column, question.text, question.values) == ("price", "1,234", (1.234, 1234.0))
    assert not any("1,234" in remark for remark in opened.remarks)  # asked once, not also told

    again = read_again(own, question.otherwise)
    assert own.table().frame["price"].tolist() == [1234, 2345]
    assert uploads.number_question(own, again.state) is None


def test_an_answered_question_is_not_asked_again(own):
    opened = send(own, b"price;name\n1,234;x\n", "prices.csv")
    uploads.settle_question(own)
    assert uploads.number_question(own, opened.state) is None


def test_the_question_belongs_to_its_table_and_keeps_what_the_user_chose(own):
    opened = send(own, b"1,234|x\n2,345|y\n", "prices.csv", delimiter="|", header=False)
    question = uploads.number_question(own, opened.state)
    assert (question.otherwise.delimiter, question.otherwise.header) == ("|", False)

    other = own.save_table(FRAME, name="other", source="a sample")
    assert uploads.number_question(own, other) is None
