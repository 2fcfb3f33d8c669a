"""A file is read in a process of its own: the same table, and an end to what takes too much."""

import json
import os
import resource
import signal
import subprocess
import sys

import pandas as pd
import pytest

from pmae_core.errors import Cancelled, TableError, TableTooLargeError
from pmae_core.table.io.crossing import read_answer
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.reading import read_table_file
from pmae_core.table.io.reading_process import ProcessLimits, ReadingProcess
from pmae_core.table.io.writing import write_table
from tests.core.table.io.test_crossing import assert_same
from tests.support.paths import ROOT


@pytest.fixture
def large(tmp_path):
    """Return a file that takes a moment and some memory to read."""
    path = tmp_path / "large.csv"
    path.write_bytes(b"a,b\n" + b"some text,other text\n" * 1_000_000)
    return path


def test_the_table_is_that_of_reading_directly(tmp_path):
    path = tmp_path / "upload"
    frame = pd.DataFrame(
        {
            "whole": [1, None, 3],
            "decimal": [0.1, 1e-300, None],
            "text": ["é", "", None],
            "day": pd.to_datetime(["2024-02-29", None, "1999-12-31"]),
            "yes": [True, None, False],
        }
    ).convert_dtypes()
    with path.open("wb") as file:
        write_table(frame, file, format="excel")
    options = {"name": "book.xlsx", "sheet": 0, "header": True}

    table = ReadingProcess(path, **options).result()

    assert_same(table, read_table_file(path, **options))


def test_errors_and_limits_cross(tmp_path):
    path = tmp_path / "upload"
    path.write_bytes(b"a,b\n1,2\n3,4\n")
    reading = ReadingProcess(path, name="t.csv", limits=ReadingLimits(max_rows=1))
    with pytest.raises(TableTooLargeError, match=r"'t\.csv' has at least 2 rows") as found:
        reading.result()
    assert found.value.code == "max_rows"


def test_what_takes_too_long_ends(large):
    reading = ReadingProcess(large, name="t.csv", process_limits=ProcessLimits(seconds=0.001))
    with pytest.raises(TableTooLargeError, match=r"'t\.csv' needs more than .* to read") as found:
        reading.result()
    assert found.value.code == "seconds"


def test_what_takes_too_much_memory_ends(large):
    limits = ProcessLimits(memory_bytes=2_000_000)
    reading = ReadingProcess(large, name="t.csv", process_limits=limits)
    with pytest.raises(TableTooLargeError, match=r"needs more than 2\.0 MB of memory") as found:
        reading.result()
    assert found.value.code == "memory"


def test_a_reading_can_be_cancelled(large):
    reading = ReadingProcess(large, name="t.csv")
    assert not reading.wait(0)
    reading.cancel()
    assert reading.wait(0)
    with pytest.raises(Cancelled, match="was cancelled"):
        reading.result()


def test_a_crash_is_said(large):
    reading = ReadingProcess(large, name="t.csv")
    os.kill(reading._process.pid, signal.SIGSEGV)
    with pytest.raises(TableError, match=r"ended unexpectedly \(SIGSEGV\)"):
        reading.result()


def test_a_mistake_of_the_program_is_no_fault_of_the_file(large):
    with pytest.raises(RuntimeError, match="unexpected keyword argument 'nonsense'"):
        ReadingProcess(large, name="t.csv", nonsense=1).result()


def test_a_full_disk_is_said(tmp_path):
    path = tmp_path / "upload.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 10_000)
    with path.open("rb") as file, (tmp_path / "answer").open("w+b") as answer:
        request = {
            "descriptor": file.fileno(),
            "options": {"name": "t.csv"},
            "limits": {},
            "seconds": 0,
            "memory_bytes": 0,
        }
        subprocess.run(
            [sys.executable, "-m", "pmae_core.table.io.reading_child"],
            input=json.dumps(request).encode(),
            stdout=answer,
            cwd=ROOT,
            pass_fds=[file.fileno()],
            # A file that may not grow is as good as a disk without room.
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
            check=True,
        )
        answer.seek(0)
        with pytest.raises(TableError, match=r"Reading 't\.csv' failed: File too large\. Check"):
            read_answer(answer)


def test_a_file_that_is_gone(tmp_path):
    with pytest.raises(TableError, match=r"'t\.csv' cannot be opened: No such file"):
        ReadingProcess(tmp_path / "gone", name="t.csv")


def test_the_process_loads_little():
    code = (
        "import sys, pmae_core.table.io.reading_child\n"
        "print(*{'torch', 'sklearn', 'statsmodels', 'matplotlib', 'streamlit', 'pydantic'}"
        " & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
