"""``pmae jobs submit train``."""

from __future__ import annotations

from typing import Annotated

import typer

from pmae_core.cli.groups import InputOptions, with_option_groups
from pmae_core.cli.jobs.access import open_store
from pmae_core.cli.jobs.options import SpecOptions, SubmitOptions
from pmae_core.cli.options import InputTable, Params, read_params, with_examples

HELP = with_examples(
    "Train a model that can be saved, and impute the table with it.",
    "pmae jobs submit train survey.csv",
    "pmae jobs submit train survey.csv --method pmae-trf --param preset=fast --wait",
)


@with_option_groups
def train(
    *,
    table: InputTable,
    method: Annotated[
        str, typer.Option(help="Any method with a model to save: pmae-mix (the default), pmae, ...")
    ] = "pmae-mix",
    param: Params = None,
    impute: Annotated[bool, typer.Option(help="Also impute the table.")] = True,
    reading: InputOptions,
    specification: SpecOptions,
    submission: SubmitOptions,
) -> None:
    """Submit a training."""
    params = {"method": method, "params": read_params(param), "impute": impute}
    contents = reading.read_with_schema(table)
    store = open_store()
    spec = specification.make_spec(store, submission.engine, "train", params, contents)
    submission.submit(store, spec)
