"""The section "Pictures": the four views of the library missingno, drawn by itself."""

from __future__ import annotations

import streamlit as st

from dashboard.figures.missingno_pictures import available_views
from dashboard.missingness import controls
from dashboard.missingness.controls import SECTION
from dashboard.missingness.facts import MissingnessFacts, picture_of
from dashboard.state.table_state import OpenTable
from dashboard.widgets import fragment

VIEWS = {
    "matrix": ("Matrix", "Where are values missing?"),
    "bar": ("Bar chart", "How much of each column is observed?"),
    "heatmap": ("Heatmap", "Which columns are missing together?"),
    "dendrogram": ("Dendrogram", "Which columns are missing in similar rows?"),
}
_MIME_TYPES = {"png": "image/png", "svg": "image/svg+xml"}


@fragment
def show_pictures(table: OpenTable, facts: MissingnessFacts) -> None:
    """Draw one of missingno's pictures, with its downloads."""
    views = available_views(facts.patterns)
    settings, answer = controls.beside()
    with settings:
        titles = {VIEWS[view][0]: view for view in views}
        view = titles[controls.choose_one("Picture", "picture", list(titles))]
        for kind in _MIME_TYPES:
            _download_button(table, view, kind)
        st.caption("Drawn by the Python library missingno.")
    with answer:
        question = VIEWS[view][1]
        st.subheader(question, anchor=False)
        st.image(
            picture_of(table.digest, view, "png", table.frame),
            width="stretch",
            caption=f"Shows {views[view]}." if views[view] else None,
        )
        if "heatmap" not in views:
            st.caption("The heatmap needs two columns with observed and missing values.")


def _download_button(table: OpenTable, view: str, kind: str) -> None:
    st.download_button(
        f"Download {kind.upper()}",
        data=lambda: picture_of(table.digest, view, kind, table.frame),
        file_name=f"missingno-{view}.{kind}",
        mime=_MIME_TYPES[kind],
        on_click="ignore",
        key=f"{SECTION}:{view}:{kind}",
        icon=":material/download:",
        width="stretch",
    )
