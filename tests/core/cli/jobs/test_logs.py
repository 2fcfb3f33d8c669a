"""``pmae jobs logs``."""

import json

from pmae_core.cli.jobs import logs
from pmae_core.jobs import JobState
from tests.support.inline_engine import InlineEngine
from tests.support.shell import run_jobs, submitted


def test_the_log_and_the_events_of_a_job(store, survey):
    job_id = submitted("impute", survey, "--method", "em", "--wait")
    (store.job(job_id).folder / "log.txt").write_bytes(b"One line.\n\xff\n")

    assert run_jobs("logs", job_id, "--follow").stdout.startswith("One line.\n")
    events = [json.loads(line) for line in run_jobs("logs", job_id, "--json").stdout.splitlines()]
    assert [event["data"]["state"] for event in events if event["kind"] == "state"] == [
        "queued",
        "running",
        "succeeded",
    ]


def test_a_log_sends_no_control_sequences_to_the_terminal(store, survey):
    job_id = submitted("impute", survey, "--method", "em")
    (store.job(job_id).folder / "log.txt").write_bytes(b"10%\r20%\r\n\x1b[2Jgone\n")

    assert run_jobs("logs", job_id).stdout == "10%\n20%\n\\x1b[2Jgone\n"


def test_following_a_log_ends_with_the_job(store, survey, monkeypatch):
    job_id = submitted("impute", survey, "--method", "em")
    _, token = InlineEngine(store).claim()
    log = store.job(job_id).folder / "log.txt"
    log.write_text("begin\n")

    def work_a_little(seconds):
        with log.open("a") as file:
            file.write("end\n")
        store.finish(job_id, token, JobState.FAILED, error="It broke.")

    monkeypatch.setattr(logs.time, "sleep", work_a_little)

    assert run_jobs("logs", job_id, "--follow").stdout == "begin\nend\n"
