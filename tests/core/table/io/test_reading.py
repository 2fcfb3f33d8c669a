"""Reading tables: every bad input gets a sentence, and good input loses nothing."""

import io
import json
import warnings
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pmae_core.errors import (
    EmptyTableError,
    TableError,
    TableTooLargeError,
    TableWarning,
    UnreadableFileError,
)
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.reading import read_table, read_table_file
from pmae_core.table.io.writing import write_table


def dtypes(frame):
    return frame.dtypes.astype(str).to_dict()


def written(frame, format):
    buffer = io.BytesIO()
    write_table(frame, buffer, format=format)
    return buffer.getvalue()


def workbook(rows, **sheets):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title, more in sheets.items():
        sheet = book.create_sheet(title)
        for row in more:
            sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def test_what_was_found_out_about_a_file_comes_with_the_table():
    found = read_table_file("ort;n\nKöln;1,5\nUlm;2,5\n".encode("cp1252"), name="t.csv")
    assert found.frame["n"].tolist() == [1.5, 2.5]
    assert (found.format, found.encoding, found.sheet) == ("csv", "cp1252", None)
    assert (found.dialect.delimiter, found.dialect.decimal) == (";", ",")
    assert [remark.code for remark in found.remarks] == ["encoding"]


def test_the_sheet_that_was_read_is_named():
    content = workbook([["a"], [1]], other=[["b"], [2]])
    assert [read_table_file(content, sheet=at).sheet for at in (0, 1, "other", "2")] == [
        "Sheet",
        "other",
        "other",
        "other",
    ]


def test_what_was_assumed_is_a_warning_at_the_call():
    with pytest.warns(TableWarning, match="read as cp1252") as caught:
        read_table("ort;n\nKöln;1\n".encode("cp1252"))
    assert caught[0].filename == __file__


class TestSources:
    def test_path_bytes_and_buffers_give_the_same_table(self, tmp_path):
        content = b"a,b\n1,x\n2,y\n"
        path = tmp_path / "t.csv"
        path.write_bytes(content)
        expected = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
        for source in (path, str(path), content, bytearray(content), io.BytesIO(content)):
            pd.testing.assert_frame_equal(read_table(source), expected)

    def test_an_uploaded_file_goes_by_its_own_name_and_stays_open(self):
        upload = io.BytesIO(b"a b\tc\n1\t2\n")
        upload.name = "upload.tsv"
        upload.read()  # Somebody looked at it before; reading starts over.
        assert list(read_table(upload).columns) == ["a b", "c"]
        assert not upload.closed

    def test_a_stream_that_cannot_seek(self):
        class Stream:
            def __init__(self, content):
                self.inner = io.BytesIO(content)

            def read(self, size=-1):
                return self.inner.read(size)

        assert read_table(Stream(b"a\n1\n"))["a"].tolist() == [1]
        with pytest.raises(TableTooLargeError, match="max_bytes"):
            read_table(Stream(b"a\n1\n" * 100), limits=ReadingLimits(max_bytes=50))

    @pytest.mark.parametrize(
        ("source", "sentence"),
        [
            ("/no/such/file.csv", "There is no file"),
            ("/", "is a folder"),
            ("/dev/null", "not a regular file"),
            ("x\0y.csv", "cannot be opened"),
            (io.StringIO("a\n1\n"), "binary mode"),
            (42, "cannot be read from an object of type int"),
        ],
    )
    def test_what_is_no_source(self, source, sentence):
        with pytest.raises(TableError, match=sentence):
            read_table(source)


