"""What was measured here, read from result files: means over seeds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.errors import ScoringError
from pmae_core.evaluation.store import read_json
from pmae_core.imputers import list_imputers
from pmae_core.replication import EXPERIMENTS, ResultFile, Variant
from pmae_core.replication.experiments import PMAE
from pmae_core.replication.printed_figures import PAPER_NAMES, printed_figure
from pmae_core.table import list_datasets

ROOT = Path(__file__).resolve().parents[2]
_SMALL_TABLES = ("small_tables.csv", "small_tables.json")
FAR_POINTS = 5.0

# What may vary between the rows of one experiment; seeds are averaged.
_CELL = ["dataset", "pattern", "mechanism", "max_rows", "n_rows"]
_VARIANT = ["method", "variant", "preset", "masking", "a", "b", "loss", "architecture"]
_MEAN_COLUMNS = ["mean", "error", "n_done", "n_seeds"]


@dataclass(frozen=True)
class Measured:
    """The rows of one experiment, and how they were measured.

    Attributes
    ----------
    rows : DataFrame
        As in the file; empty if the experiment was not run.
    runs : list of dict
        Commands, settings and versions that the column ``run`` counts from 0.
    n_unusual : int
        Rows of the file that are left out because their settings belong to no experiment, such as
        a smoke run with few steps.
    """

    rows: pd.DataFrame
    runs: list[dict[str, Any]]
    n_unusual: int = 0

    @property
    def failures(self) -> pd.DataFrame:
        """Runs without a result, and why."""
        if self.rows.empty:
            return self.rows
        return self.rows[self.rows["status"] != "done"]


def results_folder() -> Path:
    """Return the folder of results: PMAE_RESULTS_DIR, or that of the clone."""
    return Path(os.environ.get("PMAE_RESULTS_DIR") or ROOT / "benchmarks" / "results")


def stamp(folder: Path) -> tuple[tuple[str, int], ...]:
    """Return a value that changes whenever results do."""
    names = (*(f"paper_{name}.json" for name in EXPERIMENTS), *_SMALL_TABLES)
    paths = [folder / name for name in names]
    return tuple((path.name, path.stat().st_mtime_ns) for path in paths if path.exists())


def read_measured(folder: Path, experiment: str) -> Measured:
    """Read the results of an experiment."""
    file = ResultFile(folder, experiment)
    rows = file.table()
    if not rows.empty and not {*_CELL[:3], *_VARIANT, "seed", "status"} <= set(rows.columns):
        raise ScoringError(f"{file.path} lacks columns that results of an experiment have.")
    # A table that could not be loaded has no number of rows.
    rows = rows.reindex(columns=list(dict.fromkeys([*rows.columns, *_CELL])))
    usual = pd.Series([_is_usual(row) for row in rows.itertuples()], index=rows.index, dtype=bool)
    runs = [*file.runs(), *(_small_table_runs(folder) if experiment == "table2" else [])]
    return Measured(rows[usual].reset_index(drop=True), runs, int((~usual).sum()))


def _small_table_runs(folder: Path) -> list[dict[str, Any]]:
    """Return how the benchmark of small tables was run; Table 2 uses its results."""
    path = folder / _SMALL_TABLES[1]
    return [{"command": read_json(path).get("command", "")}] if path.exists() else []


def _is_usual(row: Any) -> bool:
    """Return whether a variant has only settings that experiments vary."""
    names = ("preset", "masking", "a", "b") if row.method in PMAE else ("preset", "loss")
    given = {name: getattr(row, name) for name in names}
    known = {name: value for name, value in given.items() if not pd.isna(value)}
    return bool(row.variant == _label(row.method, tuple(known.items())))


@cache
def _label(method: str, params: tuple[tuple[str, Any], ...]) -> str:
    return Variant(method, dict(params)).label


def means_of(rows: pd.DataFrame, metric: str = "imputation_accuracy") -> pd.DataFrame:
    """Average a metric (× 100) over seeds.

    For each variant, table, pattern and mechanism it returns one mean: that on the most rows and,
    among those, with the most seeds.

    Returns
    -------
    DataFrame
        The cell, the variant, ``mean``, its standard ``error``, ``n_done`` of ``n_seeds``.
    """
    return _best_of_each(_means_by_rows(rows, metric))


def _means_by_rows(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Average over seeds, separately for each number of rows of a table."""
    columns = [*_CELL, *_VARIANT, *_MEAN_COLUMNS]
    if rows.empty or metric not in rows:
        return pd.DataFrame(columns=columns)
    scores = 100 * pd.to_numeric(rows[metric])
    groups = rows.assign(score=scores).groupby([*_CELL, *_VARIANT], dropna=False)["score"]
    means = groups.agg(["mean", "sem", "count", "size"]).reset_index()
    means = means.set_axis(columns, axis=1)
    return means[means["n_done"] > 0]


