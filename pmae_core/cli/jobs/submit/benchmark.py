"""``pmae jobs submit benchmark``."""

from __future__ import annotations

from typing import Annotated

import typer

from pmae_core.cli.groups import with_option_groups
from pmae_core.cli.jobs.access import open_store
from pmae_core.cli.jobs.options import SpecOptions, SubmitOptions
from pmae_core.cli.options import (
    CouplingName,
    MechanismName,
    MethodBudget,
    MethodParams,
    Methods,
    PatternName,
    Seeds,
    given,
    read_method_params,
    read_methods,
    read_seconds,
    with_examples,
)

HELP = with_examples(
    "Compare methods on a table of the paper, with simulated missingness.",
    "pmae jobs submit benchmark diabetes --methods pmae-mix,em --pattern monotone",
)

DatasetName = Annotated[
    str, typer.Argument(metavar="DATASET", help="A name that pmae datasets lists: diabetes, ...")
]
Pattern = Annotated[PatternName | None, typer.Option(help="Pattern of the missing cells.")]
Mechanism = Annotated[MechanismName | None, typer.Option(help="What makes cells missing.")]
Coupling = Annotated[
    CouplingName | None, typer.Option(help="How missingness is related within a row.")
]
MaxRows = Annotated[
    int | None, typer.Option(min=1, help="Sample this many rows from a larger table.")
]


@with_option_groups
def benchmark(
    *,
    dataset: DatasetName,
    methods: Methods,
    seeds: Seeds = 3,
    pattern: Pattern = None,
    mechanism: Mechanism = None,
    coupling: Coupling = None,
    max_rows: MaxRows = None,
    param: MethodParams = None,
    method_budget: MethodBudget = None,
    specification: SpecOptions,
    submission: SubmitOptions,
) -> None:
    """Submit a benchmark."""
    params = given(
        dataset=dataset,
        methods=read_methods(methods),
        seeds=list(range(specification.seed, specification.seed + seeds)),
        pattern=pattern,
        mechanism=mechanism,
        coupling=coupling,
        max_rows=max_rows,
        method_params=read_method_params(param),
        method_budget_seconds=read_seconds(method_budget, "--method-budget"),
    )
    store = open_store()
    spec = specification.make_spec(store, submission.engine, "benchmark", params)
    submission.submit(store, spec)
