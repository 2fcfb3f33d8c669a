"""What the container files name exists, and their commands are those of this package.

No engine runs here, so the image itself is not built; its steps are tried one by one.
"""

import fnmatch
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import yaml
from typer.testing import CliRunner

from pmae_core.cli.app import app
from tests.support.paths import ROOT

COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))


def instructions() -> list[tuple[str, str]]:
    """Return (keyword, rest) of all lines of the Dockerfile, continued lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    return [tuple(line.strip().split(maxsplit=1)) for line in lines if line.strip()]


def given(keyword: str) -> list[str]:
    return [rest for word, rest in instructions() if word == keyword]


def stages() -> dict[str, str]:
    """Return what each stage begins from."""
    return {name: base for base, _, name in (rest.split() for rest in given("FROM"))}


def copied() -> list[str]:
    """Return what is copied from the clone into the image."""
    return [
        path
        for rest in given("COPY")
        if not rest.startswith("--from")
        for path in rest.split()[:-1]
    ]


def command_of_image() -> list[str]:
    (command,) = given("CMD")
    return json.loads(command)


def test_what_is_copied_exists_and_is_not_ignored():
    rules = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    kept = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}

    assert rules[0] == "*"
    assert set(copied()) == kept
    assert [path for path in copied() if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", ["secrets.toml", "dashboard/.streamlit/secrets.toml"])
def test_secrets_stay_outside(name):
    rules = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    last = [rule for rule in rules if fnmatch.fnmatch(f"/{name}", rule.replace("**", "*"))][-1]
    assert last == "**/secrets.toml"


def test_the_image_is_installed_from_the_files_that_make_the_tested_wheel():
    from tests.project.test_installation import FILES, FOLDERS

    assert {*FILES, *FOLDERS} <= set(copied())


def test_everything_but_the_package_itself_is_installed_from_lock_files():
    commands = [run for run in given("RUN") if "pip install" in run]
    # Wheels of another index of torch cannot be in the lock; that index is only used on request.
    locked = [re.sub(r"if \[ -n .* else (.*); fi", r"\1", run) for run in commands]
    *of_locks, package, of_ray = (shlex.split(run) for run in locked)

    files = {word for run in (*of_locks, of_ray) for word in run if word.startswith("require")}
    assert files == {f"requirements{of}.lock" for of in ("", "-build", "-login", "-ray")}
    assert all("--require-hashes" in run for run in (*of_locks, of_ray))
    assert package == ["pip", "install", "--no-deps", "--no-build-isolation", "."]


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


def built_services() -> list[dict]:
    """Return the services that run our own image."""
    return [service for service in COMPOSE["services"].values() if "build" in service]


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
    profiles = {name: service.get("profiles") for name, service in COMPOSE["services"].items()}
    assert profiles == {
        "dashboard": None,
        "proxy": ["proxy"],
        "ray-head": ["ray"],
        "ray-worker": ["ray"],
    }
    assert COMPOSE["services"]["dashboard"]["volumes"][0] == "data:/data"
    assert COMPOSE["services"]["dashboard"]["ports"][0].endswith(f":{given('EXPOSE')[0]}")
    assert COMPOSE["services"]["ray-head"]["environment"]["PMAE_ENGINE"] == "ray"


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_the_health_check_tells_a_server_that_works(status, healthy):
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status if self.path == "/_stcore/health" else 404)
            self.end_headers()

        def log_message(self, *_):
            pass

    (rest,) = given("HEALTHCHECK")
    _, code, script = json.loads(rest.split("CMD", 1)[1])
    assert code == "-c"
    with HTTPServer(("localhost", 0), Answer) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        moved = script.replace(f":{given('EXPOSE')[0]}/", f":{server.server_port}/")
        done = subprocess.run([sys.executable, "-c", moved], capture_output=True)
    assert (done.returncode == 0) == healthy
