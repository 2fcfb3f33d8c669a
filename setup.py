"""What the package holds; all else stands in pyproject.toml.

The dashboard goes into the wheel as a folder inside the library, so that an installation has no
modules named ``dashboard`` or ``pages`` that others might have, too. ``pmae serve`` runs it from
there, with the same names as in a clone.
"""

from setuptools import find_packages, setup

STUDIO = "pmae_core._studio"
DASHBOARD_PACKAGES = find_packages(include=["dashboard", "dashboard.*"])
FOLDERS = {
    "pages": "pages",
    "benchmarks.results": "benchmarks/results",
    **{name: name.replace(".", "/") for name in DASHBOARD_PACKAGES},
}

setup(
    packages=find_packages(include=["pmae_core*"]) + [f"{STUDIO}.{name}" for name in FOLDERS],
    package_dir={f"{STUDIO}.{name}": folder for name, folder in FOLDERS.items()},
)
