import json
import subprocess
import sys

import numpy as np
import pytest

from dashboard.learn import LARGEST_SEED, LESSONS, masking, mechanisms, patterns, slopes, worlds
from dashboard.learn.exercises import EXERCISES
from tests.support.paths import ROOT

TYPICAL = 1.5  # standard deviations


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_has_all_its_words_and_an_exercise(lesson):
    assert lesson.name.isidentifier()
    assert lesson.question.endswith("?")
    assert len(lesson.answers) >= 3
    assert lesson.story
    assert lesson.points
    assert lesson.simplified
    assert 0 <= lesson.first_seed <= LARGEST_SEED
    assert lesson.name in EXERCISES


def test_lessons_have_names_of_their_own():
    assert len({lesson.name for lesson in LESSONS}) == len(LESSONS) == len(EXERCISES)


def typical(estimate, repetitions):
    return abs(estimate - np.mean(repetitions)) < TYPICAL * np.std(repetitions)


@pytest.mark.parametrize("mechanism", mechanisms.MECHANISM_WORDS)
def test_the_first_pressures_are_typical(mechanism):
    made = mechanisms.remove_pressures(mechanism, mechanisms.LESSON.first_seed)

    assert typical(made.observed_mean, made.repeated_means)


@pytest.mark.parametrize("strength", [1.0, 2.0, 3.0, 4.0, 5.0])
@pytest.mark.parametrize("cause", slopes.CAUSES)
def test_the_first_slopes_are_typical(cause, strength):
    made = slopes.drop_rows(cause, strength, slopes.LESSON.first_seed)

    assert typical(made.kept_line[0], made.repeated_slopes)


def test_the_first_pattern_is_typical():
    seed = patterns.LESSON.first_seed
    made = patterns.make_pattern(patterns.kind_of_seed(seed), seed)

    repeated = patterns.repeated_distances()[made.kind]
    assert typical(made.summary.distance_from_monotone, repeated)


@pytest.mark.parametrize("a", [a for a in masking.A_WORDS if a > 0])
def test_the_first_training_cases_are_typical(a):
    seed = masking.LESSON.first_seed
    cases = masking.training_cases(masking.make_trader(seed), a, seed)

    for kind, shares in masking.repeated_shares(a).items():
        assert typical(cases.with_all_visible(kind), shares)


def test_the_first_worlds_are_typical():
    pair = worlds.make_worlds(worlds.USUAL_SHIFT, worlds.LESSON.first_seed)
    imputed = worlds.diagnose(pair[0].incomplete).imputed_mean

    repeated = worlds.repeated_errors(worlds.USUAL_SHIFT)
    for world in pair:
        assert typical(imputed - world.true_mean, repeated[world.mechanism])


def test_the_lessons_bring_no_network_library():
    code = (
        "import sys, json, dashboard.learn\n"
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
