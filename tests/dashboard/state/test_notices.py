"""A success does not push the page down; what needs reading stays on the page."""

from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from dashboard.state import notices

    notices.show_notices()
    st.button("Open", on_click=notices.notify, args=("success", "The table is open."))
    st.button("Fail", on_click=notices.notify, args=("error", "The file is empty."))


def test_success_floats_over_the_page_and_an_error_stays_on_it():
    app = AppTest.from_function(page).run()
    app.button[0].click().run()
    assert [toast.value for toast in app.toast] == ["The table is open."]
    assert not app.success
    app.button[1].click().run()
    assert [error.value for error in app.error] == ["The file is empty."]
    assert not app.toast


def test_a_notice_is_shown_once():
    app = AppTest.from_function(page).run()
    app.button[1].click().run()
    assert not app.run().error
