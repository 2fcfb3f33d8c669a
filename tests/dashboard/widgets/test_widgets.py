import base64
import json

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.state import session
from dashboard.state.workspace import Workspace


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))


def show_one_figure():
    import pandas as pd
    import plotly.graph_objects as go
    import streamlit as st

    from dashboard.widgets import show_figure
    from pmae_core.plots.style import styled

    def data() -> pd.DataFrame:
        st.session_state["made"] = True
        return pd.DataFrame({"x": [1]})

    selection = show_figure(
        styled(go.Figure(go.Bar(x=[1], y=[2]), layout={"xaxis": {"title": "age"}})),
        question="How much of `age` is missing?",
        key="share",
        data=data if st.session_state.get("with data", True) else None,
        caption="One bar.",
    )
    st.text(str(selection))


def menu_data(app) -> dict:
    (menu,) = app.get("bidi_component")
    return json.loads(menu.proto.json)


def test_a_figure_stands_below_its_question_and_has_a_menu():
    app = AppTest.from_function(show_one_figure, default_timeout=30).run()

    assert not app.exception
    assert app.subheader[0].value == "How much of `age` is missing?"
    assert app.caption[0].value == "One bar."
    (chart,) = app.get("plotly_chart")
    assert chart.proto.alt == "How much of age is missing?"
    assert json.loads(chart.proto.config) == {"displayModeBar": False, "scrollZoom": False}
    assert app.text[0].value == "None"
    menu = menu_data(app)
    assert (menu["name"], menu["title"]) == ("share", "How much of age is missing?")
    assert json.loads(menu["layout"]) == json.loads(chart.proto.spec)["layout"]


def test_the_data_of_a_figure_is_not_made_before_somebody_asks():
    app = AppTest.from_function(show_one_figure, default_timeout=30).run()

    assert menu_data(app)["hasData"]
    assert len(app.get("download_button")) == 1
    assert "made" not in app.session_state


def test_a_figure_without_data_offers_no_csv():
    app = AppTest.from_function(show_one_figure, default_timeout=30)
    app.session_state["with data"] = False
    app.run()

    assert not app.exception
    assert not menu_data(app)["hasData"]
    assert not app.get("download_button")


def show_share_button():
    from dashboard.widgets import share_button

    share_button("masking_lab", {"a": 0.5})


def test_the_link_to_share_is_shown():
    app = AppTest.from_function(show_share_button, default_timeout=30).run()

    assert not app.exception
    path, shared = app.code[0].value.split("?s=")
    assert path.endswith("/masking_lab")
    content = json.loads(base64.urlsafe_b64decode(shared + "=" * (-len(shared) % 4)))
    assert content == ["masking_lab", {"a": 0.5}]
    assert "It does not contain your data" in app.caption[0].value


def ask_for_seeds():
    import streamlit as st

    from dashboard.widgets import choose_seed

    st.text(repr(choose_seed(section="lab", help="The same seed, the same holes.")))
    st.text(repr(choose_seed("First", section="lab", name="first", largest=9)))


def test_seeds_are_whole_numbers_within_their_limit():
    own = Workspace.create()
    own.update("lab", first=12)
    app = AppTest.from_function(ask_for_seeds, default_timeout=30)
    app.session_state[session.TOKEN_KEY] = own.token
    app.run()
    assert [seed.label for seed in app.number_input] == ["Seed", "First"]
    assert [text.value for text in app.text] == ["0", "9"]

    app.number_input(key="lab:seed").set_value(12).run()

    assert not app.exception
    assert [text.value for text in app.text] == ["12", "9"]
