"""Exercises whose settings somebody else chose."""

import pandas as pd
from streamlit.testing.v1 import AppTest

from dashboard.learn.exercises.exercise import fixed_rows, fixed_settings


def run(script):
    app = AppTest.from_function(script, default_timeout=60).run()
    assert not app.exception
    return app


def test_a_fixed_setting_is_said_and_not_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))

    def page():
        import streamlit as st

        from dashboard.learn import LESSONS
        from dashboard.learn.exercises.exercise import choose_setting, fixed_settings
        from dashboard.state.allowed_values import Choice, NumberWithin, TrueOrFalse

        lesson = LESSONS[0]
        with fixed_settings({"size": 4, "kind": "*b*", "odd": "no option"}):
            values = [
                choose_setting(st.slider, "Size", lesson, "size", NumberWithin(0, 3), default=1),
                choose_setting(
                    st.radio, "Which?", lesson, "kind", Choice(["a", "*b*"]), default="a"
                ),
                choose_setting(st.radio, "Odd", lesson, "odd", Choice(["a"]), default="a"),
                choose_setting(st.toggle, "New", lesson, "new", TrueOrFalse(), default=True),
            ]
        st.json(values)

    app = run(page)

    assert app.json[0].value == '[3, "*b*", "a", true]', "fitted, escaped only where shown"
    assert [caption.value for caption in app.caption] == [
        "Size: **3**",
        "Which? **\\*b\\***",
        "Odd: **a**",
        "New: **True**",
    ]
    assert not app.slider
    assert not app.radio
    assert not (tmp_path / "workspaces").exists(), "no workspace is needed"


def test_fixed_rows_end_with_their_block():
    rows = pd.DataFrame({"x": [1.0], "y": [2.0]})

    with fixed_settings({}, rows):
        assert fixed_rows() is rows
    assert fixed_rows() is None
