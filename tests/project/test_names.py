"""One name for one thing: no two classes of one name, and the words of the project."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.wording import BRITISH

# What each word is replaced by. Library names such as fillna are other words.
REPLACED_WORDS = {
    r"holes?": "missing value",
    r"fill(s|ed|ing|ings)?": "impute",
    r"takeaway": "export",
    r"biograph(y|ies)": "cell details",
    r"practis(e|ed|es|ing)": "train",
    **dict.fromkeys(BRITISH, "American spelling"),
}
# Names that belong to other libraries.
ALLOWED = re.compile(
    r"\b(fill_(value|null|diagonal)|masked_fill|PatternFill|textwrap\.fill)\b|\.fill\b(?= =)"
    r"|\bfill(?==\")"  # of an area, in SVG and Plotly
)


def classes(root: Path) -> dict[str, list[str]]:
    """Return where each class of the library and the dashboard is defined."""
    found = defaultdict(list)
    for package in ("pmae_core", "dashboard", "pages"):
        for path in sorted((root / package).rglob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(path.relative_to(root).as_posix())
    return found


def replaced_words(text: str) -> list[str]:
    """Return the words of a text that the project replaces, whole or as parts of a name."""
    words = re.sub(r"[_\d]+|(?<=[a-z])(?=[A-Z])", " ", ALLOWED.sub("", text)).lower()
    pattern = "|".join(f"(?:{word})" for word in REPLACED_WORDS)
    return [found[0] for found in re.finditer(rf"\b(?:{pattern})\b", words)]


def test_no_two_classes_have_one_name():
    assert {name: places for name, places in classes(ROOT).items() if len(places) > 1} == {}


def test_the_library_uses_the_words_of_the_project():
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{number} {word}"
        for path in sorted((ROOT / "pmae_core").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for word in replaced_words(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n_holes = 3", ["holes"]),
        ("the whole table", []),
        ("class FilledTable:", ["filled"]),
        ("frame.fillna(0)", []),
        ("array.fill_null(0)", []),
        ("array.fill_in(0)", ["fill"]),
        ('go.Scatter(fill="toself")', []),
        ('fill = "mean"', ["fill"]),
        ("summarise()", ["summarise"]),
        ("summarize()", []),
        ("optimised", ["optimised"]),
        ("by its optimism, optimistic", []),
    ],
)
def test_replaced_words_are_found(text, words):
    assert replaced_words(text) == words
