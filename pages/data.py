"""Data: open a table, say what its columns are for and which values stand for missing ones."""

import streamlit as st

from dashboard import session

st.title("Data")
table = session.open_table()
st.dataframe(table.frame.head(100), width="stretch", hide_index=True)
