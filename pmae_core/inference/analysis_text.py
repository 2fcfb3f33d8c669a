"""Tables of coefficients as text and LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pmae_core.words import percent

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
}


@dataclass(frozen=True)
class ShownTable:
    """A table of coefficients to show.

    Attributes
    ----------
    title : str
        What stands above it.
    coefficients : DataFrame
        As in `Analysis.table`.
    heading : str
        What the estimates are, e.g. "odds ratio".
    confidence : float
        Nominal coverage of the intervals.
    """

    title: str
    coefficients: pd.DataFrame
    heading: str
    confidence: float

    @property
    def headers(self) -> list[str]:
        """Headers of the columns."""
        interval = f"{percent(self.confidence)} interval"
        headers = ["term", self.heading, "std. error", interval, "df", "p"]
        return [*headers, "missing information"] if self._is_pooled else headers

    def rows(self) -> Iterator[list[str]]:
        """Yield the cells of each row."""
        for row in self.coefficients.to_dict("records"):
            interval = f"{short_number(row['low'])} to {short_number(row['high'])}"
            numbers = [short_number(row[name]) for name in ("estimate", "std_error")]
            df = "∞" if math.isinf(row["df"]) else f"{row['df']:.1f}"
            cells = [row["term"], *numbers, interval, df, p_value_text(row["p_value"])]
            yield [*cells, percent(row["missing_information"])] if self._is_pooled else cells

    @property
    def _is_pooled(self) -> bool:
        return bool(self.coefficients["missing_information"].notna().any())


def short_number(value: float) -> str:
    """Return a number with four digits that matter.

    Examples
    --------
    >>> short_number(0.0123456), short_number(1234567.0), short_number(float("nan"))
    ('0.01235', '1.235e+06', '–')
    """
    return "–" if math.isnan(value) else f"{value:.4g}"


def p_value_text(value: float) -> str:
    """Return a p-value as papers have it.

    Examples
    --------
    >>> p_value_text(0.04321), p_value_text(0.0001), p_value_text(float("nan"))
    ('0.043', '<0.001', '–')
    """
    if math.isnan(value):
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def analysis_text(
    tables: Sequence[ShownTable], terms: pd.DataFrame, sentences: Sequence[str]
) -> str:
    """Return tables, tests and sentences as text."""
    parts = [f"{table.title}\n\n{_aligned([table.headers, *table.rows()])}" for table in tables]
    if len(terms):
        rows = [[row["term"], *_test_cells(row)] for row in terms.to_dict("records")]
        tests = _aligned([["term", "F", "df", "p"], *rows])
        parts.insert(1, f"Tests of terms with several coefficients\n\n{tests}")
    return "\n\n".join([*parts, "\n".join(sentences)]) + "\n"


def _test_cells(row: Mapping[Any, Any]) -> list[str]:
    df2 = "∞" if math.isinf(row["df2"]) else f"{row['df2']:.1f}"
    return [short_number(row["statistic"]), f"{row['df1']}, {df2}", p_value_text(row["p_value"])]


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows with the first column aligned left and all others right."""
    printable = [[_one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*printable, strict=True)]
    lines = []
    for first, *others in printable:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def latex_table(table: ShownTable) -> str:
    r"""Return a table of coefficients as a LaTeX tabular, with all special characters escaped."""
    headers = [latex_escape(header) for header in table.headers]
    lines = [" & ".join(map(latex_escape, row)) + r" \\" for row in table.rows()]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (len(headers) - 1)}}}",
            r"\toprule",
            " & ".join(headers) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def latex_escape(text: str) -> str:
    r"""Return text that LaTeX prints as it is.

    Examples
    --------
    >>> print(latex_escape("a_b & 5%"))
    a\_b \& 5\%
    """
    return "".join(_LATEX.get(character, character) for character in _math(_one_line(text)))


def _math(text: str) -> str:
    """Replace signs that plain LaTeX fonts lack."""
    return text.replace("∞", "inf").replace("–", "--")


def _one_line(text: str) -> str:
    """Return text without line breaks and other control characters."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text)
