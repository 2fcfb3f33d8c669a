import base64
import json

import numpy as np
import pandas as pd
import pytest

from dashboard.amputation.scenario import Scenario
from pmae_core.masking import list_masking_functions, masking_probability
from tests.support.charts import chart_key
from tests.support.seen import without_errors

PAGE = "masking_lab.py"


def text_of(app):
    parts = (app.markdown, app.caption, app.info, app.warning, app.success, app.error)
    return "\n".join(element.value for group in parts for element in group)


def live(app):
    """Return what the live figure gets."""
    return json.loads(component(app).proto.json)


def component(app):
    (found,) = [
        one for one in app.get("bidi_component") if one.proto.component_name == "pmae_masking_lab"
    ]
    return found


def release(app, **settings):
    """Let go of the live figure, as a browser tells it."""
    states = app._tree.get_widget_states()
    state = states.widgets.add()
    state.id = f"$$STREAMLIT_INTERNAL_KEY_{component(app).proto.id}__events"
    state.json_trigger_value = json.dumps([{"event": "released", "value": settings}])
    return app._run(states)


def notes(app):
    return " ".join(note["head"] + note["text"] for note in live(app)["notes"])


def weights(app):
    """Return M_j of each column in the figure that Python draws."""
    (spec,) = [
        json.loads(chart.proto.spec)
        for chart in app.get("plotly_chart")
        if chart_key(chart) == "masking-weights"
    ]
    packed = spec["data"][0]["x"]
    return np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"])


def insulin(n_rows=100):
    frame = pd.DataFrame(
        np.random.default_rng(0).normal(size=(n_rows, 2)), columns=["insulin", "age"]
    )
    frame.loc[26:, "insulin"] = np.nan
    return frame


def look_into(app, tab):
    app.session_state["masking_lab:details"] = tab
    return app.run()


def test_the_sample_is_shown_with_the_live_figure_and_the_loss(open_page):
    app = open_page(PAGE)

    without_errors(app)
    assert app.title[0].value == "Masking lab"
    assert live(app)["table"]["names"][0] == "triglycerides"
    assert len(app.get("plotly_chart")) == 1
    assert len(look_into(app, "Uniform masking").get("plotly_chart")) == 2


def test_curve_and_cells_can_be_downloaded_as_they_are_set(fill, open_page):
    fill(insulin())
    app = look_into(release(open_page(PAGE), a=0.3), "Figures to download")

    without_errors(app)
    charts = {chart_key(chart): chart for chart in app.get("plotly_chart")}
    assert set(charts) == {"masking-curve", "masking-cells"}
    before = charts["masking-curve"].proto.spec
    (after, *_) = [c for c in release(app, a=0.1).get("plotly_chart") if "curve" in chart_key(c)]
    assert after.proto.spec != before


def test_a_release_is_kept_and_what_python_draws_follows(fill, open_page, workspace):
    fill(insulin())
    app = open_page(PAGE)
    assert weights(app) == pytest.approx([masking_probability(0.26).item(), 0])

    app = release(app, function="logit", a=0.237, b=0.3)

    without_errors(app)
    assert weights(app) == pytest.approx([masking_probability(0.26, a=0.237, b=0.3).item(), 0])
    assert workspace.get("masking_lab") == {"function": "logit", "a": 0.237, "b": 0.3}
    values = live(app)["settings"]["values"]
    assert (values["a"], values["b"]) == (0.237, 0.3)


def test_the_highlighted_column_is_kept_once_it_is_chosen(fill, open_page, workspace):
    fill(insulin())
    app = open_page(PAGE)
    assert live(app)["settings"]["focus"] is None

    app = release(app, function="logit", a=0.05, b=0.5, focus="age")

    assert live(app)["settings"]["focus"] == "age"
    assert workspace.get("masking_lab")["focus"] == "age"


@pytest.mark.parametrize("function", list_masking_functions(), ids=lambda f: f.name)
def test_each_function_has_its_sliders_and_its_formula(fill, open_page, function):
    fill(insulin())

    app = release(open_page(PAGE), function=function.name)

    without_errors(app)
    settings = live(app)["settings"]
    (offered,) = [one for one in live(app)["functions"] if one["name"] == settings["function"]]
    assert offered["name"] == function.name
    assert [one["name"] for one in offered["parameters"]] == list(function.parameters)
    assert function.formula in text_of(look_into(app, "Formula"))


@pytest.mark.parametrize(
    ("preset", "words"),
    [
        ("a too large", "turns the curve into a step"),
        ("a too small", "a = 0 is too small to matter"),
        ("Constant", "masked at the same rate"),
        ("Negative a", "The curve rises"),
    ],
)
def test_a_preset_brings_its_note(fill, open_page, preset, words):
    fill(insulin())
    app = open_page(PAGE)
    (settings,) = [one["settings"] for one in live(app)["presets"] if one["title"] == preset]

    app = release(app, **settings)

    without_errors(app)
    assert words in notes(app)


