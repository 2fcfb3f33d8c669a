import subprocess
import sys

from tests.support.paths import ROOT


def test_the_labs_bring_no_heavy_library():
    code = (
        "import sys, dashboard.amputation.caches, dashboard.widgets.focus\n"
        "import dashboard.figures.masking, dashboard.figures.amputation\n"
        "print(*({'torch', 'sklearn', 'matplotlib'} & set(sys.modules)))"
    )

    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )

    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []
