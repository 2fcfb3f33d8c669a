"""The wheel, installed where no clone is near: library, command and dashboard."""

import os
import shutil
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

from pmae_core import __version__
from tests.support.paths import ROOT
from tests.support.studio import free_port

FOLDERS = ("pmae_core", "dashboard", "pages", "benchmarks/results")
FILES = ("pyproject.toml", "README.md", "LICENSE")
PATIENCE_SECONDS = 90
OPEN_THE_APP = """
from streamlit.testing.v1 import AppTest
import dashboard
app = AppTest.from_file(dashboard.__path__[0] + "/app.py", default_timeout=60).run()
assert not app.exception and not app.error, app
app.switch_page("../pages/learn.py").run()
assert not app.exception and not app.error, app
print(dashboard.__path__[0], app.title[0].value)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build the wheel from a copy, so that nothing is left behind and nothing old gets in."""
    source = tmp_path_factory.mktemp("source")
    for folder in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, source / folder, ignore=ignored)
    for file in FILES:
        shutil.copy(ROOT / file, source)
    target = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-build-isolation", "--wheel-dir", target, source)
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """Install the wheel into an environment that borrows all else from this one."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    (site_packages,) = environment.glob("lib/python*/site-packages")
    # A path in a .pth file brings the packages there, but not this clone's own installation.
    (site_packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    pip("--python", python, "install", "--ignore-installed", wheel)
    return environment


def pip(*arguments: object) -> None:
    """Run pip without the network."""
    options = ["--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
    at = next(i for i, word in enumerate(arguments) if word in ("wheel", "install")) + 1
    command = [*map(str, arguments[:at]), *options, *map(str, arguments[at:])]
    subprocess.run([sys.executable, "-m", "pip", *command], check=True)


def elsewhere(tmp_path: Path, **more: str) -> dict[str, object]:
    """Return where and with what environment to run: nothing points at the clone."""
    hidden = ("PYTHONPATH", "PMAE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    return {"cwd": tmp_path, "env": {**environment, "PMAE_HOME": str(tmp_path / "home"), **more}}


def test_the_wheel_adds_one_name_and_all_of_the_dashboard(wheel):
    names = zipfile.ZipFile(wheel).namelist()

    assert {name.split("/")[0] for name in names} == {"pmae_core", f"pmae-{__version__}.dist-info"}
    for folder in ("dashboard", "pages"):
        tracked = [
            path.relative_to(ROOT).as_posix()
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts and path.name != "secrets.toml"
        ]
        assert {f"pmae_core/_studio/{path}" for path in tracked} <= set(names)
    samples = (ROOT / "pmae_core/table/samples").glob("*.*")
    assert {f"pmae_core/table/samples/{path.name}" for path in samples} <= set(names)
    assert not any("secrets" in name or "test" in name.split("/")[1] for name in names)


def test_the_command_and_the_library(installed, tmp_path):
    pmae = installed / "bin" / "pmae"

    version = subprocess.check_output([pmae, "--version"], text=True, **elsewhere(tmp_path))
    command = [pmae, "datasets", "penguins", "--output", "penguins.csv"]
    subprocess.run(command, check=True, **elsewhere(tmp_path))

    assert version.strip() == __version__
    assert (tmp_path / "penguins.csv").stat().st_size > 1000


def test_a_notebook_draws_figures_without_the_dashboard(installed, tmp_path):
    code = (
        "import sys\nfrom pmae_core import load_dataset, plots, summarize_missingness\n"
        "table = load_dataset('cirrhosis').frame\n"
        "figure = plots.share_missing(table)\n"
        "print(plots.__file__, len(figure.data), 'streamlit' in sys.modules)\n"
        "print(len(summarize_missingness(table)._repr_html_()) > 1000)"
    )

    said = subprocess.check_output(
        [installed / "bin" / "python", "-c", code], text=True, **elsewhere(tmp_path)
    )

    first, second = said.splitlines()
    (room,) = installed.glob("lib/python*/site-packages/pmae_core/plots/__init__.py")
    assert first == f"{room} 2 False"
    assert second == "True"


def test_pages_work_from_the_package(installed, tmp_path):
    (studio,) = installed.glob("lib/python*/site-packages/pmae_core/_studio")
    command = [installed / "bin" / "python", "-c", OPEN_THE_APP]

    said = subprocess.run(
        command,
        text=True,
        capture_output=True,
        **elsewhere(tmp_path, PYTHONPATH=str(studio)),
    )

    assert said.stdout.strip() == f"{studio / 'dashboard'} Learn", said.stderr


def test_serve_starts_the_dashboard(installed, tmp_path):
    port = free_port()
    command = [installed / "bin" / "pmae", "serve", "--port", str(port), "--no-browser"]
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, **elsewhere(tmp_path))
        try:
            assert answers(f"http://localhost:{port}/_stcore/health", server), (
                tmp_path / "log"
            ).read_text()
        finally:
            server.terminate()
            server.wait(timeout=30)


def answers(address: str, server: subprocess.Popen) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return answer.read() == b"ok"
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    return False
