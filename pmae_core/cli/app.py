"""The shell's front door: ``pmae impute``, ``ampute``, ``score``, ``describe``, ``datasets``.

``compare``, ``benchmark``, ``jobs`` and ``serve`` have modules of their own.
What a command needs is imported inside it, so that ``pmae --help`` answers at once.
"""

from __future__ import annotations

import json
import math
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from typer.core import TyperGroup

from pmae_core.cli import benchmark as cli_benchmark
from pmae_core.cli import compare as cli_compare
from pmae_core.cli import serve as cli_serve
from pmae_core.cli.jobs import commands as cli_jobs
from pmae_core.cli.options import (
    AsJson,
    CouplingName,
    InputTable,
    MechanismName,
    PatternName,
    Roles,
    Sentinels,
    as_text,
    count,
    given,
    print_json,
    read_params,
    read_roles,
    say,
    show,
    with_examples,
)
from pmae_core.errors import (
    Cancelled,
    ImputationError,
    ImputationWarning,
    PMAEError,
    TableError,
    TableWarning,
)
from pmae_core.events import Event, FitProgress, TrainingProgress

if TYPE_CHECKING:
    import pandas as pd

    from pmae_core.evaluation import ImputationScore
    from pmae_core.imputers import BaseImputer
    from pmae_core.table import Schema

EXIT_USER_ERROR = 1
EXIT_CANCELLED = 130
DEFAULT_METHOD = "pmae-mix"


# ---------------------------------------------------------------- the application and its errors


class _SentenceGroup(TyperGroup):
    """Turn the library's errors and warnings into a sentence on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            with _warnings_as_sentences():
                return super().invoke(ctx)
        except (Cancelled, KeyboardInterrupt) as error:
            say("Stopped.")
            raise typer.Exit(EXIT_CANCELLED) from error
        except BrokenPipeError:
            raise  # the reader of a pipe, as head, has seen enough: typer knows
        except (PMAEError, OSError) as error:
            say(f"[red]Error:[/] {as_text(str(error))}")
            raise typer.Exit(EXIT_USER_ERROR) from error


app = typer.Typer(
    name="pmae",
    cls=_SentenceGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_show_locals=False,
    help="Fill the missing cells of a table, make holes on purpose, and judge the result.\n\n"
    "Tables are CSV, TSV, Excel, Parquet, Feather or JSON lines files, told apart by their name.",
    epilog="Exit codes: 0 done, 1 the input cannot be used as asked, 2 wrong usage, 130 stopped.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from pmae_core import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options_of_all(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Take the options that belong to no command."""


def main() -> None:
    """Run the command line."""
    app()


