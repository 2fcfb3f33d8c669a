"""What users type never becomes code: the calls and imports that could do so are not there."""

import ast
from pathlib import Path

import pytest

from tests.support.paths import ROOT

RUNNING = {"eval", "exec", "compile", "__import__"}
LOOKING_UP = {"getattr", "globals", "locals", "vars", "attrgetter"}
FORMULA_LIBRARIES = ("patsy", "formulaic", "statsmodels.formula", "numexpr", "asteval")
# Rooms that handle what users type; there, not even attributes are looked up by name.
ROOMS_OF_TYPED_TEXT = ("pmae_core/expressions", "pmae_core/inference")


def objections(code: str, *, typed_text: bool) -> list[str]:
    """Return what in a piece of code could run text."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call):
            found += _of_call(node, typed_text)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            module = getattr(node, "module", None)
            full = [f"{module}.{name}" for name in names] if module else names
            found += [name for name in full if name.startswith(FORMULA_LIBRARIES)]
    return found


def _of_call(node: ast.Call, typed_text: bool) -> list[str]:
    if isinstance(node.func, ast.Name):
        is_bad = node.func.id in RUNNING or (typed_text and node.func.id in LOOKING_UP)
        return [node.func.id] if is_bad else []
    if isinstance(node.func, ast.Attribute):
        # A network's eval() takes nothing; pandas.eval and DataFrame.eval or query take text.
        is_bad = node.func.attr in ("eval", "query") and node.args
        is_bad = is_bad or (typed_text and node.func.attr in ("from_formula", "import_module"))
        return [node.func.attr] if is_bad else []
    return []


def test_nothing_runs_text():
    found = []
    for package in ("pmae_core", "dashboard", "pages"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            typed_text = name.startswith(ROOMS_OF_TYPED_TEXT)
            for objection in objections(path.read_text(encoding="utf-8"), typed_text=typed_text):
                found.append(f"{name}: {objection}")
    assert found == []


@pytest.mark.parametrize("room", ROOMS_OF_TYPED_TEXT)
def test_the_rooms_exist(room):
    assert any(Path(ROOT / room).rglob("*.py"))


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ("eval(text)", True),
        ("frame.eval(text)", True),
        ("frame.query(text)", True),
        ("network.eval()", False),
        ("re.compile(text)", False),
        ("getattr(a, name)", True),
        ("import patsy", True),
        ("from statsmodels.formula import api", True),
        ("import statsmodels.formula.api as smf", True),
        ("import statsmodels.api as sm", False),
        ("OLS.from_formula(text, frame)", True),
    ],
)
def test_what_could_run_text_is_found(code, is_found):
    assert bool(objections(code, typed_text=True)) == is_found
