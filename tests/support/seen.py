"""What a page under test shows, and pressing its buttons."""

from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest


def words(app: AppTest) -> str:
    """Return all sentences as they are sent, with their Markdown."""
    kinds = (app.markdown, app.caption, app.info, app.success, app.warning, app.error)
    return "\n".join(element.value for kind in kinds for element in kind)


def text(app: AppTest) -> str:
    """Return all sentences without the backslashes that keep text of users plain."""
    return words(app).replace("\\", "")


def questions(app: AppTest) -> list[str]:
    """Return the headings of parts and figures."""
    return [heading.value for heading in app.subheader]


def buttons(app: AppTest) -> set[str]:
    """Return the names of all buttons."""
    return {button.label for button in app.button}


def press(app: AppTest, label: str) -> AppTest:
    """Press a button by its name."""
    (button,) = [button for button in app.button if button.label == label]
    return button.click().run()


def without_errors(app: AppTest) -> AppTest:
    """Return the page, on which nothing has failed."""
    assert not app.exception
    assert not app.error, [element.value for element in app.error]
    return app


def shown(app: AppTest, label: str) -> pd.DataFrame:
    """Return the table on the page that has a column of this name."""
    found: list[Any] = [frame.value for frame in app.dataframe if label in frame.value.columns]
    (table,) = found
    return table
