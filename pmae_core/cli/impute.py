"""``pmae impute``: impute the missing cells of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from pmae_core.cli.files import check_outputs, write_tables
from pmae_core.cli.groups import InputOptions, with_option_groups
from pmae_core.cli.options import (
    Force,
    InputTable,
    KeepFormulas,
    OutputTable,
    Params,
    Quiet,
    Seed,
    given,
    read_params,
    with_examples,
)
from pmae_core.cli.terminal import say
from pmae_core.errors import Cancelled, ImputationError, PMAEError
from pmae_core.progress import interruptible, progress_bar
from pmae_core.words import count, listed

if TYPE_CHECKING:
    import pandas as pd

    from pmae_core.export import Recipe
    from pmae_core.imputers import BaseImputer, PMAEImputer

DEFAULT_METHOD = "pmae"
HELP = with_examples(
    "Impute the missing cells of a table. Observed cells stay as they are.",
    "pmae impute survey.csv -o imputed.csv",
    "pmae impute survey.xlsx -o imputed.parquet --preset fast --sentinel -999",
    "pmae impute survey.csv -o imputed.csv --role zip=categorical --mask-out was_imputed.csv",
    "pmae impute survey.csv -o imputed.csv --imputations 5 --save-model model",
    "pmae impute survey.csv -o imputed.csv --imputations 20 --imputations-out for_stata.dta",
    "pmae impute new_rows.csv -o imputed.csv --model model",
)


class MethodOptions(NamedTuple):
    """The method and its settings."""

    method: Annotated[
        str | None,
        typer.Option(help="pmae (the default), missforest, ...; an unknown name lists all."),
    ] = None
    preset: Annotated[
        Literal["fast", "balanced", "paper"] | None,
        typer.Option(
            help="How much effort to spend; balanced by default. pmae has no preset paper: use "
            "pmae-mix or pmae-trf."
        ),
    ] = None
    architecture: Annotated[
        Literal["mixer", "transformer"] | None, typer.Option(help="Architecture of PMAE's network.")
    ] = None
    masking: Annotated[
        str | None, typer.Option(help="Masking function: logit, constant, linear, ...")
    ] = None
    a: Annotated[float | None, typer.Option("--a", help="Slope of the masking function.")] = None
    b: Annotated[float | None, typer.Option("--b", help="Level of the masking function.")] = None
    steps: Annotated[int | None, typer.Option(min=1, help="Maximum number of training steps.")] = (
        None
    )
    param: Params = None

    @property
    def name(self) -> str:
        """The method to use."""
        return self.method or DEFAULT_METHOD

    def settings(self) -> dict[str, Any]:
        """Return the settings that the user gave; the blend takes those of its network apart."""
        others = read_params(self.param)
        network = given(
            architecture=self.architecture,
            masking=self.masking,
            a=self.a,
            b=self.b,
            steps=self.steps,
        )
        if network and self.name == DEFAULT_METHOD:
            if "network_params" in others:
                raise typer.BadParameter(
                    f"Put {_options(network)} into network_params, too.", param_hint="--param"
                )
            network = {"network_params": network}
        return given(preset=self.preset) | network | others


class ImputationOutputs(NamedTuple):
    """What to write, and where."""

    output: OutputTable
    imputations: Annotated[
        int,
        typer.Option(
            min=0, help="Also write this many plausible imputations, as OUTPUT-1, OUTPUT-2, ..."
        ),
    ] = 0
    imputations_out: Annotated[
        Path | None,
        typer.Option(
            help="Write the imputations into this one file instead: .csv for R's mice, .dta for "
            "Stata, .zip for Python. The code that reads it is written beside it."
        ),
    ] = None
    mask_out: Annotated[
        Path | None, typer.Option(help="Write a table that is true where a cell was imputed.")
    ] = None
    save_model: Annotated[Path | None, typer.Option(help="Save the trained model here.")] = None
    keep_formulas: KeepFormulas = False
    force: Force = False
    quiet: Quiet = False

    def imputation_paths(self) -> list[Path]:
        """Return where each of several imputations goes, if they are not in one file."""
        if self.imputations_out:
            return []
        numbers = range(1, self.imputations + 1)
        return [self.output.with_stem(f"{self.output.stem}-{number}") for number in numbers]

    def check(self) -> None:
        """Refuse at once what could not be written later."""
        if self.imputations_out and not self.imputations:
            raise typer.BadParameter(
                "Say how many imputations to write with --imputations.",
                param_hint="--imputations-out",
            )
        tables = [self.output, self.mask_out, *self.imputation_paths()]
        others = [self.save_model]
        if self.imputations_out:
            others += [self.imputations_out, _code_path(self.imputations_out)]
        check_outputs(tables, others=others, force=self.force)

    def check_abilities(self, name: str, imputer: BaseImputer) -> None:
        """Refuse before the work what the method cannot do after it."""
        from pmae_core.imputers import imputer_info

        if self.imputations and not imputer_info(name).draws_samples:
            raise ImputationError(f"{name} gives only one imputation. Leave out --imputations.")
        if self.save_model and not hasattr(imputer, "save"):
            raise ImputationError(f"{name} has no model to save. Leave out --save-model.")


@with_option_groups
def impute(
    *,
    table: InputTable,
    outputs: ImputationOutputs,
    chosen: MethodOptions,
    model: Annotated[
        Path | None, typer.Option(help="Use a model that --save-model saved; nothing is trained.")
    ] = None,
    seed: Seed = 0,
    reading: InputOptions,
) -> None:
    """Impute the missing cells of a table."""
    from pmae_core.imputers import load_imputer

    settings = given(schema=reading.roles() or None) | chosen.settings()
    rules = reading.rules()
    if model and (chosen.method or settings or rules or outputs.save_model):
        raise typer.BadParameter(
            "A saved model already has its method and settings. Leave out all others.",
            param_hint="--model",
        )
    outputs.check()
    frame = reading.read(table)
    with (
        interruptible() as stop,
        progress_bar("Fitting", stop, is_shown=not outputs.quiet) as show,
        explained(settings),
    ):
        if model:
            imputer = load_imputer(model)
        else:
            schema = given(schema=reading.schema_for(frame))
            imputer = _make(chosen.name, {"random_state": seed, **settings, **schema}, outputs)
            imputer.fit(frame, callbacks=(show,), cancel=stop)
        imputed = imputer.transform(frame)
        n = outputs.imputations
        imputations = (
            imputer.sample(frame, n, random_state=seed, callbacks=(show,), cancel=stop) if n else []
        )
        if stop():
            raise Cancelled("Imputation was stopped.")

    if outputs.save_model:
        imputer.save(outputs.save_model)
    if outputs.imputations_out:
        recipe = _recipe(imputer, table, model, seed, outputs, reading)
        _write_in_one_file(outputs.imputations_out, frame, imputations, recipe, outputs.quiet)
        imputations = []
    _write(frame, imputed, imputations, outputs)


def _code_path(imputations: Path) -> Path:
    """Return where the code goes that reads a file of imputations."""
    from pmae_core.export import CODE_ENDINGS, imputation_format

    return imputations.with_suffix(CODE_ENDINGS[imputation_format(imputations)])


def _make(name: str, settings: Mapping[str, Any], outputs: ImputationOutputs) -> BaseImputer:
    from pmae_core.imputers import PMAEImputer, make_imputer

    imputer = make_imputer(name, **settings)
    if isinstance(imputer, PMAEImputer):
        _check_network(imputer, settings.get("network_params", {}))
    outputs.check_abilities(name, imputer)
    return imputer


def _check_network(imputer: PMAEImputer, network_params: Mapping[str, Any]) -> None:
    """Refuse settings of a network that is left out."""
    from pmae_core.imputers.parameters import check_parameters

    check_parameters(imputer)
    if network_params and "network" not in imputer.members_in_force():
        raise ImputationError(
            f"{_options(network_params)} would have no effect: these settings leave the network "
            "out. Use --preset balanced, or --method pmae-mix for the network alone."
        )


def _options(settings: Mapping[str, Any]) -> str:
    return listed([f"--{name}" for name in settings])


def _recipe(
    imputer: BaseImputer,
    table: Path,
    model: Path | None,
    seed: int,
    outputs: ImputationOutputs,
    reading: InputOptions,
) -> Recipe:
    from pmae_core.export import Recipe
    from pmae_core.imputers.registry import registered_as

    method, params = registered_as(imputer)
    trained_with = imputer.random_state if model else None
    return Recipe(
        table=table.name,
        method=method,
        params=params,
        sentinels=tuple(reading.sentinel or ()),
        roles=reading.roles(),
        rules=reading.rules(),
        seed=seed,
        model=model.name if model else None,
        model_seed=trained_with if isinstance(trained_with, int) else None,
        n_imputations=outputs.imputations,
        output=outputs.output.name,
    )


def _write_in_one_file(
    path: Path,
    frame: pd.DataFrame,
    imputations: Sequence[pd.DataFrame],
    recipe: Recipe,
    quiet: bool,
) -> None:
    from pmae_core.export import write_imputations
    from pmae_core.imputers import list_imputers
    from pmae_core.storage.files import write_whole
    from pmae_core.table import Schema

    infos = {info.name: info for info in list_imputers()}
    reading = write_imputations(
        path,
        frame,
        imputations,
        schema=Schema.infer(frame, recipe.roles, recipe.rules),
        recipe=recipe,
        is_proper=infos[recipe.method].is_proper,
    )
    code_path = _code_path(path)
    write_whole(code_path, reading.code)
    if quiet:
        return
    say(f"Wrote {count(len(imputations), 'imputation')} to {path}; {code_path} reads them.")
    if reading.renamed:
        pairs = [f"{name} as {new}" for name, new in reading.renamed.items()]
        say(f"Some columns have other names there: {listed(pairs)}.")


def _write(
    frame: pd.DataFrame,
    imputed: pd.DataFrame,
    imputations: Sequence[pd.DataFrame],
    outputs: ImputationOutputs,
) -> None:
    was_imputed = frame.isna() & imputed.notna()
    several = zip(imputations, outputs.imputation_paths(), strict=True)
    write_tables(
        [(imputed, outputs.output), *several, (was_imputed, outputs.mask_out)],
        keep_formulas=outputs.keep_formulas,
    )
    if not outputs.quiet:
        n_missing, n_imputed = int(frame.isna().sum().sum()), int(was_imputed.sum().sum())
        say(
            f"Imputed {count(n_imputed)} of {count(n_missing, 'missing cell')} in "
            f"{count(int(was_imputed.any().sum()), 'column')}; wrote {outputs.output}."
        )


@contextmanager
def explained(settings: Mapping[str, Any]) -> Iterator[None]:
    """Say in a sentence what Python and scikit-learn raise when settings are unusable."""
    try:
        yield
    except PMAEError:
        raise
    except (ValueError, TypeError) as error:
        named = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        given = f" with {named}" if named else ""
        raise ImputationError(f"The method cannot impute this table{given}: {error}") from error
