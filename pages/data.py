"""Data: open a table, say what its columns are for and which values stand for missing ones."""

from dashboard.data.view import show_data

show_data()
