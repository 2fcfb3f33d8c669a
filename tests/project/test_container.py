"""What the container files name exists, and their commands are those of this package.

No engine runs here, so the image itself is not built; its steps are tried one by one.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pmae_core.cli.app import app
from tests.project.test_packaging import PYPROJECT
from tests.support.container_files import (
    compose,
    copied,
    copy_into_image,
    given,
    ignore_rules,
    is_sent,
    without_rights,
)
from tests.support.packages import build_wheel, elsewhere, install
from tests.support.paths import ROOT
from tests.support.studio import free_port

COMPOSE = compose()
SERVICES = COMPOSE["services"]
PATIENCE_SECONDS = 90


def stages() -> dict[str, str]:
    """Return what each stage begins from."""
    return {name: base for base, _, name in (rest.split() for rest in given("FROM"))}


def command_of_image() -> list[str]:
    (command,) = given("CMD")
    return json.loads(command)


def health_check(port: int) -> list[str]:
    """Return the command that tells whether a server works, for another port."""
    (rest,) = given("HEALTHCHECK")
    command = json.loads(rest.split("CMD", 1)[1])
    return [word.replace(f":{given('EXPOSE')[0]}/", f":{port}/") for word in command]


def test_what_is_copied_exists_and_is_sent_to_the_engine():
    kept = {rule.removeprefix("!") for rule in ignore_rules() if rule.startswith("!")}

    assert ignore_rules()[0] == "*"
    assert set(copied()) == kept
    assert [path for path in copied() if not (ROOT / path).exists()] == []
    assert [path for path in copied() if not is_sent(path)] == []


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("pmae_core/cli/app.py", True),
        ("benchmarks/results/paper_table2.json", True),
        ("benchmarks/recording.py", False),
        ("tests/conftest.py", False),
        ("secrets.toml", False),
        ("secrets/secrets.toml", False),
        ("dashboard/.streamlit/config.toml", True),
        ("dashboard/.streamlit/secrets.toml", False),
        ("pmae_core/__pycache__/words.pyc", False),
    ],
)
def test_tests_secrets_and_caches_stay_outside(path, sent):
    assert is_sent(path) == sent


def test_the_image_is_installed_from_all_that_makes_the_wheel():
    packed = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]

    assert {*packed, "pyproject.toml", "README.md", "LICENSE"} <= set(copied())


def test_everything_but_the_package_itself_is_installed_from_lock_files():
    commands = [run for run in given("RUN") if "pip install" in run]
    # Wheels of another index of torch cannot be in the lock; that index is only used on request.
    locked = [re.sub(r"if \[ -n .* else (.*); fi", r"\1", run) for run in commands]
    *of_locks, package, of_ray = (shlex.split(run) for run in locked)

    files = {word for run in (*of_locks, of_ray) for word in run if word.startswith("require")}
    assert files == {f"requirements{of}.lock" for of in ("", "-build", "-login", "-ray")}
    assert all("--require-hashes" in run for run in (*of_locks, of_ray))
    assert package == ["pip", "install", "--no-deps", "--no-build-isolation", "."]


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
@pytest.mark.parametrize("command", given("RUN"))
def test_commands_of_the_build_are_valid_for_the_shell(command):
    subprocess.run(["sh", "-n", "-c", command], check=True)


def test_stages_begin_from_stages_or_python_and_the_last_is_the_dashboard():
    names = stages()
    sources = [re.match(r"--from=(\S+)", rest)[1] for rest in given("COPY") if "--from" in rest]

    assert {base for base in names.values() if base not in names} == {"python:3.11-slim"}
    assert set(sources) <= set(names)
    assert list(names)[-1] == "dashboard"


def test_the_image_runs_as_nobody_special_with_its_data_in_a_volume():
    assert given("USER") == ["1000:1000"]
    assert given("VOLUME") == ["/data"]
    assert any("PMAE_HOME=/data" in rest for rest in given("ENV"))


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> Iterator[Path]:
    """Lay out the last stage: an installation that nobody may write to, a home and a volume."""
    root = tmp_path_factory.mktemp("image")
    copy_into_image(ROOT, root / "src")
    install(build_wheel(root / "src", root / "wheel"), root / "opt/pmae")
    for folder in ("data", "home/pmae"):
        (root / folder).mkdir(parents=True)
    subprocess.run(["chmod", "-R", "a-w", root / "opt"], check=True)
    yield root
    subprocess.run(["chmod", "-R", "u+w", root / "opt"], check=True)


def in_image(image: Path) -> dict[str, object]:
    """Return where and with what environment the image runs its commands, as Compose sets it."""
    variables = {
        "PATH": f"{image / 'opt/pmae/bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(image / "home/pmae"),
        "PMAE_HOME": str(image / "data"),
    }
    return elsewhere(image / "home/pmae", **variables, **SERVICES["dashboard"]["environment"])


@pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root needs setpriv"
)
def test_the_command_of_the_image_becomes_healthy_without_writing_to_the_installation(image):
    port = free_port()
    (exposed,) = given("EXPOSE")
    command = [word.replace(f"--port={exposed}", f"--port={port}") for word in command_of_image()]
    log_path = image / "log"
    with log_path.open("wb") as log:
        server = subprocess.Popen(
            without_rights(command), stdout=log, stderr=log, **in_image(image)
        )
        try:
            assert becomes_healthy(port, server, image), log_path.read_text()
        finally:
            server.terminate()
            ended = server.wait(timeout=30)

    assert ended == 0, log_path.read_text()
    assert "Traceback" not in log_path.read_text()


@pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root needs setpriv"
)
def test_nothing_can_be_written_to_the_installation_of_the_image(image):
    write = without_rights(["touch", str(image / "opt/pmae/lib/new")])

    assert subprocess.run(write, capture_output=True).returncode != 0


def becomes_healthy(port: int, server: subprocess.Popen, image: Path) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        check = subprocess.run(health_check(port), capture_output=True, **in_image(image))
        if check.returncode == 0:
            return True
        time.sleep(0.2)
    return False


def built_services() -> list[dict]:
    """Return the services that run our own image."""
    return [service for service in SERVICES.values() if "build" in service]


def commands_of_compose() -> list[list[str]]:
    """Return all commands of the services, those of a shell apart."""
    commands = []
    for service in built_services():
        command = service.get("command", command_of_image())
        text = command[2] if command[0] == "sh" else shlex.join(command)
        commands += [shlex.split(part.strip().removeprefix("exec ")) for part in text.split("&&")]
    return commands


def test_the_dashboard_listens_where_the_image_says(monkeypatch):
    started = []
    monkeypatch.setattr(os, "execve", lambda path, command, env: started.append(command))
    serving = [command for command in commands_of_compose() if command[0] == "pmae"]

    for command in serving:
        assert CliRunner().invoke(app, command[1:]).exit_code == 0, command

    (port,) = given("EXPOSE")
    assert len(started) == 2
    assert all(f"--server.port={port}" in command for command in started)
    assert all("--server.address=0.0.0.0" in command for command in started)


def test_ray_knows_the_options():
    ray = [command for command in commands_of_compose() if command[0] == "ray"]
    assert {command[1] for command in ray} == {"start"}
    code = (
        "from ray.scripts.scripts import start; print(*(o for p in start.params for o in p.opts))"
    )
    known = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    used = {word.split("=")[0] for command in ray for word in command if word.startswith("--")}
    assert used <= set(known)


def test_services_are_built_from_stages_and_publish_the_port():
    for service in built_services():
        assert service["build"]["target"] in stages()
    profiles = {name: service.get("profiles") for name, service in SERVICES.items()}
    assert profiles == {
        "dashboard": None,
        "proxy": ["proxy"],
        "ray-head": ["ray"],
        "ray-worker": ["ray"],
    }
    assert SERVICES["dashboard"]["ports"] == [f"127.0.0.1:8501:{given('EXPOSE')[0]}"]
    assert SERVICES["ray-head"]["environment"]["PMAE_ENGINE"] == "ray"


def test_what_users_set_reaches_the_services():
    changed = compose({"PMAE_PUBLISH": "0.0.0.0:80", "PMAE_JOBS": "1", "PMAE_MEMORY": "2g"})
    dashboard = changed["services"]["dashboard"]

    assert dashboard["ports"] == ["0.0.0.0:80:8501"]
    assert dashboard["environment"]["PMAE_JOBS"] == "1"
    assert dashboard["mem_limit"] == "2g"


def test_every_setting_of_the_dashboard_can_be_given_to_compose():
    """Folders are those of the image, and the engine is a matter of the service."""
    table = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    settings = re.findall(r"^\| `(PMAE_\w+)` \| (?:dashboard|jobs) \|", table, flags=re.M)

    of_image = {"PMAE_RESULTS_DIR", "PMAE_ENGINE"}
    assert set(SERVICES["dashboard"]["environment"]) == set(settings) - of_image


def test_volumes_are_declared_or_folders_of_the_clone():
    for name, service in SERVICES.items():
        for volume in service.get("volumes", []):
            source, target, *_ = volume.split(":")
            assert source.startswith("./") or source in COMPOSE["volumes"], (name, volume)
            assert target.startswith("/"), (name, volume)
    assert SERVICES["dashboard"]["volumes"][0] == f"data:{given('VOLUME')[0]}"
    assert (ROOT / "deploy/nginx.conf.template").is_file()


def test_services_wait_for_services_that_tell_their_health():
    """The image has a health check, so that services made from it have one, too."""
    for service in SERVICES.values():
        for name, condition in service.get("depends_on", {}).items():
            assert condition == {"condition": "service_healthy"}
            assert "build" in SERVICES[name] or "healthcheck" in SERVICES[name]


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_the_health_check_tells_a_server_that_works(status, healthy):
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status if self.path == "/_stcore/health" else 404)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("localhost", 0), Answer) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        python, *arguments = health_check(server.server_port)
        done = subprocess.run([sys.executable, *arguments], capture_output=True)
    assert python == "python"
    assert (done.returncode == 0) == healthy
