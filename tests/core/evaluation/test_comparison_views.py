"""What a notebook and a terminal show of a comparison."""

import numpy as np
import pytest

from pmae_core.evaluation import Comparison, TaskResult, compare
from tests.support.comparisons import comparison, comparison_of_skills, failed, task
from tests.support.html_page import assert_safe_in_a_notebook

pytestmark = pytest.mark.usefixtures("stubs")

NASTY = "<script>alert(1)</script>"
TIED = {"em": (0.5, 0.6, 0.3), "knn": (0.51, 0.6, 0.3), "naive": (0, 0, 0)}


@pytest.fixture(scope="module")
def compared(incomplete, stubs):
    return compare(incomplete, ["stub-mean", "stub-linear", "stub-broken"], seeds=[0, 1, 2])


def shown(found):
    return " ".join(assert_safe_in_a_notebook(found._repr_html_()).texts)


def line(found, beginning):
    (one,) = [row for row in repr(found).splitlines() if row.split()[:2] == beginning.split()]
    return one.split()


def test_a_notebook_shows_verdict_ranking_columns_and_failures(compared):
    text = shown(compared)

    for part in (
        "3 methods compared over 3 seeds",
        compared.verdict(),
        "stub-linear",
        "no method is shown to beat the mean",
        "0 of 3",
        "stub-broken: Seeds 0, 1 and 2: ",
    ):
        assert part in text
    assert "<svg" in compared._repr_html_()


def test_plain_text_says_the_same(compared):
    text = repr(compared)

    assert text.startswith("3 methods compared over 3 seeds. Use stub-linear")
    assert line(compared, "1 stub-linear")[2] == f"{compared.ranking_table()['score'][0]:.3f}"
    assert line(compared, "y stub-linear")
    assert all(len(row) <= 100 for row in text.splitlines())
    assert "</" not in text.replace("</b>", "")  # of the method's own error


def test_ties_have_the_rank_and_an_interval():
    found = comparison_of_skills(TIED)
    ranking = found.ranking_table().set_index("method")

    leader, tied, last = (line(found, name) for name in ("1 knn", "1 em", "3 naive"))

    low, high = ranking.loc["em", ["low", "high"]]
    assert tied[3:6] == [f"{low:.3f}", "to", f"{high:.3f}"]
    assert len(leader) == len(last) == len(tied) - 3


def test_the_picture_of_an_interval_lies_within_its_axis():
    far = comparison_of_skills({"em": (0.5, 0.6, 0.3), "naive": (0, 0, 0), "bad": (-900,) * 3})

    page = assert_safe_in_a_notebook(far._repr_html_())

    ends = [float(value) for name, value in page.attributes if name in ("x1", "x2", "cx")]
    assert ends and min(ends) >= 0 and max(ends) <= 180


def test_an_interval_that_is_not_known_is_called_so():
    tasks = [task("em", 0, 0.5), task("knn", 0, 0.4)]
    for one in tasks:
        del one.per_column[1:]

    found = comparison(tasks)

    assert np.isinf(found.ranking_table()["low"][1])
    assert "unknown" in line(found, "1 knn")
    assert "unknown" in shown(found)


def test_names_are_escaped():
    found = comparison_of_skills({NASTY: (0.9, 0.9, 0.9), "naive": (0, 0, 0)})

    assert NASTY in shown(found)


def test_results_without_cells_are_not_tested_by_column():
    assert "em (not tested)" in shown(
        comparison_of_skills({"em": (0.9, 0.9, 0.9), "naive": (0,) * 3})
    )


def test_without_any_result_there_is_nothing_to_explain():
    found = comparison([failed("em", 0)])

    assert "No method gave a result." in shown(found)
    assert "Skill on held-out cells" not in shown(found)
    assert repr(Comparison(tasks=[], settings={**found.settings, "methods": []}))


def test_of_very_many_columns_the_first_are_shown():
    column = {"role": "numerical", "skill": 0.5}
    per_column = [{"column": f"c{place}", **column} for place in range(40)]
    one = TaskResult(method="em", seed=0, status="done", per_column=per_column)

    assert "And 15 more columns." in shown(comparison([one]))