class TestFormats:
    @pytest.mark.parametrize(
        ("content", "name", "sentence"),
        [
            (b"\x1f\x8b\x08abc", "t.csv", "gzip archive"),
            (b"BZh91AY", "t.csv", "bzip2 archive"),
            (b"%PDF-1.7", "t.csv", "PDF"),
            (b"\x93NUMPY\x01", "t.csv", "NumPy array"),
            (b"FEA1....", "t.feather", "old version 1"),
            (b"<!DOCTYPE html><p>", "t.csv", "web page"),
            (b"a,b\n1,2\n", "t.parquet", "should be parquet"),
            (b"a,b\n1,2\n", "t.feather", "should be feather"),
            (b"a,b\n1,2\n", "t.xlsx", "should be excel"),
            (b"PAR1....PAR1", "t.csv", "its content is parquet"),
        ],
    )
    def test_content_that_is_not_what_the_name_says(self, content, name, sentence):
        with pytest.raises(UnreadableFileError, match=sentence):
            read_table(content, name=name)

    def test_a_zip_bomb_named_csv_is_never_unpacked(self):
        bomb = io.BytesIO()
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("bomb", b"0" * 5_000_000)
        with pytest.raises(UnreadableFileError, match="zip archive"):
            read_table(bomb, name="t.csv")
        with pytest.raises(UnreadableFileError, match="not an Excel workbook"):
            read_table(bomb, name="t.xlsx")

    def test_old_and_protected_excel_files(self):
        ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
        with pytest.raises(UnreadableFileError, match=r"old kind \(\.xls\)"):
            read_table(ole, name="t.xls")
        with pytest.raises(UnreadableFileError, match="password"):
            read_table(ole + "EncryptedPackage".encode("utf-16-le"), name="t.xlsx")

    def test_an_unknown_format_is_named(self):
        with pytest.raises(TableError, match="There is no format 'sas'"):
            read_table(b"a\n1\n", format="sas")

    @pytest.mark.parametrize("format", ["csv", "excel", "parquet", "feather", "jsonl"])
    def test_without_a_name_the_content_decides(self, format):
        frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
        pd.testing.assert_frame_equal(read_table(written(frame, format)), frame)


class TestEmpty:
    @pytest.mark.parametrize(
        ("content", "name"),
        [
            (b"", "t.csv"),
            (b"", "t.parquet"),
            (b"\n \n\r\n", "t.csv"),
            (b"\xef\xbb\xbf", "t.csv"),
            (b"a,b\n", "t.csv"),
            (b"a\n\n\n", "t.csv"),
            (b"\n\n", "t.jsonl"),
            (b"{}\n{}\n", "t.jsonl"),
            (b"[]", "t.json"),
            (workbook([]), "t.xlsx"),
            (workbook([["a", "b"]]), "t.xlsx"),
        ],
    )
    def test_no_rows_or_no_columns(self, content, name):
        with pytest.raises(EmptyTableError):
            read_table(content, name=name)

    def test_no_rows_in_columnar_files(self):
        table = pa.table({"a": pa.array([], pa.int64())})
        parquet, feather = io.BytesIO(), io.BytesIO()
        pq.write_table(table, parquet)
        with pa.ipc.new_file(feather, table.schema) as file:
            file.write_table(table)
        for buffer in (parquet, feather):
            with pytest.raises(EmptyTableError, match="1 columns and 0 rows"):
                read_table(buffer)

    def test_columns_without_values_are_read(self):
        frame = read_table(b"a,b\n1,\n2,\n")
        assert frame["b"].isna().all()
        assert len(frame) == 2


