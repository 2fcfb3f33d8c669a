"""What a notebook draws of a table, of imputed tables and of a comparison."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from pmae_core import plots
from pmae_core.colors import DARK_BACKGROUND, IMPUTED, LIGHT_BACKGROUND
from pmae_core.errors import TableError
from pmae_core.masking import masking_probability
from pmae_core.plots.style import DARK, LIGHT
from tests.support.comparisons import comparison_of_skills
from tests.support.paths import ROOT


@pytest.fixture
def table():
    """Three columns of which two are missing in the same rows, and one that is complete."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 4)), columns=["full", "a", "b", "<i>c</i>"])
    frame.loc[:9, ["a", "b"]] = np.nan
    frame.loc[8:11, "<i>c</i>"] = np.nan
    return frame


@pytest.fixture
def imputations(table):
    return [table.fillna(value) for value in (0.0, 1.0, 2.0)]


def names(axis):
    return list(axis.ticktext)


def trace(figure, name):
    (found,) = [trace for trace in figure.data if trace.name == name]
    return found


def test_columns_with_most_missing_values_come_first(table):
    figure = plots.share_missing(table)

    assert names(figure.layout.yaxis) == ["a", "b", "&lt;i&gt;c&lt;/i&gt;", "full"]
    assert list(trace(figure, "missing").x) == [0.25, 0.25, 0.1, 0.0]
    assert names(plots.share_missing(table, most=2).layout.yaxis) == ["a", "b"]


def test_columns_missing_in_the_same_rows_share_a_bar_if_asked(table):
    figure = plots.share_missing(table, group=True)

    assert names(figure.layout.yaxis)[0] == "a + 1 other"
    assert list(trace(figure, "missing").x) == [0.25, 0.1, 0.0]


@pytest.mark.parametrize("order", ["table", "pattern"])
def test_the_matrix_has_a_line_per_column_and_a_step_per_row(table, order):
    figure = plots.missing_matrix(table, order=order)

    cells = np.array(figure.data[-1].z)
    assert cells.shape == (4, 40)
    assert cells.sum(axis=1).tolist() == [10, 10, 4, 0]
    is_in_order = (cells[0] == table["a"].isna()).all()
    assert is_in_order == (order == "table")


def test_patterns_are_those_of_the_rows(table):
    figure = plots.missing_patterns(table)

    assert list(figure.data[0].y) == [28, 8, 2, 2]
    assert list(plots.missing_patterns(table, most=2).data[0].y) == [28, 8]


def test_being_missing_is_correlated(table):
    figure = plots.missing_together(table)

    expected = np.corrcoef(table["a"].isna(), table["<i>c</i>"].isna())[0, 1]
    assert figure.data[0].z[0][0] == pytest.approx(expected)


def test_without_two_incomplete_columns_there_is_no_correlation(table):
    with pytest.raises(TableError, match="Correlations need two columns"):
        plots.missing_together(table[["full", "a", "b"]])


def test_columns_lie_on_the_masking_function_that_was_asked_for(table):
    figure = plots.masking_curve(table, "linear")
    sharper = plots.masking_curve(table, a=0.3)

    points = trace(figure, "columns")
    assert list(points.x) == [0.75, 0.9, 1.0]
    assert list(points.y) == pytest.approx(masking_probability([0.75, 0.9, 1.0], "linear"))
    curve = trace(sharper, "logit")
    assert list(curve.y) == pytest.approx(list(masking_probability(curve.x, a=0.3)))
    assert trace(sharper, "columns").y[0] == pytest.approx(
        float(masking_probability(0.75, a=0.3)), abs=1e-4
    )


def test_columns_that_are_not_learned_are_not_masked(table):
    figure = plots.masking_curve(table, schema={"full": "ignored"})

    assert list(trace(figure, "columns").x) == [0.75, 0.9]


def test_methods_are_ranked_by_the_metric():
    comparison = comparison_of_skills(
        {"naive": (0, 0, 0), "em": (0.9, 0.9, 0.9), "knn": (0.3, 0.3, 0.3)}
    )

    figure = plots.method_ranking(comparison)

    assert names(figure.layout.yaxis) == ["1. em", "2. knn", "3. naive"]
    assert list(trace(figure, "mean over seeds").x) == pytest.approx([0.9, 0.3, 0.0], abs=0.03)


def test_imputed_values_stand_beside_observed_ones(table, imputations):
    figure = plots.observed_and_imputed(table, imputations[1], "a")

    observed, imputed = figure.data
    assert (observed.name, imputed.name) == ("a observed (30 rows)", "a imputed (10 rows)")
    assert imputed.marker.color == IMPUTED
    assert max(imputed.y) == 1.0
    labels = plots.observed_and_imputed(table, imputations[1], "a", schema={"a": "categorical"})
    assert "1" in {str(text) for text in labels.data[1].customdata}


def test_tables_of_different_rows_are_refused(table, imputations):
    with pytest.raises(TableError, match="different rows"):
        plots.observed_and_imputed(table, imputations[0].iloc[1:], "a")


def test_the_spread_is_that_of_the_imputations(table, imputations):
    figure = plots.imputation_spread(table, imputations, "a", most=4)

    assert list(trace(figure, "median").y) == [1.0] * 4
    assert list(trace(figure, "90% of the imputations").y[:3]) == [0.0, 2.0, None]
    assert figure.layout.xaxis.title.text == "imputed cells (4 of 10)"


@pytest.mark.parametrize(
    ("dark", "ground", "template"),
    [(False, LIGHT_BACKGROUND, LIGHT), (True, DARK_BACKGROUND, DARK)],
)
def test_every_figure_brings_its_ground(table, imputations, dark, ground, template):
    import plotly.io as pio

    comparison = comparison_of_skills({"naive": (0, 0, 0), "em": (0.9, 0.9, 0.9)})
    arguments = {
        "method_ranking": (comparison,),
        "observed_and_imputed": (table, imputations[0], "a"),
        "imputation_spread": (table, imputations, "a"),
    }
    for name in plots.__all__:
        figure = getattr(plots, name)(*arguments.get(name, (table,)), dark=dark)

        assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == ground, name
        assert figure.layout.template == pio.templates[template], name


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


def test_without_plotly_a_sentence_says_what_to_install():
    code = (
        "import importlib.util as u; u.find_spec = lambda name: None\nfrom pmae_core import plots"
    )

    said = run(code)

    assert said.returncode != 0
    assert said.stderr.splitlines()[-1] == (
        "pmae_core.errors.MissingPackageError: Figures need Plotly, which is not installed. "
        "Install it with: pip install 'pmae[plots]'"
    )


def test_names_of_figures_are_listed_and_others_are_refused():
    assert dir(plots) == plots.__all__
    with pytest.raises(AttributeError, match="no_such_figure"):
        _ = plots.no_such_figure


def test_the_look_of_figures_is_there_without_loading_all_of_them():
    """Pages with one figure do not wait for the library's comparison and its imputers."""
    said = run(
        "import sys, pmae_core.plots.masking\nprint({'sklearn', 'statsmodels'} & {*sys.modules})"
    )

    assert said.stdout.strip() == "set()", said.stderr