def _best_of_each(means: pd.DataFrame, *, by_rows: bool = False) -> pd.DataFrame:
    """Keep the mean on the most rows (or one per number of rows) with the most seeds."""
    ordered = means.sort_values(["n_rows", "n_done"], ascending=False, kind="stable")
    rows = ["n_rows"] if by_rows else []
    once = ordered.drop_duplicates(["dataset", "pattern", "mechanism", "variant", *rows])
    return once.sort_index().reset_index(drop=True)


def small_table_means(folder: Path, metric: str = "imputation_accuracy") -> pd.DataFrame:
    """Return the means of the benchmark of small tables, in the form of :func:`means_of`."""
    path = folder / _SMALL_TABLES[0]
    if not path.exists():
        return means_of(pd.DataFrame())
    table = pd.read_csv(path)
    table = table[table["n_done"] > 0].reset_index(drop=True)
    is_accuracy = metric == "imputation_accuracy"
    described = [{"variant": name, **Variant(name).describe()} for name in table["method"]]
    return pd.DataFrame(
        {
            **{name: table[name] for name in ("dataset", "pattern", "mechanism")},
            "max_rows": float("nan"),
            "n_rows": table["dataset"].map(rows_of_tables()),
            "method": table["method"],
            **pd.DataFrame(described).to_dict(orient="series"),
            "mean": table["imputation_accuracy_x100"] if is_accuracy else 100 * table[metric],
            "error": table["standard_error_x100"] if is_accuracy else float("nan"),
            "n_done": table["n_done"],
            "n_seeds": table["n_seeds"],
        }
    )


def all_methods(folder: Path, metric: str = "imputation_accuracy") -> pd.DataFrame:
    """Return the means of Table 2, with those of the small tables where there are no others.

    A table that was subsampled to several numbers of rows has one mean for each;
    :func:`at_most` chooses.
    """
    parts = [
        _means_by_rows(read_measured(folder, "table2").rows, metric),
        small_table_means(folder, metric),
    ]
    known = [part for part in parts if not part.empty]
    if not known:
        return parts[0]
    return _best_of_each(pd.concat(known, ignore_index=True), by_rows=True)


def caps_of(means: pd.DataFrame) -> list[int]:
    """Return the numbers of rows to which tables were subsampled for PMAE, largest first.

    Numbers that only one table has are left out.
    """
    tables = means[means["method"].isin(PMAE)].groupby("max_rows")["dataset"].nunique()
    return sorted((int(cap) for cap in tables.index[tables > 1]), reverse=True)


def at_most(means: pd.DataFrame, n_rows: int | None) -> pd.DataFrame:
    """Keep one number of rows per table and pattern, so that all methods have the same rows.

    It is the largest with a result of PMAE, if there is one, and at most `n_rows`.
    """
    if n_rows is not None:
        means = means[means["n_rows"] <= n_rows]
    ranked = means.assign(is_pmae=means["method"].isin(PMAE))
    ranked = ranked.sort_values(["is_pmae", "n_rows"], ascending=False, kind="stable")
    cell = ["dataset", "pattern", "mechanism"]
    chosen = ranked.drop_duplicates(cell)[[*cell, "n_rows"]]
    return means.merge(chosen, on=[*cell, "n_rows"])


@cache
def rows_of_tables() -> dict[str, int]:
    """Return the full number of rows of each table."""
    return {info.name: info.n_rows for info in list_datasets()}


# Beside the paper


def presets_of(means: pd.DataFrame) -> list[str]:
    """Return the presets with which PMAE was measured, ours first."""
    found = set(means.loc[means["method"].isin(PMAE), "preset"].dropna())
    return [name for name in ("balanced", "paper-steps", "paper", "fast") if name in found]


def with_preset(means: pd.DataFrame, preset: str) -> pd.DataFrame:
    """Leave out PMAE with other presets."""
    others = means["method"].isin(PMAE) & (means["preset"] != preset)
    return means[~others].reset_index(drop=True)


def beside_paper(means: pd.DataFrame, metric: str = "imputation_accuracy") -> pd.DataFrame:
    """Add the printed figures: ``printed`` and ``difference`` (measured minus printed)."""
    printed = [
        printed_figure(row.method, row.dataset, row.pattern, metric) for row in means.itertuples()
    ]
    both = means.assign(printed=pd.Series(printed, index=means.index, dtype=float))
    return both.assign(difference=both["mean"].astype(float) - both["printed"])


