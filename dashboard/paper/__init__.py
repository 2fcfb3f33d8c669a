"""The paper's figures beside those measured here; knows nothing of Streamlit."""