class TestLimits:
    def test_a_large_file_is_refused_by_its_size(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(b"a\n" + b"1\n" * 100)
        with pytest.raises(TableTooLargeError, match="202 bytes"):
            read_table(path, limits=ReadingLimits(max_bytes=100))

    def test_a_million_columns_are_refused_by_the_first_line(self):
        header = ",".join(f"c{position}" for position in range(1_000_000)).encode()
        with pytest.raises(TableTooLargeError, match="1,000,000 columns"):
            read_table(header + b"\n")
        with pytest.raises(TableTooLargeError, match="10,001 columns"):
            read_table(b",".join([b'"c"'] * 10_001) + b"\n")

    @pytest.mark.parametrize("format", ["csv", "excel", "parquet", "feather", "jsonl"])
    def test_rows_columns_and_cells_in_every_format(self, format):
        content = written(pd.DataFrame({"a": range(20), "b": range(20)}), format)
        for limits in (
            ReadingLimits(max_rows=19),
            ReadingLimits(max_columns=1),
            ReadingLimits(max_cells=39),
        ):
            with pytest.raises(TableTooLargeError):
                read_table(content, limits=limits)
        exact = ReadingLimits(max_rows=20, max_columns=2, max_cells=40)
        assert len(read_table(content, limits=exact)) == 20

    def test_lines_inside_quotes_are_no_rows(self):
        content = b"a,b\n" + b'1,"x\n\n\ny"\n' * 5
        assert len(read_table(content, limits=ReadingLimits(max_rows=5))) == 5
        with pytest.raises(TableTooLargeError):
            read_table(content, limits=ReadingLimits(max_rows=4))

    def test_blank_lines_are_no_rows(self):
        content = b"a,b\r\n" + b"1,2\r\n\r\n\r\n" * 5
        assert len(read_table(content, limits=ReadingLimits(max_rows=5))) == 5

    def test_unpacked_size(self):
        frame = pd.DataFrame({"a": ["x" * 1000] * 5000})
        for format in ("excel", "parquet", "feather"):
            content = written(frame, format)
            with pytest.raises(TableTooLargeError, match="unpacks to at least"):
                read_table(content, limits=ReadingLimits(max_expanded_bytes=20_000))

    def test_a_workbook_that_declares_a_huge_size_is_not_opened(self):
        content = workbook([["a"], [1]])
        bomb = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(bomb, "w") as new:
            for entry in old.infolist():
                new.writestr(entry, old.read(entry))
            new.writestr("xl/media/bomb.bin", b"0" * 3_000_000, zipfile.ZIP_DEFLATED)
        limits = ReadingLimits(max_expanded_bytes=1_000_000)
        with pytest.raises(TableTooLargeError, match="unpacks to at least"):
            read_table(bomb, limits=limits)


class TestNames:
    @pytest.mark.parametrize("format", ["csv", "excel", "parquet", "feather", "jsonl"])
    def test_repeated_names_are_numbered_alike_in_every_format(self, format):
        names, values = ["a", "a", "a.1", " b "], [1, 2, 3, 4]
        table = pa.Table.from_arrays([pa.array([value]) for value in values], names)
        buffer = io.BytesIO()
        if format == "parquet":
            pq.write_table(table, buffer)
        elif format == "feather":
            with pa.ipc.new_file(buffer, table.schema) as file:
                file.write_table(table)
        elif format == "excel":
            buffer.write(workbook([names, values]))
        elif format == "csv":
            buffer.write(b"a,a,a.1, b \n1,2,3,4\n")
        else:
            buffer.write(b'{"a": 1, "a": 2, "a.1": 3, " b ": 4}')
        with pytest.warns(TableWarning, match="more than once"):
            frame = read_table(buffer, format=format)
        assert frame.to_dict("list") == {"a": [1], "a.2": [2], "a.1": [3], "b": [4]}

    def test_blank_names_get_one(self):
        with pytest.warns(TableWarning, match="'column_2'"):
            frame = read_table(b"a,,column_3\n1,2,3\n")
        assert list(frame.columns) == ["a", "column_2", "column_3"]

    def test_a_missing_header_is_noticed_and_can_be_told(self):
        content = b"5.1,3.5,setosa\n4.9,3.0,setosa\n"
        with pytest.warns(TableWarning, match="no header"):
            frame = read_table(content)
        assert frame.shape == (2, 3)
        assert list(read_table(content, header=True).columns) == ["5.1", "3.5", "setosa"]
        assert read_table(b"a,b\nc,d\n", header=False).shape == (2, 2)

    def test_years_are_names(self):
        assert list(read_table(b"2019,2020\n1.5,2.5\n").columns) == ["2019", "2020"]


class TestText:
    def test_types_with_and_without_holes(self):
        frame = read_table(
            b"i,f,b,d,t,ih,fh,bh,dh,th\n"
            b"1,1.5,true,2024-02-29,x,1,1.5,TRUE,2024-02-29,x\n"
            b"-2,1e3,False,2024-03-01,,,,,,\n"
        )
        assert dtypes(frame) == {
            "i": "int64",
            "f": "float64",
            "b": "bool",
            "d": "datetime64[us]",
            "t": "str",
            "ih": "Int64",
            "fh": "float64",
            "bh": "boolean",
            "dh": "datetime64[us]",
            "th": "str",
        }
        assert frame.iloc[1, 5:].isna().all()

    def test_missing_words_are_missing_and_other_words_are_not(self):
        missing = ["NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>", "#N/A", "", " NA "]
        kept = ["None", "none", "no", "-", "?", "na", "nil"]
        frame = read_table("\n".join(["a,b", *(f"{word},1" for word in missing + kept)]).encode())
        assert frame["a"].isna().tolist() == [True] * len(missing) + [False] * len(kept)
        assert frame["a"].dropna().tolist() == kept

    @pytest.mark.parametrize(
        "cells",
        [
            ["007", "123"],
            ["99999999999999999999", "1"],
            ["1", "x"],
            ["2024-02-30", "2024-01-01"],
            ["01/02/2024", "03/04/2024"],
            ["2024-01-01T00:00+01:00", "2024-07-01T00:00+02:00"],
            ["2024-01-01", "1"],
            ["=1+1", "=A1"],
            ["yes", "no"],
            ["1,2,3", "4"],
            ["0x1A", "0x1B"],
            ["1_000", "2_000"],
            [" padded ", "text"],
        ],
    )
    def test_what_would_lose_something_stays_text(self, cells):
        content = "\n".join(["a;b", *(f"{cell};x" for cell in cells)]).encode()
        assert read_table(content)["a"].tolist() == cells

    def test_numbers_keep_every_digit(self):
        frame = read_table(b"a,b,c\n9007199254740993,18446744073709551615,0.1\n,,5e-324\n")
        assert frame["a"][0] == 9007199254740993
        assert frame["b"][0] == 18446744073709551615
        assert frame["c"].tolist() == [0.1, 5e-324]

    def test_infinities(self):
        assert read_table(b"a\ninf\n-Infinity\n1\n")["a"].tolist() == [np.inf, -np.inf, 1]

    def test_dates_with_time_zone_and_nanoseconds(self):
        frame = read_table(b"a,b\n2024-01-01T10:00Z,2024-01-01 00:00:00.123456789\n")
        assert frame["a"][0] == pd.Timestamp("2024-01-01 10:00", tz="UTC")
        assert frame["b"][0] == pd.Timestamp("2024-01-01 00:00:00.123456789")

    @pytest.mark.parametrize(
        ("content", "line"),
        [
            (b"a,b\n1,2,3\n", 2),
            (b"a,b\n1,2\n3,4,5\n", 3),
            (b'a,b\n"x\ny",2\n\n3,4,5\n', 5),
            (b"\n\na,b\n1,2\n3,4,5\n", 5),
            (b"A title\na,b,c\n1,2,3\n4,5,6\n", 2),
        ],
    )
    def test_rows_with_too_many_cells_are_named_by_line(self, content, line):
        with pytest.raises(UnreadableFileError, match=f"Line {line} of"):
            read_table(content)

    def test_short_rows_are_filled_with_a_warning(self):
        with pytest.warns(TableWarning, match="1 row of .* has fewer cells"):
            frame = read_table(b"a,b,c\n1,2,3\n4\n")
        assert frame.isna().sum().tolist() == [0, 1, 1]

    def test_a_quote_that_is_never_closed_swallows_nothing(self):
        with pytest.raises(UnreadableFileError, match="begins in line 3"):
            read_table(b'a,b\n1,2\n3,"x\n5,6\n')

    def test_quotes_inside_cells_are_characters(self):
        frame = read_table(b'a,b\n5" pipe,"say ""hi"""\n6,x\n')
        assert frame.iloc[0].tolist() == ['5" pipe', 'say "hi"']

    def test_quoted_line_breaks_and_delimiters(self):
        frame = read_table(b'"a\nb",c\n"x\r\ny","1,2"\n')
        assert frame.to_dict("list") == {"a\nb": ["x\r\ny"], "c": ["1,2"]}

    def test_blank_lines_are_missing_values_of_a_single_column(self):
        assert read_table(b'a\n1\n\n3\n""\n\n\n')["a"].isna().tolist() == [False, True, False, True]

    @pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
    def test_unicode_is_recognized(self, line_break, encoding):
        content = line_break.join(["größe,ціна", "1,я", "2,ö", ""]).encode(encoding)
        frame = read_table(content)
        assert frame.to_dict("list") == {"größe": [1, 2], "ціна": ["я", "ö"]}

    def test_other_encodings_are_a_fallback_or_told(self):
        with pytest.warns(TableWarning, match="cp1252"):
            assert read_table("a,b\n1,€\n".encode("cp1252"))["b"][0] == "€"
        with pytest.warns(TableWarning, match="latin-1"):
            assert read_table(b"a,b\n1,\x81\xe4\n")["b"][0] == "\x81ä"
        assert read_table("a,b\n1,я\n".encode("cp1251"), encoding="cp1251")["b"][0] == "я"

    @pytest.mark.parametrize(
        ("content", "encoding", "sentence"),
        [
            (b"a,b\n1,\x00\n", None, "NUL byte in line 2"),
            ("a,b\n1,2\n".encode("utf-16-le"), None, "utf-16-le"),
            (b"a,b\n1,\xff\n", "utf-8", "not valid utf-8"),
            (b"\xff\xfea\x00\xd8", None, "not valid utf-16"),
            (b"a\n1\n", "klingon", "no text encoding 'klingon'"),
            (b"a\n1\n", "zip", "no text encoding 'zip'"),
            (b"a\n1\n", "a\0b", "no text encoding"),
            (bytes(range(1, 32)) * 20 + b"\xff", None, "is not text"),
        ],
    )
    def test_bytes_that_are_no_text(self, content, encoding, sentence):
        with pytest.raises(TableError, match=sentence):
            read_table(content, name="t.csv", encoding=encoding)

    def test_fast_and_careful_reading_agree(self):
        frame = pd.DataFrame({"a": ["x,1", 'q"', "l\nm"] * 5, "b": range(15)})
        fast = written(frame, "csv")
        careful = fast + b"z\n"  # A short row at the end sends the whole file the careful way.
        with pytest.warns(TableWarning, match="fewer cells"):
            pd.testing.assert_frame_equal(read_table(careful)[:15].astype(frame.dtypes), frame)
        pd.testing.assert_frame_equal(read_table(fast), frame)

    def test_many_rows_and_categories(self):
        frame = pd.DataFrame({"a": np.arange(200_000), "b": np.arange(200_000).astype(str)})
        frame["b"] = "id" + frame["b"]
        pd.testing.assert_frame_equal(read_table(written(frame, "csv")), frame)

    def test_sentinels_turn_text_into_numbers_as_the_file_writes_them(self):
        content = b"a;b\n1.234,5;x\n?;y\n0,5;?\n"
        frame = read_table(content, sentinels=["?"])
        assert frame["a"].tolist()[::2] == [1234.5, 0.5]
        assert frame["a"].isna()[1]
        assert frame["b"].isna().tolist() == [False, False, True]


class TestJson:
    def test_lacking_keys_are_missing_cells(self):
        frame = read_table(b'{"a": 1}\n\n{"b": "x", "a": null}\n{"b": "y", "a": 3}\n')
        assert dtypes(frame) == {"a": "Int64", "b": "str"}
        assert frame.isna().to_dict("list") == {
            "a": [False, True, False],
            "b": [True, False, False],
        }

    def test_json_has_types_of_its_own(self):
        record = {"s": "12", "na": "NA", "t": True, "f": 1.5, "d": "2024-01-01", "big": 2**70}
        frame = read_table(json.dumps(record).encode())
        assert frame["s"][0] == "12"
        assert frame["na"][0] == "NA"
        assert dtypes(frame)["t"] == "bool"
        assert frame["d"][0] == pd.Timestamp("2024-01-01")
        assert frame["big"][0] == str(2**70)

    def test_an_array_of_objects(self):
        assert read_table(b'[\n {"a": 1},\n {"a": 2}\n]', name="t.json")["a"].tolist() == [1, 2]

    def test_mixed_types_become_text_with_a_warning(self):
        with pytest.warns(TableWarning, match="different types.*'a'"):
            frame = read_table(b'{"a": 1, "b": 1}\n{"a": "x", "b": 2.5}\n')
        assert frame["a"].tolist() == ["1", "x"]
        assert dtypes(frame)["b"] == "float64"

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (b'{"a": 1}\n{"a": {"b": 1}}\n', "Line 2 .* nested value in column 'a'"),
            (b'{"a": [1]}\n', "Line 1 .* nested value in column 'a'"),
            (b'{"a": 1}\n{"a": \n', "Line 2 .* not complete, valid JSON"),
            (b'{"a": 1}\n42\n', "Line 2 .* not a JSON object"),
            (b"[1, 2]", "Record 1 .* not a JSON object"),
            (b'[{"a": 1}', "JSON array .* not complete"),
            (b"[" * 100_000, "nested too deeply"),
            (b'{"a":' * 100_000, "nested too deeply"),
            (b'{"a": ' + b"9" * 5000 + b"}", "too many digits"),
        ],
    )
    def test_bad_json_is_named_by_line(self, content, sentence):
        with pytest.raises(UnreadableFileError, match=sentence):
            read_table(content, name="t.jsonl")


