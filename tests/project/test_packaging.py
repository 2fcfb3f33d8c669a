"""Pins, ranges and versions agree with each other."""

import re
import tomllib

from packaging.requirements import Requirement
from packaging.version import Version

from pmae_core import __version__
from tests.support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements(name: str) -> dict[str, Requirement]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    parsed = [Requirement(line) for line in lines if line and not line.startswith(("#", "-r"))]
    return {requirement.name: requirement for requirement in parsed}


def pinned_version(requirement: Requirement) -> Version:
    (specifier,) = requirement.specifier
    assert specifier.operator == "==", f"{requirement} is not an exact pin"
    return Version(specifier.version)


def test_every_requirement_is_pinned():
    for name in ("requirements.txt", "requirements-dev.txt", "requirements-extras.txt"):
        assert all(pinned_version(requirement) for requirement in requirements(name).values())


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


def test_pins_name_nothing_else_than_the_package_needs():
    needed = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dashboard"]
    # timm needs torchvision, and only the build that fits the pinned torch works.
    assert {Requirement(text).name for text in needed} | {"torchvision"} == set(
        requirements("requirements.txt")
    )


def test_extras_are_pinned_within_their_ranges_and_as_tested():
    pins = requirements("requirements-extras.txt")
    extras = PROJECT["optional-dependencies"]
    ranges = [Requirement(text) for name in ("login", "ray") for text in extras[name]]

    assert {r.name for r in ranges} == set(pins)
    assert all(pinned_version(pins[r.name]) in r.specifier for r in ranges)
    tested = requirements("requirements-dev.txt")["ray"]
    assert pinned_version(pins["ray"]) == pinned_version(tested)


def test_the_changelog_tells_of_this_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased, *released = re.findall(r"^## \[(.+?)\](.*)$", changelog, re.MULTILINE)

    assert unreleased == ("Unreleased", "")
    assert all(re.fullmatch(r" - \d{4}-\d{2}-\d{2}", date) for _, date in released)
    assert not released or released[0][0] == __version__
