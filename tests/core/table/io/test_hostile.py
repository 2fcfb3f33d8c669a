"""Files that somebody made to crash, fill or fool the reader: a sentence, soon, within limits."""

import contextlib
import io
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pmae_core.errors import TableError, TableTooLargeError, TableWarning, UnreadableFileError
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.reading import read_table
from pmae_core.table.io.writing import write_table

SMALL = ReadingLimits(max_expanded_bytes=20_000_000)
MARKUP_AND_PATHS = ("<script>alert(1)</script>", "../../x", "=cmd|' /C calc'!A0", "\x1b[2J", "a\0b")


def workbook(rows=(("a", "b"), ("x", 1), ("y", 2))) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def changed(content: bytes, part: str, change) -> bytes:
    """Return a zip archive with one part changed."""
    result = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        assert part in old.namelist()
        for entry in old.infolist():
            text = old.read(entry)
            new.writestr(entry.filename, change(text) if entry.filename == part else text)
    return result.getvalue()


def changed_sheet(old: bytes, new: bytes) -> bytes:
    def replace(text: bytes) -> bytes:
        assert old in text
        return text.replace(old, new)

    return changed(workbook(), "xl/worksheets/sheet1.xml", replace)


def with_shared_strings(strings: bytes) -> bytes:
    """Return a workbook whose first cell is the first of these shared strings."""
    content = changed_sheet(
        b'<c r="A1" t="inlineStr"><is><t>a</t></is></c>', b'<c r="A1" t="s"><v>0</v></c>'
    )
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    override = b'<Override PartName="/xl/sharedStrings.xml" ContentType="%s"/></Types>' % kind
    content = changed(content, "[Content_Types].xml", lambda t: t.replace(b"</Types>", override))
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/sharedStrings.xml", strings)
    return buffer.getvalue()


def sst(items: bytes, doctype: bytes = b"") -> bytes:
    space = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return doctype + b'<sst xmlns="%s">%s</sst>' % (space, items)


def arrow_file(table: pa.Table, **options) -> bytes:
    buffer = io.BytesIO()
    with pa.ipc.new_file(buffer, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as file:
        file.write_table(table)
    return buffer.getvalue()


def parquet_file(table: pa.Table, **options) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def repeated_text(n_characters: int, n_rows: int) -> pa.Table:
    """Return one long text, stored once and repeated in every row."""
    rows = pa.DictionaryArray.from_arrays(np.zeros(n_rows, "int32"), ["x" * n_characters])
    return pa.table({"a": rows})


def shared_view(n_characters: int, n_rows: int) -> pa.Table:
    """Return rows that all point at the same text."""
    _, view, text = pa.array(["x" * n_characters], pa.string_view()).buffers()
    views = pa.py_buffer(view.to_pybytes() * n_rows)
    return pa.table({"a": pa.Array.from_buffers(pa.string_view(), n_rows, [None, views, text])})


class TestExcelBombs:
    @pytest.mark.parametrize("row", [b"1048577", b"900000000000"])
    def test_a_row_number_that_no_sheet_has(self, row):
        content = changed_sheet(b'<row r="3"', b'<row r="%s"' % row)
        with pytest.raises(UnreadableFileError, match="below the last one that Excel knows"):
            read_table(content)

    def test_a_column_that_no_sheet_has(self):
        with pytest.raises(UnreadableFileError, match="damaged"):
            read_table(changed_sheet(b'r="B3"', b'r="ZZZZZZ3"'))
        with pytest.raises(TableTooLargeError, match="16,384 columns"):
            read_table(changed_sheet(b'r="B3"', b'r="XFD3"'))

    def test_a_workbook_that_packs_too_well_is_not_opened(self):
        items = b"<si><t>ab</t></si>" * 700_000
        with pytest.raises(TableTooLargeError, match=r"unpacks to .* more than 100 times"):
            read_table(with_shared_strings(sst(items)))

    def test_a_workbook_of_one_repeated_value_is_no_bomb(self):
        content = workbook([["a", "b"], *([0, 0] for _ in range(20_000))])
        assert read_table(content).shape == (20_000, 2)

    def test_entities_that_multiply(self):
        entities = b"".join(
            b'<!ENTITY a%d "%s">' % (level, b"&a%d;" % (level - 1) * 10) for level in range(1, 12)
        )
        laughs = b'<!DOCTYPE x [<!ENTITY a0 "lol">' + entities + b"]>"
        with pytest.raises(UnreadableFileError, match="damaged"):
            read_table(with_shared_strings(sst(b"<si><t>&a11;</t></si>", laughs)))

    def test_no_other_file_is_read(self, tmp_path):
        (tmp_path / "secret").write_text("secret")
        entity = b'<!DOCTYPE x [<!ENTITY e SYSTEM "%s">]>' % (tmp_path / "secret").as_uri().encode()
        with pytest.raises(UnreadableFileError, match="undefined entity"):
            read_table(with_shared_strings(sst(b"<si><t>&e;</t></si>", entity)))

    def test_shared_strings_of_an_honest_workbook_are_read(self):
        content = with_shared_strings(sst(b"<si><t>name</t></si>"))
        assert list(read_table(content).columns) == ["name", "b"]

    def test_formulas_are_never_computed(self):
        formulas = ["=cmd|' /C calc'!A0", '=WEBSERVICE("http://localhost/")', "=1+1"]
        with pytest.warns(TableWarning, match="3 formulas"):
            frame = read_table(workbook([["a", "b"], *([text, 1] for text in formulas)]))
        assert frame["a"].isna().all()

    @settings(max_examples=60)
    @given(position=st.integers(0, 10_000), byte=st.integers(0, 255))
    def test_damaged_sheets(self, position, byte):
        def damage(text: bytes) -> bytes:
            at = position % len(text)
            return text[:at] + bytes([byte]) + text[at + 1 :]

        read_or_sentence(changed(workbook(), "xl/worksheets/sheet1.xml", damage), "t.xlsx")


class TestColumnarBombs:
    @pytest.mark.parametrize("compression", ["lz4", "zstd"])
    def test_a_packed_batch_is_refused_by_what_it_says_of_itself(self, compression):
        content = arrow_file(pa.table({"a": np.zeros(4_000_000)}), compression=compression)
        assert len(content) < 200_000
        with pytest.raises(TableTooLargeError, match=r"unpacks to at least 32\.0 MB"):
            read_table(content, limits=SMALL)
        with pytest.raises(TableTooLargeError, match="at least 4,000,000 rows"):
            read_table(content, limits=ReadingLimits(max_rows=1000))

    def test_a_packed_dictionary_is_refused_by_what_it_says_of_itself(self):
        content = arrow_file(repeated_text(30_000_000, 10), compression="zstd")
        with pytest.raises(TableTooLargeError, match=r"unpacks to at least 30\.0 MB"):
            read_table(content, limits=SMALL)

    @pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
    def test_honest_batches_and_dictionaries_are_read(self, compression):
        table = pa.table(
            {
                "text": ["one", None] * 500,
                "view": pa.array(["a view of some length", "b"] * 500, pa.string_view()),
                "word": pa.array(["u", "v"] * 500).dictionary_encode(),
                "number": range(1000),
            }
        )
        buffer = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_file(buffer, table.schema, options=options) as file:
            file.write_table(table, max_chunksize=300)
        frame = read_table(buffer)
        assert frame["text"].isna().sum() == 500
        assert frame["view"].tolist() == ["a view of some length", "b"] * 500
        assert frame["word"].tolist() == ["u", "v"] * 500
        assert frame["number"].tolist() == list(range(1000))

    def test_a_text_that_all_rows_share(self):
        with pytest.raises(TableTooLargeError, match="unpacks to at least"):
            read_table(arrow_file(shared_view(1000, 100_000)), limits=SMALL)
        with pytest.raises(TableTooLargeError, match="unpacks to at least"):
            content = parquet_file(repeated_text(1_000_000, 1000), store_schema=False)
            read_table(content, limits=SMALL)

    def test_texts_that_all_rows_share_are_read_within_the_limits(self):
        for encoding in ({}, {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}):
            table = repeated_text(10_000, 100).cast(pa.schema({"a": pa.string()}))
            content = parquet_file(table, store_schema=False, **encoding)
            assert read_table(content, limits=SMALL)["a"].str.len().eq(10_000).all()

    def test_memory_stays_near_the_limit(self):
        """A kilobyte of Parquet that would take 60 GB is refused in a process that has little."""
        content = parquet_file(repeated_text(1_000_000, 60_000), store_schema=False)
        code = f"""
import io, resource, sys
from pmae_core.errors import TableTooLargeError
from pmae_core.table import ReadingLimits, read_table
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_table(sys.stdin.buffer.read(), limits=ReadingLimits(max_expanded_bytes={200_000_000}))
except TableTooLargeError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
        said = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True)
        assert int(said.stdout) * 1024 < 600_000_000, said.stderr.decode()

    def test_an_index_that_lies(self):
        content = arrow_file(pa.table({"a": [1, 2]}), compression=None)
        two = io.BytesIO()
        with pa.ipc.new_file(two, pa.schema({"a": pa.int64()})) as file:
            for _ in range(2):
                file.write_table(pa.table({"a": [1, 2]}))
        # The stream of one batch under the index of two.
        footer_length = int.from_bytes(two.getvalue()[-10:-6], "little")
        lying = content[:-10] + two.getvalue()[-10 - footer_length :]
        with pytest.raises(UnreadableFileError, match="damaged"):
            read_table(lying, format="feather")


class TestTextBombs:
    @pytest.mark.parametrize(
        ("content", "name", "sentence"),
        [
            (b"\n" * 1_000_002 + b"a,b\n1,2\n", "t.csv", "more than 1,000,000 blank lines"),
            (b"," * 1_000_000 + b"\n", "t.csv", "1,000,001 columns"),
            (b'"a",' * 20_000 + b"\n", "t.csv", "20,001 columns"),
            (b"x" * (1 << 26) + b"x", "t.csv", "more than 67,108,864 characters"),
            (b'a,b\n"' + b"x\n" * 100_000, "t.csv", "closing quote is missing"),
            (b"\0" * 1000, "t.csv", "NUL byte in line 1"),
            ("a,b\nö,1\n".encode() + "я,3\n".encode("utf-16"), "t.csv", "NUL byte in line 3"),
            (b'{"a": "\\ud800"}', "t.jsonl", "half of a character"),
            (b'{"\\udfff": 1}', "t.jsonl", "half of a character"),
            (b'{"a": 1, "b": ' + b"[" * 200_000, "t.json", "nested too deeply"),
            (b"".join(b'{"k%d": 1}\n' % n for n in range(10_001)), "t.jsonl", "10,001 columns"),
        ],
        ids=lambda value: None if isinstance(value, bytes) else value[:20],
    )
    def test_a_sentence(self, content, name, sentence):
        with pytest.raises(TableError, match=sentence):
            read_table(content, name=name)

    @settings(max_examples=60)
    @given(st.lists(st.sampled_from(["utf-8", "cp1252", "utf-16-le", "shift-jis"]), min_size=1))
    def test_mixed_encodings(self, encodings):
        lines = "".join(["name,größe\n", "ä,1\n", "é,2\n"])
        content = b"".join(lines.encode(encoding, "replace") for encoding in encodings)
        read_or_sentence(content, "t.csv")


@pytest.mark.parametrize("format", ["csv", "tsv", "excel", "parquet", "feather", "jsonl"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    name=st.sampled_from(MARKUP_AND_PATHS) | st.text(min_size=1, max_size=20),
    cell=st.sampled_from(MARKUP_AND_PATHS) | st.text(max_size=20),
)
@example(name="../../x", cell="=1+1")
def test_names_and_cells_are_only_ever_text(format, name, cell):
    """What can be written comes back as the same text or is refused by a sentence."""
    frame = pd.DataFrame({name: pd.Series([f"w{cell}w", "other"], dtype=object), "z": [1, 2]})
    buffer = io.BytesIO()
    with contextlib.suppress(TableError), warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        write_table(frame, buffer, format=format, escape_formulas=False)
        back = read_table(buffer, format=format)
        assert back.iloc[0, 0] == f"w{cell}w"
        assert str(back.columns[0]) == (name.strip() or "column_1")


@pytest.mark.parametrize("format", ["csv", "excel", "parquet", "feather", "jsonl"])
def test_a_file_cut_anywhere(format):
    buffer = io.BytesIO()
    write_table(pd.DataFrame({"a": range(30), "b": ["x,\"y'"] * 30}), buffer, format=format)
    content = buffer.getvalue()
    for length in range(0, len(content), max(1, len(content) // 60)):
        read_or_sentence(content[:length], f"t.{'xlsx' if format == 'excel' else format}")


def test_nothing_is_written_while_reading(tmp_path):
    """A child that may not write one byte reads a table of every format."""
    paths = [str(tmp_path / f"t.{end}") for end in ("csv", "xlsx", "parquet", "feather", "jsonl")]
    for path in paths:
        write_table(pd.DataFrame({"a": range(200), "b": ["x"] * 200}), path)
    code = f"""
import resource
from pmae_core.table import read_table
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print([read_table(path).shape for path in {paths!r}])
"""
    said = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True)
    # Standard output is a pipe, which the limit of files leaves alone.
    assert said.stdout.strip() == str([(200, 2)] * 5), said.stderr


def read_or_sentence(content: bytes, name: str) -> None:
    """Read a table, or fail in a sentence; anything else is a fault of the reader."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        try:
            frame = read_table(content, name=name)
        except TableError as error:
            assert str(error).rstrip().endswith((".", ")"))
        else:
            assert frame.size > 0
