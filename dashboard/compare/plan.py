"""From the settings of the page to a run: which table, which held-out cells, which methods."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.amputation.scenario import Scenario, base_table
from pmae_core.errors import ScoringError
from pmae_core.evaluation import HoldoutPlan
from pmae_core.imputers import imputer_info, make_imputer
from pmae_core.table import Role, Schema
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.words import count, percent

SETS: Mapping[str, tuple[str, ...]] = {
    "Quick": ("naive", "knn", "em", "softimpute"),
    "Usual": ("naive", "knn", "em", "mice", "missforest", "masked-trees", "pmae-mix", "pmae"),
    "Neural": ("naive", "pmae-mix", "pmae-trf", "remasker", "miwae", "gain"),
}
# Presets of the PMAE methods, as the page calls them.
PRESETS: Mapping[str, str] = {"fast": "Quick", "balanced": "Balanced"}
MANY_CLASSES = 20


@functools.cache
def has_preset(method: str) -> bool:
    """Say whether a method has presets to choose from, and its name does not imply one."""
    parameters = make_imputer(method).get_params(deep=False)
    return "preset" in parameters and "preset" not in imputer_info(method).defaults


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """What a comparison is asked to do.

    Attributes
    ----------
    methods, n_seeds
        What runs, and how often.
    preset : {"fast", "balanced"}
        Settings of the PMAE methods.
    scenario : Scenario, optional
        Simulated missing values; without it observed cells of the table itself are held out.
    share : float
        Share of the observed cells to hold out.
    budget_seconds : float, optional
        Time limit of all runs together.
    i_score_columns : int
        For how many columns to compute the energy-I-Score, too; each costs a fit per run.
    target : str, optional
        The column to predict from the imputed tables.
    conclusions : tuple of tuples
        As :func:`pmae_core.inference.conclusion_stability` takes them.
    seed : int
        The first seed, where there is no scenario, which has one of its own.
    """

    methods: tuple[str, ...]
    n_seeds: int = 3
    preset: str = "fast"
    scenario: Scenario | None = None
    share: float = 0.1
    budget_seconds: float | None = None
    i_score_columns: int = 0
    target: str | None = None
    conclusions: tuple[tuple[str, ...], ...] = ()
    seed: int = 0

    @property
    def first_seed(self) -> int:
        """The seed from which seeds count."""
        return self.seed if self.scenario is None else self.scenario.seed

    @property
    def method_params(self) -> dict[str, dict[str, Any]]:
        """The parameters of methods that have a preset."""
        return {name: {"preset": self.preset} for name in self.methods if has_preset(name)}

    @property
    def n_fits(self) -> int:
        """How often each method is fitted, including predictions and conclusions."""
        after = (self.n_seeds if self.target is not None else 0) + bool(self.conclusions)
        return self.n_seeds * (1 + self.i_score_columns) + after

    def problem(self) -> str | None:
        """Say why it cannot start, as a sentence; None if it can."""
        if not self.methods:
            return "Choose at least one method."
        incomplete = None if self.scenario is None else self.scenario.columns
        if self.target is not None and incomplete and set(incomplete) <= {self.target}:
            return (
                "The scenario simulates missing values only in the column to predict. Choose "
                "another column."
            )
        return None


@dataclass(frozen=True)
class PreparedJob:
    """What to submit: the table, the true table where it is known, and the parameters."""

    frame: pd.DataFrame
    params: dict[str, Any]
    truth: pd.DataFrame | None = None
    seed: int = 0


def prepare(plan: ComparisonPlan, frame: pd.DataFrame, schema: Schema) -> PreparedJob:
    """Make the table and the parameters of a comparison's job.

    Raises
    ------
    PMAEError
        If cells cannot be held out as asked: at once, not after the job has waited in the queue.
    """
    if problem := plan.problem():
        raise ScoringError(problem)
    first = plan.first_seed
    params: dict[str, Any] = {
        "methods": list(plan.methods),
        "method_params": plan.method_params,
        "seeds": list(range(first, first + plan.n_seeds)),
        "budget_seconds": plan.budget_seconds,
        "i_score": plan.i_score_columns > 0,
        "target": plan.target,
        "downstream": plan.target is not None,
        "conclusions": [list(one) for one in plan.conclusions] or None,
    }
    truth = None
    if plan.scenario is None:
        params |= {"holdout": "like-mine", "holdout_share": plan.share}
        _check_holdout(HoldoutPlan(share=plan.share), frame, schema, plan)
    elif plan.scenario.kind == "like-mine":
        made = plan.scenario.make(frame, schema)
        frame, truth = made.incomplete, made.truth
        params["holdout"] = "known-truth"
    else:
        amputation = amputation_of(plan.scenario, plan.target)
        frame = base_table(frame, schema, plan.scenario.base)
        params |= {"holdout": "amputation", "amputation": amputation}
        _check_holdout(HoldoutPlan(kind="amputation", amputation=amputation), frame, schema, plan)
    return PreparedJob(frame=frame, params=params, truth=truth, seed=first)


def _check_holdout(
    holdout: HoldoutPlan, frame: pd.DataFrame, schema: Schema, plan: ComparisonPlan
) -> None:
    if plan.target is not None:
        frame = frame.drop(columns=plan.target)
        schema = schema.only(set(schema.names()) - {plan.target})
    holdout.make(frame, schema, plan.first_seed)


def amputation_of(scenario: Scenario, target: str | None = None) -> dict[str, Any]:
    """Return the settings of ``ampute`` for a scenario by pattern, which spares the target."""
    columns = None if scenario.columns is None else [c for c in scenario.columns if c != target]
    proportions: Any = scenario.proportions
    if isinstance(proportions, Mapping):
        proportions = {name: share for name, share in proportions.items() if name != target}
    settings = {
        "pattern": scenario.pattern,
        "mechanism": scenario.mechanism,
        "coupling": scenario.coupling,
        "columns": columns,
        "column_share": scenario.column_share,
        "proportions": proportions,
    }
    return {name: value for name, value in settings.items() if value is not None}


def target_columns(frame: pd.DataFrame, schema: Schema) -> list[str]:
    """Return the columns that could be predicted from the others."""
    kinds = (CellKind.NUMBER, CellKind.BOOLEAN, CellKind.LABEL)
    return [
        str(column.name)
        for column in schema
        if column.role is not Role.DATETIME
        and column.not_learned is None
        and (kind := cell_kind(frame[column.name])) in kinds
        and (kind is CellKind.NUMBER or column.n_unique <= MANY_CLASSES)
    ]


def holdout_words(params: Mapping[str, Any]) -> str:
    """Say in a few words which cells methods are scored on."""
    amputation = params.get("amputation")
    if params.get("truth"):
        return "simulated missing values like the table's own, whose true values are known"
    if amputation:
        words = [amputation.get(name) for name in ("pattern", "mechanism", "coupling")]
        return f"simulated missing values ({', '.join(filter(None, words))})"
    share = percent(params["holdout_share"])
    return f"{share} of the observed cells, held out in the patterns of the missing ones"


def uses_scenario(params: Mapping[str, Any]) -> bool:
    """Say whether missing values were simulated, so that the run's table is not the open one."""
    return bool(params.get("truth") or params.get("amputation"))


def run_name(plan: ComparisonPlan, table_name: str, titles: Mapping[str, str]) -> str:
    """Return the name of the run: methods, table, seeds."""
    names = [titles.get(method, method) for method in plan.methods]
    methods = ", ".join(names) if len(names) <= 3 else f"{len(names)} methods"
    return f"{methods} on {table_name}, {count(plan.n_seeds, 'seed')}"


def method_sets(available: Sequence[str]) -> dict[str, list[str]]:
    """Return named sets of methods, of those that are available, and all methods."""
    sets = {name: [m for m in methods if m in available] for name, methods in SETS.items()}
    return {**sets, "All": list(available)}
