"""What all tests share."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def _private_home(tmp_path_factory):
    """Keep caches and downloads of the tests out of the user's own home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PMAE_HOME", str(tmp_path_factory.mktemp("pmae_home")))
        yield
