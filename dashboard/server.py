"""The dashboard where visitors log in: ``pmae serve`` starts this if PMAE_LOGIN is set.

Streamlit finds ``app`` in this file and serves it. The pages are those of ``app.py``.
"""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from dashboard.shell.gate import Gate

app = st.App(Path(__file__).with_name("app.py"), middleware=[Middleware(Gate)])
