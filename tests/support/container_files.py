"""What Dockerfile, .dockerignore and compose.yaml say, read as an engine would."""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.support.paths import ROOT

_VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")


def instructions() -> list[tuple[str, str]]:
    """Return (keyword, rest) of all lines of the Dockerfile, continued lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    split = [line.strip().split(maxsplit=1) for line in lines if line.strip()]
    return [(keyword, rest) for keyword, rest in split]


def given(keyword: str) -> list[str]:
    """Return what follows each use of a keyword of the Dockerfile."""
    return [rest for word, rest in instructions() if word == keyword]


def copied() -> list[str]:
    """Return what is copied from the clone into the image."""
    return [
        path
        for rest in given("COPY")
        if not rest.startswith("--from")
        for path in rest.split()[:-1]
    ]


def ignore_rules() -> list[str]:
    return (ROOT / ".dockerignore").read_text(encoding="utf-8").split()


def is_sent(path: str) -> bool:
    """Return whether an engine would see a file of the clone: the last rule that fits counts."""
    parts = path.split("/")
    above = ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]
    sent = True
    for rule in ignore_rules():
        pattern = _pattern(rule.removeprefix("!"))
        if any(re.fullmatch(pattern, part) for part in above):
            sent = rule.startswith("!")
    return sent


def _pattern(rule: str) -> str:
    return re.escape(rule).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")


def copy_into_image(clone: Path, target: Path) -> None:
    """Copy from a clone what the Dockerfile copies and .dockerignore does not keep back."""
    for path in copied():
        source = clone / path
        files = [source] if source.is_file() else filter(Path.is_file, source.rglob("*"))
        for file in files:
            name = file.relative_to(clone).as_posix()
            if is_sent(name):
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target / name)


def compose(variables: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return compose.yaml with its variables replaced by these, or else by their defaults."""
    content = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    replaced: dict[str, Any] = _replaced(content, variables or {})
    return replaced


def _replaced(content: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(content, dict):
        return {name: _replaced(value, variables) for name, value in content.items()}
    if isinstance(content, list):
        return [_replaced(value, variables) for value in content]
    if isinstance(content, str):
        return _VARIABLE.sub(lambda found: variables.get(found[1]) or found[2], content)
    return content


def without_rights(command: list[str]) -> list[str]:
    """Return a command that heeds permissions of files even if root runs it."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]
