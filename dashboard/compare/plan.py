"""From the controls of the page to a job: which table, which holes, which methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.amputation.scenario import Scenario, base_table
from pmae_core.errors import ScoringError
from pmae_core.evaluation import HoldoutPlan
from pmae_core.table import Role, Schema
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.words import percent

SETS: Mapping[str, tuple[str, ...]] = {
    "Quick": ("naive", "knn", "em", "softimpute"),
    "Usual": ("naive", "knn", "em", "mice", "missforest", "masked-trees", "pmae-mix", "pmae"),
    "Neural": ("naive", "pmae-mix", "pmae-trf", "remasker", "miwae", "gain"),
}
MANY_CLASSES = 20


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """What a comparison is asked to do.

    Attributes
    ----------
    methods, n_seeds
        What runs, and how often.
    scenario : Scenario, optional
        Holes made on purpose; without it observed cells of the table itself are hidden.
    share : float
        Which share of them.
    budget_seconds : float, optional
        Time for all together.
    target : str, optional
        The column to predict from the filled tables.
    conclusions : tuple of tuples
        As :func:`pmae_core.evaluation.conclusion_stability` takes them.
    seed : int
        The first seed, where there is no scenario, which has one of its own.
    """

    methods: tuple[str, ...]
    n_seeds: int = 3
    scenario: Scenario | None = None
    share: float = 0.1
    budget_seconds: float | None = None
    target: str | None = None
    conclusions: tuple[tuple[str, ...], ...] = ()
    seed: int = 0

    @property
    def first_seed(self) -> int:
        """The seed from which seeds count."""
        return self.seed if self.scenario is None else self.scenario.seed

    @property
    def n_fits(self) -> int:
        """How often each method is fitted, with what is asked after the comparison."""
        after = (self.n_seeds if self.target is not None else 0) + bool(self.conclusions)
        return self.n_seeds + after

    def problem(self) -> str | None:
        """Say what is lacking before it can start, as a sentence; None if nothing is."""
        if not self.methods:
            return "Choose at least one method."
        with_holes = None if self.scenario is None else self.scenario.columns
        if self.target is not None and with_holes and set(with_holes) <= {self.target}:
            return "The scenario makes holes in the target alone; choose another target."
        return None


@dataclass(frozen=True)
class PreparedJob:
    """What to hand in: the table, a table of truths to put beside it, and the parameters."""

    frame: pd.DataFrame
    params: dict[str, Any]
    truth: pd.DataFrame | None = None
    seed: int = 0


def prepare(plan: ComparisonPlan, frame: pd.DataFrame, schema: Schema) -> PreparedJob:
    """Make the table and the parameters of a comparison's job.

    Raises
    ------
    PMAEError
        If the holes cannot be made as asked: at once, not after the job has waited its turn.
    """
    if problem := plan.problem():
        raise ScoringError(problem)
    first = plan.first_seed
    params: dict[str, Any] = {
        "methods": list(plan.methods),
        "seeds": list(range(first, first + plan.n_seeds)),
        "budget_seconds": plan.budget_seconds,
        "target": plan.target,
        "downstream": plan.target is not None,
        "conclusions": [list(one) for one in plan.conclusions] or None,
    }
    truth = None
    if plan.scenario is None:
        params |= {"holdout": "like-mine", "holdout_share": plan.share}
        _try(HoldoutPlan(share=plan.share), frame, schema, plan)
    elif plan.scenario.kind == "like-mine":
        made = plan.scenario.make(frame, schema)
        frame, truth = made.incomplete, made.truth
        params["holdout"] = "known-truth"
    else:
        amputation = amputation_of(plan.scenario, plan.target)
        frame = base_table(frame, schema, plan.scenario.base)
        params |= {"holdout": "amputation", "amputation": amputation}
        _try(HoldoutPlan(kind="amputation", amputation=amputation), frame, schema, plan)
    return PreparedJob(frame=frame, params=params, truth=truth, seed=first)


def _try(holdout: HoldoutPlan, frame: pd.DataFrame, schema: Schema, plan: ComparisonPlan) -> None:
    if plan.target is not None:
        frame = frame.drop(columns=plan.target)
        schema = schema.only(set(schema.names()) - {plan.target})
    holdout.make(frame, schema, plan.first_seed)


def amputation_of(scenario: Scenario, target: str | None = None) -> dict[str, Any]:
    """Return the settings of ``ampute`` for a scenario by pattern; the target gets no holes."""
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


def holes_words(params: Mapping[str, Any]) -> str:
    """Say in a few words by which hidden cells methods are judged."""
    amputation = params.get("amputation")
    if params.get("truth"):
        return "holes like the table's own, in rows whose truth is known"
    if amputation:
        words = [amputation.get(name) for name in ("pattern", "mechanism", "coupling")]
        return f"holes made on purpose: {', '.join(filter(None, words))}"
    return f"{percent(params['holdout_share'])} of the observed cells, hidden like its own holes"


def job_words(plan: ComparisonPlan, table_name: str, titles: Mapping[str, str]) -> str:
    """Return the name of the job: methods, table, seeds."""
    names = [titles.get(method, method) for method in plan.methods]
    who = ", ".join(names) if len(names) <= 3 else f"{len(names)} methods"
    return f"{who} on {table_name}, {plan.n_seeds} seed{'s' if plan.n_seeds != 1 else ''}"


def method_sets(available: Sequence[str]) -> dict[str, list[str]]:
    """Return the ready-made choices, and all methods."""
    sets = {name: [m for m in methods if m in available] for name, methods in SETS.items()}
    return {**sets, "All": list(available)}
