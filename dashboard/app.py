"""Entry of the dashboard: the window, the navigation and what stands on every page."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from dashboard.classroom.addresses import CLASS_PARAMETER, HANDOUT_PARAMETER
from dashboard.components.figures_ahead import load_figures_ahead
from dashboard.components.paper import prepare_paper
from dashboard.errors import shown_errors
from dashboard.keys import keep_keys_out_of_logs
from dashboard.shell import access, collection
from dashboard.shell.header import show_header
from dashboard.shell.link_settings import allowed_in_links
from dashboard.state import links, session

HERE = Path(__file__).resolve().parent
PAGES = HERE.parent / "pages"
SIDEBAR_WIDTH = 220  # pixels

# Section -> (file, title, icon) of its pages. The first of all is the one that opens.
NAVIGATION = {
    "Explore": [
        ("data.py", "Data", ":material/table_view:"),
        ("missingness.py", "Missingness", ":material/grid_off:"),
    ],
    "Simulate": [
        ("masking_lab.py", "Masking lab", ":material/tune:"),
        ("amputation_lab.py", "Amputation lab", ":material/content_cut:"),
    ],
    "Impute": [
        ("train.py", "Train", ":material/model_training:"),
        ("compare.py", "Compare", ":material/leaderboard:"),
        ("impute.py", "Impute", ":material/healing:"),
        ("analyze.py", "Analyze", ":material/query_stats:"),
        ("export.py", "Export", ":material/ios_share:"),
    ],
    "Learn": [
        ("learn.py", "Learn", ":material/school:"),
        ("paper.py", "Paper", ":material/article:"),
    ],
}


def main() -> None:
    """Draw the page that the address names."""
    keep_keys_out_of_logs()
    st.set_page_config(
        page_title="PMAE Studio", page_icon="🧩", layout="wide", initial_sidebar_state=SIDEBAR_WIDTH
    )
    st.logo((HERE / "shell" / "logo.svg").read_text(encoding="utf-8"), size="large")
    st.html(HERE / "shell" / "style.css")
    with shown_errors():
        collection.keep_collecting()
        if access.admitted():
            show_studio()


def show_studio() -> None:
    """Draw the navigation, the header and the page."""
    sections = {
        section: [
            st.Page(PAGES / file, title=title, icon=icon, default=file == "data.py")
            for file, title, icon in pages
        ]
        for section, pages in NAVIGATION.items()
    }
    show_alone = view_alone()
    page = st.navigation(sections, position="hidden" if show_alone else "sidebar")
    with shown_errors():
        if show_alone:
            show_alone()
            return
        session.workspace()
        links.apply_shared_settings(allowed_in_links)
        session.keep_token_in_browser()
        show_header(page.title)
        page.run()
        prepare_paper()
        load_figures_ahead()


def view_alone() -> Callable[[], None] | None:
    """Return what takes the whole window, without navigation and header, if the address asks.

    It opens no workspace: two hundred students would make two hundred.
    """
    # Imported late: lessons take a moment to load, and most addresses are those of pages.
    if CLASS_PARAMETER in st.query_params:
        from dashboard.classroom.visit import show_class

        return show_class
    if HANDOUT_PARAMETER in st.query_params:
        from dashboard.classroom.handout_view import show_handout

        return show_handout
    return None


main()
