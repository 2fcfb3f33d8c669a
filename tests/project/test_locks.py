"""The lock files agree with the requirements, with each other and with what is installed.

Nothing here needs the network. `make lock` updates the lock files.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.project.test_packaging import PROJECT, pinned_version, requirements
from tests.support.paths import ROOT

LOCKS = sorted(path.name for path in ROOT.glob("requirements*.lock"))
ENVIRONMENTS = [
    {
        "sys_platform": system,
        "platform_system": system.title(),
        "platform_machine": machine,
        "python_version": python,
        "python_full_version": f"{python}.9",
    }
    for system, machine in [("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")]
    for python in ("3.11", "3.12", "3.13", "3.14")
]


@cache
def locked(lock: str) -> list[tuple[Requirement, tuple[str, ...]]]:
    """Return the requirements of a lock file with their hashes, and refuse any other line."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    entries = re.sub(r" *#.*", "", text).replace("\\\n", " ").split("\n")
    parsed = []
    for entry in filter(None, map(str.strip, entries)):
        requirement, *hashes = re.split(r"\s+--hash=", entry)
        parsed.append((Requirement(requirement), tuple(hashes)))
    return parsed


def versions(lock: str, environment: dict[str, str]) -> dict[str, list[Version]]:
    """Return the versions that pip would install in an environment."""
    found: dict[str, list[Version]] = {}
    for requirement, _ in locked(lock):
        if requirement.marker is None or requirement.marker.evaluate(environment):
            name = canonicalize_name(requirement.name)
            found.setdefault(name, []).append(pinned_version(requirement))
    return found


def direct(lock: str) -> list[Requirement]:
    """Return what the file behind a lock names, with what it includes by `-r`."""
    name = lock.replace(".lock", ".txt")
    included = re.findall(r"^-r (\S+)$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    return [r for file in (name, *included) for r in requirements(file).values()]


def test_every_file_of_requirements_has_a_lock_that_make_updates():
    (line,) = re.findall(r"^LOCKS := .*", (ROOT / "Makefile").read_text(), re.MULTILINE)
    names = re.search(r"requirements-%\.lock,(.*)\)", line)[1].split()

    assert {f.with_suffix(".lock").name for f in ROOT.glob("requirements*.txt")} == set(LOCKS)
    assert {"requirements.lock", *(f"requirements-{name}.lock" for name in names)} == set(LOCKS)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_has_one_version_and_hashes(lock):
    """An address of an index, an option or a path would be no requirement and fail as well."""
    assert locked(lock)
    for requirement, hashes in locked(lock):
        assert requirement.url is None
        assert pinned_version(requirement)
        assert hashes, f"{requirement} has no hash"
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", text) for text in hashes)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_the_pins_of_its_requirements(lock):
    for environment in ENVIRONMENTS:
        found = versions(lock, environment)
        for pin in direct(lock):
            assert found.get(canonicalize_name(pin.name)) == [pinned_version(pin)], pin


def test_the_lock_lies_within_the_ranges_of_the_package():
    found = versions("requirements.lock", default_environment())
    needed = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dashboard"]
    for needs in map(Requirement, needed):
        (version,) = found[canonicalize_name(needs.name)]
        assert version in needs.specifier, needs


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda e: " ".join(e.values()))
def test_locks_agree_so_that_one_can_be_installed_after_another(environment):
    together: dict[str, set[Version]] = {}
    for lock in LOCKS:
        for name, found in versions(lock, environment).items():
            assert len(found) == 1, f"{lock} has {name} twice"
            together.setdefault(name, set()).update(found)

    assert {name: found for name, found in together.items() if len(found) > 1} == {}


def dependencies(package: Requirement, version: Version) -> Iterator[Requirement]:
    """Yield what a package needs here, as far as its locked version is installed."""
    try:
        installed = distribution(package.name)
    except PackageNotFoundError:
        return
    if Version(installed.version) != version:
        return
    for needs in map(Requirement, installed.requires or ()):
        extras = ("", *package.extras)
        if needs.marker is None or any(needs.marker.evaluate({"extra": e}) for e in extras):
            yield needs


@pytest.mark.parametrize("lock", LOCKS)
def test_the_whole_tree_is_locked(lock):
    """`pip install --require-hashes` refuses a dependency that the lock does not have."""
    found = versions(lock, default_environment())
    waiting, seen = direct(lock), set()
    while waiting:
        needs = waiting.pop()
        name = canonicalize_name(needs.name)
        assert name in found, f"{lock} lacks {needs}"
        (version,) = found[name]
        assert needs.specifier.contains(version, prereleases=True), f"{needs} is locked {version}"
        if (name, frozenset(needs.extras)) not in seen:
            seen.add((name, frozenset(needs.extras)))
            waiting.extend(dependencies(needs, version))
