"""A comparison as files: for spreadsheets, for programs, for readers."""

from __future__ import annotations

import json

import pandas as pd

from pmae_core.evaluation import Comparison
from pmae_core.evaluation.report import comparison_report
from pmae_core.export.formulas import escape_formulas
from pmae_core.jobs import JobRecord, JobState
from pmae_core.jobs.worker.consequences import Consequences


def spreadsheet_csv(frame: pd.DataFrame) -> bytes:
    """Return a table as CSV in which no name of a column is run as a formula."""
    return escape_formulas(frame).to_csv(index=False).encode()


def everything_json(comparison: Comparison, consequences: Consequences) -> bytes:
    """Return the comparison as JSON that ``Comparison.from_json`` reads, and what followed."""
    content = {**json.loads(comparison.to_json()), **consequences.to_dict()}
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False).encode()


def report_html(record: JobRecord, comparison: Comparison, consequences: Consequences) -> bytes:
    """Return the report: that of the finished job, or one of what is known by now."""
    final = record.folder / "result" / "report.html"
    if record.state is JobState.SUCCEEDED and final.exists():
        return final.read_bytes()
    return comparison_report(
        comparison,
        record.name or "Comparison of methods",
        downstream=consequences.downstream,
        conclusions=consequences.conclusions,
    ).encode()
