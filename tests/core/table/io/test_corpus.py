"""A corpus of files: every one is read right, asked about, or refused with a sentence."""

import re

import pytest

from pmae_core.errors import TableError
from pmae_core.table import read_table_file
from tests.support.corpus.columnar_files import columnar_files
from tests.support.corpus.delimited_files import delimited_files
from tests.support.corpus.files import assert_same_table
from tests.support.corpus.number_files import number_files
from tests.support.corpus.other_files import other_files
from tests.support.corpus.spaced_files import spaced_files
from tests.support.corpus.workbook_files import workbook_files

FILES = [
    *delimited_files(),
    *number_files(),
    *spaced_files(),
    *workbook_files(),
    *columnar_files(),
    *other_files(),
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.title)
def test_every_file_is_read_right_asked_about_or_refused(file):
    if file.refusal is not None:
        with pytest.raises(TableError, match=re.escape(file.refusal)) as caught:
            read_table_file(file.read(), name=file.name, **file.options)
        assert_is_a_sentence(str(caught.value))
        return
    found = read_table_file(file.read(), name=file.name, **file.options)
    assert_same_table(found.frame, file.expected)
    assert_said([str(remark) for remark in found.remarks], file.remarks)
    assert file.doubt == (found.doubt and tuple(way.value for way in found.doubt.readings))


def assert_said(remarks: list[str], parts: tuple[str, ...]) -> None:
    """Every remark that must be made is made, and no other."""
    for part in parts:
        assert any(part in remark for remark in remarks), f"{part!r} is not in {remarks}"
    assert len(remarks) == len(parts), remarks
    for remark in remarks:
        assert_is_a_sentence(remark)


def assert_is_a_sentence(text: str) -> None:
    assert re.match(r"['A-Z0-9]", text) and text.endswith(".")
    assert "Traceback" not in text and "\n" not in text
    assert len(text) < 600


def test_the_corpus_is_large_and_names_each_file():
    titles = [file.title for file in FILES]
    assert len(titles) >= 200
    assert len(set(titles)) == len(titles)


def test_each_file_says_what_is_expected():
    for file in FILES:
        assert (file.expected is None) == (file.refusal is not None), file.title
