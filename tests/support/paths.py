"""Where things lie in the clone."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
