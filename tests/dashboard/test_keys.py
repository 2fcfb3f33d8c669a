"""Keys of visitors stay out of logs."""

import logging
import secrets

import pytest

from dashboard.keys import keep_keys_out_of_logs, without_keys


@pytest.fixture
def log(caplog):
    before = logging.getLogRecordFactory()
    keep_keys_out_of_logs()
    yield caplog
    logging.setLogRecordFactory(before)


def test_no_key_is_left_wherever_it_stands():
    for _ in range(1000):
        key = secrets.token_urlsafe(24)
        for text in ("/home/a/workspaces/{}/settings", "'{}'", "/?enter={}", "{}: gone", "{}"):
            assert without_keys(text.format(key)) == text.format("[key]")


@pytest.mark.parametrize(
    "text",
    [
        "0123456789abcdef" * 2,  # the id of a job or a workspace
        "0123456789abcdef" * 4,  # the digest of a table
        "test_a_name_of_thirty_two_signs_",
        "File '/srv/pmae_core/jobs/worker/process.py', line 12, in _wait_until_alone",
        "dashboard.state.table_history.TableHistory.recent_tables",
    ],
)
def test_what_is_no_key_stays(text):
    assert without_keys(text) == text


def test_no_logger_writes_a_key(log):
    key = secrets.token_urlsafe(24)
    logging.getLogger("any.library").warning("GET %s %d", f"/?w={key}", 200)
    try:
        raise OSError(28, "No space left on device", f"/home/workspaces/{key}/settings/a.json")
    except OSError:
        logging.getLogger("another").exception("It failed.")

    assert key not in log.text
    assert "GET /?w=[key] 200" in log.text
    assert "No space left on device: '/home/workspaces/[key]/settings/a.json'" in log.text
    assert "Traceback" in log.text
    for record in log.records:
        assert key not in repr(vars(record))


def test_other_records_are_left_as_they_are(log):
    logging.getLogger("any.library").warning("%s of %s", 1, 2)
    (record,) = log.records
    assert (record.msg, record.args) == ("%s of %s", (1, 2))
