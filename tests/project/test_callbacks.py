"""Every callback of a page stands inside the boundary for errors.

Streamlit shows what a callback raises as a traceback, and writes it to the server's log.
"""

import ast
from pathlib import Path

import pytest

from tests.support.paths import ROOT

CALLBACKS = ("on_change", "on_click", "on_select", "on_submit")
# These call the callback inside the boundary.
SAFE_CALLS = {"remembered", "choose_seed", "choose_setting"}
# Streamlit's own, and what show_figure hands on from its callers, which are looked at as well.
SAFE_CALLBACKS = {"st.logout", "on_select or 'ignore'"}
GUARD = "errors_as_notices"
FILES = sorted((ROOT / "dashboard").rglob("*.py"))


def unguarded(path: Path) -> list[str]:
    """Return the callbacks of a file that may raise into Streamlit, each with its line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(decorator) == GUARD for decorator in node.decorator_list)
    }
    return [
        f"{path.relative_to(ROOT)}:{keyword.value.lineno}: {ast.unparse(keyword.value)}"
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and ast.unparse(call.func).split(".")[-1] not in SAFE_CALLS
        for keyword in call.keywords
        if keyword.arg in CALLBACKS and not _is_guarded(keyword.value, guarded)
    ]


def _is_guarded(callback: ast.expr, guarded: set[str]) -> bool:
    if isinstance(callback, ast.Constant):  # "rerun", "ignore", None
        return True
    if isinstance(callback, ast.Call):
        function = ast.unparse(callback.func)
        if function == "functools.partial":
            return _is_guarded(callback.args[0], guarded)
        return function == GUARD
    return ast.unparse(callback) in guarded | SAFE_CALLBACKS


def test_every_callback_stands_inside_the_boundary():
    assert [found for path in FILES for found in unguarded(path)] == []


@pytest.mark.parametrize(
    ("callback", "is_safe"),
    [
        ("keep", True),
        ("other", False),
        ("lambda: keep()", False),
        ("errors_as_notices(lambda: other())", True),
        ("functools.partial(errors_as_notices(other), 1)", True),
        ("functools.partial(other, 1)", False),
        ("'rerun'", True),
    ],
)
def test_the_rule_tells_callbacks_apart(callback, is_safe, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.project.test_callbacks.ROOT", tmp_path)
    page = tmp_path / "page.py"
    page.write_text(f"@{GUARD}\ndef keep(): ...\n\nst.button('a', on_click={callback})\n")
    assert (unguarded(page) == []) == is_safe
