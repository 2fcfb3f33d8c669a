"""The library can be imported where the modules of POSIX systems are missing."""

import subprocess
import sys

from tests.support.paths import ROOT

BLOCKED = ("fcntl", "pwd", "grp", "resource", "termios")
PACKAGES = (
    "pmae_core",
    "pmae_core.table",
    "pmae_core.missingness",
    "pmae_core.amputation",
    "pmae_core.masking",
    "pmae_core.model",
    "pmae_core.training",
    "pmae_core.imputers",
    "pmae_core.evaluation",
    "pmae_core.inference",
    "pmae_core.replication",
    "pmae_core.explain",
    "pmae_core.export",
    "pmae_core.storage.tables",
    "pmae_core.storage.files",
    "pmae_core.jobs",
    "pmae_core.jobs.engines",
    "pmae_core.jobs.worker.run",
    "pmae_core.jobs.worker.process",
    "pmae_core.cli.app",
)


def run_without_posix(code, *arguments):
    """Run Python without the modules and functions that only POSIX systems have."""
    block = (
        "import importlib, os, sys\n"
        "import psutil\n"  # it exists for every system, but on this one it needs resource
        f"for name in {BLOCKED!r}:\n"
        "    sys.modules[name] = None\n"
        "for name in ('killpg', 'getpgid', 'getpgrp', 'setsid'):\n"
        "    delattr(os, name)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", block + code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_import_needs_no_posix_module():
    run = run_without_posix("list(map(importlib.import_module, sys.argv[1:]))", *PACKAGES)
    assert run.returncode == 0, run.stderr


def test_a_table_is_imputed_without_posix_modules():
    code = (
        "import pandas as pd\n"
        "from pmae_core.imputers import make_imputer\n"
        "table = pd.DataFrame({'a': [1.0, None, 3.0], 'b': [2.0, 4.0, 6.0]})\n"
        "print(make_imputer('naive').fit_transform(table)['a'].isna().sum())"
    )
    run = run_without_posix(code)
    assert (run.returncode, run.stdout.strip()) == (0, "0"), run.stderr


def test_background_jobs_are_refused_with_a_sentence(tmp_path):
    code = (
        "from pmae_core.errors import JobError\n"
        "from pmae_core.jobs import JobStore\n"
        "from pmae_core.jobs.engines import make_engine\n"
        "try:\n"
        "    make_engine(JobStore(sys.argv[1]), 'local')\n"
        "except JobError as error:\n"
        "    print(error.code, error)"
    )
    run = run_without_posix(code, str(tmp_path))
    assert run.stdout.startswith("posix Background jobs need a POSIX system"), run.stderr
