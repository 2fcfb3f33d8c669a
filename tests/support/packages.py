"""Building the package and installing it where no clone is near, without the network."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path


def build_wheel(source: Path, target: Path) -> Path:
    """Build the wheel of a folder with sources."""
    _pip("wheel", "--no-build-isolation", "--wheel-dir", target, source)
    (built,) = target.glob("*.whl")
    return built


def build_source_archive(source: Path, target: Path) -> Path:
    """Build the source archive, and return the folder that it unpacks to."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "sdist"]
    subprocess.run([*command, "--directory", target], cwd=source, check=True, capture_output=True)
    (built,) = target.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        archive.extractall(target, filter="data")
    return target / built.name.removesuffix(".tar.gz")


def install(wheel: Path, environment: Path) -> None:
    """Install a wheel into a new environment that borrows all else from this one."""
    venv.create(environment, with_pip=False, symlinks=True)
    # A path in a .pth file brings the packages there, but not this clone's own installation.
    (site_packages(environment) / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    _pip("--python", environment / "bin" / "python", "install", "--ignore-installed", wheel)


def site_packages(environment: Path) -> Path:
    (folder,) = environment.glob("lib/python*/site-packages")
    return folder


def elsewhere(folder: Path, **more: str) -> dict[str, object]:
    """Return where and with what environment to run: nothing points at the clone."""
    hidden = ("PYTHONPATH", "PMAE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    return {"cwd": folder, "env": {**environment, "PMAE_HOME": str(folder / "home"), **more}}


def _pip(*arguments: object) -> None:
    options = ["--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
    at = next(i for i, word in enumerate(arguments) if word in ("wheel", "install")) + 1
    command = [*map(str, arguments[:at]), *options, *map(str, arguments[at:])]
    subprocess.run([sys.executable, "-m", "pip", *command], check=True)
