"""The folder for what must outlive a process."""

import os
from pathlib import Path

DEFAULT_HOME = "~/.pmae"


def pmae_home() -> Path:
    """Return the folder that the environment variable PMAE_HOME names, or ``~/.pmae``."""
    return Path(os.environ.get("PMAE_HOME") or DEFAULT_HOME).expanduser()
