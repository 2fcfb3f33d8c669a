"""Parts of what a result shows as the last line of a notebook's cell: HTML, and plain text.

The HTML takes its text color from the notebook, and backgrounds are see-through, so that it can be
read in light and in dark notebooks. Styles stand in the elements, since notebooks share one page,
and nothing is loaded from elsewhere.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Sequence
from html import escape

from pmae_core.colors import FAINT

_BOX = "font-family: system-ui, sans-serif; font-size: 13px; line-height: 1.45; max-width: 56rem"
_TABLE = "border-collapse: collapse; margin: 0.2rem 0 0.6rem; font-size: 13px"
_CELL = "padding: 0.1rem 0.9rem 0.1rem 0; border: 0; vertical-align: middle"
_HEADER = f"{_CELL}; border-bottom: 1px solid {FAINT}; font-weight: 600"
_BAR_WIDTH = 120
_LINE_WIDTH = 88


class Html(str):
    """Text that is HTML already; any other text is escaped before it is shown."""


def as_html(text: str) -> str:
    """Return text as HTML: escaped, unless it is HTML already.

    Examples
    --------
    >>> as_html("<b>"), as_html(Html("<b>"))
    ('&lt;b&gt;', '<b>')
    """
    return text if isinstance(text, Html) else escape(text)


def html_box(*parts: str) -> str:
    """Return parts one below the other, as ``_repr_html_`` returns them, without empty ones."""
    return f'<div style="{_BOX}">{"".join(filter(None, parts))}</div>'


def html_title(text: str) -> Html:
    """Return the first line of a result."""
    return Html(f'<div style="font-weight: 600; font-size: 15px">{as_html(text)}</div>')


def html_paragraph(text: str) -> Html:
    """Return a sentence, or nothing for none."""
    return Html(f'<div style="margin: 0.2rem 0">{as_html(text)}</div>' if text else "")


def html_note(text: str) -> Html:
    """Return a sentence that explains what stands above it, or nothing for none."""
    style = "margin: -0.3rem 0 0.6rem; opacity: 0.75; font-size: 12px"
    return Html(f'<div style="{style}">{as_html(text)}</div>' if text else "")


def html_table(
    headers: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Collection[int] = ()
) -> Html:
    """Return a table, or nothing without rows; `numbers` are the places of columns of numbers."""
    lines = [_row(row, "td", _CELL, numbers) for row in rows]
    if not lines:
        return Html("")
    head = _row(headers, "th", _HEADER, numbers)
    return Html(
        f'<table style="{_TABLE}"><thead>{head}</thead><tbody>{"".join(lines)}</tbody></table>'
    )


def _row(cells: Sequence[str], tag: str, style: str, numbers: Collection[int]) -> str:
    parts = []
    for place, cell in enumerate(cells):
        side = "right" if place in numbers else "left"
        scope = ' scope="col"' if tag == "th" else ""
        parts.append(f'<{tag}{scope} style="{style}; text-align: {side}">{as_html(cell)}</{tag}>')
    return f'<tr style="background: none">{"".join(parts)}</tr>'


def share_bar(share: float, color: str, *, width: int = _BAR_WIDTH) -> Html:
    """Return a small bar for a share between 0 and 1; what is there at all can be seen."""
    least = "min-width: 1px; " if share > 0 else ""
    return Html(
        f'<div style="width: {width}px; height: 9px; background: {FAINT}">'
        f'<div style="width: {100 * share:.4g}%; {least}height: 9px; background: {color}"></div>'
        "</div>"
    )


def interval_line(
    low: float, middle: float, high: float, axis: tuple[float, float], color: str
) -> Html:
    """Return a small picture of an interval and its middle on an axis that rows share."""
    start, end = axis
    left, dot, right = (
        6 + 168 * min(max((value - start) / ((end - start) or 1.0), 0.0), 1.0)
        for value in (low, middle, high)
    )
    return Html(
        '<svg width="180" height="13" viewBox="0 0 180 13" role="presentation" '
        'style="display: block">'
        f'<line x1="0" x2="180" y1="6.5" y2="6.5" stroke="{FAINT}" stroke-width="1"/>'
        f'<line x1="{left:.1f}" x2="{right:.1f}" y1="6.5" y2="6.5" stroke="{color}" '
        'stroke-width="4" stroke-opacity="0.5"/>'
        f'<circle cx="{dot:.1f}" cy="6.5" r="4.5" fill="{color}"/></svg>'
    )


def plain_lines(*parts: str) -> str:
    """Return sentences and tables one below the other; long sentences go on in the next line."""
    return "\n".join(
        part if "\n" in part else textwrap.fill(part, _LINE_WIDTH) for part in filter(None, parts)
    )


def text_table(
    headers: Iterable[str], rows: Iterable[Sequence[str]], *, numbers: Collection[int] = ()
) -> str:
    """Return a table as plain text, or nothing without rows.

    `numbers` are the places of columns of numbers.

    Examples
    --------
    >>> print(text_table(["name", "n"], [["age", "12"], ["income", "3"]], numbers={1}))
    name     n
    age     12
    income   3
    """
    lines = [list(headers), *map(list, rows)]
    if len(lines) == 1:
        return ""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
