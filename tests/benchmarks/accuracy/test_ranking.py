import json

import numpy as np
import pandas as pd
import pytest

from benchmarks.accuracy import ranking
from benchmarks.recording import RESULTS

RECORDED = json.loads((RESULTS / "ranking.json").read_text())


@pytest.mark.parametrize("row", [row for row in RECORDED["equal"] if row["methods"] >= 8])
def test_recorded_equal_methods_are_told_apart_in_at_most_seven_of_a_hundred(row):
    assert row["moderated"] <= 0.07 < row["uncorrected"]


def test_recorded_power_is_above_that_of_separate_tests():
    for row in RECORDED["one_better"]:
        assert row["moderated"] > row["bonferroni"] - 0.001


@pytest.mark.parametrize("rule", ranking.RULES.values(), ids=ranking.RULES)
def test_every_rule_sees_a_large_gap_and_no_gap(rule):
    noise = 0.01 * np.random.default_rng(0).normal(size=(5, 3))
    scores = pd.DataFrame(noise, columns=list("abc"))
    assert rule("a", scores.assign(a=scores["a"] + 9.0)) == {"b", "c"}
    assert rule("a", pd.DataFrame({name: scores["a"] for name in "abc"})) == set()


def test_a_quick_run_writes_its_command(monkeypatch):
    written = {}
    monkeypatch.setattr(ranking, "write_result", lambda name, result: written.update(result))
    monkeypatch.setattr(ranking, "SIZES", ((2, 3),))
    assert ranking.main(["--replications", "3"]) == 0
    assert written["command"].endswith("benchmarks.accuracy.ranking --replications 3 --seed 0")
    assert len(written["equal"]) == len(ranking.KINDS)
    assert len(written["one_better"]) == len(ranking.GAPS)
