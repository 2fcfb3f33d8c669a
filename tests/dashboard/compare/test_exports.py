from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from dashboard.compare.exports import everything_json, report_html, spreadsheet_csv
from pmae_core.evaluation import Comparison, TaskResult
from pmae_core.jobs import JobState
from pmae_core.jobs.worker.consequences import Consequences

SETTINGS = {
    "methods": ["em"],
    "seeds": [0],
    "holdout": "like-mine",
    "n_rows": 9,
    "n_columns": 2,
    "n_missing": 3,
}
WHOLE = Comparison(
    tasks=[TaskResult(method="em", seed=0, status="failed", error="It <broke>.")],
    settings=SETTINGS,
)
FOUND = Consequences(
    conclusions=pd.DataFrame(
        {
            "estimand": ["mean of y"],
            "method": ["em"],
            "kind": ["pooled"],
            "status": ["done"],
            "estimate": [1.5],
            "low": [1.0],
            "high": [2.0],
            "note": ["pooled over 2 draws"],
        }
    )
)


def test_a_name_that_a_spreadsheet_would_run_is_escaped():
    csv = spreadsheet_csv(pd.DataFrame({"column": ["=1+1"], "skill": [-0.5]})).decode()
    assert csv.splitlines() == ["column,skill", "'=1+1,-0.5"]


def test_everything_is_in_the_json_and_can_be_read_again():
    text = everything_json(WHOLE, FOUND).decode()
    assert Comparison.from_json(text).tasks == WHOLE.tasks
    assert '"mean of y"' in text


def test_a_report_of_what_is_known_by_now(tmp_path):
    record = SimpleNamespace(folder=tmp_path, state=JobState.RUNNING, name="Mine & yours")
    report = report_html(record, WHOLE, FOUND).decode()
    assert "Mine &amp; yours" in report and "It &lt;broke&gt;." in report
    assert "mean of y" in report and "<svg" in report


def test_the_report_of_the_finished_job_is_taken(tmp_path):
    (tmp_path / "result").mkdir()
    (tmp_path / "result" / "report.html").write_bytes(b"the report")
    record = SimpleNamespace(folder=tmp_path, state=JobState.SUCCEEDED, name=None)
    assert report_html(record, WHOLE, FOUND) == b"the report"


def test_a_report_of_conclusions_for_which_there_was_no_time():
    late = {"method": ["em"], "kind": ["method"], "status": ["failed"], "error": ["no time"]}
    found = Consequences(downstream=pd.DataFrame(late), conclusions=pd.DataFrame(late))
    record = SimpleNamespace(folder=Path("nowhere"), state=JobState.CANCELLED, name=None)
    assert report_html(record, WHOLE, found).decode().count("no time") == 2
