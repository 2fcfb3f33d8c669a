"""The arrows of the architecture go down only: pages -> dashboard -> pmae_core, and inside it."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PACKAGES = ("pages", "dashboard", "pmae_core")

# From high to low; those on one line are siblings and do not know each other.
CORE_LAYERS = (
    ("__main__",),
    ("cli", "plots"),
    ("pmae_core",),  # its __init__, which names what the layers below offer
    ("jobs",),
    ("export",),
    ("explain",),
    ("inference", "replication"),
    ("evaluation",),
    ("imputers",),
    ("training",),
    ("model",),
    ("masking", "amputation", "missingness"),
    ("gaussian",),
    ("table",),
    ("storage",),
    ("progress",),
    ("display", "documents", "expressions"),
    ("errors", "events", "checks", "colors", "names", "threads", "words"),
)
CORE_RANK = {name: rank for rank, names in enumerate(CORE_LAYERS) for name in names}

BROWSER_LIBRARIES = {"streamlit", "plotly", "missingno"}
# Plotly is optional: only this room imports it, and nothing else in pmae_core imports this room.
PLOTLY_LAYER = "plots"
NETWORK_LIBRARIES = {"torch", "torchvision", "timm"}
NETWORK_LAYERS = {"imputers", "training", "model"}

SLOW_LIBRARIES = ("torch", "statsmodels")
WITHOUT_SLOW_LIBRARIES = (
    "pmae_core",
    "pmae_core.table",
    "pmae_core.masking",
    "pmae_core.amputation",
    "pmae_core.missingness",
    "pmae_core.evaluation",
    "pmae_core.replication",
    "pmae_core.explain",
    "pmae_core.export",
    "pmae_core.inference",
    "pmae_core.storage.tables",
    "pmae_core.jobs",
    "pmae_core.cli.app",
)


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of all that a file imports, wherever in the file it does so.

    ``from package import name`` yields ``package.name`` when that is a module of the tree, and
    ``package`` when it is not.
    """
    package = list(path.relative_to(root).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                full = root / base.replace(".", "/") / alias.name
                is_module = full.is_dir() or full.with_suffix(".py").exists()
                yield node.lineno, f"{base}.{alias.name}" if is_module else base
        elif isinstance(node, ast.Call) and _is_import_call(node):
            yield node.lineno, node.args[0].value


def _is_import_call(node: ast.Call) -> bool:
    name = getattr(node.func, "attr", getattr(node.func, "id", None))
    if name not in {"import_module", "__import__"} or not node.args:
        return False
    return isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)


def core_layer(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def objection(importer: str, imported: str) -> str | None:
    """Say why ``importer`` may not import ``imported``; None when it may."""
    source, target = importer.split(".")[0], imported.split(".")[0]
    if source in PACKAGES and target in PACKAGES:
        if PACKAGES.index(target) < PACKAGES.index(source):
            return f"{source} lies below {target}"
        if source == target == "pages":
            return "pages do not know each other"
    if source != "pmae_core":
        return None
    layer = core_layer(importer)
    if target == "plotly" and layer == PLOTLY_LAYER:
        return None
    if target in BROWSER_LIBRARIES | {"tests", "benchmarks"}:
        return f"pmae_core knows nothing of {target}"
    return _objection_within_core(layer, imported)


def _objection_within_core(layer: str, imported: str) -> str | None:
    target = imported.split(".")[0]
    if target == "pmae_core" and PLOTLY_LAYER == core_layer(imported) != layer:
        return f"{PLOTLY_LAYER} is for notebooks and pages: the library works without Plotly"
    if layer not in CORE_RANK:
        return f"{layer} has no place in CORE_LAYERS yet"
    if target in NETWORK_LIBRARIES and layer not in NETWORK_LAYERS:
        return f"{target} belongs in {', '.join(sorted(NETWORK_LAYERS))} alone"
    if target == "pandas" and layer == "model":
        return "a network knows tensors, not data frames"
    if target == "pmae_core" and layer != core_layer(imported):
        lower = core_layer(imported)
        if CORE_RANK.get(lower, -1) <= CORE_RANK[layer]:
            return f"{layer} does not lie above {lower}"
    return None


def violations(root: Path) -> list[str]:
    found = []
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            importer = module_name(path, root)
            for line, imported in imported_modules(path, root):
                if reason := objection(importer, imported):
                    where = f"{path.relative_to(root).as_posix()}:{line}"
                    found.append(f"{where} imports {imported}: {reason}")
    return found


def test_all_imports_point_downwards():
    assert violations(ROOT) == []


def test_every_package_is_looked_at():
    assert all(any((ROOT / package).rglob("*.py")) for package in PACKAGES)


def private_uses(root: Path) -> list[str]:
    """Return the imports of private names and modules from outside their own folder."""
    found = []
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    for alias in node.names:
                        name = f"{node.module}.{alias.name}"
                        if _is_private_elsewhere(name, path.relative_to(root), root):
                            found.append(
                                f"{path.relative_to(root).as_posix()}:{node.lineno} {name}"
                            )
    return found


def _is_private_elsewhere(name: str, importer: Path, root: Path) -> bool:
    parts = name.split(".")
    at = next((i for i, part in enumerate(parts) if re.match("_(?!_)", part)), None)
    if at is None or parts[0] not in PACKAGES:
        return False
    home = Path(*parts[:at])
    if (root / home).with_suffix(".py").exists():
        home = home.parent
    return home not in importer.parents


def test_private_names_stay_in_their_folder():
    assert private_uses(ROOT) == []


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ("from pmae_core.table.schema import _rule", True),
        ("from pmae_core.table import _rules", True),
        ("from pmae_core.table._rules import rule", True),
        ("from pmae_core.table import __doc__", False),
        ("from pmae_core.table.schema import Schema", False),
        ("from pmae_core.masking import _mine", False),
        ("from numpy import _core", False),
    ],
)
def test_a_private_name_used_elsewhere_is_found(tmp_path, code, is_found):
    _write(tmp_path, "pmae_core/table/schema.py", "")
    _write(tmp_path, "pmae_core/masking/a.py", code)

    assert bool(private_uses(tmp_path)) == is_found


