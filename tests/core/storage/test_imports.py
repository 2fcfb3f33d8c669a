"""Small modules of storage load neither pandas nor Arrow."""

import subprocess
import sys

from tests.support.paths import ROOT


def test_files_and_home_are_light():
    code = (
        "import sys\n"
        "import pmae_core.storage.digests, pmae_core.storage.files, pmae_core.storage.home\n"
        "print([name for name in ('numpy', 'pandas', 'pyarrow') if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
