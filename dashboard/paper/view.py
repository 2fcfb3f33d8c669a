"""What the page Paper draws: the claims, then one view per table or figure of the paper."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.paper import ablations_view, mixing_view, tables_view
from dashboard.paper.claims_view import show_claims
from dashboard.paper.settings_view import choose

INTRODUCTION = (
    "*To Predict or Not To Predict? Proportionally Masked Autoencoders for Tabular Data "
    "Imputation* (AAAI 2025): printed results beside ours, on the same tables with the same kind "
    "of missing values (MNAR, nested)."
)
VIEWS: dict[str, Callable[[], None]] = {
    "All methods": tables_view.show_all_methods,
    "Masking functions": ablations_view.show_masking_functions,
    "Step by step": ablations_view.show_ablation,
    "a and b": ablations_view.show_grid,
    "Mechanisms": ablations_view.show_mechanisms,
    "Downstream": tables_view.show_downstream,
    "Token mixing": mixing_view.show_mixing,
}


def show_paper() -> None:
    """Draw the chosen part of the paper."""
    title, introduction = st.columns([1, 4], gap="medium", vertical_alignment="center")
    title.title("Paper", anchor=False)
    introduction.caption(INTRODUCTION)
    show_claims()
    chosen = choose(
        "What do you want to see?",
        "view",
        {name: name for name in VIEWS},
        help="The tables and figures of the paper.",
        hide_label=True,
    )
    VIEWS[chosen]()
