"""``pmae ampute``: simulate missing values in a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pmae_core.cli.files import check_outputs, missing_cells, write_tables
from pmae_core.cli.groups import InputOptions, with_option_groups
from pmae_core.cli.options import (
    CouplingName,
    Force,
    InputTable,
    KeepFormulas,
    MechanismName,
    OutputTable,
    PatternName,
    Quiet,
    Seed,
    given,
    with_examples,
)
from pmae_core.cli.terminal import say
from pmae_core.words import count

if TYPE_CHECKING:
    import pandas as pd

    from pmae_core.amputation import Amputation

HELP = with_examples(
    "Simulate missing values in a table, with a known pattern and mechanism.",
    "pmae ampute complete.csv -o incomplete.csv --seed 1",
    "pmae ampute complete.csv -o incomplete.csv --pattern monotone --mechanism MAR",
    "pmae ampute complete.csv -o incomplete.csv --truth truth.csv --missing missing.csv",
    "pmae ampute complete.csv -o incomplete.csv --like survey.csv",
)


class ProcessOptions(NamedTuple):
    """Which cells become missing, and why."""

    pattern: Annotated[
        PatternName | None,
        typer.Option(help="Pattern of the missing cells; general by default."),
    ] = None
    mechanism: Annotated[
        MechanismName | None,
        typer.Option(help="What makes cells missing; MNAR by default."),
    ] = None
    coupling: Annotated[
        CouplingName | None,
        typer.Option(
            help="One random number per row (nested, as in the paper; the default) or per cell "
            "(independent, the only choice for self-masking)."
        ),
    ] = None
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A column that may lose cells; all by default."),
    ] = None
    column_share: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Share of columns that lose cells.")
    ] = None
    proportion: Annotated[
        float | None,
        typer.Option(
            min=0.0, max=1.0, help="Share of cells that stay observed, instead of the pattern's."
        ),
    ] = None

    def settings(self) -> dict[str, Any]:
        """Return the settings that the user gave."""
        return given(
            pattern=self.pattern,
            mechanism=self.mechanism,
            coupling=self.coupling,
            columns=self.column,
            column_share=self.column_share,
            proportions=self.proportion,
        )


class AmputationOutputs(NamedTuple):
    """What to write, and where."""

    output: OutputTable
    truth: Annotated[
        Path | None, typer.Option(help="Write the complete rows, without the dropped ones.")
    ] = None
    missing: Annotated[
        Path | None, typer.Option(help="Write a table that is true where a cell was removed.")
    ] = None
    settings: Annotated[
        Path | None, typer.Option(help="Write the settings as JSON, to repeat the simulation.")
    ] = None
    keep_formulas: KeepFormulas = False
    force: Force = False
    quiet: Quiet = False

    def check(self) -> None:
        """Refuse at once what could not be written later."""
        tables = [self.output, self.truth, self.missing]
        check_outputs(tables, others=[self.settings], force=self.force)

    def write(self, frame: pd.DataFrame, result: Amputation) -> None:
        """Write the result and say what was removed."""
        outputs = [
            (result.incomplete, self.output),
            (result.truth, self.truth),
            (result.missing, self.missing),
        ]
        numbered = ((_numbered_like(frame, cells), path) for cells, path in outputs)
        write_tables(numbered, keep_formulas=self.keep_formulas)
        if self.settings:
            text = json.dumps(result.settings, indent=2)
            self.settings.write_text(f"{text}\n", encoding="utf-8")
        if not self.quiet:
            n_removed, n_dropped = int(result.missing.sum().sum()), len(frame) - len(result.truth)
            say(
                f"Removed {count(n_removed)} of {count(result.truth.size, 'cell')} and dropped "
                f"{count(n_dropped, 'row')} without any observed cell; wrote {self.output}."
            )


@with_option_groups
def ampute(
    *,
    table: InputTable,
    outputs: AmputationOutputs,
    process: ProcessOptions,
    like: Annotated[
        Path | None,
        typer.Option(help="A table whose rows supply the missingness, instead of a pattern."),
    ] = None,
    seed: Seed = 0,
    reading: InputOptions,
) -> None:
    """Simulate missing values in a table."""
    from pmae_core.amputation import ampute as simulate
    from pmae_core.amputation import ampute_like

    settings = process.settings()
    if like and (settings or reading.role):
        raise typer.BadParameter(
            "The other table supplies the missingness. Leave out pattern, mechanism, coupling, "
            "columns, shares and roles.",
            param_hint="--like",
        )
    outputs.check()
    if like:
        frame = reading.read(table)
        result = ampute_like(frame, missing_cells(InputOptions().read(like)), seed=seed)
    else:
        frame, schema = reading.read_with_schema(table)
        result = simulate(frame, **settings, seed=seed, schema=schema)
    outputs.write(frame, result)


def _numbered_like(frame: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Renumber mere row numbers, of which dropped rows leave some out; a real index stays."""
    import pandas as pd

    return rows.reset_index(drop=True) if isinstance(frame.index, pd.RangeIndex) else rows