BAD_IMPORTS = [
    ("pmae_core/table/schema.py", "import streamlit as st", "knows nothing of streamlit"),
    (
        "pmae_core/table/schema.py",
        "from plotly import graph_objects",
        "knows nothing of plotly",
    ),
    ("pmae_core/table/schema.py", "def f():\n    import torch", "torch belongs in"),
    (
        "pmae_core/table/schema.py",
        "from ..masking import a",
        "table does not lie above masking",
    ),
    ("pmae_core/table/schema.py", "from .. import masking", "table does not lie above masking"),
    (
        "pmae_core/table/schema.py",
        "from pmae_core import impute",
        "does not lie above pmae_core",
    ),
    ("pmae_core/masking/a.py", "import pmae_core.amputation", "does not lie above amputation"),
    ("pmae_core/training/loop.py", "from pmae_core.imputers import X", "above imputers"),
    ("pmae_core/model/net.py", "import pandas as pd", "not data frames"),
    ("pmae_core/jobs/a.py", "importlib.import_module('pmae_core.cli.app')", "above cli"),
    ("pmae_core/newcomer.py", "import pmae_core.table", "no place in CORE_LAYERS"),
    ("pmae_core/__init__.py", "from .cli import main", "pmae_core does not lie above cli"),
    ("pmae_core/cli/app.py", "from dashboard import app", "pmae_core lies below dashboard"),
    ("dashboard/app.py", "import pages.sample", "dashboard lies below pages"),
    ("pages/one.py", "from pages import two", "pages do not know each other"),
    ("pmae_core/__main__.py", "from pmae_core import plots", "works without Plotly"),
    ("pmae_core/cli/app.py", "from pmae_core.plots.style import styled", "works without Plotly"),
    ("pmae_core/evaluation/a.py", "import plotly", "knows nothing of plotly"),
    ("pmae_core/plots/a.py", "import streamlit", "knows nothing of streamlit"),
    ("pmae_core/plots/a.py", "from pmae_core.cli import main", "does not lie above cli"),
]


@pytest.mark.parametrize(("path", "code", "reason"), BAD_IMPORTS)
def test_a_bad_import_is_found(tmp_path, path, code, reason):
    for module in ("masking", "plots"):
        _write(tmp_path, f"pmae_core/{module}/__init__.py", "")
    _write(tmp_path, path, code)

    (found,) = violations(tmp_path)

    assert found.startswith(path)
    assert reason in found


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (
            "pages/one.py",
            "import streamlit\nfrom dashboard.text import x\nimport pmae_core.table",
        ),
        ("dashboard/app.py", "from pmae_core import table"),
        ("pmae_core/cli/app.py", "def f():\n    from pmae_core.imputers import make_imputer"),
        ("pmae_core/imputers/base.py", "from ..table.schema import Schema\nimport torch, pandas"),
        ("pmae_core/table/schema.py", "from .schema import Schema\nfrom ..errors import E"),
        ("pmae_core/__init__.py", "from pmae_core.imputers import PMAEImputer"),
        ("pmae_core/plots/a.py", "import plotly\nfrom pmae_core.table import Schema"),
        ("dashboard/figures/a.py", "from pmae_core.plots.style import styled"),
    ],
)
def test_a_good_import_is_left_alone(tmp_path, path, code):
    for module in ("table", "imputers", "plots"):
        _write(tmp_path, f"pmae_core/{module}/__init__.py", "")
    _write(tmp_path, path, code)

    assert violations(tmp_path) == []


