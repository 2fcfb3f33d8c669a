"""JSON, archives, and files of other programs."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import zipfile
from collections.abc import Iterator

import numpy as np
import pandas as pd

from tests.support.corpus.files import CorpusFile, people


def other_files() -> Iterator[CorpusFile]:
    """Yield all files of this kind."""
    yield from _json()
    yield from _archives()
    yield from _of_other_programs()


def _json() -> Iterator[CorpusFile]:
    def file(title: str, text: str, columns: dict, *remarks: str, **more) -> CorpusFile:
        name = more.pop("name", "t.jsonl")
        content = text.encode(more.pop("encoding", "utf-8"))
        return CorpusFile(f"JSON: {title}", name, content, pd.DataFrame(columns), remarks, **more)

    frame = people()
    lines = frame.to_json(orient="records", lines=True, date_format="iso", date_unit="s")
    yield file("lines", lines, dict(frame.items()))
    array = frame.to_json(orient="records", date_format="iso", date_unit="s")
    yield file("an array", array, dict(frame.items()), name="t.json")
    yield file("no ending", lines, dict(frame.items()), name="t")
    two = '{"a": 1, "b": "я"}\n{"b": "x"}\n'
    for encoding in ("utf-8-sig", "utf-16"):
        yield file(
            f"absent keys, {encoding}", two, {"a": [1, None], "b": ["я", "x"]}, encoding=encoding
        )
    yield file(
        "texts that look like numbers",
        '{"a": "007", "b": "NA"}\n',
        {"a": ["007"], "b": ["NA"]},
    )
    yield file("large integers", json.dumps({"a": 2**63 - 1}), {"a": [2**63 - 1]})
    yield file("integers of 70 bits", json.dumps({"a": 2**70}), {"a": [str(2**70)]})
    yield file(
        "different types",
        '{"a": 1}\n{"a": "x"}\n',
        {"a": ["1", "x"]},
        "different types",
    )
    yield file("repeated keys", '{"a": 1, "a": 2}', {"a": [1], "a.1": [2]}, "more than once")
    for title, text, refusal in (
        ("a list in a cell", '{"a": [1]}\n', "nested value in column 'a'"),
        ("a record in a cell", '{"a": {"b": 1}}\n', "nested value in column 'a'"),
        ("a cut line", '{"a": 1}\n{"a": \n', "Line 2 of 't.jsonl' is not complete, valid JSON"),
        ("numbers instead of records", "[1, 2]", "not a JSON object"),
        ("columns instead of records", '{"a": {"0": 1}, "b": {"0": 2}}', "nested value"),
        ("no records", "[]", "no JSON objects"),
    ):
        yield CorpusFile(f"JSON: {title}", "t.jsonl", text.encode(), refusal=refusal)


def _archives() -> Iterator[CorpusFile]:
    table = b"a,b\n1,2\n"
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("t.csv", table)
    for name, content, refusal in (
        ("t.csv.gz", gzip.compress(table), "a gzip archive"),
        ("t.csv", gzip.compress(table), "a gzip archive"),
        ("t.csv.bz2", bz2.compress(table), "a bzip2 archive"),
        ("t.csv.xz", lzma.compress(table), "an xz archive"),
        ("t.zip", zipped.getvalue(), "a zip archive"),
        ("t.xlsx", zipped.getvalue(), "a zip archive"),
    ):
        yield CorpusFile(f"{refusal} named {name}", name, content, refusal=f"is {refusal}")


def _of_other_programs() -> Iterator[CorpusFile]:
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]})
    for version in (114, 118):
        buffer = io.BytesIO()
        frame.to_stata(buffer, write_index=False, version=version)
        yield CorpusFile(f"Stata {version}", "t.dta", buffer.getvalue(), refusal="is a Stata file")
    array = io.BytesIO()
    np.save(array, np.eye(3))
    with sqlite3.connect(":memory:") as database:
        frame.to_sql("t", database, index=False)
        sqlite_file = database.serialize()
    for title, name, content, refusal in (
        ("SPSS", "t.sav", b"$FL2@(#) SPSS DATA FILE" + bytes(100), "is an SPSS file"),
        ("SAS", "t.sas7bdat", bytes(12) + b"\xc2\xea\x81\x60" + bytes(100), "is a SAS file"),
        ("SAS transport", "t.xpt", b"HEADER RECORD*******LIBRARY HEADER", "a SAS transport file"),
        ("R", "t.rda", gzip.compress(b"RDX3\nX\n"), "is a gzip archive"),
        ("NumPy", "t.npy", array.getvalue(), "is a NumPy array"),
        ("pickle", "t.pkl", pickle.dumps({"a": list(range(300))}), "not text"),
        ("SQLite", "t.db", sqlite_file, "is an SQLite database"),
        ("PDF", "t.csv", b"%PDF-1.7 ...", "is a PDF document"),
        ("an image", "t.csv", b"\x89PNG\r\n\x1a\n...", "is a PNG image"),
        ("a web page", "t.csv", b"<!DOCTYPE html><p>Log in", "is a web page"),
        ("old Excel", "t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "the old kind"),
        ("random bytes", "t.csv", np.random.default_rng(0).bytes(3000), "not text"),
    ):
        yield CorpusFile(f"a file of another program: {title}", name, content, refusal=refusal)