class TestExcel:
    def test_types_holes_and_numbers_stored_as_text(self):
        content = workbook(
            [
                ["i", "f", "t", "b", "d", "m"],
                [1, 1.5, "x", True, pd.Timestamp("2024-02-29").to_pydatetime(), 1],
                [None, None, "NA", None, None, "2,5"],
                [3, 2, "007", False, pd.Timestamp("2024-03-01").to_pydatetime(), 3],
            ]
        )
        with pytest.warns(TableWarning, match="different types.*'m'"):
            frame = read_table(content)
        assert dtypes(frame) == {
            "i": "Int64",
            "f": "float64",
            "t": "str",
            "b": "boolean",
            "d": "datetime64[us]",
            "m": "str",
        }
        assert frame["t"].isna().tolist() == [False, True, False]
        numbers = read_table(workbook([["a"], [1], ["2.5"], ["NA"]]))["a"]
        assert numbers.tolist()[:2] == [1, 2.5]

    def test_sheets_by_position_and_name(self):
        content = workbook([["a"], [1]], other=[["b"], [2]])
        assert list(read_table(content, sheet=1).columns) == ["b"]
        assert list(read_table(content, sheet="other").columns) == ["b"]
        with pytest.raises(TableError, match=r"no sheet 'third'.*'Sheet' and 'other'"):
            read_table(content, sheet="third")
        with pytest.raises(TableError, match="no sheet 2"):
            read_table(content, sheet=2)

    def test_a_table_that_does_not_begin_in_the_corner(self):
        content = workbook([[], [None, "a", "b"], [None, 1, None], [], [None, 3, 4]])
        frame = read_table(content)
        assert list(frame.columns) == ["a", "b"]
        assert frame.isna().to_numpy().tolist() == [[False, True], [True, True], [False, False]]

    def test_formulas_without_a_stored_result_are_counted(self):
        with pytest.warns(TableWarning, match="1 formula "):
            frame = read_table(workbook([["a", "b"], [1, "=A2+1"], [2, 3]]))
        assert frame["b"].isna().tolist() == [True, False]

    def test_a_name_that_exists_wins_over_a_number(self):
        content = workbook([["a"], [1]], **{"2024": [["b"], [2]], "1": [["c"], [3]]})
        assert list(read_table(content, sheet="2024").columns) == ["b"]
        assert list(read_table(content, sheet="1").columns) == ["c"]
        assert list(read_table(content, sheet="2").columns) == ["b"]

    @pytest.mark.parametrize("sheet", ["²", "٢", "-1", "0", "4", "", "1.5"])
    def test_only_plain_digits_are_a_number(self, sheet):
        content = workbook([["a"], [1]], two=[["b"], [2]])
        with pytest.raises(TableError, match=f"no sheet '{sheet}'") as caught:
            read_table(content, sheet=sheet)
        assert caught.value.code == "sheet"

    def test_a_sheet_with_a_wrong_declared_size_is_read_whole(self):
        old = zipfile.ZipFile(io.BytesIO(workbook([["a", "b"], [1, 2], [3, 4]])))
        changed = io.BytesIO()
        with old, zipfile.ZipFile(changed, "w") as new:
            for entry in old.infolist():
                part = old.read(entry).replace(b'ref="A1:B3"', b'ref="A1:XFD1048576"')
                new.writestr(entry, part)
        assert read_table(changed).shape == (2, 2)

    def test_a_truncated_workbook(self):
        content = workbook([["a"], [1]])
        for length in range(10, len(content) - 1, 97):
            with pytest.raises(TableError):
                read_table(content[:length], name="t.xlsx")


