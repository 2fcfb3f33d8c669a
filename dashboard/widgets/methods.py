"""The methods that a visitor can choose from."""

import functools

from pmae_core.imputers import ImputerInfo, list_imputers


@functools.cache
def known_methods() -> dict[str, ImputerInfo]:
    """Return the methods whose packages are installed, by name."""
    return {info.name: info for info in list_imputers() if info.is_available}