@contextmanager
def _warnings_as_sentences() -> Iterator[None]:
    """Show the library's own warnings as notes; leave all others as they are."""
    with warnings.catch_warnings():
        show_other = warnings.showwarning

        def show(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
            if issubclass(category, TableWarning | ImputationWarning):
                say(f"[yellow]Note:[/] {as_text(str(message))}")
            else:
                show_other(message, category, *args, **kwargs)

        for category in (TableWarning, ImputationWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        yield


# ---------------------------------------------------------------- arguments that commands share


OutputTable = Annotated[Path, typer.Option("--output", "-o", help="Where to write the table.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")]
Seed = Annotated[int, typer.Option(help="Same seed, same result.")]


def _read(path: Path, sentinels: Sequence[str] | None = None) -> pd.DataFrame:
    from pmae_core.table import read_table

    return read_table(path, sentinels=tuple(sentinels or ()))


def _schema(frame: pd.DataFrame, roles: Sequence[str] | None) -> Schema:
    from pmae_core.table import Schema

    return Schema.infer(frame, roles=read_roles(roles))


def _check_outputs(
    tables: Sequence[Path | None], *, others: Sequence[Path | None] = (), force: bool
) -> None:
    """Refuse at once what could not be written later, before work is spent on it."""
    from pmae_core.table.io.source import FORMAT_OF_ENDING

    endings = [ending for ending in FORMAT_OF_ENDING if ending != ".xls"]
    for path in filter(None, tables):
        if path.suffix.lower() not in endings:
            raise TableError(f"{path} needs an ending that says its format: {', '.join(endings)}.")
    paths = [path for path in (*tables, *others) if path]
    for path in paths:
        if paths.count(path) > 1:
            raise TableError(f"{path} is named for two outputs; give each its own file.")
        if path.exists() and not force:
            raise TableError(f"{path} exists already; use --force to overwrite it.")
        if not path.parent.is_dir():
            raise TableError(f"The folder {path.parent} does not exist; make it first.")


def _write(frame: pd.DataFrame, path: Path) -> None:
    from pmae_core.table import write_table

    write_table(frame, path)


# ---------------------------------------------------------------- impute


@app.command(
    help=with_examples(
        "Fill the missing cells of a table; all other cells stay as they are.",
        "pmae impute holes.csv -o filled.csv",
        "pmae impute holes.xlsx -o filled.parquet --preset fast --sentinel -999",
        "pmae impute holes.csv -o filled.csv --role zip=categorical --mask-out imputed.csv",
        "pmae impute holes.csv -o filled.csv --draws 5 --save-model model",
        "pmae impute new_rows.csv -o filled.csv --model model",
    )
)
def impute(
    table: InputTable,
    output: OutputTable,
    method: Annotated[
        str | None,
        typer.Option(help="pmae-mix (the default), pmae-trf, ...; an unknown name lists all."),
    ] = None,
    preset: Annotated[
        Literal["fast", "balanced", "paper"] | None,
        typer.Option(help="How much effort to spend; balanced by default."),
    ] = None,
    architecture: Annotated[
        Literal["mixer", "transformer"] | None, typer.Option(help="The network.")
    ] = None,
    masking: Annotated[
        str | None, typer.Option(help="Masking function: logit, constant, linear, ...")
    ] = None,
    a: Annotated[float | None, typer.Option("--a", help="Slope of the masking function.")] = None,
    b: Annotated[float | None, typer.Option("--b", help="Level of the masking function.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Training steps at most.")] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Any other setting of the method."),
    ] = None,
    seed: Seed = 0,
    sentinel: Sentinels = None,
    role: Roles = None,
    draws: Annotated[
        int, typer.Option(min=0, help="Write this many plausible draws beside the output, too.")
    ] = 0,
    mask_out: Annotated[
        Path | None, typer.Option(help="Write a table that is true where a cell was imputed.")
    ] = None,
    save_model: Annotated[Path | None, typer.Option(help="Keep the trained model here.")] = None,
    model: Annotated[
        Path | None, typer.Option(help="Use a model kept by --save-model; nothing is trained.")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Fill the missing cells of a table; all other cells stay as they are."""
    from pmae_core.imputers import load_imputer, make_imputer

    settings = given(
        preset=preset,
        architecture=architecture,
        masking=masking,
        a=a,
        b=b,
        steps=steps,
        schema=read_roles(role) or None,
    ) | read_params(param)
    if model and (method or settings or save_model):
        raise typer.BadParameter(
            "A kept model brings its settings with it; name no others.", param_hint="--model"
        )
    draw_paths = [output.with_stem(f"{output.stem}-draw{k}") for k in range(1, draws + 1)]
    _check_outputs([output, mask_out, *draw_paths], others=[save_model], force=force)

    frame = _read(table, sentinel)
    with _progress(quiet) as show, _stoppable() as stop_wanted, _blaming(settings):
        if model:
            imputer = load_imputer(model)
        else:
            name = method or DEFAULT_METHOD
            imputer = make_imputer(name, **{"random_state": seed, **settings})
            _check_abilities(name, imputer, draws=draws, save_model=save_model)
            imputer.fit(frame, callbacks=(show,), cancel=stop_wanted)
        filled = imputer.transform(frame)
        drawn = imputer.sample(frame, draws, random_state=seed) if draws else []
        if stop_wanted():
            raise Cancelled("Imputation was stopped.")

    if save_model:
        imputer.save(save_model)
    imputed = frame.isna() & filled.notna()
    outputs = [(filled, output), *zip(drawn, draw_paths, strict=True), (imputed, mask_out)]
    for cells, path in outputs:
        if path:
            _write(cells, path)
    if not quiet:
        say(_imputation_sentence(frame, imputed, output))


def _check_abilities(
    name: str, imputer: BaseImputer, *, draws: int, save_model: Path | None
) -> None:
    """Refuse what the method could not do after all the work."""
    from pmae_core.imputers import list_imputers

    if draws and not next(info.draws_samples for info in list_imputers() if info.name == name):
        raise ImputationError(f"{name} has one answer and draws no others; leave out --draws.")
    if save_model and not hasattr(imputer, "save"):
        raise ImputationError(f"{name} keeps no model; leave out --save-model.")


def _imputation_sentence(frame: pd.DataFrame, imputed: pd.DataFrame, output: Path) -> str:
    n_missing, n_imputed = int(frame.isna().sum().sum()), int(imputed.sum().sum())
    n_columns = int(imputed.any().sum())
    return (
        f"Filled {n_imputed:,} of {count(n_missing, 'missing cell')} "
        f"in {count(n_columns, 'column')}; wrote {as_text(str(output))}."
    )


@contextmanager
def _blaming(settings: Mapping[str, Any]) -> Iterator[None]:
    """Say in a sentence what Python and scikit-learn raise when settings are unusable."""
    try:
        yield
    except PMAEError:
        raise
    except (ValueError, TypeError) as error:
        named = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        given = f" with {named}" if named else ""
        raise ImputationError(f"The method cannot fill this table{given}: {error}") from error


@contextmanager
def _stoppable() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C into a wish that training can ask for; the second stops at once."""
    wanted = False

    def on_interrupt(*_: Any) -> None:
        nonlocal wanted
        if wanted:
            raise KeyboardInterrupt
        wanted = True

    previous = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield lambda: wanted
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[Event], None]]:
    """Show a bar for the events of a fit, from the first one on."""
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        TextColumn("Learning"),
        BarColumn(bar_width=16),  # so that all fits into 80 characters
        TextColumn("{task.completed}/{task.total} {task.fields[unit]}s"),
        TextColumn("{task.fields[remaining]}"),
        TextColumn("{task.fields[error]}"),
    )
    progress = Progress(*columns, console=Console(stderr=True), disable=quiet)
    bar = progress.add_task("", unit="", remaining="", error="")

    def show(event: Event) -> None:
        match event:
            case TrainingProgress():
                done, total, unit, error = event.step, event.total_steps, "step", _error(event)
            case FitProgress():
                done, total, unit, error = event.done, event.total, event.unit, ""
            case _:
                return
        remaining = f"{timedelta(seconds=round(event.eta_seconds))} left"
        progress.update(
            bar, completed=done, total=total, unit=unit, remaining=remaining, error=error
        )
        progress.start()

    try:
        yield show
    finally:
        progress.stop()


