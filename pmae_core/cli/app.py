"""The command ``pmae``: its commands, and how their errors are shown.

What a command needs is imported inside it, so that ``pmae --help`` answers at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pmae_core.cli import (
    ampute,
    analyze,
    benchmark,
    claims,
    compare,
    datasets,
    describe,
    impute,
    score,
    serve,
)
from pmae_core.cli.jobs import app as jobs
from pmae_core.cli.terminal import EXIT_CANCELLED, EXIT_USER_ERROR, note, say, say_error
from pmae_core.errors import (
    Cancelled,
    ImputationWarning,
    LeakageWarning,
    PMAEError,
    TableWarning,
)


class _SentenceGroup(TyperGroup):
    """Turn the library's errors and warnings into a sentence on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            with _warnings_as_notes():
                return super().invoke(ctx)
        except (Cancelled, KeyboardInterrupt) as error:
            say("Stopped.")
            raise typer.Exit(EXIT_CANCELLED) from error
        except BrokenPipeError:
            raise  # the reader of a pipe, such as head, has closed it: Typer handles this
        except (PMAEError, OSError) as error:
            say_error(str(error))
            raise typer.Exit(EXIT_USER_ERROR) from error


_OWN_WARNINGS = (TableWarning, ImputationWarning, LeakageWarning)


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Show the library's own warnings as notes; leave all others as they are."""
    with warnings.catch_warnings():
        show_other = warnings.showwarning

        def show(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
            if issubclass(category, _OWN_WARNINGS):
                note(str(message))
            else:
                show_other(message, category, *args, **kwargs)

        for category in _OWN_WARNINGS:
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        yield


app = typer.Typer(
    name="pmae",
    cls=_SentenceGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_show_locals=False,
    help="Impute the missing values of a table, simulate missing values, and score the result.\n\n"
    "Tables are CSV, TSV, Excel, Parquet, Feather or JSON lines files; the ending of the file "
    "name says which.",
    epilog="Exit codes: 0 success, 1 the input cannot be used as asked, 2 wrong usage, "
    "130 stopped.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from pmae_core import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _global_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Take the options that belong to no command."""


app.command(help=impute.HELP)(impute.impute)
app.command(help=ampute.HELP)(ampute.ampute)
app.command(help=analyze.HELP)(analyze.analyze)
app.command(help=score.HELP)(score.score)
app.command(help=describe.HELP)(describe.describe)
app.command(help=datasets.HELP)(datasets.datasets)
app.command(help=compare.HELP)(compare.compare)
app.command(help=benchmark.HELP)(benchmark.benchmark)
app.command(help=claims.HELP)(claims.claims)
app.add_typer(jobs.app)
app.command(help=serve.HELP)(serve.serve)


def main() -> None:
    """Run the command line."""
    app()
