"""What all tests share."""

import os
import sys

import hypothesis
import pytest

# The networks of the tests are so small that threads cost more than they give. Set before torch
# is imported, and inherited by the programs that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Servers under test keep no spare worker process; the tests of spare workers ask for one.
os.environ.setdefault("PMAE_SPARE_MINUTES", "0")

# Servers under test clean up when a test asks for it.
os.environ.setdefault("PMAE_COLLECTION_MINUTES", "0")

# The same examples in every run; HYPOTHESIS_PROFILE=explore searches for new ones. How long an
# example takes depends on the machine and on what else it does.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.register_profile("explore", derandomize=False, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session", autouse=True)
def _private_home(tmp_path_factory):
    """Keep caches and downloads of the tests out of the user's own home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PMAE_HOME", str(tmp_path_factory.mktemp("pmae_home")))
        yield


@pytest.fixture(autouse=True)
def keep_main_module(monkeypatch):
    """Put back the module that a page under test replaces: spawned processes load it anew."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture
def read_inline(monkeypatch):
    """Read uploads in this process: another one takes a second to start."""
    from tests.support.inline_reading import InlineReading

    monkeypatch.setattr("dashboard.data.uploads.ReadingProcess", InlineReading)
