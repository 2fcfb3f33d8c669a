import base64
import json

import numpy as np
import pandas as pd
import pytest

from dashboard.amputation.scenario import Scenario
from pmae_core.masking import list_masking_functions, masking_probability
from tests.support.charts import chart_key

PAGE = "masking_lab.py"


def text_of(app):
    parts = (app.markdown, app.caption, app.info, app.warning, app.success, app.error)
    return "\n".join(element.value for group in parts for element in group)


def calm(app):
    return not app.exception and not app.error


def figure(app, key):
    """Return the figure drawn under a key as plain data."""
    (spec,) = [
        json.loads(chart.proto.spec) for chart in app.get("plotly_chart") if chart_key(chart) == key
    ]
    return spec


def numbers(packed):
    """Return an array of a figure, which Plotly writes as bytes."""
    return np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"])


def insulin(n_rows=100):
    frame = pd.DataFrame(
        np.random.default_rng(0).normal(size=(n_rows, 2)), columns=["insulin", "age"]
    )
    frame.loc[26:, "insulin"] = np.nan
    return frame


def test_the_sample_is_shown_with_five_figures(open_page):
    app = open_page(PAGE)

    assert calm(app)
    assert app.title[0].value == "Masking lab"
    assert len(app.get("plotly_chart")) == 5
    assert "Column `triglycerides` is observed in 67.5% of rows" in text_of(app)


def test_the_sentence_of_the_column_follows_the_sliders(fill, open_page):
    fill(insulin())

    app = open_page(PAGE)
    assert "observed in 26% of rows: 55.2% of its observed cells are masked" in text_of(app)

    app.slider(key="masking_lab:a").set_value(0.2).run()
    assert calm(app)
    assert "observed in 26% of rows: 70.9% of its observed cells are masked" in text_of(app)

    app.slider(key="masking_lab:b").set_value(0.3).run()
    assert "observed in 26% of rows: 50.9% of its observed cells are masked" in text_of(app)


def test_the_points_and_cells_move_with_the_sliders(fill, open_page):
    fill(insulin())
    app = open_page(PAGE)
    cells = figure(app, "masking-cells-yours")["data"][0]["z"]

    app.slider(key="masking_lab:a").set_value(0.4).run()

    points = numbers(figure(app, "masking-curve")["data"][2]["y"])
    assert points[0] == pytest.approx(masking_probability(0.26, a=0.4).item(), abs=1e-3)
    assert figure(app, "masking-cells-yours")["data"][0]["z"] != cells


@pytest.mark.parametrize("function", list_masking_functions(), ids=lambda f: f.name)
def test_each_function_has_its_sliders_and_its_formula(fill, open_page, function):
    fill(insulin())
    app = open_page(PAGE)

    app.selectbox(key="masking_lab:function").select(function.name).run()

    assert calm(app)
    assert [slider.key for slider in app.slider] == [
        f"masking_lab:{name}" for name in function.parameters
    ]
    assert function.formula in text_of(app)


@pytest.mark.parametrize(
    ("preset", "function", "params", "words"),
    [
        ("a too large", "logit", {"a": 1.0, "b": 0.5}, "turns the curve into a step"),
        ("a too small", "logit", {"a": 0.0, "b": 0.5}, "this is uniform masking"),
        ("Uniform", "constant", {"rate": 0.5}, "masked at the same rate"),
        ("Negative a", "logit", {"a": -0.1, "b": 0.5}, "The curve rises"),
    ],
)
def test_a_preset_sets_function_and_sliders(
    drawn, fill, open_page, preset, function, params, words
):
    fill(insulin())
    app = open_page(PAGE)

    app.button(key=f"masking_lab:preset:{preset}").click().run()

    assert calm(app)
    assert drawn(app.selectbox, "masking_lab:function").value == function
    assert {n: drawn(app.slider, f"masking_lab:{n}").value for n in params} == params
    assert words in text_of(app)


def test_the_settings_are_there_when_the_page_is_opened_again(open_page):
    open_page(PAGE).slider(key="masking_lab:a").set_value(0.3).run()

    assert open_page(PAGE).slider(key="masking_lab:a").value == 0.3


def test_the_link_carries_the_settings(open_page):
    app = open_page(PAGE)
    app.slider(key="masking_lab:a").set_value(0.3).run()

    (link,) = [code.value for code in app.code if "s=" in code.value]
    shared = link.split("s=")[1]
    content = json.loads(base64.urlsafe_b64decode(shared + "=" * (-len(shared) % 4)))

    assert "/masking_lab?" in link
    assert content == ["masking_lab", {"function": "logit", "a": 0.3, "b": 0.5}]


def test_settings_out_of_range_are_moved_into_it(workspace, open_page):
    workspace.update("masking_lab", a=1e9, b="much", function="magic", focus=["?"])

    app = open_page(PAGE)

    assert calm(app)
    assert app.slider(key="masking_lab:a").value == 1.0
    assert app.slider(key="masking_lab:b").value == 0.5
    assert app.selectbox(key="masking_lab:function").value == "logit"


def test_a_complete_table_says_where_to_simulate_missing_values(fill, open_page):
    fill(insulin()[["age"]].assign(size=np.arange(100) / 7))

    app = open_page(PAGE)

    assert calm(app)
    assert "This table has no missing values" in text_of(app)
    assert "Amputation lab" in text_of(app)


def test_the_missing_values_of_a_scenario_can_be_chosen(fill, open_page):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=["x", "y", "z"])
    workspace = fill(frame)
    workspace.save_scenario("half of *x*", Scenario(columns=("x",), proportions=0.5).to_dict())
    workspace.save_scenario("broken", {"pattern": "striped"})
    app = open_page(PAGE)
    assert "This table has no missing values" in text_of(app)

    app.selectbox(key="masking_lab:source").select("half of *x*").run()
    assert calm(app)
    assert "Column `x` is observed in" in text_of(app)

    app.selectbox(key="masking_lab:source").select("broken").run()
    assert not app.exception
    assert "cannot be read" in app.error[0].value


def test_an_empty_column_is_left_out_and_named(fill, open_page):
    fill(insulin().assign(nothing=None))

    app = open_page(PAGE)

    assert calm(app)
    assert "`nothing`: none of its cells is observed" in text_of(app)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": [1.5]}),
        pd.DataFrame({"x": [1.5, None]}),
        pd.DataFrame({"x": [1.5, 2.5, None]}),
        pd.DataFrame({"x": [1.5, 2.5], "y": ["a", "b"]}),
    ],
)
def test_tiny_tables_give_a_sentence_or_a_picture(fill, open_page, frame):
    fill(frame)

    app = open_page(PAGE)

    assert calm(app)
    assert "No column of this table can be learned" in text_of(app) or app.get("plotly_chart")


def test_many_columns_are_shortened_and_said_so(fill, open_page):
    values = np.random.default_rng(0).normal(size=(30, 120))
    frame = pd.DataFrame(values, columns=[f"column {j}" for j in range(120)])
    fill(frame.mask(values > 1))

    app = open_page(PAGE)

    assert calm(app)
    assert "the 24 of 120 columns with the most missing values" in text_of(app)


def test_markup_in_names_is_text(fill, open_page):
    name = "<script>alert(1)</script> **x** :red[y] $z$"
    fill(insulin().rename(columns={"insulin": name}))

    app = open_page(PAGE)

    assert calm(app)
    assert f"`{name}`" in text_of(app)
    assert all("<script>" not in chart.proto.spec for chart in app.get("plotly_chart"))
