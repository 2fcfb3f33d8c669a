"""Pages, messages and docs say one thing by one name, in plain American English."""

import re
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.wording import (
    Finding,
    Text,
    avoided_words,
    markdown_text,
    python_texts,
    script_texts,
)
from tools import results
from tools.docs import RESULTS

# Rooms of the code, each with a test of its own: what fails names the room.
ROOMS = [
    *sorted(path for path in (ROOT / "pages").glob("*.py")),
    *sorted(path for path in (ROOT / "dashboard").iterdir() if path.name[0] not in "._"),
    *sorted(path for path in (ROOT / "pmae_core").iterdir() if path.name[0] not in "._"),
    ROOT / "tools",
]
ROOMS = [
    room for room in ROOMS if room.suffix == ".py" or (room.is_dir() and any(room.rglob("*.py")))
]
DOCUMENTS = [
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "mkdocs.yml",
]

# Where an avoided word is the right one: files, the words in their sentence, and why.
ALLOWED = [
    ("dashboard/runs/announcing.py", r"^jobs$", "the name of a section in the workspace"),
    ("dashboard/figures/*.py", r"start, end, gap|a gap after each", "of a line"),
    ("pmae_core/plots/missingness/*.py", r"line with gaps", "of a line"),
    ("pmae_core/display.py", r'fill="', "an attribute of SVG"),
    ("dashboard/learn/*.py", r"[Ww]hy values are missing", "known: the lesson simulates them"),
    (
        "dashboard/learn/exercises/*.py",
        r"[Ww]hy (it is|values are) missing",
        "known: the lesson simulates them",
    ),
    ("pmae_core/imputers/neural/*.py", r"inputs, hidden\)", "the hidden layer of a network"),
    ("dashboard/app.py", r"^…?hidden…?$", "a position of Streamlit's navigation"),
    ("pmae_core/table/samples/*.py", r"why (it is|\w+ are) missing", "known: the data are made up"),
    ("CHANGELOG.md", r"The page Takeaway is called Export", "the old name of a page"),
]


def name_of(path: Path) -> str:
    """Return the path of a file or folder as it stands in reports."""
    return path.relative_to(ROOT).as_posix()


def exceptions(file: str, finding: Finding) -> list[tuple[str, str, str]]:
    """Return the exceptions that are made for these words in this file."""
    shown = " ".join(finding.text.split())
    return [one for one in ALLOWED if Path(file).match(one[0]) and re.search(one[1], shown)]


def texts_of(path: Path) -> list[Text]:
    """Return what is read of a file."""
    if path.suffix == ".py":
        return python_texts(path)
    if path.suffix == ".js":
        return script_texts(path)
    return [markdown_text(path), Text(0, path.stem.replace("-", " "))]


def findings(path: Path, texts: list[Text]) -> list[str]:
    """Return the words of a file to replace."""
    file = name_of(path)
    in_interface = file.startswith(("pages/", "dashboard/"))
    return [
        f"{file}:{found}"
        for text in texts
        for found in avoided_words(text, in_interface=in_interface)
        if not exceptions(file, found)
    ]


def files_of(room: Path) -> list[Path]:
    """Return the files of a room whose strings are read."""
    if room.is_file():
        return [room]
    return sorted([*room.rglob("*.py"), *room.rglob("*.js")])


@pytest.mark.parametrize("room", ROOMS, ids=name_of)
def test_strings_of_the_code(room):
    found = [words for file in files_of(room) for words in findings(file, texts_of(file))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_prose_of_the_documents(path):
    found = findings(path, texts_of(path))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "name", [name for name in results.TELLERS if (RESULTS / f"{name}.json").exists()]
)
def test_results_in_the_documents(name):
    told = Text(1, results.words(name, RESULTS))
    assert findings(RESULTS / f"{name}.json", [told]) == []


def test_every_exception_is_needed():
    files = [*DOCUMENTS, *(file for room in ROOMS for file in files_of(room))]
    needed = {
        one
        for file in files
        if any(file.relative_to(ROOT).match(one[0]) for one in ALLOWED)
        for text in texts_of(file)
        for found in avoided_words(text, in_interface=True)
        for one in exceptions(name_of(file), found)
    }
    assert [one for one in ALLOWED if one not in needed] == []


# The search itself


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Where are the holes of the whole table?", ["holes"]),
        ("Fill the table; a form with fillna", ["Fill"]),
        ("Mind the gap in 3 empty cells", ["gap", "empty cells"]),
        ("the hidden cells, and a hidden layer of hidden units", ["hidden"]),
        ("the cells that are there; rows are left out", ["cells that are there"]),
        ("seen cells are given back, methods give it all back", ["given back", "give it all back"]),
        ("Draw a figure of 5 draws; a draw; it draws a line", ["5 draws", "a draw"]),
        ("Draws", ["Draws"]),
        ("Draws the codes of a column", []),
        ("Whoever comes first, or who wins which column", ["Whoever", "who wins"]),
        ("Take it away, or take away", ["Take it away", "take away"]),
        ("Clues, not why they are missing", []),
        ("Why are they missing?", ["Why are they missing"]),
        (
            "one bar a column, 10 MB a session, one a core",
            ["bar a column", "10 MB a session", "one a core"],
        ),
        ("a bar per column of a table", []),
        ("It does not exist any\nmore", ["not exist any\nmore"]),
        ("yours are as they were; the table as it was read", ["are as they were"]),
        ("11 % of …, … % and %d %%, but 11.4% and … %{x}", ["1 %", "… %", "%d %%"]),
        ("analyse colours towards the centre", ["analyse", "colours", "towards", "centre"]),
        ("two analyses with optimism in colors", []),
    ],
)
def test_avoided_words_are_found(text, words):
    found = sorted(avoided_words(Text(1, text)), key=lambda one: text.find(one.words))
    assert [one.words for one in found] == words


def test_only_the_interface_calls_a_job_a_run():
    text = Text(1, "This job is done!")
    assert list(avoided_words(text)) == []
    assert [one.words for one in avoided_words(text, in_interface=True)] == ["job", "e!"]
    docstring = Text(1, text.text, is_docstring=True)
    assert list(avoided_words(docstring, in_interface=True)) == []


def test_texts_of_python_are_those_that_are_read(tmp_path):
    path = tmp_path / "page.py"
    path.write_text(
        '"""A page.\n\n>>> fill(1)\n"""\n'
        'st.button(f"Impute {n} " "cells", key="fill", help=words["holes"])\n'
        'icon = ":material/fill:"\nsection = "fill-the-holes"\n',
        encoding="utf-8",
    )
    texts = python_texts(path)
    assert [(text.line, text.text) for text in texts] == [
        (1, "A page.\n\n\n"),
        (5, "Impute … cells"),
    ]
    assert [text.is_docstring for text in texts] == [True, False]


def test_texts_of_scripts_have_several_words(tmp_path):
    path = tmp_path / "menu.js"
    path.write_text(
        "const a = 'fill';\nsay(\"It's filled\");\nsay(`${n} holes`);\n", encoding="utf-8"
    )
    assert [(text.line, text.text) for text in script_texts(path)] == [
        (2, "It's filled"),
        (3, "${n} holes"),
    ]


def test_prose_is_what_is_no_code(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(
        "# A title\n\n```python\nfill()\n```\n\nSee `fill` and [it](fill-it.md)\n<!-- fill -->.\n",
        encoding="utf-8",
    )
    prose = markdown_text(path).text
    assert "fill" not in prose
    assert prose.count("\n") == 8
    assert "See  and [it" in prose
