"""Pins, ranges and versions agree with each other."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
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
    for name in ("requirements.txt", "requirements-dev.txt"):
        assert all(pinned_version(requirement) for requirement in requirements(name).values())


def test_pins_lie_within_the_ranges_of_the_package():
    pins = requirements("requirements.txt")
    extras = PROJECT["optional-dependencies"]["dashboard"]
    ranges = [Requirement(text) for text in PROJECT["dependencies"] + extras]

    outside = [str(r) for r in ranges if pinned_version(pins[r.name]) not in r.specifier]

    assert outside == []


def test_pins_name_nothing_else_than_the_package_needs():
    needed = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dashboard"]
    # timm needs torchvision, and only the build that fits the pinned torch works.
    assert {Requirement(text).name for text in needed} | {"torchvision"} == set(
        requirements("requirements.txt")
    )
