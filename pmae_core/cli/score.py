"""``pmae score``: score an imputed table against the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pmae_core.cli.files import missing_cells
from pmae_core.cli.groups import InputOptions
from pmae_core.cli.options import (
    AsJson,
    ColumnLevels,
    Roles,
    read_roles,
    read_rules,
    with_examples,
    with_ordinal,
)
from pmae_core.cli.terminal import figure, note, print_json, print_table, say
from pmae_core.words import count

if TYPE_CHECKING:
    import pandas as pd

    from pmae_core.evaluation import ImputationScore

HELP = with_examples(
    "Score an imputed table against the truth.",
    "pmae score truth.csv imputed.csv --missing missing.csv",
    "pmae score truth.csv imputed.csv --missing incomplete.csv --json",
)
_METRIC_TITLES = {
    "imputation_accuracy": "Imputation accuracy",
    "r2": "R², negative as 0",
    "r2_unclipped": "R²",
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "rmse": "RMSE",
    "mae": "MAE",
    "wasserstein": "Wasserstein",
}
_COLUMN_METRICS = (
    "imputation_accuracy",
    "balanced_accuracy",
    "r2_unclipped",
    "rmse",
    "mae",
    "wasserstein",
)


def score(
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="The complete table.")],
    imputed: Annotated[Path, typer.Argument(metavar="IMPUTED", help="The imputed table.")],
    missing: Annotated[
        Path | None,
        typer.Option(
            help="Which cells to score: a table of true and false, or the incomplete table. "
            "Without it, all cells are scored."
        ),
    ] = None,
    role: Roles = None,
    levels: ColumnLevels = None,
    as_json: AsJson = False,
) -> None:
    """Score an imputed table against the truth."""
    from pmae_core.evaluation import score_imputation
    from pmae_core.table import Schema

    true_frame, imputed_frame = _read_rows(truth), _read_rows(imputed)
    if missing:
        cells = missing_cells(_read_rows(missing))
    else:
        cells = true_frame.notna()
        note("without --missing, all cells are scored, including those that were never missing.")
    rules = read_rules(levels=levels)
    schema = Schema.infer(true_frame, with_ordinal(read_roles(role), rules), rules)
    result = score_imputation(true_frame, imputed_frame, cells, schema)
    if as_json:
        print_json(result.to_dict())
    else:
        _print_score(result)


def _read_rows(path: Path) -> pd.DataFrame:
    """Read a table without an index: rows of files are matched by their position."""
    return InputOptions().read(path).reset_index(drop=True)


def _print_score(result: ImputationScore) -> None:
    overall = [(_METRIC_TITLES[name], figure(value)) for name, value in result.overall.items()]
    print_table(["Mean over columns", ""], overall, figures={1})
    rows = [
        (
            str(name),
            str(row["role"]),
            count(row["n_scored"]),
            *(figure(row[metric]) for metric in _COLUMN_METRICS),
        )
        for name, row in result.per_column.iterrows()
    ]
    headers = ["Column", "Role", "Cells", *(_METRIC_TITLES[name] for name in _COLUMN_METRICS)]
    print_table(headers, rows, figures=range(2, len(headers)))
    for name, reason in result.skipped.items():
        say(f"Not scored: {name}, {reason}.")