def _error(event: TrainingProgress) -> str:
    """Return the figure that says most: the error on held-out cells, or else on masked ones."""
    if event.validation_score is not None:
        return f"held-out error {event.validation_score:.3g}"
    return "" if event.prediction_loss is None else f"error {event.prediction_loss:.3g}"


# ---------------------------------------------------------------- ampute


@app.command(
    help=with_examples(
        "Make holes in a table on purpose, by a known pattern and mechanism.",
        "pmae ampute complete.csv -o holes.csv --seed 1",
        "pmae ampute complete.csv -o holes.csv --pattern monotone --mechanism MAR",
        "pmae ampute complete.csv -o holes.csv --truth truth.csv --missing missing.csv",
        "pmae ampute complete.csv -o holes.csv --like survey_with_holes.csv",
    )
)
def ampute(
    table: InputTable,
    output: OutputTable,
    pattern: Annotated[
        PatternName | None,
        typer.Option(help="Shape of the holes; general by default."),
    ] = None,
    mechanism: Annotated[
        MechanismName | None,
        typer.Option(help="What makes cells missing; MNAR by default."),
    ] = None,
    coupling: Annotated[
        CouplingName | None,
        typer.Option(
            help="One draw for a row (nested, as the paper's masks; the default) or one for each "
            "cell (independent, the only one for self-masking)."
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A column that may get holes; all by default."),
    ] = None,
    column_share: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Share of columns with holes.")
    ] = None,
    proportion: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Share of cells that stay, instead of the pattern's."),
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(help="A table whose rows lend their holes, instead of a pattern."),
    ] = None,
    seed: Seed = 0,
    sentinel: Sentinels = None,
    role: Roles = None,
    truth: Annotated[
        Path | None, typer.Option(help="Write the complete rows, without those that lost all.")
    ] = None,
    missing: Annotated[
        Path | None, typer.Option(help="Write a table that is true where a cell was removed.")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(help="Write the settings that repeat this, as JSON.")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Make holes in a table on purpose, by a known pattern and mechanism."""
    from pmae_core.amputation import ampute as make_holes
    from pmae_core.amputation import ampute_like

    process = given(
        pattern=pattern,
        mechanism=mechanism,
        coupling=coupling,
        columns=column,
        column_share=column_share,
        proportions=proportion,
    )
    if like and (process or role):
        raise typer.BadParameter(
            "The holes are those of the other table; name no pattern, mechanism, columns or roles.",
            param_hint="--like",
        )
    _check_outputs([output, truth, missing], others=[settings], force=force)
    frame = _read(table, sentinel)
    if like:
        holes = ampute_like(frame, _missing_cells(_read(like)), seed=seed)
    else:
        holes = make_holes(frame, **process, seed=seed, schema=_schema(frame, role))
    outputs = [(holes.incomplete, output), (holes.truth, truth), (holes.missing, missing)]
    for cells, path in outputs:
        if path:
            _write(_numbered_like(frame, cells), path)
    if settings:
        settings.write_text(json.dumps(holes.settings, indent=2) + "\n", encoding="utf-8")
    if not quiet:
        n_removed, n_dropped = int(holes.missing.sum().sum()), len(frame) - len(holes.truth)
        say(
            f"Removed {n_removed:,} of {count(holes.truth.size, 'cell')} and dropped "
            f"{count(n_dropped, 'row')} that lost all; wrote {as_text(str(output))}."
        )


def _numbered_like(frame: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Close the gaps that dropped rows leave in mere row numbers; a real index stays."""
    import pandas as pd

    return rows.reset_index(drop=True) if isinstance(frame.index, pd.RangeIndex) else rows


# ---------------------------------------------------------------- score


@app.command(
    help=with_examples(
        "Compare an imputed table with the truth.",
        "pmae score truth.csv filled.csv --missing missing.csv",
        "pmae score truth.csv filled.csv --missing holes.csv --json",
    )
)
def score(
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="The complete table.")],
    imputed: Annotated[Path, typer.Argument(metavar="IMPUTED", help="The filled table.")],
    missing: Annotated[
        Path | None,
        typer.Option(
            help="Which cells count: a table of true and false, or the table with the holes. "
            "All cells count without it."
        ),
    ] = None,
    role: Roles = None,
    as_json: AsJson = False,
) -> None:
    """Compare an imputed table with the truth."""
    from pmae_core.evaluation import score_imputation

    # Rows of files are told apart by their place; an index that one format keeps is not asked.
    true_frame, imputed_frame = (_read(path).reset_index(drop=True) for path in (truth, imputed))
    if missing:
        cells = _missing_cells(_read(missing)).reset_index(drop=True)
    else:
        cells = true_frame.notna()
        say("[yellow]Note:[/] without --missing all cells count, also those never missing.")
    result = score_imputation(true_frame, imputed_frame, cells, _schema(true_frame, role))
    if as_json:
        print_json(result.to_dict())
    else:
        _print_score(result)


