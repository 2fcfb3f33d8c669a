import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.text import code, listing, plain, spoken

MARKUP = [
    "*a*",
    "_a_",
    "`a`",
    "[a](b)",
    "<b>a</b>",
    "# a",
    "- a",
    "1. a",
    "$x$",
    "~~a~~",
    "a|b",
    "&lt;",
]


def unescaped(markdown):
    """Read backslashes as a Markdown reader does, and drop the signs without width."""
    return re.sub(r"\\(.)", r"\1", markdown).replace("\u2060", "")


@pytest.mark.parametrize("text", MARKUP)
def test_plain_leaves_no_sign_of_markdown_unescaped(text):
    assert not re.search(r"(?<!\\)[*_`\[\]<>#$~|&]", plain(text))
    assert unescaped(plain(text)) == text


@pytest.mark.parametrize(
    "text",
    [":smile:", ":red[a]", ":material/home:", "http://a.b", "www.a.b", "a@b.c", "a->b", "a--b"],
)
def test_plain_parts_what_is_read_after_the_backslashes_are_gone(text):
    assert "\u2060" in plain(text)
    assert unescaped(plain(text)) == text


@given(st.text())
def test_plain_shows_the_text_in_one_line(text):
    shown = plain(text)

    assert "\n" not in shown
    assert unescaped(shown) == " ".join(text.replace("\u2060", "").split()) or "\u2060" in text


def test_a_file_name_is_found_as_it_is_written():
    assert "\u2060" not in plain("table-1 of 2.csv")


@given(st.text("ab` ", min_size=1))
def test_no_backtick_within_ends_code(text):
    shown = code(text)

    fence = re.match("`+", shown).group()
    inside = shown[len(fence) : -len(fence)]
    assert shown == fence + inside + fence
    assert fence not in re.findall("`+", inside)


def test_code_around_backticks_has_a_longer_fence():
    assert code("a`b``c") == "``` a`b``c ```"


@pytest.mark.parametrize("text", [*MARKUP, ":smile:", "a--b", "a`b``c", "**a**", "a\\b"])
def test_names_are_read_out_as_they_are(text):
    assert spoken(f"Who **lacks** {plain(text)}?") == f"Who lacks {text}?"
    assert spoken(f"Who **lacks** {code(text)}?") == f"Who lacks {text}?"


def test_listing():
    assert listing([]) == ""
    assert listing(["a"]) == "`a`"
