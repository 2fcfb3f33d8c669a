"""Reading documents: their code blocks, headings and links, and running what they show."""

from __future__ import annotations

import re
import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from pmae_core.cli.app import app

_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)(?: title=\"(?P<title>[^\"]*)\")?\n"
    r"(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A code block; ``title`` is the file that it stands for, if any."""

    language: str
    title: str
    text: str


def blocks(path: Path, language: str) -> list[Block]:
    """Return the code blocks of a document in a language."""
    found = [
        Block(match["language"], match["title"] or "", textwrap.dedent(match["text"]))
        for match in _BLOCK.finditer(path.read_text(encoding="utf-8"))
    ]
    return [block for block in found if block.language == language]


def prose(path: Path) -> str:
    """Return a document without its code blocks."""
    return _BLOCK.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """Return the names by which the headings of a document can be linked."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings]
    return {re.sub(r"[-\s]+", "-", heading) for heading in plain}


def broken_links(path: Path) -> list[str]:
    """Return the links of a document to files and headings that do not exist."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    return broken


def run_console(session: str) -> None:
    """Run the ``$ pmae`` lines of a session; every other line must be said by the one before."""
    said = ""
    for line in session.splitlines():
        if not line.startswith("$ pmae "):
            assert line in said
            continue
        result = CliRunner().invoke(app, shlex.split(line)[2:])
        assert result.exit_code == 0, f"{line}\n{result.output}"
        said = result.output


def pmae_commands(path: Path) -> list[str]:
    """Return the ``pmae`` lines of shell blocks and of the prose, without running them."""
    shown = [block.text for block in blocks(path, "sh")]
    inline = re.findall(r"`(pmae [^`]+)`", prose(path))
    return [
        line.split("#")[0].strip()
        for text in [*shown, *inline]
        for line in text.splitlines()
        if re.match(r"(?:[A-Z_]+=\S+ )*pmae ", line)
    ]