def _missing_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table itself if it is true or false everywhere, else where it is empty."""
    is_flags = all(dtype.kind == "b" for dtype in frame.dtypes) and not frame.isna().any(axis=None)
    return frame.astype(bool) if is_flags else frame.isna()


def _print_score(result: ImputationScore) -> None:
    overall = [(_METRIC_TITLES[name], _figure(value)) for name, value in result.overall.items()]
    _print_table(["Mean over columns", ""], overall, n_words=1)
    metrics = ["imputation_accuracy", "r2_unclipped", "rmse", "mae", "wasserstein"]
    rows = [
        (str(name), str(row["role"]), f"{row['n_scored']:,}", *(_figure(row[m]) for m in metrics))
        for name, row in result.per_column.iterrows()
    ]
    headers = ["Column", "Role", "Cells", *(_METRIC_TITLES[name] for name in metrics)]
    _print_table(headers, rows)
    for name, reason in result.skipped.items():
        say(f"Not scored: {as_text(str(name))}, {as_text(reason)}.")


# ---------------------------------------------------------------- describe


@app.command(
    help=with_examples(
        "Say what is in a table and what is missing from it.",
        "pmae describe holes.csv",
        "pmae describe holes.xlsx --sentinel -999 --sentinel ? --json",
    )
)
def describe(
    table: InputTable, sentinel: Sentinels = None, role: Roles = None, as_json: AsJson = False
) -> None:
    """Say what is in a table and what is missing from it."""
    from pmae_core.missingness import summarize_missingness
    from pmae_core.table import suggest_sentinels

    frame = _read(table, sentinel)
    schema = _schema(frame, role)
    summary = summarize_missingness(frame)
    suggestions = suggest_sentinels(frame)
    if as_json:
        columns = [
            {**column.to_dict(), "name": str(column.name), "p_obs": float(p_obs)}
            for column, p_obs in zip(schema.columns, summary.per_column["p_obs"], strict=True)
        ]
        print_json(
            {
                "sentence": summary.sentence(),
                "columns": columns,
                "missingness": summary.to_dict(),
                "sentinel_suggestions": [asdict(hint) for hint in suggestions],
            }
        )
        return
    _print_columns(schema)
    typer.echo(summary.sentence())
    for hint in suggestions:
        say(
            f"[yellow]Note:[/] {as_text(repr(hint.value))} in {as_text(hint.column)} "
            f"({hint.count:,} times) may mean missing. {as_text(hint.reason)}"
        )


def _print_columns(schema: Schema) -> None:
    rows = [
        (
            str(column.name),
            column.role.value,
            f"{column.n_rows - column.n_observed:,}",
            f"{column.n_observed / column.n_rows:.1%}",
            f"{column.n_unique:,}",
            ", ".join(flag.value for flag in column.flags),
        )
        for column in schema.columns
    ]
    headers = ["Column", "Role", "Missing", "Observed", "Different values", "Remarks"]
    _print_table(headers, rows, last_is_words=True)


# ---------------------------------------------------------------- datasets


@app.command(
    help=with_examples(
        "List the tables that can be loaded by name, or write one of them to a file.",
        "pmae datasets",
        "pmae datasets penguins --output penguins.csv",
    )
)
def datasets(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One table instead of the list.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the table NAME.")
    ] = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """List the tables that can be loaded by name, or write one of them to a file."""
    from pmae_core.table import list_datasets, load_dataset

    if output and not name:
        raise typer.BadParameter("Name the table to write.", param_hint="--output")
    if output and name:
        _check_outputs([output], force=force)
        _write(load_dataset(name).frame, output)
        return
    infos = [load_dataset(name).info] if name else list_datasets()
    if as_json:
        print_json([asdict(info) for info in infos])
    elif name:
        _print_table(["", name], [(key, str(value)) for key, value in asdict(infos[0]).items()])
    else:
        rows = [
            (
                info.name,
                info.kind,
                f"{info.n_rows:,}",
                "yes" if info.available else "no",
                info.title,
            )
            for info in infos
        ]
        _print_table(["Name", "Kind", "Rows", "On disk", "Title"], rows, last_is_words=True)
        typer.echo("A table that is not on disk is downloaded when it is asked for.")


# ---------------------------------------------------------------- printing

_METRIC_TITLES = {
    "imputation_accuracy": "Imputation accuracy",
    "r2": "R², negative as 0",
    "r2_unclipped": "R²",
    "accuracy": "Accuracy",
    "rmse": "RMSE",
    "mae": "MAE",
    "wasserstein": "Wasserstein",
}


def _figure(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def _print_table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    n_words: int = 2,
    last_is_words: bool = False,
) -> None:
    """Print rows of text, the columns after the first `n_words` right-aligned as figures."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for position, header in enumerate(headers):
        is_words = position < n_words or (last_is_words and position == len(headers) - 1)
        table.add_column(header, justify="left" if is_words else "right")
    for row in rows:
        table.add_row(*map(as_text, row))
    show(table)


# ---------------------------------------------------------------- compare, benchmark, jobs, serve

app.command(help=cli_compare.HELP)(cli_compare.compare)
app.command(help=cli_benchmark.HELP)(cli_benchmark.benchmark)
app.add_typer(cli_jobs.app)
app.command(help=cli_serve.HELP)(cli_serve.serve)
