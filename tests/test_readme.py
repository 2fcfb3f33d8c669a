"""What the README shows works."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pmae_core.cli import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
    assert found, f"the README has no {language} block"
    return found


@pytest.mark.parametrize("code", blocks("python"))
def test_python_blocks_run(code, capsys):
    exec(compile(code, "README.md", "exec"), {})
    assert 0 < float(capsys.readouterr().out) <= 1


@pytest.mark.parametrize("session", blocks("console"))
def test_console_blocks_run(session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = ""
    for line in session.splitlines():
        if not line.startswith("$ pmae "):
            assert line in said
            continue
        result = CliRunner().invoke(app, shlex.split(line)[2:])
        assert result.exit_code == 0, result.output
        said = result.output


def test_make_commands_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE))
    named = set(re.findall(r"(?:`|^)make ([a-z]+)", README, flags=re.MULTILINE))
    assert {"run", "test"} <= named <= targets


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []
