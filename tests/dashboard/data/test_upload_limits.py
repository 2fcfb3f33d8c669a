"""What an upload may take is the administrator's choice."""

import pytest

from dashboard.data import upload_limits
from pmae_core.errors import TableError
from pmae_core.table.io.limits import DEFAULT_LIMITS
from pmae_core.table.io.reading_process import DEFAULT_PROCESS_LIMITS, ProcessLimits

VARIABLES = ("PMAE_UPLOAD_SECONDS", "PMAE_UPLOAD_MEMORY_GB", "PMAE_UPLOAD_COLUMNS")


def test_without_variables_the_limits_of_the_library_apply(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert upload_limits.table_limits() == DEFAULT_LIMITS
    assert upload_limits.process_limits() == DEFAULT_PROCESS_LIMITS


def test_variables_change_them_and_zero_lifts_them(monkeypatch):
    monkeypatch.setenv("PMAE_UPLOAD_SECONDS", "2.5")
    monkeypatch.setenv("PMAE_UPLOAD_MEMORY_GB", "0.5")
    monkeypatch.setenv("PMAE_UPLOAD_COLUMNS", "500")
    assert upload_limits.process_limits() == ProcessLimits(2.5, 500_000_000)
    assert upload_limits.table_limits().max_columns == 500
    for name in VARIABLES:
        monkeypatch.setenv(name, "0")
    assert upload_limits.process_limits() == ProcessLimits(0, 0)
    assert upload_limits.table_limits().max_columns > 1e9


def test_what_is_no_number_is_said(monkeypatch):
    monkeypatch.setenv("PMAE_UPLOAD_SECONDS", "long")
    with pytest.raises(TableError, match="Set it to a number of seconds, or to 0 for no limit"):
        upload_limits.process_limits()
