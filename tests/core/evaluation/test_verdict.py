"""Which method to use, in plain text; the Compare page writes the same with its own signs."""

import pandas as pd

from pmae_core.evaluation.verdict import Writing, recommended, worse_columns
from tests.support.comparisons import comparison, comparison_of_skills, failed

TIED = {"em": (0.5, 0.6, -0.3), "pmae": (0.51, 0.6, -0.3), "naive": (0, 0, 0)}


def ranking(*methods):
    """Return a ranking of (method, rank, seconds), best first."""
    rows = [(name, rank, seconds) for name, rank, seconds in methods]
    return pd.DataFrame(rows, columns=["method", "rank", "seconds"])


def test_the_verdict_is_plain_text():
    found = comparison_of_skills(TIED, seconds={"em": 0.2, "pmae": 80.0})

    assert found.verdict() == (
        "Use em: tied with pmae, 0.2 s against 1 min 20 s; worse than the mode in language."
    )


def test_names_and_important_words_are_written_as_asked():
    writing = Writing(method=str.upper, column="<{}>".format, strong="!{}!".format)

    said = comparison_of_skills(TIED).verdict(writing)

    assert said == "!Use PMAE!: tied with EM; worse than the mode in <language>."


def test_what_ties_are_based_on_is_told_with_the_method():
    said = comparison_of_skills(TIED, n_seeds=2).verdict()

    assert said.startswith("No method is clearly better than imputing the mean or mode")
    assert "With 2 seeds, ties are judged by how methods differ between columns" in said


def test_without_a_result_or_a_rival_there_is_no_recommendation():
    alone = comparison_of_skills({"em": (1, 1, 1)}, n_seeds=1)

    assert comparison([failed("em", 0)]).verdict() == "No method gave a result."
    assert alone.verdict() == (
        "em is the only method with a result, so there is nothing to compare it with."
    )


def test_of_tied_methods_a_much_quicker_one_is_recommended():
    quick = ranking(("a", 1, 1.5), ("b", 1, 1.0), ("c", 3, 0.1))
    assert recommended(quick).method == "a"
    assert recommended(ranking(("a", 1, 9.0), ("b", 1, 1.0))).tied == ("a",)


def test_of_quick_methods_the_best_is_recommended_not_the_quickest():
    first = ranking(("network", 1, 22.0), ("em", 1, 0.2), ("knn", 1, 0.1), ("naive", 4, 0.0))
    assert recommended(first).method == "em"
    assert recommended(first).tied == ("network", "knn")


def test_columns_in_which_a_method_is_worse_on_every_seed():
    found = comparison_of_skills({"em": (0.5, -0.01, -0.3), "naive": (0, 0, 0)})

    assert worse_columns(found.per_column, "em") == ["language"]
