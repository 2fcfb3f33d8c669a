"""A comparison as a notebook shows it, and as plain text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.colors import IMPUTED, NEUTRAL
from pmae_core.display import (
    Html,
    html_box,
    html_note,
    html_paragraph,
    html_table,
    html_title,
    interval_line,
    plain_lines,
    text_table,
)
from pmae_core.evaluation.winners import NOT_SHOWN_TO_BEAT_THE_MEAN, without_baseline
from pmae_core.words import count, listed, shorten

_MOST_COLUMNS = 25
_LONGEST_NAME = 40
_RANKING = ["Rank", "Method", "Skill", "95% interval", "Seconds", "Seeds"]
_COLUMNS = ["Column", "Best", "Tied with it", "Skill"]
_HOW_TO_READ = (
    "Skill on held-out cells, mean over seeds: 1 is perfect, 0 is imputing the mean or mode. "
    "Methods of one rank are tied: the 95% interval of their difference to the best of the rank "
    "includes 0. It is written as the skill that they have at its ends; how precisely the skill "
    "of one method is known is another question."
)


@dataclass(frozen=True, eq=False)
class ShownComparison:
    """What is shown of a comparison.

    Attributes
    ----------
    title : str
        What was compared.
    verdict : str
        Which method to use, in a sentence.
    ranking : DataFrame
        Of :meth:`~pmae_core.evaluation.Comparison.ranking_table`.
    winners : DataFrame
        Of :meth:`~pmae_core.evaluation.Comparison.column_winners`.
    remarks : dict
        By method why results are missing, empty where none are.
    """

    title: str
    verdict: str
    ranking: pd.DataFrame
    winners: pd.DataFrame
    remarks: dict[str, str]

    def html(self) -> str:
        """Return it for a notebook: with a small picture of each interval."""
        axis = _axis(self.ranking)
        intervals = [_interval(row, axis) for row in self.ranking.to_dict("records")]
        rows = [
            [*cells[:3], interval, *cells[3:]]
            for cells, interval in zip(_ranking_rows(self.ranking), intervals, strict=True)
        ]
        headers = [*_RANKING[:3], "", *_RANKING[3:]]
        best, others = _column_rows(self.winners)
        return html_box(
            html_title(self.title),
            html_paragraph(self.verdict),
            html_table(headers, rows, numbers={0, 2, 5, 6}),
            html_note(_HOW_TO_READ if any(intervals) else ""),
            *map(html_paragraph, self._remarks()),
            html_table(_COLUMNS, best, numbers={3}),
            html_note(others),
        )

    def text(self) -> str:
        """Return it as plain text."""
        best, others = _column_rows(self.winners)
        return plain_lines(
            f"{self.title}. {self.verdict}",
            text_table(map(str.lower, _RANKING), _ranking_rows(self.ranking), numbers={0, 2, 4, 5}),
            *self._remarks(),
            text_table(map(str.lower, _COLUMNS), best, numbers={3}),
            others,
        )

    def _remarks(self) -> list[str]:
        return [f"{method}: {remark}" for method, remark in self.remarks.items() if remark]


def _ranking_rows(ranking: pd.DataFrame) -> list[list[str]]:
    return [
        [
            "" if pd.isna(row["rank"]) else str(row["rank"]),
            shorten(row["method"], _LONGEST_NAME),
            _number(row["score"], 3),
            _interval_words(row["low"], row["high"]),
            _number(row["seconds"], 1),
            f"{row['n_done']} of {row['n_tasks']}",
        ]
        for row in ranking.to_dict("records")
    ]


def _number(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}" if np.isfinite(value) else ""


def _interval_words(low: float, high: float) -> str:
    if not low < high:
        return ""
    ends = [f"{end:.3f}" if np.isfinite(end) else "unknown" for end in (low, high)]
    return "unknown" if "unknown" in ends else " to ".join(ends)


def _axis(ranking: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of an axis with all scores, 0, and the intervals that are known."""
    values = ranking[["score", "low", "high"]].to_numpy(dtype=float)
    finite = np.append(values[np.isfinite(values)], 0.0)
    # A method that is far off would press all others into one point.
    return max(float(finite.min()), -1.0), max(float(finite.max()), 0.1)


def _interval(row: Mapping[Any, Any], axis: tuple[float, float]) -> Html:
    if pd.isna(row["rank"]):
        return Html("")
    ends = (row["low"], row["high"])
    low, high = ends if np.isfinite(ends).all() else (row["score"], row["score"])
    return interval_line(low, row["score"], high, axis, IMPUTED if row["rank"] == 1 else NEUTRAL)


def _best_words(winner: pd.Series) -> str:
    if winner["best"] is None:
        return NOT_SHOWN_TO_BEAT_THE_MEAN
    return f"{winner['best']} (not tested)" if pd.isna(winner["p_value"]) else str(winner["best"])


def _column_rows(winners: pd.DataFrame) -> tuple[list[list[str]], str]:
    """Return the best method of each column, and how many columns have no room."""
    shown = without_baseline(winners).head(_MOST_COLUMNS)
    rows = [
        [
            shorten(name, _LONGEST_NAME),
            _best_words(row),
            listed(row["tied"]),
            "" if row["best"] is None else f"{row['skill']:.2f}",
        ]
        for name, row in shown.iterrows()
    ]
    n_more = len(winners) - len(shown)
    return rows, f"And {count(n_more, 'more column')}." if n_more else ""
