"""Words that the project avoids, what it says instead, and the texts in which to look for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# British spellings, whole words or parts of them; optimism is no spelling of optimize.
BRITISH = (
    r"\w*(?:colour|neighbour|behaviour|favour|honour)\w*",
    r"\w*(?:summaris|standardis|normalis|initialis|regularis|maximis|minimis|generalis|categoris"
    r"|organis|recognis|randomis|visualis|penalis|characteris|memoris|criticis|emphasise)\w*",
    r"\w*optimis(?!m\b|ti)\w*",
    r"analys(?:e|ed|ing|er)|catalogues?|centres?|grey|labell\w+|modell(?:ed|ing)|towards|whilst"
    r"|amongst|learnt|licence|programme",
)

_NOUN_BEFORE = (
    r"(?:the|several|of|all|random|more|many|most|these|those|your|its|their|our|few|fewer|multiple"
    r"|between|in|from|across|over|per|pooled|proper|plausible|five|ten|\d+|…)"
)


@dataclass(frozen=True)
class Avoided:
    """A pattern of words that readers stumble over, and what to write instead."""

    pattern: str
    instead: str


# The order is that of the design: one name for one thing, then how sentences go.
AVOIDED = [
    Avoided(r"\bholes?\b", "missing value, missing"),
    Avoided(r"\bgaps?\b", "missing value; skipped number"),
    Avoided(r"\bempty cells?\b", "missing cell"),
    Avoided(r"\bfill(?:s|ed|ing|ings)?\b", "impute, imputed, imputation"),
    Avoided(
        r"\b(?:cells?|values?|rows?) (?:that |which )?(?:is|are|was|were) "
        r"(?:there|left(?! (?:out|missing|alone)))\b",
        "observed",
    ),
    Avoided(
        r"\b(?:hid|hidden|hiding)\b(?!\s+(?:layers?|units?|width)\b)", "held out, masked or missing"
    ),
    Avoided(r"\bhides? (?:\w+ )?(?:cells?|values?|itself|themselves)\b", "mask, hold out"),
    Avoided(r"\bnever saw\b", "held out"),
    Avoided(r"\b(?:gives?|given|giving|gave) (?:\w+ ){0,2}back\b", "reconstruct"),
    Avoided(rf"\b{_NOUN_BEFORE} draws\b|\Adraws\b(?! \w)", "imputations"),
    Avoided(
        r"\b(?:an?|one|each|every|per|another|single|this) draw\b|\bdraw (?:\d|…)", "imputation"
    ),
    Avoided(r"\bwhoever\b|\bwho (?:wins|comes|is closest|knows)\b", "method; you; anyone who"),
    Avoided(r"\bbreak(?:s|ing)? (?:\w+ )?on purpose\b|\bget lost\b", "simulate missing values"),
    Avoided(r"\b(?:may|might|could) be chance\b|\bin one band\b|\btie bands?\b", "tied"),
    Avoided(r"\bpractis\w+|\bby heart\b", "train, overfit, generalize"),
    Avoided(
        r"\bbiograph(?:y|ies)\b|\bstory of (?:an?|one|this|the) (?:\w+ )?cell\b", "cell details"
    ),
    Avoided(r"\bhow sure\b", "confidence interval; imputation spread"),
    Avoided(r"\btakeaways?\b|\btak(?:e|ing) (?:(?:it|them|this) )?(?:away|along)\b", "export"),
    Avoided(
        r"(?<!not\s)\bwhy (?:(?:it|they|values|cells) (?:is|are)|(?:is|are) (?:it|they|…))"
        r" missing\b",
        "what goes with missingness",
    ),
    Avoided(
        r"(?:\b(?:one|two|\d+|(?:\d+|…) (?:s|min|MB|GB|seconds|steps|rows|cells|times))"
        r"|\b(?:bar|job|page|folder|line|dot|curve|seconds)) an? "
        r"(?:session|run|step|row|column|file|seed|method|task|core|GPU|page|table|process)\b",
        "per",
    ),
    Avoided(r"\bfound out\b", "automatic, detected"),
    Avoided(r"\Aevery setting\b", "advanced settings"),
    Avoided(r"\bhang(?:s|ing)? together\b", "are related"),
    Avoided(r"\bmore than nothing\b", "positive"),
    Avoided(r"\bc[ao]mes? to no end\b", "timed out"),
    Avoided(r"\bof (?:then|now)\b|\bby now\b|\bare others\b", "previous, current"),
    Avoided(r"\b(?:not|no|cannot|nothing|never|nobody)\b[^.]{0,60}\bany\s?more\b", "no longer"),
    Avoided(r"\babout less than\b", "less than"),
    Avoided(r"\btaken back\b|\btakes? back\b", "undone, undo"),
    Avoided(r"\bpress twice\b", "double-click"),
    Avoided(
        r"\b(?:is|are|stays?|comes?) (?:back )?as (?:it was|they were)\b(?! \w)|\bbut for\b",
        "unchanged; except for",
    ),
    Avoided(
        r"(?:[\d…)]|%[\d.]*[dfg])[\x20\xa0\u202f]%+(?![\w({])", "a percent sign without a space"
    ),
    Avoided(r"\b(?:" + "|".join(BRITISH) + r")\b", "American spelling"),
]

# What the interface does not say; code and command line do speak of jobs.
AVOIDED_IN_INTERFACE = [
    Avoided(r"\bjobs?\b", "run"),
    Avoided(r"\w!(?=\s|\Z)", "a full stop"),
]


@dataclass(frozen=True)
class Text:
    """A text that somebody reads, and the line of its file where it begins."""

    line: int
    text: str
    is_docstring: bool = False


@dataclass(frozen=True)
class Finding:
    """Words to avoid in a text."""

    line: int
    words: str
    text: str
    instead: str

    def __str__(self) -> str:
        shown = " ".join(self.text.split())
        at = max(0, shown.find(" ".join(self.words.split())) - 40)
        return f"{self.line}: {self.words!r} (say: {self.instead}) in …{shown[at : at + 110]}…"


# A line may break between two words, a paragraph may not.
_BETWEEN_WORDS = r"(?:\x20+|\x20*\n\x20*)"


def avoided_words(text: Text, *, in_interface: bool = False) -> Iterator[Finding]:
    """Find the words of a text that the project avoids."""
    is_shown = in_interface and not text.is_docstring
    for avoided in [*AVOIDED, *(AVOIDED_IN_INTERFACE if is_shown else [])]:
        pattern = avoided.pattern.replace(" ", _BETWEEN_WORDS)
        for found in re.finditer(pattern, text.text, re.IGNORECASE):
            line = text.line + text.text.count("\n", 0, found.start())
            yield Finding(line, found[0], _around(text.text, found), avoided.instead)


def _around(text: str, found: re.Match[str]) -> str:
    return text[max(0, found.start() - 60) : found.end() + 60]


# Where the texts are

# A key, a path, a file name: lower-case words joined by signs.
_IDENTIFIER = re.compile(r"[a-z0-9]+(?:[_:./-]+[a-z0-9…]+)+|:material/\w+:|[\w.…-]+\.\w{2,7}")
# Code in a docstring (what it prints is read), and the names of its parameters.
_EXAMPLE = re.compile(r"(?<=\n) *(?:(?:>>>|\.\.\.) .*|[\w*, ]+ : .*)")
# Arguments that name a thing and are not shown.
_NOT_SHOWN = {"key", "name", "section", "width", "height", "gap", "label_visibility"}
# Stands for a value that is inserted.
_INSERTED = "…"


def python_texts(path: Path) -> list[Text]:
    """Return the string literals of a Python file; inserted values are dots."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        id(part) for node in ast.walk(tree) for whole in _not_read(node) for part in ast.walk(whole)
    }
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and ast.get_docstring(node, clean=False)
    }
    return [
        Text(node.lineno, _EXAMPLE.sub("", text), is_docstring=id(node) in docstrings)
        for node in ast.walk(tree)
        if id(node) not in skipped and (text := _text_of(node)) and not _IDENTIFIER.fullmatch(text)
    ]


