import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.compare.words import (
    cells_sentence,
    columns_sentence,
    conclusion_sentence,
    downstream_sentence,
    listing_of_seeds,
    verdict,
)
from pmae_core.evaluation import Comparison, TaskResult

TITLES = {"em": "EM"}


def board(*bands):
    return pd.DataFrame({"method": list("abcd")[: len(bands)], "rank": bands, "tie_group": bands})


def comparison(n_seeds=3, holdout="like-mine"):
    tasks = [TaskResult(method="a", seed=seed, status="done") for seed in range(n_seeds)]
    return Comparison(tasks=tasks, settings={"methods": ["a"], "seeds": [0], "holdout": holdout})


def test_the_verdict_tells_merit_from_chance():
    assert "**a** is best; no other method is tied" in verdict(board(1, 2), comparison(), TITLES)
    interval = "(95% interval of the difference includes 0)"
    tied = verdict(board(1, 1, 3), comparison(), TITLES)
    assert f"**b** is tied with it {interval}." in tied
    assert "**b** and **c** are tied with it" in verdict(board(1, 1, 1, 4), comparison(), TITLES)
    assert f"All 2 methods are **tied** {interval}" in verdict(board(1, 1), comparison(), TITLES)
    assert "only method" in verdict(board(1), comparison(), TITLES)
    assert "No method gave" in verdict(board(None), comparison(), TITLES)


def test_thin_evidence_is_named():
    assert "fewer than 3 seeds" in verdict(board(1, 2), comparison(2), TITLES)
    assert "the same cells" in verdict(board(1, 2), comparison(holdout="known-truth"), TITLES)


def test_columns_in_which_nothing_beats_the_mean():
    winners = pd.DataFrame({"best": ["em", None]}, index=["x", "a*b"], dtype=object)

    assert "**No method beats the mean** by more than chance in `a*b`" in columns_sentence(winners)
    assert "No method beats the mean here" in columns_sentence(winners.loc[["a*b"]])
    assert "In every column" in columns_sentence(winners.loc[["x"]])


def test_fillings_that_vary_too_little_are_named():
    cells = pd.DataFrame({"truth": [1.0, 2.0, 3.0], "imputed": [1.9, 2.0, 2.1]})
    said = cells_sentence(cells, "x", "EM", categories=False, about_imputations="They spread.")
    assert "10% as much" in said and said.endswith("real values do. They spread.")
    same = cells.assign(imputed=cells["truth"])
    assert "about as much" in cells_sentence(same, "x", "EM", categories=False)
    labels = pd.DataFrame({"truth": ["a", "b"], "imputed": ["a", "a"]})
    assert "50% of these cells" in cells_sentence(labels, "x", "EM", categories=True)
    assert "no hidden cell" in cells_sentence(cells[:0], "x", "EM", categories=False)


def conclusion(*methods, estimand="slope of y on x"):
    rows = [("complete cases", "complete cases", 1.0, 0.5, 1.5), *methods]
    frame = pd.DataFrame(rows, columns=["method", "kind", "estimate", "low", "high"])
    return frame.assign(estimand=estimand, status="done")


def test_a_conclusion_holds_or_does_not():
    stable = conclusion(("em", "pooled", 1.1, 0.6, 1.6), ("knn", "single", 0.9, 0.4, 1.4))
    assert "lead to the same conclusion" in conclusion_sentence(stable)
    assert "missing at random (MAR)" in conclusion_sentence(stable)
    broken = conclusion(("em", "pooled", 1.1, 0.6, 1.6), ("knn", "single", 0.1, -0.4, 0.6))
    assert "depends on the method" in conclusion_sentence(broken)
    apart = conclusion(("em", "pooled", 2.1, 1.6, 2.6), ("naive", "single", 1.0, 0.9, 1.1))
    assert "those of naive and em lie outside each other's" in conclusion_sentence(apart)
    assert "No method" in conclusion_sentence(conclusion())


def test_methods_are_judged_by_the_truth_where_it_is_known():
    truth = ("true data", "reference", 2.0, 1.5, 2.5)
    near = conclusion(("em", "pooled", 2.1, 1.6, 2.6), truth)
    assert "as the true data allow" in conclusion_sentence(near)
    far = conclusion(("em", "pooled", 2.1, 1.6, 2.6), ("naive", "single", 1.0, 0.6, 1.4), truth)
    assert "those of naive lie outside the interval of the true data" in conclusion_sentence(far)


@settings(deadline=None)
@given(st.floats(-100, 100), st.floats(0.1, 10))
def test_complete_cases_never_change_the_verdict(estimate, reach):
    methods = [("em", "pooled", 2.1, 1.6, 2.6), ("naive", "single", 1.0, 0.9, 1.1)]
    for chosen in (methods, methods[:1]):
        rows = conclusion(*chosen)
        moved = rows.copy()
        moved.loc[0, ["estimate", "low", "high"]] = [estimate, estimate - reach, estimate + reach]
        verdicts = {conclusion_sentence(table) for table in (rows, moved, rows.iloc[1:])}
        assert len(verdicts) == 1


def test_downstream_differences_beside_the_noise_of_splits():
    def scores(a, b):
        rows = [("a", "method", s, v) for s, v in enumerate(a)]
        rows += [("b", "method", s, v) for s, v in enumerate(b)]
        return pd.DataFrame(rows, columns=["method", "kind", "seed", "score"])

    assert "hardly matters" in downstream_sentence(scores([0.5, 0.7], [0.52, 0.69]), "y")
    assert "a predicts `y` best" in downstream_sentence(scores([0.9, 0.9], [0.1, 0.1]), "y")


def test_seeds_in_words():
    assert listing_of_seeds([0]) == "seed 0"
    assert listing_of_seeds([0, 1, 2]) == "seeds 0, 1 and 2"
