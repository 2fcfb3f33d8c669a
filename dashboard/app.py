"""Entry of the dashboard: the window's title and the navigation between pages."""

from pathlib import Path

import streamlit as st

PAGES = Path(__file__).resolve().parent.parent / "pages"

st.set_page_config(page_title="PMAE Studio", page_icon="🧩", layout="wide")
st.navigation([st.Page(PAGES / "sample.py", title="Sample", icon="🐧", default=True)]).run()
