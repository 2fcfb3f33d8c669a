"""Figures of the comparison report, as SVG text: dark on white, safe for color-blind readers."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pmae_core.evaluation.sources import COMPLETE_CASES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, distinguishable with any kind of color vision.
BLUE, SKY, VERMILION = "#0072B2", "#56B4E9", "#D55E00"
INK = "#1b1b1b"
MAX_PANELS = 12
MAX_LABELS = 10
LOWEST_SKILL = -1.0
_STYLE: dict[Any, Any] = {
    # Names are shown as they are: a $ in one does not begin a formula.
    "text.parse_math": False,
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def ranking_figure(summary: pd.DataFrame) -> str:
    """Return bars of skill with standard errors, best rank on top.

    Parameters
    ----------
    summary : DataFrame
        From :meth:`Comparison.summary`.
    """
    ranked = summary.dropna(subset="skill")

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        places = np.arange(len(ranked))
        colors = [BLUE if rank == 1 else SKY for rank in ranked["rank"]]
        axes.barh(
            places,
            _shown_skill(ranked),
            xerr=ranked["skill_se"].fillna(0.0).clip(upper=-LOWEST_SKILL),
            color=colors,
            ecolor=INK,
            capsize=3,
            height=0.65,
        )
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.set_yticks(places, labels=list(map(_short, ranked.index)))
        axes.invert_yaxis()
        axes.set_xlabel(f"Skill, mean over seeds{_cut_words(ranked)}; bars: standard error")

    return _svg(draw, width=8, height=0.9 + 0.36 * len(ranked), name="ranking")


def cost_figure(summary: pd.DataFrame) -> str:
    """Return skill against time, one point per method; fast and accurate is top left."""
    ranked = summary.dropna(subset="skill")
    seconds = (ranked["fit_seconds"] + ranked["impute_seconds"]).clip(lower=1e-3)
    skill = _shown_skill(ranked)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.scatter(seconds, skill, color=BLUE, s=36)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_formatter(lambda value, _: "")
        for method, x, y in zip(ranked.index, seconds, skill, strict=True):
            axes.annotate(
                _short(method), (x, y), textcoords="offset points", xytext=(5, 4), fontsize=9
            )
        axes.margins(x=0.2, y=0.15)
        axes.set_xlabel("Seconds to fit and impute (median over seeds)")
        axes.set_ylabel(f"Skill{_cut_words(ranked)}")

    return _svg(draw, width=8, height=4, name="cost")


def _shown_skill(ranked: pd.DataFrame) -> pd.Series:
    """Return the skill as drawn: one method that is far off must not hide the others."""
    return ranked["skill"].clip(lower=LOWEST_SKILL)


def _cut_words(ranked: pd.DataFrame) -> str:
    is_cut = (ranked["skill"] < LOWEST_SKILL).any()
    return f" (below {LOWEST_SKILL:g} drawn there)" if is_cut else ""


def truth_figure(points: Mapping[str, Mapping[str, Sequence[Any]]]) -> str:
    """Return imputed against true values, one panel for each of the first columns.

    Parameters
    ----------
    points : mapping of column to mapping
        ``truth`` and ``imputed`` values, numbers or labels.
    """
    shown = dict(list(points.items())[:MAX_PANELS])
    n_columns = min(3, len(shown))
    n_rows = math.ceil(len(shown) / n_columns)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
        for axes, (name, cells) in zip(panels, shown.items(), strict=False):
            labels = any(isinstance(cell, str) for cell in cells["truth"])
            (_draw_labels if labels else _draw_numbers)(axes, cells["truth"], cells["imputed"])
            axes.set_title(_short(name), fontsize=10)
        for axes in panels[len(shown) :]:
            axes.set_visible(False)
        figure.supxlabel("True", fontsize=10)
        figure.supylabel("Imputed", fontsize=10)

    return _svg(draw, width=3.2 * n_columns, height=0.4 + 2.8 * n_rows, name="truth")


def forest_figure(rows: pd.DataFrame) -> str:
    """Return one estimate by every method, with confidence intervals.

    Parameters
    ----------
    rows : DataFrame
        Those of one estimand from :func:`~pmae_core.inference.conclusion_stability` that are
        done.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for place, row in enumerate(rows.to_dict("records")):
            color = INK if row["kind"] in ("reference", COMPLETE_CASES) else BLUE
            axes.plot([row["low"], row["high"]], [place, place], color=color, linewidth=2)
            hollow = "white" if row["kind"] == "single" else color
            axes.plot(row["estimate"], place, "o", color=color, markerfacecolor=hollow)
        axes.set_yticks(range(len(rows)), labels=[_short(name) for name in rows["method"]])
        axes.invert_yaxis()
        axes.set_xlabel("Estimate with its 95% confidence interval; hollow: single imputation")

    return _svg(
        draw,
        width=8,
        height=0.9 + 0.32 * len(rows),
        name=f"forest-{rows['estimand'].iloc[0]}",
    )


def _draw_numbers(axes: Axes, truth: Sequence[Any], imputed: Sequence[Any]) -> None:
    low, high = min(*truth, *imputed), max(*truth, *imputed)
    axes.plot([low, high], [low, high], color=INK, linewidth=0.8, linestyle="--")
    axes.scatter(truth, imputed, s=16, color=BLUE, alpha=0.6, linewidths=0)
    axes.tick_params(labelsize=8)


def _draw_labels(axes: Axes, truth: Sequence[Any], imputed: Sequence[Any]) -> None:
    """Draw how often each label was imputed as which; hits lie on the diagonal."""
    labels = list(pd.Series([*truth]).value_counts().index[:MAX_LABELS])
    counts = pd.crosstab(pd.Series(imputed), pd.Series(truth)).reindex(
        index=labels, columns=labels, fill_value=0
    )
    shares = counts / counts.sum().clip(lower=1)
    x, y = np.meshgrid(np.arange(len(labels)), np.arange(len(labels)))
    hits = x == y
    for cells, color in ((hits, BLUE), (~hits, VERMILION)):
        sizes = shares.to_numpy()[cells] * 180
        axes.scatter(x[cells], y[cells], s=sizes, color=color, alpha=0.75, linewidths=0)
    names = [_short(label, 12) for label in labels]
    axes.set_xticks(range(len(labels)), labels=names, rotation=60, ha="right", fontsize=7)
    axes.set_yticks(range(len(labels)), labels=names, fontsize=7)
    axes.margins(0.15)


def _svg(draw: Callable[[Figure], None], *, width: float, height: float, name: str) -> str:
    """Return a figure as an SVG element, the same for the same data."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # The salt keeps the identifiers of several figures on one page apart.
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
        draw(figure)
        text = io.StringIO()
        FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def _short(name: Any, most: int = 28) -> str:
    text = " ".join(str(name).split())
    return text if len(text) <= most else text[: most - 1] + "…"
