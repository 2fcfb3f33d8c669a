"""What the tests in the browser share: a browser, a server and visitors.

Each file of tests has its own browser and server, so that files may run side by side. Playwright's
loop of events stays in its file, too: other tests in the same process would stumble over it.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.support.chromium import NoBrowserError, launch_chromium
from tests.support.studio import PATIENCE_SECONDS, Profiles, StudioServer, Visitor

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            # Generous: the machine may do much else.
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=1000 * PATIENCE_SECONDS)
    with sync_playwright() as playwright:
        try:
            launched = launch_chromium(playwright, one_process=True)
        except NoBrowserError as error:
            if os.environ.get("CI") == "true":
                pytest.fail(str(error))
            pytest.skip(str(error))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def server(browser, tmp_path_factory) -> Iterator[StudioServer]:
    with StudioServer(tmp_path_factory.mktemp("studio")) as running:
        yield running


@pytest.fixture(scope="module")
def profiles(browser, server) -> Profiles:
    return Profiles(browser, server.url)


@pytest.fixture
def new_visitor(profiles, server) -> Iterator[Callable[[], Visitor]]:
    """Let somebody new come in; whatever they did, no page may have failed in the end."""
    visitors: list[Visitor] = []
    failures_before = server.failures()

    def enter(**window) -> Visitor:
        visitors.append(Visitor(profiles, server.url, **window))
        return visitors[-1]

    yield enter
    failures = [visitor.failures() for visitor in visitors]
    for visitor in visitors:
        visitor.close()
    assert failures == [[] for _ in visitors]
    assert server.failures() == failures_before


@pytest.fixture
def visitor(new_visitor) -> Visitor:
    return new_visitor()


@pytest.fixture(scope="session")
def survey(tmp_path_factory) -> Path:
    """A file with holes of its own, and with two values that stand for missing ones."""
    rng = np.random.default_rng(0)
    n_rows = 240
    age = rng.integers(20, 80, n_rows)
    frame = pd.DataFrame(
        {
            "age": age,
            "income": 5_000 + 400 * age + rng.integers(0, 9_000, n_rows),
            "city": rng.choice(["Lima", "Oslo", "Rome"], n_rows),
            "ward": rng.integers(1, 5, n_rows),
            "score": rng.normal(50, 10, n_rows).round(1),
        }
    )
    frame.loc[:71, "income"] = -999
    frame.loc[48:95, "city"] = "?"
    frame.loc[96:, "score"] = np.nan
    path = tmp_path_factory.mktemp("files") / "survey.csv"
    frame.to_csv(path, index=False)
    return path