class TestColumnar:
    def test_arrow_types_without_pandas_notes(self):
        table = pa.table(
            {
                "i": pa.array([2**60 + 1, None]),
                "b": pa.array([True, None]),
                "d": pa.array([19000, None], pa.date32()),
                "n": pa.nulls(2),
                "bytes": pa.array([b"x", None]),
                "time": pa.array([1, None], pa.time32("s")),
            }
        )
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        frame = read_table(buffer)
        assert frame["i"][0] == 2**60 + 1
        assert dtypes(frame) == {
            "i": "Int64",
            "b": "boolean",
            "d": "datetime64[s]",
            "n": "float64",
            "bytes": "str",
            "time": "str",
        }

    def test_decimals_are_read_as_floats_with_a_warning(self):
        buffer = io.BytesIO()
        pq.write_table(pa.table({"a": pa.array([1], pa.decimal128(5, 2))}), buffer)
        with pytest.warns(TableWarning, match="decimal"):
            assert read_table(buffer)["a"].tolist() == [1.0]

    def test_nested_values_are_refused_by_name(self):
        buffer = io.BytesIO()
        pq.write_table(pa.table({"a": [1], "l": [[1, 2]]}), buffer)
        with pytest.raises(UnreadableFileError, match="nested values in the columns 'l'"):
            read_table(buffer)

    def test_offsets_that_point_outside_the_file_are_never_followed(self):
        table = pa.table({"a": pa.array(["hello"], pa.large_string())})
        buffer = io.BytesIO()
        with pa.ipc.new_file(buffer, table.schema) as file:
            file.write_table(table)
        offsets = np.array([0, 5], "<i8").tobytes()
        assert buffer.getvalue().count(offsets) == 1
        damaged = buffer.getvalue().replace(offsets, np.array([0, 2**40], "<i8").tobytes())
        with pytest.raises(UnreadableFileError, match="damaged"):
            read_table(damaged)

    @pytest.mark.parametrize("format", ["parquet", "feather"])
    def test_truncated_files(self, format):
        content = written(pd.DataFrame({"a": range(100), "b": ["x"] * 100}), format)
        for length in range(1, len(content) - 1, 41):
            with pytest.raises(TableError):
                read_table(content[:length], format=format)

    @pytest.mark.parametrize("format", ["parquet", "feather"])
    @settings(max_examples=60)
    @given(data=st.data())
    def test_damaged_files_raise_table_errors_or_read(self, format, data):
        content = bytearray(written(pd.DataFrame({"a": range(9), "b": ["x"] * 9}), format))
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] = data.draw(st.integers(0, 255))
        try:
            assert read_table(bytes(content), format=format).shape[1] >= 1
        except TableError as error:
            assert str(error).endswith(".")


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.xlsx", "t.parquet", "t.feather", "t.jsonl", ""]
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    content=st.binary(max_size=300)
    | st.text(st.sampled_from("ab1.,;\t|\"' \n\r{}[]:-"), max_size=200).map(str.encode),
    magic=st.sampled_from([b"", b"", b"PK\x03\x04", b"PAR1", b"ARROW1\0\0", b"\xff\xfe"]),
)
def test_random_bytes_raise_nothing_but_table_errors(name, content, magic):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        try:
            frame = read_table(magic + content, name=name or None)
        except TableError as error:
            assert len(str(error)) > 20
        else:
            assert frame.size > 0
            assert frame.columns.is_unique
