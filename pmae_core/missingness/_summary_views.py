"""A summary of missing values as a notebook shows it, and as plain text."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from pmae_core.colors import MISSING, OBSERVED
from pmae_core.display import (
    html_box,
    html_note,
    html_paragraph,
    html_table,
    html_title,
    plain_lines,
    share_bar,
    text_table,
)
from pmae_core.missingness.blocks import MissingBlock
from pmae_core.missingness.story import block_sentence
from pmae_core.words import count, listed, percent, shorten

_MOST_COLUMNS = 25
_MOST_BLOCKS = 5
_LONGEST_NAME = 40


def summary_html(
    sentence: str,
    per_column: pd.DataFrame,
    patterns: pd.DataFrame,
    n_patterns: int,
    blocks: Sequence[MissingBlock],
) -> str:
    """Return the sentence, a bar per incomplete column, blocks of columns and patterns of rows."""
    return html_box(
        html_title("Missing values"),
        html_paragraph(sentence),
        *_columns(per_column),
        *(html_paragraph(text) for text in block_sentences(blocks)),
        *_patterns(patterns, n_patterns),
    )


def summary_text(sentence: str, per_column: pd.DataFrame, blocks: Sequence[MissingBlock]) -> str:
    """Return the sentence, the incomplete columns and the blocks of columns as plain text."""
    shown, others = _incomplete(per_column)
    rows = [[name, count(n_missing), percent(share)] for name, n_missing, share in shown]
    table = text_table(["column", "missing", "share"], rows, numbers={1, 2})
    return plain_lines(sentence, table, others, *block_sentences(blocks))


def block_sentences(blocks: Sequence[MissingBlock]) -> list[str]:
    """Return which columns are missing in the same rows, those with most missing cells first."""
    several = [block for block in blocks if len(block.columns) > 1 and not block.is_complete]
    several.sort(key=lambda block: -block.n_missing)
    sentences = [block_sentence(block, _name) for block in several[:_MOST_BLOCKS]]
    if len(several) > _MOST_BLOCKS:
        sentences.append(f"And {count(len(several) - _MOST_BLOCKS, 'more block')} of columns.")
    return sentences


def _name(name: object) -> str:
    return shorten(name, _LONGEST_NAME)


def _incomplete(per_column: pd.DataFrame) -> tuple[list[tuple[str, int, float]], str]:
    """Return name, number and share of missing cells of columns, and the others in words."""
    ordered = per_column.sort_values("n_missing", ascending=False, kind="stable")
    partly = ordered[ordered["n_missing"] > 0]
    shown = [
        (_name(name), int(n_missing), 1 - float(p_obs))
        for name, p_obs, n_missing in partly.head(_MOST_COLUMNS)[
            ["p_obs", "n_missing"]
        ].itertuples()
    ]
    n_more = len(partly) - len(shown)
    complete = list(ordered.index[ordered["n_missing"] == 0])
    parts = [
        f"{count(n_more, 'more incomplete column')}" if n_more else "",
        f"{count(len(complete), 'complete column')}: {listed(map(_name, complete), most=8)}"
        if complete and shown
        else "",
    ]
    words = "; ".join(filter(None, parts))
    return shown, f"{words}." if words else ""


def _columns(per_column: pd.DataFrame) -> list[str]:
    shown, others = _incomplete(per_column)
    rows = [
        [name, share_bar(share, MISSING), count(n_missing), percent(share)]
        for name, n_missing, share in shown
    ]
    table = html_table(["Column", "Missing", "Cells", "Share"], rows, numbers={2, 3})
    return [table, html_note(others)]


def _patterns(patterns: pd.DataFrame, n_patterns: int) -> list[str]:
    if n_patterns == 1 and not patterns["n_missing"].iloc[0]:
        return []
    rows = [
        [
            count(int(row["n_rows"])),
            share_bar(row["share"], MISSING if row["n_missing"] else OBSERVED),
            percent(row["share"]),
            listed(map(_name, row["missing_columns"]), most=10) or "nothing",
        ]
        for row in patterns.to_dict("records")
    ]
    table = html_table(
        ["Rows", "", "Share", "Missing together in these rows"], rows, numbers={0, 2}
    )
    if n_patterns == len(rows):
        return [table]
    return [table, html_note(f"The {len(rows)} most frequent of {count(n_patterns)} patterns.")]
