"""``pmae jobs submit impute``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pmae_core.cli.groups import InputOptions, with_option_groups
from pmae_core.cli.impute import DEFAULT_METHOD
from pmae_core.cli.jobs.access import WORKSPACE, open_store
from pmae_core.cli.jobs.options import SpecOptions, SubmitOptions
from pmae_core.cli.options import InputTable, Params, read_params, with_examples

HELP = with_examples(
    "Impute the missing cells of a table, with a method or a model trained before.",
    "pmae jobs submit impute survey.csv",
    "pmae jobs submit impute survey.csv --method missforest",
    "pmae jobs submit impute new_rows.csv --model 3f2a --imputations 5",
)


@with_option_groups
def impute(
    *,
    table: InputTable,
    method: Annotated[
        str | None, typer.Option(help="pmae by default; an unknown name lists all methods.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="ID", help="Use the model of this training job.")
    ] = None,
    param: Params = None,
    imputations: Annotated[
        int, typer.Option(min=0, help="Also write this many plausible imputations.")
    ] = 0,
    reading: InputOptions,
    specification: SpecOptions,
    submission: SubmitOptions,
) -> None:
    """Submit an imputation."""
    if model and (method or param):
        raise typer.BadParameter(
            "A trained model already has its method and settings. Leave out --method and --param.",
            param_hint="--model",
        )
    store = open_store()
    params: dict[str, Any] = {"imputations": imputations}
    if model:
        params["model"] = store.find(model, WORKSPACE).id
    else:
        params |= {"method": method or DEFAULT_METHOD, "params": read_params(param)}
    contents = reading.read_with_schema(table)
    spec = specification.make_spec(store, submission.engine, "impute", params, contents)
    submission.submit(store, spec)
