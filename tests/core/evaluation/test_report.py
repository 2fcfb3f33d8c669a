import re

import pandas as pd
import pytest

from pmae_core.evaluation.comparing import compare
from pmae_core.evaluation.comparison import Comparison
from pmae_core.evaluation.report import comparison_report, write_comparison
from pmae_core.evaluation.report_figures import cost_figure, ranking_figure
from tests.support.html_page import Page

pytestmark = pytest.mark.usefixtures("stubs")

NASTY = "<script>alert('$x$')</script>"


@pytest.fixture(scope="module")
def comparison(incomplete, stubs):
    table = incomplete.rename(columns={"y": NASTY, "z": "price $ and $"})
    table["kind"] = table["kind"].replace({"a": NASTY})
    return compare(table, ["stub-mean", "stub-linear", "stub-broken"], seeds=[0, 1, 2])


@pytest.fixture(scope="module")
def html(comparison):
    return comparison_report(comparison)


def test_names_are_escaped_and_nothing_is_run(html):
    page = Page(html)
    assert "script" not in page.tags
    assert any(NASTY in text for text in page.texts)
    assert not any(name.startswith("on") for name, _ in page.attributes)


def test_nothing_is_loaded_from_elsewhere(html):
    page = Page(html)
    assert not {"link", "img", "iframe", "object"} & set(page.tags)
    links = [v for name, v in page.attributes if name in ("src", "href", "xlink:href")]
    assert all(link.startswith("#") for link in links)
    assert "@import" not in html


def test_everything_is_told(html):
    page = Page(html)
    text = " ".join(page.texts)
    for part in (
        "Leaderboard",
        "Imputations as a distribution",
        "1 (point mass)",
        "Skill and time",
        "Column by column",
        "Truth and imputation: stub-linear",
        "What failed",
        "divided by zero",
        "no method is shown to beat the mean",
        "Settings",
        "seeds",
    ):
        assert part in text
    assert page.tags.count("svg") == 3
    assert "mathdefault" not in text  # formulas are off, so axes must not write any


def test_identifiers_of_the_figures_do_not_clash(html):
    identifiers = re.findall(r'<clipPath id="([^"]+)"', html)
    assert len(identifiers) > 1
    assert len(identifiers) == len(set(identifiers))


def test_the_same_results_give_the_same_report(comparison, html):
    assert comparison_report(Comparison.from_json(comparison.to_json())) == html


def test_failures_alone_make_a_report_too(incomplete):
    report = comparison_report(compare(incomplete, ["stub-broken"], seeds=[0]))
    page = Page(report)
    assert "svg" not in page.tags
    assert any("divided by zero" in text for text in page.texts)


def test_many_columns_are_cut_with_a_word(incomplete):
    wide = incomplete[["x"]].assign(
        **{f"c{k}": incomplete["y"] + k * incomplete["x"] for k in range(15)}
    )
    report = comparison_report(compare(wide, ["stub-mean"], seeds=[0]))
    assert "the first 12 of 15 columns" in report


def test_files_are_written(comparison, html, tmp_path):
    paths = write_comparison(comparison, tmp_path / "out")
    assert [path.name for path in paths] == [
        *("results.csv", "per_column.csv", "comparison.json", "report.html")
    ]
    assert len(pd.read_csv(paths[0])) == 9
    assert pd.read_csv(paths[1])["column"].tolist() == comparison.per_column["column"].tolist()
    assert Comparison.from_json(paths[2].read_text()).methods == comparison.methods
    assert paths[3].read_text(encoding="utf-8") == html


def test_a_method_far_off_does_not_hide_the_others():
    summary = pd.DataFrame(
        {"rank": [1, 2], "skill": [0.5, -2500.0], "skill_se": [0.01, 900.0]}, index=["a", "b"]
    ).assign(fit_seconds=1.0, impute_seconds=0.1)
    for figure in (ranking_figure(summary), cost_figure(summary)):
        assert "below -1 drawn there" in figure
        assert "2500" not in figure
    assert "drawn there" not in ranking_figure(summary.head(1))
