import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.compare.results import ComparisonResults
from dashboard.compare.words import (
    cells_sentence,
    columns_sentence,
    conclusion_sentence,
    downstream_sentence,
    intervals_caption,
    verdict,
    winners_table,
)
from pmae_core.evaluation import Comparison, TaskResult
from pmae_core.inference.stability import NOT_PROPER
from tests.support.comparisons import comparison_of_skills as comparison

TITLES = {"em": "EM", "pmae": "PMAE"}


def said(whole):
    return verdict(ComparisonResults(whole, whole, {}), TITLES)


TIED = {"em": (0.5, 0.6, -0.3), "pmae": (0.51, 0.6, -0.3), "naive": (0, 0, 0)}


def test_the_verdict_recommends_the_quick_one_of_tied_methods():
    sentence = said(comparison(TIED, seconds={"em": 0.2, "pmae": 80.0}))

    assert sentence == (
        "**Use EM**: tied with PMAE, 0.2 s against 1 min 20 s; worse than the mode in `language`."
    )


def test_the_best_mean_is_recommended_where_time_hardly_differs():
    assert "**Use PMAE**: tied with EM; worse" in said(comparison(TIED))


def test_one_method_ahead_of_all_others():
    clear = {"em": (0.9, 0.9, 0.9), "knn": (0.3, 0.3, 0.3), "naive": (0, 0, 0)}

    assert said(comparison(clear)) == (
        "**Use EM**: best on held-out cells (skill 0.90), no other is tied."
    )


def test_nobody_is_told_to_use_the_mean():
    useless = {"em": (0.001, 0.0, 0.0), "naive": (0, 0, 0)}
    assert "No method is clearly better than imputing the mean or mode" in said(comparison(useless))
    worse = {"em": (-0.9, -0.9, -0.9), "naive": (0, 0, 0)}
    assert "No method is better than imputing the mean or mode" in said(comparison(worse))


def test_without_others_there_is_nothing_to_compare():
    assert "**EM** is the only method with a result" in said(comparison({"em": (1, 1, 1)}))
    failed = Comparison(
        tasks=[TaskResult(method="em", seed=0, status="failed")],
        settings={"methods": ["em"], "seeds": [0], "holdout": "like-mine"},
    )
    assert said(failed) == "No method gave a result."


@pytest.mark.parametrize(
    ("pending", "beginning"), [({("em", 2): "waiting"}, "So far, after"), ({}, "Stopped after")]
)
def test_a_provisional_verdict_says_so_and_claims_no_ties(pending, beginning):
    # Two seeds alone are called tied: 0.74, 0.40 and 0 are not the last word.
    skills = {"em": (0.74, 0.2, 0.74), "knn": (0.4, 0.6, 0.4), "naive": (0, 0, 0)}
    ranked = comparison(skills, n_seeds=2)
    whole = Comparison(tasks=ranked.tasks, settings={**ranked.settings, "seeds": [0, 1, 2]})

    sentence = verdict(ComparisonResults(whole, ranked, pending), TITLES)

    assert sentence.startswith(f"{beginning} 2 of 3 seeds: **EM** leads with a skill of 0.5")
    assert "tied" not in sentence and "Use" not in sentence


def test_thin_evidence_is_named():
    assert "With 2 seeds, ties are judged" in said(comparison(TIED, n_seeds=2))
    assert "hold out the same cells" in said(comparison(TIED, holdout="known-truth"))


def test_columns_in_which_a_method_is_worse_on_every_seed():
    numbers = comparison({"em": (0.9, -0.3, 0.9), "naive": (0, 0, 0)})
    assert "worse than the mean in `y`" in said(numbers)


def winners():
    rows = {"best": ["em", None], "tied": [["knn"], []], "skill": [0.5, 0.0]}
    return pd.DataFrame(rows, index=["x", "a*b"], dtype=object)


def test_columns_in_which_nothing_beats_the_mean():
    beats = "**No method is shown to beat the mean or mode**"
    assert f"{beats} in `a*b`" in columns_sentence(winners())
    assert f"{beats} in any column" in columns_sentence(winners().loc[["a*b"]])
    assert "In every column" in columns_sentence(winners().loc[["x"]])


def test_winners_are_called_by_their_titles():
    table = winners_table(winners(), TITLES)

    assert table["best"].tolist() == ["EM", "No method is shown to beat the mean"]
    assert table["tied"].tolist() == ["knn", ""]


def test_imputations_that_vary_too_little_are_named():
    cells = pd.DataFrame({"truth": [1.0, 2.0, 3.0], "imputed": [1.9, 2.0, 2.1]})
    said = cells_sentence(cells, "x", "EM", categories=False, about_imputations="They spread.")
    assert "10% as much" in said and said.endswith("real values do. They spread.")
    same = cells.assign(imputed=cells["truth"])
    assert "about as much" in cells_sentence(same, "x", "EM", categories=False)
    labels = pd.DataFrame({"truth": ["a", "b"], "imputed": ["a", "a"]})
    assert "50% of these `x` cells" in cells_sentence(labels, "x", "EM", categories=True)
    assert "No cell of `x` was held out" in cells_sentence(cells[:0], "x", "EM", categories=False)


def conclusion(*methods, estimand="slope of y on x"):
    rows = [("complete cases", "complete cases", 1.0, 0.5, 1.5), *methods]
    frame = pd.DataFrame(rows, columns=["method", "kind", "estimate", "low", "high"])
    return frame.assign(estimand=estimand, status="done")


def test_a_conclusion_holds_or_does_not():
    stable = conclusion(("em", "pooled", 1.1, 0.6, 1.6), ("knn", "single", 0.9, 0.4, 1.4))
    sentence = conclusion_sentence(stable)
    assert sentence.startswith("Slope of y on x: **the method hardly changes this result.**")
    assert "missing at random (MAR)" in sentence
    care = "**The method changes this result: report it with care.**"
    broken = conclusion(("em", "pooled", 1.1, 0.6, 1.6), ("knn", "single", 0.1, -0.4, 0.6))
    assert care in conclusion_sentence(broken)
    apart = conclusion(("em", "pooled", 2.1, 1.6, 2.6), ("naive", "single", 1.0, 0.9, 1.1))
    assert care in conclusion_sentence(apart)
    assert "those of naive and em lie outside each other's" in conclusion_sentence(apart)
    assert "no method gave an estimate" in conclusion_sentence(conclusion())
    assert "1.1 with em, the only method so far" in conclusion_sentence(stable[:2])


def test_methods_are_judged_by_the_truth_where_it_is_known():
    truth = ("true data", "reference", 2.0, 1.5, 2.5)
    near = conclusion(("em", "pooled", 2.1, 1.6, 2.6), truth)
    assert "every method agrees with the true data" in conclusion_sentence(near)
    far = conclusion(("em", "pooled", 2.1, 1.6, 2.6), ("naive", "single", 1.0, 0.6, 1.4), truth)
    assert "those of naive lie outside the interval of the true data" in conclusion_sentence(far)


def test_intervals_that_are_too_narrow_are_named():
    rows = conclusion(("em", "pooled", 1.1, 0.6, 1.6)).assign(note="")
    assert intervals_caption(rows) == "Lines are 95% intervals."
    more = conclusion(("knn", "single", 1, 0, 2), ("miwae", "pooled", 1, 0, 2))
    caption = intervals_caption(more.assign(note=["", "", NOT_PROPER]))
    assert "too narrow for hollow dots" in caption and "miwae (one fitted model)" in caption


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
    assert "Predictions of `y` are best with a" in downstream_sentence(
        scores([0.9, 0.9], [0.1, 0.1]), "y"
    )
