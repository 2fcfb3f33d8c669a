"""``pmae jobs submit compare``."""

from __future__ import annotations

from pmae_core.cli.groups import HoldoutOptions, InputOptions, with_option_groups
from pmae_core.cli.jobs.access import WORKSPACE, open_store
from pmae_core.cli.jobs.options import SpecOptions, SubmitOptions
from pmae_core.cli.options import (
    Budget,
    InputTable,
    MethodBudget,
    MethodParams,
    Methods,
    ScoredImputations,
    Seeds,
    Target,
    WithIScore,
    given,
    read_method_params,
    read_methods,
    read_seconds,
    with_examples,
)

HELP = with_examples(
    "Compare methods on a table. All methods impute the same held-out cells.",
    "pmae jobs submit compare survey.csv --methods pmae,em,knn --seeds 3",
    "pmae jobs submit compare complete.csv --methods em,knn --pattern general --wait",
)


@with_option_groups
def compare(
    *,
    table: InputTable,
    methods: Methods,
    seeds: Seeds = 3,
    holdout: HoldoutOptions,
    target: Target = None,
    param: MethodParams = None,
    imputations: ScoredImputations = 5,
    i_score: WithIScore = False,
    budget: Budget = None,
    method_budget: MethodBudget = None,
    reading: InputOptions,
    specification: SpecOptions,
    submission: SubmitOptions,
) -> None:
    """Submit a comparison."""
    params = given(
        methods=read_methods(methods),
        seeds=list(range(specification.seed, specification.seed + seeds)),
        amputation=holdout.amputation(),
        holdout_share=holdout.share,
        target=target,
        method_params=read_method_params(param),
        imputations=imputations,
        i_score=i_score,
        budget_seconds=read_seconds(budget, "--budget"),
        method_budget_seconds=read_seconds(method_budget, "--method-budget"),
    )
    contents = reading.read_with_schema(table)
    store = open_store()
    if holdout.truth is not None:
        params["truth"] = store.put_table(reading.read(holdout.truth), WORKSPACE)
    spec = specification.make_spec(store, submission.engine, "compare", params, contents)
    submission.submit(store, spec)
