"""A comparison as files: for spreadsheets, for programs, for readers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from dashboard.compare.results import ComparisonResults
from dashboard.compare.tables import as_complete
from dashboard.text import file_stem
from pmae_core.evaluation import Comparison
from pmae_core.evaluation.report import comparison_report
from pmae_core.jobs import JobRecord, JobState
from pmae_core.jobs.worker.consequences import Consequences
from pmae_core.storage.checksums import checked
from pmae_core.table.io.formulas import escape_formulas


@dataclass(frozen=True)
class ComparisonFile:
    """A file to download, whose content is made when it is asked for."""

    label: str
    name: str
    mime: str
    explanation: str
    content: Callable[[], bytes]


def export_files(
    record: JobRecord, results: ComparisonResults, consequences: Consequences
) -> list[ComparisonFile]:
    """Return the files of a comparison; pending runs are in them as not run."""
    whole = as_complete(results.comparison, results.pending)
    stem = file_stem(record.name or "", "comparison")
    return [
        ComparisonFile(
            "Report",
            f"{stem}.html",
            "text/html",
            "One HTML file with all figures; it needs no network.",
            lambda: report_html(record, whole, consequences),
        ),
        ComparisonFile(
            "Results as CSV",
            f"{stem}-results.csv",
            "text/csv",
            "One row per method and seed.",
            lambda: spreadsheet_csv(whole.table),
        ),
        ComparisonFile(
            "Columns as CSV",
            f"{stem}-columns.csv",
            "text/csv",
            "One row per method, seed and column.",
            lambda: spreadsheet_csv(whole.per_column),
        ),
        ComparisonFile(
            "Everything as JSON",
            f"{stem}.json",
            "application/json",
            "Settings, results, held-out cells with their imputations, and conclusions.",
            lambda: everything_json(whole, consequences),
        ),
    ]


def spreadsheet_csv(frame: pd.DataFrame) -> bytes:
    """Return a table as CSV in which no name of a column is run as a formula."""
    return escape_formulas(frame).to_csv(index=False).encode()


def everything_json(comparison: Comparison, consequences: Consequences) -> bytes:
    """Return the comparison as JSON that ``Comparison.from_json`` reads, with its conclusions."""
    content = {**json.loads(comparison.to_json()), **consequences.to_dict()}
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False).encode()


def report_html(record: JobRecord, comparison: Comparison, consequences: Consequences) -> bytes:
    """Return the report of the finished run, or one of the results so far."""
    final = record.folder / "result" / "report.html"
    if record.state is JobState.SUCCEEDED and final.exists():
        return checked(final).read_bytes()
    return comparison_report(
        comparison,
        record.name or "Comparison of methods",
        downstream=consequences.downstream,
        conclusions=consequences.conclusions,
    ).encode()