def _not_read(node: ast.AST) -> Iterator[ast.AST]:
    """Return the parts of a node that nobody reads as text, or that its own text contains."""
    if isinstance(node, ast.JoinedStr):
        yield from (part for part in node.values if isinstance(part, ast.Constant))
        yield from (
            part.format_spec
            for part in node.values
            if isinstance(part, ast.FormattedValue) and part.format_spec
        )
    elif isinstance(node, ast.keyword) and node.arg in _NOT_SHOWN:
        yield node.value
    elif isinstance(node, ast.Subscript):
        yield node.slice


def _text_of(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else _INSERTED for part in node.values
        )
    return ""


def script_texts(path: Path) -> list[Text]:
    """Return the string literals of a JavaScript file that hold more than one word."""
    content = path.read_text(encoding="utf-8")
    return [
        Text(content.count("\n", 0, found.start()) + 1, found[2])
        for found in re.finditer(
            r"([\"'`])((?:(?!\1)[^\\\n]|\\.)* (?:(?!\1)[^\\\n]|\\.)*)\1", content
        )
    ]


def markdown_text(path: Path) -> Text:
    """Return a document without code, comments and the targets of links; lines stay lines."""
    content = path.read_text(encoding="utf-8")
    for not_prose in (
        r"^( *)```.*?^\1```$",
        r"(`+)(?!`).*?(?<!`)\1(?!`)",
        r"<!--.*?-->",
        r"\]\([^)\s]+\)",
    ):
        content = re.sub(not_prose, _only_lines, content, flags=re.DOTALL | re.MULTILINE)
    return Text(1, content)


def _only_lines(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")
