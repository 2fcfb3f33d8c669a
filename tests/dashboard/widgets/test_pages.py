import pytest

from dashboard.widgets import pages


@pytest.mark.parametrize(("n_items", "n_pages"), [(0, 1), (1, 1), (15, 1), (16, 2), (90, 6)])
def test_pages_hold_every_item_once(n_items, n_pages):
    assert pages.n_pages(n_items, 15) == n_pages
    items = list(range(n_items))
    shown = [items[pages.page_slice(page, n_items, 15)] for page in range(1, n_pages + 1)]
    assert [item for page in shown for item in page] == items
