"""Figures of a pooled regression."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.figures.imputation import delta_figure
from pmae_core.colors import IMPUTED, MISSING, NEUTRAL, OBSERVED
from pmae_core.inference import DeltaCurve
from pmae_core.plots.labels import figure_text, hover_names
from pmae_core.plots.style import styled

MOST_TERMS = 20
_ROW = 33
_APART = 0.16  # of a row, between an estimate and the one that it is compared with
_LONGEST = 22


def forest_figure(
    data: pd.DataFrame, *, null: float, title: str, chosen: str | None = None
) -> go.Figure:
    """Draw estimates with intervals, and how much of their information is missing.

    Parameters
    ----------
    data : DataFrame
        With ``term``, ``source``, ``estimate``, ``low``, ``high``, ``told`` and
        ``missing_information``; the first source is the pooled one.
    null : float
        The value of no association; ratios, whose value is 1, are drawn on a log axis.
    title : str
        What the estimates are.
    chosen : str, optional
        The term to emphasize.
    """
    terms = list(dict.fromkeys(data["term"]))[:MOST_TERMS]
    place = {term: number for number, term in enumerate(terms)}
    data = data[data["term"].isin(terms)]
    has_shares = bool(data["missing_information"].notna().any())
    figure = make_subplots(
        cols=2 if has_shares else 1,
        shared_yaxes=True,
        column_widths=[0.68, 0.32] if has_shares else None,
        horizontal_spacing=0.04,
    )
    sources = list(dict.fromkeys(data["source"]))
    for source, color, symbol in zip(
        sources, (IMPUTED, OBSERVED), ("circle", "diamond"), strict=False
    ):
        rows = data[data["source"] == source]
        side = -_APART if source == sources[0] and len(sources) > 1 else _APART
        offset = side if len(sources) > 1 else 0.0
        figure.add_trace(_intervals(rows, place, offset, source, color, symbol), row=1, col=1)
    figure.add_vline(x=null, line={"color": NEUTRAL, "width": 1.5, "dash": "dash"}, row=1, col=1)
    if has_shares:
        figure.add_trace(_shares(data[data["source"] == sources[0]], place), row=1, col=2)
    _lay_out(figure, terms, title, chosen, has_shares=has_shares)
    if null == 1:
        ticks = ratio_ticks(data["low"].min(), data["high"].max())
        figure.update_xaxes(
            type="log", tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks], col=1
        )
    return styled(figure, height=104 + _ROW * max(len(terms), 2))


def ratio_ticks(low: float, high: float) -> list[float]:
    """Return round ratios between two, for a logarithmic axis; always 1 too.

    Examples
    --------
    >>> ratio_ticks(0.3, 4.0), ratio_ticks(0.93, 1.12)
    ([0.5, 1.0, 2.0], [0.95, 1.0, 1.05, 1.1])
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    step = max(1, len(decades) // 6)
    leads = (1.0, 2.0, 5.0) if len(decades) <= 3 else (1.0,)
    ticks = [lead * 10.0**decade for decade in decades[::step] for lead in leads]
    ticks = [tick for tick in ticks if low <= tick <= high]
    if len(ticks) < 3:
        size = 10.0 ** math.floor(math.log10(high - low))
        width = next(w for w in (0.25, 0.5, 1.0) if (high - low) / (w * size) <= 5 or w == 1.0)
        first, last = math.ceil(low / (width * size)), math.floor(high / (width * size))
        ticks = [float(f"{n * width * size:.6g}") for n in range(first, last + 1)]
    return sorted({1.0, *ticks})


def _intervals(
    rows: pd.DataFrame, place: dict[str, int], offset: float, name: str, color: str, symbol: str
) -> go.Scatter:
    return go.Scatter(
        x=rows["estimate"],
        y=[place[term] + offset for term in rows["term"]],
        mode="markers",
        name=name,
        marker={"color": color, "size": 10, "symbol": symbol},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": rows["high"] - rows["estimate"],
            "arrayminus": rows["estimate"] - rows["low"],
            "color": color,
            "thickness": 2.5,
            "width": 0,
        },
        text=hover_names(rows["term"].tolist()),
        customdata=hover_names(rows["told"].tolist()),
        hovertemplate=f"%{{text}}: %{{customdata}}<extra>{name}</extra>",
    )


def _shares(rows: pd.DataFrame, place: dict[str, int]) -> go.Bar:
    percents = 100 * rows["missing_information"]
    return go.Bar(
        x=percents,
        y=[place[term] for term in rows["term"]],
        orientation="h",
        width=0.45,
        name="missing information",
        marker={"color": MISSING},
        text=[f"{value:.0f}%" for value in percents],
        textposition="outside",
        cliponaxis=False,
        hovertext=hover_names(rows["term"].tolist()),
        hovertemplate="%{hovertext}: %{x:.1f}%<extra></extra>",
        showlegend=False,
    )


def _lay_out(
    figure: go.Figure,
    terms: list[str],
    title: str,
    chosen: str | None,
    *,
    has_shares: bool,
) -> None:
    names = [figure_text(term, _LONGEST) for term in terms]
    figure.update_yaxes(
        tickvals=list(range(len(terms))),
        ticktext=[
            f"<b>{name}</b>" if term == chosen else name
            for term, name in zip(terms, names, strict=True)
        ],
        range=[len(terms) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
    )
    figure.update_xaxes(title={"text": title}, zeroline=False, col=1)
    if has_shares:
        figure.update_yaxes(showticklabels=False, col=2)
        figure.update_xaxes(
            title={"text": "missing<br>information"},
            range=[0, 125],
            tickvals=[0, 100],
            ticktext=["0%", "100%"],
            tickangle=0,
            zeroline=False,
            col=2,
        )
    figure.update_layout(showlegend=True, uirevision="forest")


def shift_figure(
    curve: DeltaCurve, delta: float, *, words: str, column: str, labels: Mapping[float, str]
) -> go.Figure:
    """Draw a coefficient against the shift of a column's imputed values.

    Parameters
    ----------
    curve : DeltaCurve
        Estimates and intervals.
    delta : float
        The shift to mark.
    words : str
        What is estimated.
    column : str
        The column that is shifted.
    labels : mapping of float to str
        What shifts are called, such as "+22%".
    """
    figure = delta_figure(curve, delta, words, column, revision="shift")
    shown = {value: text for value, text in labels.items() if value == round(value)}
    figure.update_xaxes(
        title={"text": f"missing {figure_text(column)} against imputed"},
        range=[1.08 * min(labels), 1.08 * max(labels)],
        tickvals=list(shown),
        ticktext=[figure_text(text) for text in shown.values()],
    )
    return figure.update_layout(height=270)
