"""What the Paper page says in sentences (Markdown)."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

import pandas as pd

from dashboard.paper.measured import Lack, rows_of_tables, title_of
from pmae_core.replication import EXPERIMENTS
from pmae_core.replication.printed_figures import NOTES, REASONS
from pmae_core.words import count, percent

PRESETS = {
    "balanced": "our own settings: softmax heads for categories, a Gaussian to start from, early "
    "stopping",
    "paper-steps": "the paper's network and loss, 1,000 steps of 64 rows instead of 600 epochs",
    "paper": "the paper to the letter, 600 epochs",
    "fast": "our own settings, shortened for a first look",
}

# What stands between the paper's figures and ours, whatever the method.
DIFFERENCES = {
    "Masks": "The text of the paper draws each cell by itself; the masks that its authors released "
    "are nested: one draw a row, so that a row that misses an often observed column misses all "
    "rarer ones, too. The printed figures stand on the latter, and so do ours. " + NOTES[0],
    "Loss": "The paper divides each column's error by its observed cells; the released code adds "
    "the means of two groups of columns. PMAE here has the paper's loss in all presets, with "
    "cross-entropy for categories in our own.",
    "Scaling": "The released code fits the scaling of numbers on the complete table, which nobody "
    "has who needs to impute. Here the tables of the benchmark are prepared in the same way, but "
    "inside a method everything is fitted on observed cells. Printed RMSE rests on a scaling "
    "refitted to the imputed table, so it is not compared here.",
    "Seeds and rows": "The paper averages ten seeds on all rows. What was used here is said below "
    "each table.",
    "MIWAE": "The paper's Table 2 and its appendix disagree on MIWAE (24.5 and 25.7); single "
    "figures here are those of the appendix.",
}


def command_for(experiment: str, lack: Lack | None = None) -> str:
    """Return a command that runs what is lacking: of tables alone if nothing else is.

    Examples
    --------
    >>> command_for("table2")
    'pmae benchmark table2'
    >>> command_for("grid", Lack(6, 18, {"datasets": ["wine", "shoppers"]}))
    'pmae benchmark grid --datasets wine,shoppers'
    """
    words = ["pmae", "benchmark", experiment]
    if lack is not None and list(lack.absent) == ["datasets"]:
        tables = lack.absent["datasets"]
        n_tables = len(EXPERIMENTS[experiment].datasets)
        if lack.n_run == lack.n_wanted * (n_tables - len(tables)) // n_tables:
            words += ["--datasets", ",".join(tables)]
    return shlex.join(words)


def coverage(means: pd.DataFrame) -> str:
    """Say on which tables, with how many rows and seeds, figures were measured."""
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
    """Say over which tables and patterns a mean is taken; empty where there are none.

    Examples
    --------
    >>> mean_over(pd.DataFrame({"dataset": ["wine", "adult"], "pattern": ["general"] * 2}))
    'Ours is the mean over wine, adult (general).'
    """
    tables: dict[str, list[str]] = {}
    for dataset, patterns in cells.groupby("dataset", sort=False)["pattern"].agg(", ".join).items():
        tables.setdefault(patterns, []).append(str(dataset))
    parts = [f"{', '.join(names)} ({patterns})" for patterns, names in tables.items()]
    return f"Ours is the mean over {'; '.join(parts)}." if parts else ""


def not_the_height(cells: pd.DataFrame, presets: Iterable[str | None], experiment: str) -> str:
    """Say why ours and the printed means are not equally high; empty where nothing is known.

    Examples
    --------
    >>> one = pd.DataFrame({"dataset": ["wine"], "pattern": ["general"]})
    >>> not_the_height(one, ["paper"], "table3")
    'Compare the order, not the height: ours has fewer tables or patterns.'
    """
    wanted = EXPERIMENTS[experiment]
    reasons = []
    if 0 < len(cells) < len(wanted.datasets) * len(wanted.patterns):
        reasons.append("fewer tables or patterns")
    if "paper-steps" in presets:
        reasons.append("shorter trainings, of 1,000 steps instead of 600 epochs")
    return (
        f"Compare the order, not the height: ours has {' and '.join(reasons)}." if reasons else ""
    )


def lacking(lack: Lack) -> str:
    """Say what of an experiment was not run; empty where nothing is lacking."""
    if lack.n_run >= lack.n_wanted:
        return ""
    parts = []
    for what, names in lack.absent.items():
        called = [title_of(name) for name in names] if what == "methods" else names
        parts.append(f"{'tables' if what == 'datasets' else what} {', '.join(called)}")
    wholly = f" Not at all: {'; '.join(parts)}." if parts else ""
    return (
        f"**{lack.n_run} of {lack.n_wanted}** combinations of table, kind of holes and method were "
        f"run.{wholly} This command runs the others; it can be stopped and goes on where it was:"
    )


def why_far(far: pd.DataFrame) -> list[str]:
    """Say for each method far from its printed figures by how much, and why."""
    sentences = []
    for row in far.itertuples():
        side = "higher" if row.difference > 0 else "lower"
        reason = REASONS.get(row.method, "Why is not known.")
        sentences.append(
            f"**{title_of(row.method)}** is {abs(row.difference):.1f} points {side} on average. "
            f"{reason}"
        )
    return sentences


def agreement(both: pd.DataFrame) -> str:
    """Say how near ours and the printed figures are on the whole."""
    known = both.dropna(subset=["mean", "printed"])
    if known.empty:
        return ""
    differences = known["difference"]
    near = (differences.abs() <= 2).mean()
    median = round(differences.median(), 1) + 0.0  # never "-0.0"
    return (
        f"Of {count(len(known), 'figure')}, {percent(near)} lie within 2 points of the printed "
        f"ones. The median absolute difference is {differences.abs().median():.1f} points; the "
        f"median of ours minus printed is {median:+.1f}, since differences of both signs cancel."
    )


def split_first(pairs: pd.DataFrame) -> str:
    """Say what changes if the rows are split before imputation.

    Examples
    --------
    >>> pairs = pd.DataFrame({"method": ["em", "knn"], "difference": [-1.25, 0.5]})
    >>> split_first(pairs)
    'Split first, scores change by -1.2 to +0.5 points (split first minus imputed whole).'
    """
    low, high = pairs["difference"].min(), pairs["difference"].max()
    return (
        f"Split first, scores change by {low:+.1f} to {high:+.1f} points (split first minus "
        "imputed whole)."
    )
