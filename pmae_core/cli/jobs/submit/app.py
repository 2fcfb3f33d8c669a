"""The command ``pmae jobs submit`` and the kinds of jobs."""

from __future__ import annotations

import typer

from pmae_core.cli.jobs.submit import benchmark, compare, document, impute, train
from pmae_core.cli.options import with_examples

app = typer.Typer(
    name="submit",
    invoke_without_command=True,
    no_args_is_help=True,
    callback=document.submit_document,
    help=with_examples(
        "Put a job into the queue and print its id. It starts as soon as there is room for it.",
        "pmae jobs submit train survey.csv --method pmae-mix --param preset=fast",
        "pmae jobs submit impute new_rows.csv --model 3f2a --wait",
        "pmae jobs submit compare survey.csv --methods pmae,em,knn --seeds 3",
        "pmae jobs submit benchmark diabetes --methods em,knn --pattern general",
        "pmae jobs show 3f2a --spec > job.json && pmae jobs submit --spec job.json",
    ),
)
app.command(help=train.HELP)(train.train)
app.command(help=impute.HELP)(impute.impute)
app.command(help=compare.HELP)(compare.compare)
app.command(help=benchmark.HELP)(benchmark.benchmark)
