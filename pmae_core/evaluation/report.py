"""A comparison as files: tables, JSON, and a report in one self-contained HTML file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.evaluation.comparison import Comparison
from pmae_core.evaluation.disagreement import disagreement_sentence
from pmae_core.evaluation.imputation_scores import expected_coverage
from pmae_core.evaluation.ranking import MIN_SEEDS
from pmae_core.evaluation.report_figures import (
    MAX_PANELS,
    cost_figure,
    forest_figure,
    ranking_figure,
    truth_figure,
)
from pmae_core.words import count, percent

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fff;
       max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
h3 { font-size: 1rem; margin-bottom: 0; }
table { border-collapse: collapse; font-size: .88rem; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #ccc; text-align: right;
         vertical-align: top; white-space: nowrap; }
td.word { white-space: normal; }
th { text-align: right; border-bottom: 2px solid #555; }
.word { text-align: left; } .leader td { font-weight: 600; }
.scroll { overflow-x: auto; } svg { max-width: 100%; height: auto; }
.note { color: #444; font-size: .9rem; }
code { overflow-wrap: anywhere; }
"""
_SCORE_TITLES = {
    "skill": "Skill",
    "imputation_accuracy": "Imputation accuracy",
    "r2_unclipped": "R²",
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "rmse": "RMSE",
    "mae": "MAE",
    "wasserstein": "Wasserstein",
    "energy_distance": "Energy distance",
}
_DISTRIBUTION_TITLES = {
    "distribution_skill": "Distribution skill",
    "crps": "CRPS",
    "brier": "Brier",
    "log_score": "Log score",
    "coverage": "Coverage",
    "width": "Width",
    "energy_distance": "Energy distance",
    "i_score": "I-Score",
}
_HOLDOUTS = {
    "like-mine": "Scores are on observed cells, held out in the patterns of the table's own "
    "missing values",
    "amputation": "Scores are on cells that were removed from a complete table",
    "known-truth": "Scores are on the table's own missing cells, whose true values are known",
}


