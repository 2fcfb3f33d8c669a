"""The wheel, installed where no clone is near: library, command and dashboard."""

import ast
import shutil
import subprocess
import time
import urllib.error
import urllib.request
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from dashboard.paper import measured
from pmae_core import __version__
from tests.project.test_packaging import PROJECT, PYPROJECT
from tests.support.packages import (
    build_source_archive,
    build_wheel,
    elsewhere,
    install,
    site_packages,
)
from tests.support.paths import ROOT
from tests.support.studio import free_port

RESULTS = "benchmarks/results"
# What a wheel must not take along, wherever it lies.
SECRET = "a secret of this test"
UNWANTED = (
    "dashboard/.streamlit/secrets.toml",
    "pages/__pycache__/old.pyc",
    "pmae_core/.mypy_cache/old.json",
)
PATIENCE_SECONDS = 90
OPEN_THE_APP = """
from streamlit.testing.v1 import AppTest
import dashboard
app = AppTest.from_file(dashboard.__path__[0] + "/app.py", default_timeout=60).run()
assert not app.exception and not app.error, app
for page in ("paper", "learn"):
    app.switch_page(f"../pages/{page}.py").run()
    assert not app.exception and not app.error, app
print(dashboard.__path__[0], app.title[0].value)
"""
IMPUTE = """
import sys
from pmae_core import ampute, load_dataset, make_imputer
incomplete = ampute(load_dataset("penguins").frame.dropna(), seed=0).incomplete
print(make_imputer("naive").fit_transform(incomplete).isna().sum().sum())
print(sys.modules["pmae_core"].__file__)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """Copy the clone, so that nothing is left behind in it, and add what must stay outside."""
    source = tmp_path_factory.mktemp("source")
    included = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    for name in (*included, "pyproject.toml", ".gitignore", "README.md", "LICENSE"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name)
        else:
            shutil.copy(ROOT / name, source)
    for name in UNWANTED:
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(SECRET)
    return source


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory) -> Path:
    return build_wheel(source, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    environment = tmp_path_factory.mktemp("environment")
    install(wheel, environment)
    return environment


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def tracked(folder: str) -> set[str]:
    """Return the files of a folder that git knows, or those that it would not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder]
    names = subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    return {name for name in names if (ROOT / name).exists()}


def shown_results() -> set[str]:
    """Return the results that pages read: those that they name, and those of experiments."""
    strings = {
        node.value
        for folder in ("dashboard", "pages", "pmae_core")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    read = {name for name, _ in measured.stamp(ROOT / RESULTS)}
    return read | {path.name for path in (ROOT / RESULTS).iterdir() if path.name in strings}


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_wheel_has_the_library_the_dashboard_the_results_it_shows_and_nothing_else(wheel):
    expected = tracked("pmae_core") | {
        f"pmae_core/_studio/{name}" for name in tracked("dashboard") | tracked("pages")
    }
    expected |= {f"pmae_core/_studio/{RESULTS}/{name}" for name in shown_results()}
    info = f"pmae-{__version__}.dist-info"
    expected |= {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    expected |= {f"{info}/licenses/{name}" for name in PROJECT["license-files"]}

    assert set(contents(wheel)) == expected
    assert "pmae_core/py.typed" in expected


def test_nothing_secret_or_cached_gets_into_the_wheel(wheel):
    found = contents(wheel)

    assert [name for name, content in found.items() if SECRET.encode() in content] == []


def test_the_metadata_is_what_an_index_shows(wheel):
    text = contents(wheel)[f"pmae-{__version__}.dist-info/METADATA"].decode()
    metadata = Parser().parsestr(text)

    assert (metadata["Name"], metadata["Version"]) == ("pmae", __version__)
    assert metadata["License-Expression"] == PROJECT["license"]
    assert set(metadata.get_all("Classifier")) == set(PROJECT["classifiers"])
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])


def test_the_source_archive_builds_the_same_wheel(source, wheel, tmp_path):
    unpacked = build_source_archive(source, tmp_path / "archive")

    again = build_wheel(unpacked, tmp_path / "wheel")

    assert contents(again) == contents(wheel)
    assert (unpacked / "CHANGELOG.md").is_file()
    secret = [path for path in unpacked.rglob("*") if path.is_file() and is_secret(path)]
    assert secret == []


def is_secret(path: Path) -> bool:
    return SECRET.encode() in path.read_bytes()


def test_the_command(installed, tmp_path):
    pmae = installed / "bin" / "pmae"

    version = subprocess.check_output([pmae, "--version"], text=True, **elsewhere(tmp_path))
    for arguments in (
        ["datasets", "penguins", "--output", "penguins.csv"],
        ["impute", "penguins.csv", "--method", "naive", "--output", "imputed.csv"],
    ):
        subprocess.run([pmae, *arguments], check=True, **elsewhere(tmp_path))

    assert version.strip() == __version__
    assert ",," in (tmp_path / "penguins.csv").read_text()
    assert ",," not in (tmp_path / "imputed.csv").read_text()


def test_the_library(installed, tmp_path):
    command = [installed / "bin" / "python", "-c", IMPUTE]

    n_missing, file = subprocess.check_output(command, text=True, **elsewhere(tmp_path)).split()

    assert n_missing == "0"
    assert Path(file).is_relative_to(installed)


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
    studio = site_packages(installed) / "pmae_core" / "_studio"
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
