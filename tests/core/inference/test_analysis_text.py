"""Coefficients as text and LaTeX."""

import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmae_core.inference import analyze
from pmae_core.inference.analysis_text import latex_escape


@pytest.fixture
def odd_name() -> str:
    return "50% of_$x & {y}\\ ^~#\n<z>"


def test_columns_of_text_line_up(odd_name):
    table = pd.DataFrame({odd_name: [1.0, 2, 4, 3], "y": [2.0, 1, 3, 5]})
    lines = analyze(table, f"y ~ `{odd_name}`").to_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("term"))

    assert len({len(line) for line in lines[at : at + 3]}) == 1


def test_latex_is_escaped(odd_name):
    table = pd.DataFrame({odd_name: [1.0, 2, 4, 3], "y": [2.0, 1, 3, 5]})
    latex = analyze(table, f"y ~ `{odd_name}`").to_latex()

    assert r"50\% of\_\$x \& \{y\}\textbackslash{} \textasciicircum{}\textasciitilde{}\#" in latex
    assert latex.count(r"\\") == 3
    assert latex.startswith(r"\begin{tabular}{lrrrrr}")


@given(st.text())
def test_nothing_special_is_left_in_latex(text):
    escaped = latex_escape(text)
    left = re.sub(r"\\[&%$#_{}]|\\text[a-z]+\{\}", "", escaped)

    assert not re.search(r"[\\&%$#_{}~^\n]", left)
