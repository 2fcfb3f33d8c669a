import json
import subprocess
import sys

from dashboard.learn import LESSONS
from tests.support.paths import ROOT


def test_there_are_six_lessons_with_all_their_words():
    assert len(LESSONS) >= 6
    assert len({lesson.name for lesson in LESSONS}) == len(LESSONS)
    for lesson in LESSONS:
        assert lesson.name.isidentifier()
        assert lesson.question.endswith("?")
        assert len(lesson.answers) >= 3
        assert lesson.story
        assert lesson.points


def test_the_lessons_bring_no_network_library():
    code = (
        "import sys, json, dashboard.learn, dashboard.figures.lessons\n"
        "from dashboard.learn import masking, mechanisms, patterns, reasons, slopes, worlds\n"
        "mechanisms.remove_pressures('MAR', 0), slopes.drop_rows('age', 3.0, 0)\n"
        "patterns.make_pattern('general', 0)\n"
        "masking.training_cases(masking.make_trader(0), 0.05, 0)\n"
        "worlds.diagnose(worlds.make_worlds(1.5, 0)[0].incomplete)\n"
        "print(json.dumps(sorted({'torch', 'streamlit', 'timm'} & set(sys.modules))))"
    )

    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )

    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == []
