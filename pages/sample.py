"""A sample table, and where its cells are missing."""

import streamlit as st

from dashboard.figures import share_missing_figure
from pmae_core.table import load_dataset


@st.cache_data(max_entries=1)
def load_sample():
    dataset = load_dataset("penguins")
    return dataset.info.title, dataset.frame


title, frame = load_sample()
n_missing = int(frame.isna().sum().sum())

st.title("PMAE Studio")
st.write(
    f"{title}: {len(frame):,} rows and {frame.shape[1]} columns, "
    f"{n_missing:,} of {frame.size:,} cells missing."
)
st.subheader("Which columns have missing cells?")
st.plotly_chart(share_missing_figure(frame), width="stretch")
st.subheader("The table")
st.dataframe(frame, width="stretch", hide_index=True)
