"""What MkDocs asks while it builds the documents (``make docs``): figures, results and names.

Pages contain comments such as ``<!-- figure: masking_curve -->`` in place of what only the code
knows. They are replaced when the site is built, so that no page is out of date.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import plotly
import plotly.graph_objects as go

ROOT = Path(__file__).resolve().parents[1]
# MkDocs loads this file by its path, from anywhere.
sys.path.insert(0, str(ROOT))

import pmae_core  # noqa: E402
from dashboard.figures import blend, lessons, masking  # noqa: E402
from dashboard.learn import LESSONS  # noqa: E402
from dashboard.learn.masking import make_trader, training_cases  # noqa: E402
from dashboard.masking.lab import (  # noqa: E402
    UNIFORM_RATE,
    Masking,
    MaskingTable,
    column_weights,
    masking_table,
)
from pmae_core.amputation import ampute  # noqa: E402
from pmae_core.imputers import list_imputers  # noqa: E402
from pmae_core.plots.masking import curve_data, curve_figure  # noqa: E402
from pmae_core.table import ReadingLimits, Schema, load_dataset  # noqa: E402
from tools import findings, results  # noqa: E402

PLACEHOLDER = re.compile(
    r"<!-- (figure|measured|plot|reference|result): ([\w.]+) -->"
    r"|<!-- (limits|methods|proper|names|lessons) -->"
)
RESULTS = ROOT / "benchmarks" / "results"
PLOTLY_SCRIPT = "assets/plotly.min.js"
PAPER_MASKING = Masking("logit", {"a": 0.05, "b": 0.5})
SHOWN_ROWS = 14
SEED = 1


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Replace the comments of a page."""
    return with_one_script(
        PLACEHOLDER.sub(lambda found: replaced_comment(found, page.url), markdown)
    )


def on_post_build(config: Any, **_: Any) -> None:
    """Put the script of the figures beside the pages: they can be read without a network."""
    target = Path(config["site_dir"]) / PLOTLY_SCRIPT
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(plotly.__file__).parent / "package_data" / "plotly.min.js", target)


def replaced_comment(found: re.Match[str], url: str = "") -> str:
    """Return what stands in place of a comment on the page of this address."""
    kind, name = found[1] or found[3], found[2]
    if kind == "figure":
        return figure_html(FIGURES[name](), name, "../" * url.count("/"))
    if kind == "plot":
        figure = figure_html(plot(name), name, "../" * url.count("/"))
        return f"```python\n{PLOTS[name]}\n```\n\n{figure}"
    if kind == "reference":
        return "\n\n".join(f"::: {path}" for path in public_names(name))
    if kind == "result":
        return results.words(name, RESULTS)
    if kind == "measured":
        return findings.section(name, RESULTS)
    return TABLES[kind]()


def figure_html(figure: go.Figure, name: str, to_root: str) -> str:
    """Return a figure as part of a page, on the page's own background."""
    figure.update_layout(paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)")
    content = figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=name,
        config={"displayModeBar": False, "responsive": True},
    )
    return f'<script src="{to_root}{PLOTLY_SCRIPT}"></script>\n{content}\n'


def with_one_script(text: str) -> str:
    """Return a page whose figures share the script that draws them: it is large."""
    scripts = re.compile(rf'<script src="[./]*{re.escape(PLOTLY_SCRIPT)}"></script>\n')
    first = scripts.search(text)
    if first is None:
        return text
    return text[: first.end()] + scripts.sub("", text[first.end() :])


# The figures of "How PMAE works", drawn by the dashboard's own functions


def amputed_penguins() -> MaskingTable:
    """Return the sample table with simulated missing values, as the Masking lab shows it."""
    complete = load_dataset("penguins").frame.dropna(ignore_index=True)
    frame = ampute(complete, pattern="general", mechanism="MNAR", seed=SEED).incomplete
    return masking_table(frame, Schema.infer(frame), seed=SEED)


def masked_rows() -> go.Figure:
    """Draw some rows with their missing cells, and those that are masked besides."""
    table = amputed_penguins()
    masked = table.masked(PAPER_MASKING.probability(table.p_obs))
    states = masking.cell_states(table.observed[:SHOWN_ROWS], masked[:SHOWN_ROWS])
    return masking.cells_figure(states, table.names)


def masking_curve() -> go.Figure:
    """Draw the paper's masking function with the columns of a table on it."""
    weights = column_weights(amputed_penguins(), PAPER_MASKING)
    curve = curve_data(PAPER_MASKING.probability)
    return curve_figure(curve, weights, uniform=UNIFORM_RATE)


def prediction_weights() -> go.Figure:
    """Draw the weight of prediction and of reconstruction for each column."""
    weights = column_weights(amputed_penguins(), PAPER_MASKING)
    return masking.weights_figure(weights, uniform=UNIFORM_RATE)


