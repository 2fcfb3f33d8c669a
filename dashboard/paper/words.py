"""The sentences of the page Paper (Markdown)."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

import pandas as pd

from dashboard.paper.measured import Coverage, rows_of_tables, title_of
from pmae_core.replication import EXPERIMENTS
from pmae_core.replication.printed_figures import NOTES, REASONS
from pmae_core.words import count, listed, percent

PRESETS = {
    "balanced": "our settings: softmax heads for categories, a Gaussian start, early stopping",
    "paper-steps": "the paper's network and loss, but 1,000 steps of 64 rows instead of 600 epochs",
    "paper": "exactly as in the paper, 600 epochs",
    "fast": "our settings with short training",
}

# Why results differ from the paper's, whatever the method.
DIFFERENCES = {
    "Masks": "The paper's text removes each cell independently. The masks that its authors "
    "released are nested, with one random number per row: a row that misses a column also misses "
    "every column that is observed less often. The printed results use nested masks, and so do "
    "ours. " + NOTES[0],
    "Loss": "The paper divides each column's error by its number of observed cells; the released "
    "code adds the means of two groups of columns. Here PMAE uses the paper's loss in all presets; "
    "ours use cross-entropy for categories.",
    "Scaling": "The released code scales numbers by the complete table, which is not available "
    "when values are really missing. Our benchmark prepares the tables in the same way, but each "
    "method is fitted to observed cells only. The printed RMSE depends on a scaling refitted to "
    "the imputed table, so it is not compared here.",
    "Seeds and rows": "The paper averages ten seeds on all rows. The tab **Runs** says what was "
    "used here.",
    "MIWAE": "The paper's Table 2 and its appendix disagree on MIWAE (24.5 and 25.7); this page "
    "uses the appendix.",
}


def command_for(experiment: str, covered: Coverage | None = None) -> str:
    """Return the command that runs what is missing, limited to tables if only tables are.

    Examples
    --------
    >>> command_for("table2")
    'pmae benchmark table2'
    >>> command_for("grid", Coverage(6, 18, {"datasets": ["wine", "shoppers"]}))
    'pmae benchmark grid --datasets wine,shoppers'
    """
    command = ["pmae", "benchmark", experiment]
    if covered is not None and list(covered.absent) == ["datasets"]:
        tables = covered.absent["datasets"]
        n_tables = len(EXPERIMENTS[experiment].datasets)
        if covered.n_run == covered.n_wanted * (n_tables - len(tables)) // n_tables:
            command += ["--datasets", ",".join(tables)]
    return shlex.join(command)


def coverage(means: pd.DataFrame) -> str:
    """Say on which tables, with how many rows and seeds, results were measured."""
    if means.empty:
        return "Nothing was measured yet."
    whole = rows_of_tables()
    tables = []
    for dataset, rows in means.groupby("dataset", sort=False):
        n_rows, n_whole = int(rows["n_rows"].max()), whole.get(str(dataset), 0)
        part = f"{n_rows:,} of {n_whole:,} rows" if n_rows < n_whole else f"{n_rows:,} rows"
        tables.append(f"{dataset} ({part})")
    low, high = int(means["n_done"].min()), int(means["n_done"].max())
    seeds = count(high, "seed") if low == high else f"{low} to {high} seeds"
    return f"Measured on {', '.join(tables)}, {seeds} each."


def mean_over(cells: pd.DataFrame) -> str:
    """Name the tables and patterns of a mean; empty if there are none.

    Examples
    --------
    >>> mean_over(pd.DataFrame({"dataset": ["wine", "adult"], "pattern": ["general"] * 2}))
    'Measured: mean over wine, adult (general).'
    """
    tables: dict[str, list[str]] = {}
    for dataset, patterns in cells.groupby("dataset", sort=False)["pattern"].agg(", ".join).items():
        tables.setdefault(patterns, []).append(str(dataset))
    parts = [f"{', '.join(names)} ({patterns})" for patterns, names in tables.items()]
    return f"Measured: mean over {'; '.join(parts)}." if parts else ""


def order_not_level(cells: pd.DataFrame, presets: Iterable[str | None], experiment: str) -> str:
    """Say why the levels of measured and printed means differ; empty if no reason is known.

    Examples
    --------
    >>> one = pd.DataFrame({"dataset": ["wine"], "pattern": ["general"]})
    >>> order_not_level(one, ["paper"], "table3")
    'Compare the order, not the level: ours has fewer tables or patterns.'
    """
    wanted = EXPERIMENTS[experiment]
    reasons = []
    if 0 < len(cells) < len(wanted.datasets) * len(wanted.patterns):
        reasons.append("fewer tables or patterns")
    if "paper-steps" in presets:
        reasons.append("shorter training (1,000 steps instead of 600 epochs)")
    return f"Compare the order, not the level: ours has {' and '.join(reasons)}." if reasons else ""


def not_run_sentence(covered: Coverage) -> str:
    """Say which part of an experiment was not run; empty if nothing is missing."""
    if covered.n_run >= covered.n_wanted:
        return ""
    parts = []
    for what, names in covered.absent.items():
        called = [title_of(name) for name in names] if what == "methods" else names
        parts.append(f"{'tables' if what == 'datasets' else what} {', '.join(called)}")
    absent = f" None with {'; '.join(parts)}." if parts else ""
    return (
        f"**{covered.n_run} of {covered.n_wanted}** combinations of table, missingness and method "
        f"were run.{absent} This command runs the others; it can be stopped and resumed:"
    )


def why_far(far: pd.DataFrame) -> list[str]:
    """Return one sentence for each method far from its printed results, with the reason."""
    sentences = []
    for row in far.itertuples():
        side = "higher" if row.difference > 0 else "lower"
        reason = REASONS.get(row.method, "The reason is not known.")
        sentences.append(
            f"**{title_of(row.method)}** is {abs(row.difference):.1f} points {side} on average. "
            f"{reason}"
        )
    return sentences


def agreement(both: pd.DataFrame) -> str:
    """Say how close measured and printed results are overall, in absolute differences."""
    distances = both.dropna(subset=["mean", "printed"])["difference"].abs()
    if distances.empty:
        return ""
    return (
        f"**{percent((distances <= 2).mean())} of {count(len(distances), 'result')} are within 2 "
        f"points of the paper.** The median absolute difference is {distances.median():.1f} "
        f"points; 90% are within {distances.quantile(0.9):.1f} points."
    )


def near_in_general(both: pd.DataFrame, methods: Sequence[str] = ("em", "knn")) -> str:
    """Say on how many tables simple methods agree with the paper, whose general masks are known.

    Examples
    --------
    >>> both = pd.DataFrame({"method": ["em", "knn"], "difference": [0.4, -0.9]})
    >>> near_in_general(both.assign(pattern="general", dataset="wine"))
    'In the general pattern, EM and KNN are within a point of the paper on 1 of 1 table.'
    """
    chosen = both[both["method"].isin(methods) & (both["pattern"] == "general")]
    distances = chosen.assign(distance=chosen["difference"].abs()).pivot_table(
        "distance", "dataset", "method"
    )
    distances = distances.reindex(columns=list(methods)).dropna()
    if distances.empty:
        return ""
    n_near = int((distances <= 1).all(axis="columns").sum())
    names = listed(title_of(name) for name in methods)
    return (
        f"In the general pattern, {names} are within a point of the paper on {n_near} of "
        f"{count(len(distances), 'table')}."
    )


def split_first(pairs: pd.DataFrame) -> str:
    """Say how scores change if the rows are split before imputation.

    Examples
    --------
    >>> pairs = pd.DataFrame({"method": ["em", "knn"], "difference": [-1.25, 0.5]})
    >>> split_first(pairs)
    'If rows are split first, scores change by -1.2 to +0.5 points.'
    """
    low, high = pairs["difference"].min(), pairs["difference"].max()
    return f"If rows are split first, scores change by {low:+.1f} to {high:+.1f} points."