def write_comparison(comparison: Comparison, folder: str | Path) -> list[Path]:
    """Write results.csv, per_column.csv, comparison.json and report.html into a folder.

    Parameters
    ----------
    comparison : Comparison
        The results.
    folder : path
        Created if it does not exist.

    Returns
    -------
    list of Path
        The files.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = ("results.csv", "per_column.csv", "comparison.json", "report.html")
    results, per_column, everything, report = paths = [folder / name for name in names]
    comparison.to_csv(results, per_column=per_column)
    everything.write_text(comparison.to_json() + "\n", encoding="utf-8")
    report.write_text(comparison_report(comparison), encoding="utf-8")
    return paths


def comparison_report(
    comparison: Comparison,
    title: str = "Comparison of methods",
    *,
    downstream: pd.DataFrame | None = None,
    conclusions: pd.DataFrame | None = None,
) -> str:
    """Return the report as HTML text, with all figures in it.

    Parameters
    ----------
    comparison : Comparison
        The results.
    title : str
        Its heading.
    downstream, conclusions : DataFrame, optional
        From :func:`~pmae_core.evaluation.downstream.downstream_scores` and
        :func:`~pmae_core.inference.conclusion_stability`, each for a section of its own.
    """
    summary = comparison.summary()
    parts = [f"<h1>{escape(title)}</h1>", _introduction(comparison)]
    parts.append(_section("Leaderboard", _leaderboard(summary), _rank_note(comparison)))
    if summary["n_imputations"].max() > 0:
        distribution = _distribution(summary, comparison)
        parts.append(_section("Imputations as a distribution", *distribution))
    if summary["rank"].notna().any():
        best = str(summary.index[0])
        parts += [
            _section("Skill", ranking_figure(summary)),
            _section("Skill and time", cost_figure(summary)),
            _section("Column by column", _heat_table(comparison, summary), _HEAT_NOTE),
            _section(f"Truth and imputation: {best}", *_truth(comparison, best)),
        ]
    if conclusions is not None and not conclusions.empty:
        parts.append(_section("Conclusions", _conclusions(conclusions), _CONCLUSION_NOTE))
    if downstream is not None and not downstream.empty:
        parts.append(_section("Predicting the target", _downstream(downstream), _DOWNSTREAM_NOTE))
    parts.append(_section("What failed", _failures(comparison)))
    parts.append(_section("Warnings from the methods", _notes(comparison)))
    parts.append(_section("Settings", _settings(comparison)))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>"
        + "\n".join(parts)
        + "</body></html>\n"
    )


def _section(title: str, *content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{''.join(content)}</section>"


def _introduction(comparison: Comparison) -> str:
    settings = comparison.settings
    return (
        f"<p>{count(len(settings['methods']), 'method')} on a table of "
        f"{count(settings['n_rows'], 'row')} and {count(settings['n_columns'], 'column')} with "
        f"{count(settings['n_missing'], 'missing cell')}, over "
        f"{count(len(settings['seeds']), 'seed')}. {escape(_HOLDOUTS[settings['holdout']])}; for "
        "each seed all methods impute the same table.</p>"
    )


def _leaderboard(summary: pd.DataFrame) -> str:
    headers = [
        "Rank",
        "Method",
        *_SCORE_TITLES.values(),
        "Fit, s",
        "Impute, s",
        "Memory, MB",
        "Seeds",
    ]
    rows = []
    for method, row in summary.iterrows():
        scores = [_with_error(row[name], row[f"{name}_se"]) for name in _SCORE_TITLES]
        costs = [_figure(row[name], 2) for name in ("fit_seconds", "impute_seconds")]
        rows.append(
            [
                "" if pd.isna(row["rank"]) else str(row["rank"]),
                str(method),
                *scores,
                *costs,
                _figure(row["peak_memory_mb"], 0),
                f"{row['n_done']} of {row['n_tasks']}",
            ]
        )
    leaders = [rank == 1 for rank in summary["rank"].fillna(0)]
    return _table(headers, rows, words={1}, bold=leaders)


def _distribution(summary: pd.DataFrame, comparison: Comparison) -> list[str]:
    """Return the scores of random imputations, and how to read them."""
    names = [name for name in _DISTRIBUTION_TITLES if summary[name].notna().any()]
    headers = ["Method", "Imputations", *(_DISTRIBUTION_TITLES[name] for name in names)]
    rows = [
        [
            str(method),
            _imputations_word(int(row["n_imputations"])),
            *(_with_error(row[name], row[f"{name}_se"]) for name in names),
        ]
        for method, row in summary.iterrows()
        if row["n_done"]
    ]
    sentence = disagreement_sentence(comparison)
    note = (
        '<p class="note">Distribution skill is the share of the error of random observed values '
        "that a method avoids (CRPS of numbers, Brier score of categories): 1 is perfect, 0 no "
        "better than random observed values. For CRPS, Brier, log score, energy distance and "
        "I-Score, lower is better. CRPS and the width of intervals are in units of the spread of "
        f"the column. {_coverage_note(int(summary['n_imputations'].max()))}</p>"
    )
    return [
        f"<p>{escape(sentence)}</p>" if sentence else "",
        _table(headers, rows, words={0, 1}),
        note,
    ]


def _imputations_word(n_imputations: int) -> str:
    return "1 (point mass)" if n_imputations == 1 else str(n_imputations)


def _coverage_note(n_imputations: int) -> str:
    if n_imputations < 2:
        return "All methods give one imputation, which is scored as a point mass."
    return (
        f"Coverage: how often the interval from {n_imputations} imputations includes the true "
        f"value; perfect imputations reach {percent(expected_coverage(n_imputations))}. A method "
        "that gives one imputation is scored as a point mass and has no interval."
    )


def _rank_note(comparison: Comparison) -> str:
    by_seed = comparison.masks_vary and len(comparison.settings["seeds"]) >= MIN_SEEDS
    over = "seeds" if by_seed else "columns"
    return (
        '<p class="note">Mean ± standard error over seeds; seconds and memory are medians. '
        "Methods are ranked by skill: the share of the error of imputing the mean or the most "
        "frequent category that a method avoids, mean over columns (1 is perfect, 0 is the mean). "
        "Imputation accuracy is the mean over columns of R² (numbers; negative values count as 0) "
        "and of the share of correct categories. For RMSE, MAE, Wasserstein and energy distance, "
        "lower is better. Methods share a rank when they are tied with the best of the rank: the "
        f"95% interval of the difference (paired over {over}, on the same held-out cells, adjusted "
        "for the number of methods) includes 0. Methods that failed on some seeds come last. "
        "Memory is the growth of the process while the method ran.</p>"
    )


_HEAT_NOTE = (
    '<p class="note">Skill on held-out cells, mean over seeds: the share of the mean’s error that '
    "a method avoids (squared error, or share of wrong categories). 1 is perfect; 0 is no better "
    "than imputing the mean or the most frequent category. Blue is better than the mean, orange "
    "is worse.</p>"
)


def _heat_table(comparison: Comparison, summary: pd.DataFrame) -> str:
    skill = comparison.per_column.pivot_table(
        index="column", columns="method", values="skill", sort=False
    )
    methods = [method for method in summary.index if method in skill.columns]
    winners = comparison.column_winners()
    headers = "".join(_header(name, name == "Column") for name in ("Column", *methods))
    rows = "".join(
        f'<tr><td class="word">{escape(str(column))}</td>'
        + "".join(_heat_cell(skill.loc[column, method]) for method in methods)
        + f'<td class="word">{escape(winners.loc[column, "verdict"])}</td></tr>'
        for column in winners.index
        if column in skill.index
    )
    return (
        f'<div class="scroll"><table><thead><tr>{headers}{_header("Best", True)}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _heat_cell(skill: float) -> str:
    if math.isnan(skill):
        return "<td></td>"
    # Tints that leave dark text readable.
    strength = min(abs(skill), 1.0) * 0.55
    color = "0,114,178" if skill > 0 else "230,159,0"
    return f'<td style="background:rgba({color},{strength:.2f})">{skill:.2f}</td>'


def _truth(comparison: Comparison, best: str) -> list[str]:
    done = [task for task in comparison.tasks if task.method == best and task.points]
    points = done[0].points
    note = (
        f'<p class="note">Held-out cells of seed {done[0].seed}, a sample if there are many'
        + (f"; the first {MAX_PANELS} of {len(points)} columns" if len(points) > MAX_PANELS else "")
        + ". Numbers on the dashed line are exact. For categories, the size of a dot is the share "
        "of a true category that was imputed as another; blue is correct, red wrong.</p>"
    )
    return [truth_figure(points), note]


_CONCLUSION_NOTE = (
    '<p class="note">The same estimate from every imputed table, with its 95% confidence interval. '
    "An interval from a single imputation treats imputed values as observed and is too narrow. A "
    "pooled interval includes the spread between imputations, and is still too narrow where the "
    "note says that they come from one fitted model. Without the true data no row is the yardstick "
    "of the others: methods assume that values are missing at random (MAR), and complete cases can "
    "be biased even then.</p>"
)
_DOWNSTREAM_NOTE = (
    '<p class="note">How well a model trained on imputed rows predicts the target in held-out '
    "rows, mean ± standard error over splits: R² of a number, area under the ROC curve of a class "
    "(0.5 is guessing, 1 is perfect).</p>"
)


def _conclusions(conclusions: pd.DataFrame) -> str:
    figures = []
    named = conclusions.dropna(subset="estimand") if "estimand" in conclusions else conclusions[:0]
    for estimand, group in named.groupby("estimand", sort=False) if len(named) else ():
        done = group[group["status"] == "done"]
        if len(done):
            figures.append(f"<h3>{escape(str(estimand))}</h3>{forest_figure(done)}")
    rows = [
        [
            _word(row.get("estimand")),
            _word(row["method"]),
            _figure(row.get("estimate"), 4),
            _figure(row.get("low"), 4),
            _figure(row.get("high"), 4),
            _word(row.get("note") if row["status"] == "done" else row.get("error")),
        ]
        for row in conclusions.to_dict("records")
    ]
    headers = ["Conclusion", "Method", "Estimate", "Low", "High", "Note"]
    return "".join(figures) + _table(headers, rows, words={0, 1, 5})


def _downstream(downstream: pd.DataFrame) -> str:
    rows = []
    done = downstream[downstream["status"] == "done"]
    groups = done.groupby(["model", "method"], sort=False) if len(done) else ()
    for (model, method), scores in groups:
        value = _with_error(scores["score"].mean(), scores["score"].sem())
        rows.append([str(model), str(method), value, str(scores["how"].iloc[0])])
    failed = downstream[downstream["status"] != "done"]
    for method, error in dict.fromkeys(zip(failed["method"], failed["error"], strict=True)):
        rows.append(["", str(method), "", _word(error)])
    return _table(["Model", "Method", "Score", "How"], rows, words={0, 1, 3})


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _failures(comparison: Comparison) -> str:
    rows = [
        [task.method, str(task.seed), task.status, task.error or ""]
        for task in comparison.tasks
        if task.status != "done"
    ]
    if not rows:
        return "<p>Nothing: every method has a result for every seed.</p>"
    return _table(["Method", "Seed", "Status", "Reason"], rows, words={0, 2, 3})


def _notes(comparison: Comparison) -> str:
    notes: dict[tuple[str, str], None] = {}
    for task in comparison.tasks:
        notes.update({(task.method, note): None for note in task.notes})
        notes.update({("not scored", f"{name}: {why}"): None for name, why in task.skipped.items()})
    if not notes:
        return "<p>None.</p>"
    return _table(["Method", "Note"], [list(note) for note in notes], words={0, 1})


def _settings(comparison: Comparison) -> str:
    rows = [
        [name.replace("_", " "), value if isinstance(value, str) else json.dumps(value)]
        for name, value in comparison.settings.items()
        if value not in (None, {})
    ]
    return _table(["Setting", "Value"], rows, words={0, 1})


def _table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    words: set[int],
    bold: Sequence[bool] | None = None,
) -> str:
    head = "".join(_header(name, place in words) for place, name in enumerate(headers))
    body = ""
    for number, row in enumerate(rows):
        leader = ' class="leader"' if bold is not None and bold[number] else ""
        cells = "".join(
            f"<td{' class=word' if place in words else ''}>{escape(cell)}</td>"
            for place, cell in enumerate(row)
        )
        body += f"<tr{leader}>{cells}</tr>"
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _header(name: str, is_word: bool) -> str:
    return f'<th scope="col"{" class=word" if is_word else ""}>{escape(name)}</th>'


def _figure(value: Any, decimals: int = 3) -> str:
    return "" if value is None or pd.isna(value) else f"{value:.{decimals}f}"


def _with_error(mean: Any, error: Any) -> str:
    return _figure(mean) + ("" if pd.isna(error) else f" ± {_figure(error)}")
