"""``pmae jobs estimate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pmae_core.cli.groups import InputOptions, with_option_groups
from pmae_core.cli.jobs.access import engine_of, open_store
from pmae_core.cli.jobs.options import Threads
from pmae_core.cli.jobs.words import estimate_sentence, megabytes, range_text
from pmae_core.cli.options import (
    AsJson,
    InputTable,
    MethodParams,
    Methods,
    read_method_params,
    read_methods,
    read_seconds,
    with_examples,
)
from pmae_core.cli.terminal import print_json, print_table, print_text
from pmae_core.words import duration

if TYPE_CHECKING:
    from pmae_core.jobs.cost import CostEstimate

HELP = with_examples(
    "Estimate from short real runs how much time and memory methods take on a table.",
    "pmae jobs estimate survey.csv --methods pmae,missforest --seeds 3",
)


@with_option_groups
def estimate(
    *,
    table: InputTable,
    methods: Methods,
    seeds: Annotated[int, typer.Option(min=1, help="How many times each method will run.")] = 1,
    param: MethodParams = None,
    threads: Threads = None,
    budget: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Time for the short runs; 1s per method by default."),
    ] = None,
    reading: InputOptions,
    as_json: AsJson = False,
) -> None:
    """Estimate the cost of methods."""
    from pmae_core.jobs.cost import estimate_cost

    budget_seconds = read_seconds(budget, "--budget")
    frame, schema = reading.read_with_schema(table)
    cost = estimate_cost(
        frame,
        read_methods(methods),
        schema=schema,
        method_params=read_method_params(param),
        seeds=seeds,
        threads=threads or engine_of(open_store()).default_resources().threads,
        budget_seconds=budget_seconds,
    )
    if as_json:
        print_json(cost.to_dict())
    else:
        _print_estimate(cost)


def _print_estimate(estimate: CostEstimate) -> None:
    rows = [
        [
            cost.method,
            duration(cost.seconds),
            range_text(cost.low, cost.high),
            megabytes(cost.memory_mb),
            cost.error or cost.how,
        ]
        for cost in estimate.per_method
    ]
    print_table(["Method", "Time", "Range", "Memory", ""], rows)
    print_text(estimate_sentence(estimate.to_dict()))