def split_beside_whole(whole: pd.DataFrame, split: pd.DataFrame) -> pd.DataFrame:
    """Compare downstream scores of tables imputed whole with those of rows split first.

    Parameters
    ----------
    whole, split : DataFrame
        Means of the experiments downstream and downstream-split.

    Returns
    -------
    DataFrame
        By ``method``, the means over the cells that both have: ``whole``, ``split`` and
        ``difference`` (split minus whole), best first; ``n_cells`` of each.
    """
    cell = ["dataset", "pattern", "mechanism", "n_rows", "variant", "method"]
    both = whole[[*cell, "mean"]].merge(split[[*cell, "mean"]], on=cell, suffixes=("_a", "_b"))
    means = both.groupby("method").agg(
        whole=("mean_a", "mean"), split=("mean_b", "mean"), n_cells=("mean_a", "size")
    )
    means = means.assign(difference=means["split"] - means["whole"])
    return means.sort_values("split", ascending=False).reset_index()


def mean_ranks(both: pd.DataFrame) -> pd.DataFrame:
    """Return mean ranks by pattern, measured and printed, of the same methods in the same cells.

    Parameters
    ----------
    both : DataFrame
        Of :func:`beside_paper`.

    Returns
    -------
    DataFrame
        ``method``, ``pattern`` (and "all"), ``measured``, ``printed``, ``n_cells``; only methods
        with a result in every cell, since ranks among different methods are not comparable.
    """
    known = both.dropna(subset=["mean", "printed"])
    cells = known.groupby(["dataset", "pattern"]).ngroups
    counts = known["method"].value_counts()
    known = known[known["method"].isin(counts.index[counts == cells])]
    by_cell = known.groupby(["dataset", "pattern"])
    ranked = known.assign(
        measured=by_cell["mean"].rank(ascending=False),
        printed_rank=by_cell["printed"].rank(ascending=False),
    )
    parts = [ranked, ranked.assign(pattern="all")]
    means = (
        pd.concat(parts)
        .groupby(["method", "pattern"])
        .agg(
            measured=("measured", "mean"),
            printed=("printed_rank", "mean"),
            n_cells=("mean", "size"),
        )
    )
    return means.reset_index()


def far_methods(both: pd.DataFrame) -> pd.DataFrame:
    """Return the methods whose mean is far from the printed one, the farthest first."""
    means = both.dropna(subset=["mean", "printed"]).groupby("method")[["mean", "printed"]].mean()
    means["difference"] = means["mean"] - means["printed"]
    far = means[means["difference"].abs() > FAR_POINTS]
    return far.loc[far["difference"].abs().sort_values(ascending=False).index].reset_index()


def common_means(means: pd.DataFrame, by: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Average over the cells that every group has, so that none is judged on easier ones.

    Returns
    -------
    DataFrame
        `by`, ``mean``, ``error`` (of the mean over cells, from the seeds) and ``n_cells``.
    DataFrame
        The cells: ``dataset`` and ``pattern``.
    """
    cell = ["dataset", "pattern"]
    n_groups = means.groupby(by, dropna=False).ngroups
    in_cells = means[[*cell, *by]].drop_duplicates().groupby(cell).size()
    shared = in_cells[in_cells == n_groups].index.to_frame(index=False)
    known = means.merge(shared, on=cell)
    averaged = (
        known.groupby(by, dropna=False)
        .agg(
            mean=("mean", "mean"),
            error=("error", lambda errors: (errors**2).sum(skipna=False) ** 0.5 / len(errors)),
            n_cells=("mean", "size"),
        )
        .reset_index()
    )
    return averaged, shared


@dataclass(frozen=True)
class Coverage:
    """How much of an experiment was run.

    Attributes
    ----------
    n_run, n_wanted : int
        Combinations of table, pattern, mechanism and method; failed runs count as run.
    absent : dict
        Names of datasets, patterns, mechanisms and methods that were not run at all.
    """

    n_run: int
    n_wanted: int
    absent: dict[str, list[str]]


def coverage_of(tried: pd.DataFrame, experiment: str) -> Coverage:
    """Return how much of an experiment was run.

    Parameters
    ----------
    tried : DataFrame
        ``dataset``, ``pattern``, ``mechanism`` and ``method`` of all runs.
    experiment : str
        Its name.
    """
    plan = EXPERIMENTS[experiment]
    wanted = {
        "dataset": plan.datasets,
        "pattern": plan.patterns,
        "mechanism": plan.mechanisms,
        "method": plan.methods,
    }
    known = set(tried[list(wanted)].itertuples(index=False, name=None))
    combinations = list(product(*wanted.values()))
    absent = {
        f"{what}s": [name for name in names if name not in set(tried[what])]
        for what, names in wanted.items()
    }
    return Coverage(
        n_run=sum(one in known for one in combinations),
        n_wanted=len(combinations),
        absent={what: names for what, names in absent.items() if names},
    )


def title_of(method: str, preset: str | None = None) -> str:
    """Return the paper's name of a method, or else ours, with its preset if there is one."""
    name = PAPER_NAMES.get(method) or _our_titles().get(method, method)
    return f"{name}, {preset}" if preset else name


@cache
def _our_titles() -> dict[str, str]:
    # Without the part in parentheses, so that it fits on the axis of a figure.
    return {info.name: info.title.partition(" (")[0] for info in list_imputers()}
