"""Pins, ranges and versions agree with each other."""

import ast
import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import pmae_core
from pmae_core import __version__
from tests.support.paths import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]


def requirements(name: str) -> dict[str, Requirement]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    parsed = [Requirement(line) for line in lines if line and not line.startswith(("#", "-r"))]
    return {requirement.name: requirement for requirement in parsed}


def pinned_version(requirement: Requirement) -> Version:
    (specifier,) = requirement.specifier
    assert specifier.operator == "==", f"{requirement} is not an exact pin"
    return Version(specifier.version)


@pytest.mark.parametrize("file", sorted(ROOT.glob("requirements*.txt")), ids=lambda file: file.name)
def test_every_requirement_is_pinned(file):
    assert all(pinned_version(requirement) for requirement in requirements(file.name).values())


def test_pins_lie_within_the_ranges_of_the_package():
    pins = requirements("requirements.txt")
    extras = PROJECT["optional-dependencies"]["dashboard"]
    ranges = [Requirement(text) for text in PROJECT["dependencies"] + extras]

    outside = [str(r) for r in ranges if pinned_version(pins[r.name]) not in r.specifier]

    assert outside == []


def test_the_floor_of_streamlit_is_what_is_tested():
    """Pages use what came with the newest minor releases, and no older one is ever run."""
    (streamlit,) = (
        Requirement(text)
        for text in PROJECT["optional-dependencies"]["dashboard"]
        if text.startswith("streamlit")
    )
    floor = next(Version(s.version) for s in streamlit.specifier if s.operator == ">=")

    pinned = pinned_version(requirements("requirements.txt")["streamlit"])
    assert (floor.major, floor.minor) == (pinned.major, pinned.minor)


def test_the_package_claims_no_system_it_does_not_run_on():
    """Background jobs need process groups and file locks of POSIX."""
    systems = [text for text in PROJECT["classifiers"] if text.startswith("Operating System")]

    assert systems == ["Operating System :: POSIX"]


def test_the_oldest_python_is_the_one_that_is_tested():
    versions = re.findall(r"Python :: (\d\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    (tested,) = re.findall(r'python-version: "(.+)"', workflow)

    assert PROJECT["requires-python"] == f">={tested}"
    assert versions[0] == tested


def test_type_checkers_know_what_the_package_offers():
    """Names are imported when they are first used, which only a running program can see."""
    source = ast.parse((ROOT / "pmae_core/__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(source) if isinstance(node, ast.ImportFrom)]
    known = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in imports
        for alias in node.names
        if alias.asname  # `as` makes a name public to type checkers
    }

    assert known == {name: f"pmae_core.{home}.{name}" for name, home in pmae_core._HOME.items()}


def test_pins_name_nothing_else_than_the_package_needs():
    needed = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dashboard"]
    # timm needs torchvision, and only the build that fits the pinned torch works.
    assert {Requirement(text).name for text in needed} | {"torchvision"} == set(
        requirements("requirements.txt")
    )


@pytest.mark.parametrize("extra", ["login", "ray"])
def test_extras_are_pinned_within_their_ranges(extra):
    assert_pinned_within(PROJECT["optional-dependencies"][extra], f"requirements-{extra}.txt")


def test_plots_and_pages_take_the_same_plotly():
    extras = PROJECT["optional-dependencies"]
    plots = {r.name: r for r in map(Requirement, extras["plots"])}
    dashboard = {r.name: r for r in map(Requirement, extras["dashboard"])}

    assert plots["plotly"] == dashboard["plotly"]
    # What shows a figure in a notebook is pinned with what the example notebook is run with.
    pin = requirements("requirements-dev.txt")["nbformat"]
    assert pinned_version(pin) in plots["nbformat"].specifier


def test_the_build_system_is_pinned_within_its_range():
    assert_pinned_within(PYPROJECT["build-system"]["requires"], "requirements-build.txt")


def assert_pinned_within(texts: list[str], file: str) -> None:
    """Assert that a file pins these requirements, with their extras, and nothing else."""
    ranges = {r.name: r for r in map(Requirement, texts)}
    pins = requirements(file)
    assert {name: pin.extras for name, pin in pins.items()} == {
        name: needed.extras for name, needed in ranges.items()
    }
    assert all(pinned_version(pin) in ranges[name].specifier for name, pin in pins.items())


def test_the_changelog_tells_of_this_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased, *released = re.findall(r"^## \[(.+?)\](.*)$", changelog, re.MULTILINE)

    assert unreleased == ("Unreleased", "")
    assert all(re.fullmatch(r" - \d{4}-\d{2}-\d{2}", date) for _, date in released)
    assert not released or released[0][0] == __version__
