"""Long lists in pages."""

import streamlit as st

from pmae_core.words import count


def choose_page(section: str, name: str, n_items: int, size: int, noun: str) -> slice:
    """Ask which page of a list to draw, if it has several; return the items on it.

    Parameters
    ----------
    section, name
        The page of the dashboard and the list, which make the widget's key.
    n_items, size
        How many items the list and a page have.
    noun
        What the items are, in the plural.
    """
    pages = n_pages(n_items, size)
    if pages == 1:
        return slice(0, n_items)
    place = st.container()
    # With the number of pages in its key, it starts anew when a search changes the list.
    page = st.pagination(pages, width="stretch", key=f"{section}:page:{name}:{pages}")
    shown = page_slice(page, n_items, size)
    place.markdown(
        f":small[{noun.capitalize()} {count(shown.start + 1)} to {count(shown.stop)} of "
        f"{count(n_items)}]"
    )
    return shown


def page_slice(page: int, n_items: int, size: int) -> slice:
    """Return the items of a page, counted from 1."""
    start = size * (page - 1)
    return slice(start, min(start + size, n_items))


def n_pages(n_items: int, size: int) -> int:
    """Return how many pages hold all items."""
    return max(1, -(-n_items // size))