def test_the_settings_are_there_when_the_page_is_opened_again(open_page):
    release(open_page(PAGE), function="logit", a=0.3, b=0.5)

    assert live(open_page(PAGE))["settings"]["values"]["a"] == 0.3


def test_the_link_carries_the_settings(open_page):
    app = release(open_page(PAGE), function="logit", a=0.3, b=0.5)

    (link,) = [code.value for code in app.code if "s=" in code.value]
    shared = link.split("s=")[1]
    content = json.loads(base64.urlsafe_b64decode(shared + "=" * (-len(shared) % 4)))

    assert "/masking_lab?" in link
    assert content == ["masking_lab", {"function": "logit", "a": 0.3, "b": 0.5}]


def test_the_masking_is_used_in_train_also_after_it_was_left_there(open_page, workspace):
    workspace.update("train", lab_masking=False)
    app = release(open_page(PAGE), function="constant", rate=0.3)

    app.button(key="masking_lab:train").click().run()

    assert workspace.get("train")["lab_masking"] is True
    train = open_page("train.py")
    assert "Constant with rate = 0.3" in text_of(train).replace("\\", "")


def test_settings_out_of_range_are_moved_into_it(workspace, open_page):
    workspace.update("masking_lab", a=1e9, b="much", function="magic", focus=["?"])

    app = open_page(PAGE)

    without_errors(app)
    settings = live(app)["settings"]
    assert settings["function"] == "logit"
    assert (settings["values"]["a"], settings["values"]["b"]) == (1.0, 0.5)
    assert settings["focus"] is None


@pytest.mark.parametrize("sent", [{"function": 7, "a": "x"}, {"focus": "nobody"}, {}])
def test_what_a_browser_may_send_breaks_nothing(fill, open_page, sent):
    fill(insulin())

    app = release(open_page(PAGE), **sent)

    without_errors(app)
    assert live(app)["settings"]["values"]["a"] == 0.05


def test_a_complete_table_says_where_to_simulate_missing_values(fill, open_page):
    fill(insulin()[["age"]].assign(size=np.arange(100) / 7))

    app = open_page(PAGE)

    without_errors(app)
    assert "This table has no missing values" in notes(app)
    assert "Amputation lab" in notes(app)


def test_the_missing_values_of_a_scenario_can_be_chosen(fill, open_page):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=["x", "y", "z"])
    workspace = fill(frame)
    workspace.save_scenario("half of *x*", Scenario(columns=("x",), proportions=0.5).to_dict())
    workspace.save_scenario("broken", {"pattern": "striped"})
    app = open_page(PAGE)
    assert "This table has no missing values" in notes(app)
    before = live(app)["table"]

    app.selectbox(key="masking_lab:source").select("half of *x*").run()
    without_errors(app)
    assert live(app)["table"]["key"] != before["key"]
    assert live(app)["table"]["names"][0] == "x"
    assert live(app)["table"]["pObs"][0] < 0.7

    app.selectbox(key="masking_lab:source").select("broken").run()
    assert not app.exception
    assert "cannot be read" in app.error[0].value


def test_an_empty_column_is_left_out_and_named(fill, open_page):
    fill(insulin().assign(nothing=None))

    app = open_page(PAGE)

    without_errors(app)
    assert "`nothing`: none of its cells is observed" in text_of(look_into(app, "Formula"))


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

    without_errors(app)
    assert "No column of this table can be learned" in text_of(app) or live(app)


def test_the_losses_of_many_columns_are_shown_in_pages(fill, open_page):
    values = np.random.default_rng(0).normal(size=(30, 120))
    frame = pd.DataFrame(values, columns=[f"column {j}" for j in range(120)])
    fill(frame.mask(values > 1))

    app = open_page(PAGE)

    without_errors(app)
    assert "Columns 1 to 15 of 120" in text_of(app)
    app.session_state["masking_lab:page:weights:8"] = 8
    assert "Columns 106 to 120 of 120" in text_of(app.run())


def test_markup_in_names_is_text(fill, open_page):
    name = "<script>alert(1)</script> **x** :red[y] $z$"
    fill(insulin().rename(columns={"insulin": name}))

    app = open_page(PAGE)

    without_errors(app)
    assert live(app)["table"]["names"][0] == name  # as data: the browser sets it as text
    assert component(app).proto.html_content.count("script") == 0
    for tab in ("Loss per column", "Uniform masking", "Figures to download"):
        charts = look_into(app, tab).get("plotly_chart")
        assert all("<script>" not in chart.proto.spec for chart in charts)