def _write(root: Path, path: str, code: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(code, encoding="utf-8")


# Imports that may close a cycle, and why.
ALLOWED_BACKWARDS = {
    ("pmae_core.imputers.registry", "pmae_core.imputers"): "inside a function: when first asked "
    "for the methods, the registry loads the package in which they register themselves",
}


def import_graph(root: Path, *, with_types: bool) -> dict[str, set[str]]:
    """Return for each module of pmae_core the others that it imports, anywhere in its file.

    An import of ``a.b.c`` also runs ``a`` and ``a.b``; these count unless they hold the importer.
    """
    paths = {module_name(path, root): path for path in (root / "pmae_core").rglob("*.py")}
    graph: dict[str, set[str]] = {}
    for module, path in paths.items():
        hidden = set() if with_types else _lines_for_type_checkers(path)
        graph[module] = set()
        for line, imported in imported_modules(path, root):
            parts = imported.split(".")
            packages = (".".join(parts[:size]) for size in range(1, len(parts)))
            run_too = (one for one in packages if not f"{module}.".startswith(f"{one}."))
            if line not in hidden:
                graph[module] |= {imported, *run_too} & set(paths) - {module}
    for module, imported in ALLOWED_BACKWARDS:
        graph.get(module, set()).discard(imported)
    return graph


def _lines_for_type_checkers(path: Path) -> set[int]:
    """Return the numbers of the lines under ``if TYPE_CHECKING``."""
    return {
        line
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING"
        for inner in node.body
        for line in range(inner.lineno, (inner.end_lineno or inner.lineno) + 1)
    }


def import_cycles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """Return the groups of modules in which each reaches all others."""
    reached = {module: _reached_from(module, graph) for module in graph}
    return {
        frozenset(other for other in reached[module] if module in reached[other])
        for module in graph
        if module in reached[module]
    }


def _reached_from(module: str, graph: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(graph[module])
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += graph[one]
    return reached


def test_no_modules_import_each_other_when_loaded_or_inside_functions():
    assert import_cycles(import_graph(ROOT, with_types=False)) == set()


def test_modules_know_each_other_in_one_direction_only():
    assert import_cycles(import_graph(ROOT, with_types=True)) == set()


@pytest.mark.parametrize(
    ("code", "of_types_only"),
    [
        ("def f():\n    from pmae_core.table.a import x", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pmae_core.table.a", True),
        ("from pmae_core.masking.c import x", False),
    ],
)
def test_a_cycle_is_found(tmp_path, code, of_types_only):
    _write(tmp_path, "pmae_core/table/__init__.py", "")
    _write(tmp_path, "pmae_core/table/a.py", "from pmae_core.table import b\nimport pandas")
    _write(tmp_path, "pmae_core/table/b.py", code)
    # Importing a module of a package runs the package, which here imports table.b again.
    _write(tmp_path, "pmae_core/masking/__init__.py", "from pmae_core.table.a import x")
    _write(tmp_path, "pmae_core/masking/c.py", "")

    assert import_cycles(import_graph(tmp_path, with_types=True))
    assert bool(import_cycles(import_graph(tmp_path, with_types=False))) is not of_types_only


def modules_bringing_slow_libraries(modules: tuple[str, ...]) -> list[str]:
    """Import the modules one by one in a new interpreter; name the first that loads a slow one."""
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    importlib.import_module(name)\n"
        f"    if set({SLOW_LIBRARIES}) & set(sys.modules):\n"
        "        sys.exit(print(name))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, *modules],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_light_modules_do_not_import_slow_libraries():
    assert modules_bringing_slow_libraries(WITHOUT_SLOW_LIBRARIES) == []


@pytest.mark.parametrize("library", SLOW_LIBRARIES)
def test_a_module_that_imports_a_slow_library_is_found(library):
    assert modules_bringing_slow_libraries(("pmae_core.errors", library)) == [library]
