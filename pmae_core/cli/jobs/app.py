"""The command ``pmae jobs`` and its commands."""

from __future__ import annotations

import typer

from pmae_core.cli.jobs import cancel, estimate, gc, list, logs, result, resume, show
from pmae_core.cli.jobs.submit import app as submit

app = typer.Typer(
    name="jobs",
    no_args_is_help=True,
    help="Run work in the background: submit, inspect, cancel and resume jobs.\n\n"
    "A job goes on when you close the terminal. Jobs are stored in the folder that PMAE_HOME "
    "names (~/.pmae by default). You can shorten an id as long as it stays unique.",
)
app.add_typer(submit.app)
app.command("list", help=list.HELP)(list.list_jobs)
app.command("show", help=show.HELP)(show.show_job)
app.command(help=logs.HELP)(logs.logs)
app.command(help=result.HELP)(result.result)
app.command(help=cancel.HELP)(cancel.cancel)
app.command(help=resume.HELP)(resume.resume)
app.command(help=gc.HELP)(gc.gc)
app.command(help=estimate.HELP)(estimate.estimate)
