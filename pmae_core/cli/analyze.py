"""``pmae analyze``: fit a regression to every imputation and pool the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from pmae_core.cli.groups import InputOptions, with_option_groups
from pmae_core.cli.impute import explained
from pmae_core.cli.options import (
    AsJson,
    Force,
    Params,
    QuietUntilEnd,
    Seed,
    given,
    read_params,
    with_examples,
)
from pmae_core.cli.terminal import note, print_json, print_text, say
from pmae_core.errors import AnalysisError, Cancelled, TableError
from pmae_core.progress import interruptible, progress_bar

if TYPE_CHECKING:
    import pandas as pd

    from pmae_core.inference import Analysis
    from pmae_core.table import Schema

HELP = with_examples(
    "Fit a regression to every imputation of a table and pool the results by Rubin's rules.\n\n"
    "The tables are imputations that `pmae impute --imputations` wrote; or one table with missing "
    "values and a --method that imputes it. A formula has the outcome, then ~, then terms: a:b is "
    "an interaction, a * b is a + b + a:b, C(code) makes categories of numbers, I(age ** 2) is "
    "arithmetic, and Surv(time, event) is the outcome of a Cox regression. Put column names with "
    "blanks in backticks.",
    "pmae analyze 'log(wage) ~ education + age + sex' imputed-*.csv --original survey.csv",
    "pmae analyze 'smoker ~ age + C(town)' survey.csv --method pmae --imputations 20 "
    "--family logistic --ratios",
    "pmae analyze 'Surv(time, status == 2) ~ age + bili' imputed-*.csv --family cox --format latex",
)


class ModelOptions(NamedTuple):
    """The regression."""

    family: Annotated[
        Literal["ols", "logistic", "poisson", "cox"], typer.Option(help="Kind of regression.")
    ] = "ols"
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A column of positive weights.")
    ] = None
    errors: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="Standard errors: nonrobust, HC0, HC1, HC2, HC3, or a column of clusters.",
        ),
    ] = "nonrobust"
    confidence: Annotated[
        float, typer.Option(help="Nominal coverage of the confidence intervals.")
    ] = 0.95


class ImputedByOptions(NamedTuple):
    """How a table with missing values is imputed first."""

    method: Annotated[
        str | None,
        typer.Option(help="Impute the table with this method; an unknown name lists all."),
    ] = None
    imputations: Annotated[
        int | None, typer.Option(min=2, help="How many imputations --method makes; 20 by default.")
    ] = None
    param: Params = None
    seed: Seed = 0


class AnalysisOutputs(NamedTuple):
    """What to print or write."""

    ratios: Annotated[bool, typer.Option("--ratios", help="Show odds, rate or hazard ratios.")] = (
        False
    )
    form: Annotated[
        Literal["text", "csv", "latex"], typer.Option("--format", help="Form of the results.")
    ] = "text"
    as_json: AsJson = False
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file instead.")
    ] = None
    force: Force = False
    quiet: QuietUntilEnd = False

    def check(self) -> None:
        """Refuse at once what could not be written later."""
        if self.as_json and (self.form != "text" or self.output):
            raise typer.BadParameter(
                "JSON goes to standard output. Leave out --format and --output.",
                param_hint="--json",
            )
        if self.output and self.output.exists() and not self.force:
            raise TableError(f"{self.output} already exists. Use --force to overwrite it.")
        if self.output and not self.output.parent.is_dir():
            raise TableError(f"The folder {self.output.parent} does not exist. Create it first.")

    def write(self, analysis: Analysis) -> None:
        """Print the results, or write them to a file."""
        if self.as_json:
            print_json(analysis.to_dict(exponentiated=self.ratios))
            return
        writers = {"text": analysis.to_text, "csv": analysis.to_csv, "latex": analysis.to_latex}
        text = writers[self.form](exponentiated=self.ratios)
        if self.output:
            self.output.write_text(text, encoding="utf-8")
            say(f"Wrote {self.output}.")
        else:
            print_text(text, end="")
        if self.form != "text":
            for sentence in analysis.sentences:
                note(sentence)


@with_option_groups
def analyze(
    *,
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="Outcome ~ terms, in quotes.")],
    tables: Annotated[
        list[Path],
        typer.Argument(metavar="TABLE...", help="Imputations, or one table with --method."),
    ],
    model: ModelOptions,
    original: Annotated[
        Path | None,
        typer.Option(help="The table with its missing values: adds its complete cases."),
    ] = None,
    imputed_by: ImputedByOptions,
    outputs: AnalysisOutputs,
    reading: InputOptions,
) -> None:
    """Fit a regression to every imputation and pool the results."""
    from pmae_core import inference
    from pmae_core.expressions import parse_formula

    asked = parse_formula(formula)
    outputs.check()
    _check_source(tables, original, imputed_by)
    frames = [reading.read(path) for path in tables]
    incomplete = reading.read(original) if original else None
    if imputed_by.method:
        incomplete = frames[0]
        for sentence in inference.check_congeniality(asked, _roles(incomplete, reading)):
            note(sentence)
        frames = _impute(incomplete, imputed_by, reading, quiet=outputs.quiet)
    outputs.write(
        inference.analyze(
            frames,
            asked,
            **model._asdict(),
            original=incomplete,
            schema=_declared(frames[0], reading),
        )
    )


def _check_source(
    tables: Sequence[Path], original: Path | None, imputed_by: ImputedByOptions
) -> None:
    if imputed_by.method and len(tables) > 1:
        raise typer.BadParameter(
            "A method imputes one table. Give one, or leave out --method.", param_hint="--method"
        )
    if imputed_by.method and original:
        raise typer.BadParameter(
            "With --method, the table itself is the original. Leave out --original.",
            param_hint="--original",
        )
    if not imputed_by.method and (imputed_by.imputations or imputed_by.param):
        raise typer.BadParameter(
            "--imputations and --param are settings of a method. Name it with --method.",
            param_hint="--method",
        )


def _roles(frame: pd.DataFrame, reading: InputOptions) -> Schema:
    from pmae_core.table import Schema

    return Schema.infer(frame, roles=reading.roles(), rules=reading.rules())


def _declared(frame: pd.DataFrame, reading: InputOptions) -> Schema:
    """Return the roles in which numbers are categories only if the user said so."""
    from pmae_core.table import Role
    from pmae_core.table.cells import CellKind, cell_kind

    schema = _roles(frame, reading)
    numbers = [
        name
        for name in schema.names(Role.CATEGORICAL)
        if cell_kind(frame[name]) is CellKind.NUMBER and name not in reading.roles()
    ]
    return schema.with_roles(dict.fromkeys(numbers, Role.NUMERICAL))


def _impute(
    frame: pd.DataFrame, imputed_by: ImputedByOptions, reading: InputOptions, *, quiet: bool
) -> list[pd.DataFrame]:
    from pmae_core.imputers import make_imputer

    settings: dict[str, Any] = {"random_state": imputed_by.seed, **read_params(imputed_by.param)}
    settings |= given(schema=reading.schema_for(frame))
    with (
        interruptible() as stop,
        progress_bar("Fitting", stop, is_shown=not quiet) as show,
        explained(settings),
    ):
        imputer = make_imputer(str(imputed_by.method), **settings)
        _check_method(str(imputed_by.method))
        imputer.fit(frame, callbacks=(show,), cancel=stop)
        n_imputations = 20 if imputed_by.imputations is None else imputed_by.imputations
        imputations = imputer.sample(
            frame, n_imputations, random_state=imputed_by.seed, callbacks=(show,), cancel=stop
        )
        if stop():
            raise Cancelled("Imputation was stopped.")
    return imputations


def _check_method(name: str) -> None:
    """Refuse before the work a method that cannot be pooled, and say what its intervals lack."""
    from pmae_core.imputers import list_imputers

    (info,) = (info for info in list_imputers() if info.name == name)
    if not info.draws_samples:
        raise AnalysisError(
            f"{name} gives only one imputation, which cannot be pooled.",
            advice="Choose another method, or impute the table first and analyze that file.",
        )
    if not info.is_proper:
        note(
            f"imputations by {name} do not include the uncertainty of the fitted model, so "
            "confidence intervals can be too narrow."
        )
