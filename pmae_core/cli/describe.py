"""``pmae describe``: the columns of a table, and what is missing from it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pmae_core.cli.groups import InputOptions, with_option_groups
from pmae_core.cli.options import AsJson, InputTable, with_examples
from pmae_core.cli.terminal import note, print_json, print_table, print_text
from pmae_core.words import count, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pmae_core.missingness import MissingnessSummary
    from pmae_core.table import Schema, SentinelSuggestion

HELP = with_examples(
    "Describe the columns of a table and what is missing from it.",
    "pmae describe survey.csv",
    "pmae describe survey.xlsx --sentinel -999 --sentinel ? --json",
)


@with_option_groups
def describe(table: InputTable, reading: InputOptions, as_json: AsJson = False) -> None:
    """Describe the columns of a table and what is missing from it."""
    from pmae_core.missingness import summarize_missingness
    from pmae_core.table import suggest_sentinels

    frame, schema = reading.read_with_schema(table)
    summary = summarize_missingness(frame)
    suggestions = suggest_sentinels(frame)
    if as_json:
        findings = {"rule_findings": schema.rule_findings(frame)}
        print_json(_as_data(schema, summary, suggestions) | findings)
        return
    _print_columns(schema)
    print_text(summary.sentence())
    for sentence in schema.rule_findings(frame):
        note(sentence)
    for hint in suggestions:
        where = f"in {hint.column} ({count(hint.count, 'time')})"
        note(f"{hint.value!r} {where} may mean missing. {hint.reason}")


def _as_data(
    schema: Schema, summary: MissingnessSummary, suggestions: Sequence[SentinelSuggestion]
) -> dict[str, Any]:
    columns = [
        {**column.to_dict(), "name": str(column.name), "p_obs": float(p_obs)}
        for column, p_obs in zip(schema.columns, summary.per_column["p_obs"], strict=True)
    ]
    return {
        "sentence": summary.sentence(),
        "columns": columns,
        "missingness": summary.to_dict(),
        "sentinel_suggestions": [asdict(hint) for hint in suggestions],
    }


def _print_columns(schema: Schema) -> None:
    rows = [
        (
            str(column.name),
            column.role.value,
            count(column.n_rows - column.n_observed),
            percent(column.n_observed / column.n_rows),
            count(column.n_unique),
            ", ".join(flag.value for flag in column.flags),
        )
        for column in schema.columns
    ]
    headers = ["Column", "Role", "Missing", "Observed", "Distinct values", "Remarks"]
    print_table(headers, rows, figures={2, 3, 4})
