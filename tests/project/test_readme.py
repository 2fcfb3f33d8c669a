"""What the README shows works."""

import re

import pytest

from tests.support.markdown import blocks, broken_links, prose
from tests.support.paths import ROOT

README = ROOT / "README.md"


@pytest.mark.parametrize("block", blocks(README, "python"))
def test_python_blocks_run(block, capsys):
    exec(compile(block.text, "README.md", "exec"), {})
    assert 0 < float(capsys.readouterr().out) <= 1


def test_there_is_an_example_of_ten_lines_at_most():
    (example,) = blocks(README, "python")
    assert len([line for line in example.text.splitlines() if line]) <= 10


def test_make_commands_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE))
    text = README.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|^)make ([a-z]+)", text, flags=re.MULTILINE))
    assert {"run", "test", "docs"} <= named <= targets


def test_links_lead_somewhere():
    assert "](" in prose(README)
    assert broken_links(README) == []
