"""Impute: replace missing values, and see what was imputed and how far imputations spread."""

from dashboard.impute.view import show_impute
from dashboard.state import session

show_impute(session.open_table())
