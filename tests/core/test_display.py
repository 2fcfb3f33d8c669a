"""Parts of what results show in notebooks."""

from pmae_core.display import (
    Html,
    html_box,
    html_note,
    html_paragraph,
    html_table,
    html_title,
    interval_line,
    plain_lines,
    share_bar,
    text_table,
)
from tests.support.html_page import Page, assert_safe_in_a_notebook

NASTY = "<img src=x onerror=alert(1)>"


def test_text_is_escaped_wherever_it_stands():
    page = assert_safe_in_a_notebook(
        html_box(
            html_title(NASTY),
            html_paragraph(NASTY),
            html_note(NASTY),
            html_table([NASTY], [[NASTY], [Html("<i>ours</i>")]]),
        )
    )

    assert page.texts.count(NASTY) == 5
    assert page.tags.count("i") == 1


def test_empty_parts_leave_nothing_behind():
    empty = html_box()

    assert html_box("", html_paragraph(""), html_note(""), html_table(["a"], [])) == empty
    assert plain_lines("", text_table(["a"], [])) == ""


def test_numbers_stand_at_the_right():
    page = Page(html_table(["name", "n"], [["age", "12"]], numbers={1}))

    sides = [value.split("text-align: ")[1] for name, value in page.attributes if "align" in value]
    assert sides == ["left", "right"] * 2


def test_a_small_share_can_be_seen_and_none_cannot():
    assert "min-width: 1px" in share_bar(1e-6, "#000000")
    assert "min-width" not in share_bar(0.0, "#000000")
    assert "width: 25%" in share_bar(0.25, "#000000")


def test_an_interval_stays_on_its_axis():
    def places(picture):
        return [float(v) for name, v in Page(picture).attributes if name in ("x1", "x2", "cx")][2:]

    assert places(interval_line(0.25, 0.5, 0.75, (0, 1), "#000000")) == [48, 132, 90]
    assert places(interval_line(-9, -9, 9, (0, 1), "#000000")) == [6, 174, 6]
    assert places(interval_line(1, 1, 1, (1, 1), "#000000")) == [6, 6, 6]


def test_long_sentences_go_on_in_the_next_line_and_tables_do_not():
    table = text_table(["a"], [["x" * 200]])

    lines = plain_lines("word " * 40, table).splitlines()

    assert max(map(len, lines[:-2])) <= 88
    assert lines[-2:] == table.splitlines()