def training_resembles_missingness() -> go.Figure:
    """Draw how many helpers are observed where the column is missing, and where it is masked."""
    cases = training_cases(make_trader(SEED), a=0.3, seed=SEED)
    return lessons.training_cases_figure(cases.visible)


def member_shares() -> go.Figure:
    """Draw which member of the blend counts in each column of three tables, as it was measured."""
    measured = json.loads((RESULTS / "blend_members.json").read_text(encoding="utf-8"))
    shares = {
        f"{table['dataset']}: {column}": by_member
        for table in measured["tables"]
        for column, by_member in table["shares"].items()
    }
    return blend.member_shares_figure(blend.shares_by_column(shares))


FIGURES: dict[str, Callable[[], go.Figure]] = {
    function.__name__: function
    for function in (
        masked_rows,
        masking_curve,
        prediction_weights,
        training_resembles_missingness,
        member_shares,
    )
}


# The gallery: each figure is drawn by the call that stands above it

GALLERY = ROOT / "docs" / "guide" / "gallery.md"
PLOTS = {
    "share_missing": "plots.share_missing(table)",
    "missing_matrix": 'plots.missing_matrix(table, order="pattern")',
    "missing_patterns": "plots.missing_patterns(table)",
    "missing_together": "plots.missing_together(table)",
    "masking_curve": "plots.masking_curve(table, schema=schema)",
    "method_ranking": "plots.method_ranking(comparison)",
    "observed_and_imputed": 'plots.observed_and_imputed(table, imputations[0], "copper")',
    "imputation_spread": 'plots.imputation_spread(table, imputations, "copper")',
}


def plot(name: str) -> go.Figure:
    """Draw a figure of the gallery by its own call."""
    return eval(PLOTS[name], gallery_names())


@functools.cache
def gallery_names() -> dict[str, Any]:
    """Run the lines that the gallery begins with, and return what they name."""
    (lines,) = re.findall(r"^```python\n(.*?)^```", GALLERY.read_text("utf-8"), re.M | re.S)
    names: dict[str, Any] = {}
    exec(lines, names)
    return names


# Names, limits and results


def public_names(module_name: str) -> list[str]:
    """Return the full names of all that a module offers, where each is defined."""
    module = importlib.import_module(module_name)
    offered = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module_name
    ]
    return [full_name(module_name, name) for name in offered if not name.startswith("__")]


def full_name(module_name: str, name: str) -> str:
    """Return where a name of a module is defined; constants do not know."""
    thing = getattr(importlib.import_module(module_name), name)
    if inspect.isclass(thing) or inspect.isfunction(thing):
        return f"{thing.__module__}.{thing.__qualname__}"
    return f"{module_name}.{name}"


def top_names_table() -> str:
    """Return what can be imported from `pmae_core` itself as a table, with links."""
    names = [name for name in pmae_core.__all__ if not name.startswith("__")]
    rows = [
        f"| [`{name}`][{full_name('pmae_core', name)}] | {first_line(getattr(pmae_core, name))} |"
        for name in names
    ]
    return "\n".join(["| Name | What it is |", "| --- | --- |", *rows])


def first_line(thing: Any) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(thing) or "").split("\n", maxsplit=1)[0]


def limits_table() -> str:
    """Return the limits of reading as a table."""
    rows = [f"| `{field.name}` | {field.default:,} |" for field in fields(ReadingLimits)]
    return "\n".join(["| Limit | Default |", "| --- | ---: |", *rows])


def methods_table() -> str:
    """Return all methods, and what their imputations say about uncertainty, as a table."""
    rows = [f"| `{one.name}` | {one.title} | {one.about_imputations} |" for one in list_imputers()]
    return "\n".join(["| Name | Method | Uncertainty |", "| --- | --- | --- |", *rows])


def proper_table() -> str:
    """Return which methods give proper imputations, which give others, and which only one."""
    groups: dict[str, list[str]] = {
        "proper: they include the uncertainty of the fitted model": [],
        "from one fitted model: pooled intervals are too narrow": [],
        "one only: intervals ignore imputation altogether": [],
    }
    proper, one_model, single = groups.values()
    for info in list_imputers():
        group = single if not info.draws_samples else proper if info.is_proper else one_model
        group.append(f"`{info.name}`")
    rows = [f"| {kind} | {', '.join(names)} |" for kind, names in groups.items()]
    return "\n".join(["| Imputations | Methods |", "| --- | --- |", *rows])


def lessons_table() -> str:
    """Return all lessons, with what each asks and simplifies, as a table."""
    rows = [f"| {one.title} | {one.question} | {one.simplified} |" for one in LESSONS]
    return "\n".join(["| Lesson | Question | What it simplifies |", "| --- | --- | --- |", *rows])


TABLES: dict[str, Callable[[], str]] = {
    "limits": limits_table,
    "methods": methods_table,
    "proper": proper_table,
    "names": top_names_table,
    "lessons": lessons_table,
}
