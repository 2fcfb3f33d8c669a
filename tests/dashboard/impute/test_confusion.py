"""Which categories are confused on held-out cells."""

from types import SimpleNamespace

import pytest

from dashboard.impute import confusion
from pmae_core.colors import IMPUTED, MISSING, tint


def comparison(points, best="em"):
    """As much of a comparison as the confusion asks for; `points` by method, one task each."""
    tasks = [
        SimpleNamespace(method=method, points={"kind": {"truth": truth, "imputed": imputed}})
        for method, (truth, imputed) in points
    ]
    return SimpleNamespace(tasks=tasks, best_method=lambda: best)


def test_held_out_cells_are_counted_over_all_seeds():
    known = comparison([("em", ("aab", "aba")), ("em", ("ab", "ab")), ("knn", ("ab", "ba"))])

    found = confusion.confusion_of(known, "em", "kind")

    assert found.method == "em"
    assert found.counts.loc["a"].to_dict() == {"a": 2, "b": 1}
    assert found.counts.loc["b"].to_dict() == {"a": 1, "b": 1}
    assert found.sentence("EM") == (
        "EM imputed the true category in 60% of 5 held-out cells; always imputing the most "
        "frequent one gets 60%."
    )


def test_a_method_that_was_not_compared_is_judged_by_the_best():
    known = comparison([("em", ("ab", "aa")), ("knn", ("ab", "ab"))], best="knn")

    assert confusion.confusion_of(known, "pmae", "kind").method == "knn"
    assert confusion.confusion_of(known, "em", "kind").method == "em"


@pytest.mark.parametrize("column", ["kind", "other"])
def test_numbers_and_columns_that_were_not_held_out_have_none(column):
    known = comparison([("em", ([1.0, 2.0], [1.0, 2.0]))])

    assert confusion.confusion_of(known, "em", column) is None


def test_rare_categories_are_counted_together():
    labels = [f"c{number:02}" for number in range(30) for _ in range(30 - number)]
    known = comparison([("em", (labels, labels))])

    found = confusion.confusion_of(known, "em", "kind")

    assert found.counts.shape == (confusion.MOST_CATEGORIES, confusion.MOST_CATEGORIES)
    assert found.counts.index[-1] == confusion.OTHER
    assert found.n_cells == found.n_correct == len(labels)


def test_correct_cells_are_green_and_wrong_ones_orange():
    styler = confusion.marked(
        confusion.confusion_of(comparison([("em", ("aabb", "abbb"))]), "em", "kind")
    )
    styler._compute()

    colors = {place: dict(style)["background-color"] for place, style in styler.ctx.items()}
    order = list(styler.data.index)
    a, b = order.index("a"), order.index("b")
    assert colors[b, b] == tint(IMPUTED, 0.6)
    assert colors[a, a] == tint(IMPUTED, 0.3)
    assert colors[a, b] == tint(MISSING, 0.3)
