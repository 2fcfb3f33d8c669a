"""What the documents show works, and what they name exists."""

import ast
import importlib
import importlib.util
import json
import pkgutil
import re
import sys
from typing import Any

import pytest
import typer
import yaml
from streamlit.testing.v1 import AppTest

import pmae_core
from dashboard.learn import LESSONS
from dashboard.state import session
from dashboard.state.workspace import Workspace
from pmae_core import plots
from pmae_core.cli.app import app
from pmae_core.imputers import list_imputers, registry
from tests.support.markdown import blocks, broken_links, pmae_commands, prose, run_console
from tests.support.paths import ROOT
from tools import docs as hooks
from tools import results

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
DOCUMENTS = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
NO_FILE = [(path, block) for path in PAGES for block in blocks(path, "python") if not block.title]
# Needs the example above it, which has a test of its own.
NO_FILE = [(path, block) for path, block in NO_FILE if path.name != "add-an-imputer.md"]
# Each block continues those before it: see test_tutorials.py.
NO_FILE = [(path, block) for path, block in NO_FILE if path.parent.name != "tutorials"]


def name_of(value):
    return value.stem if hasattr(value, "stem") else None


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(path):
    assert broken_links(path) == []


def test_every_page_is_in_the_navigation():
    # Other tags than plain YAML are MkDocs' own.
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))

    def files(entries):
        for entry in entries:
            if isinstance(entry, str):
                yield entry
            else:
                yield from files(next(iter(entry.values())))

    assert sorted(files(config["nav"])) == sorted(p.relative_to(DOCS).as_posix() for p in PAGES)
    assert all((ROOT / hook).is_file() for hook in config["hooks"])


@pytest.mark.parametrize(("path", "block"), NO_FILE, ids=name_of)
def test_python_blocks_run(path, block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block.text, str(path), "exec"), {})


@pytest.mark.parametrize(
    "block", [block for path in PAGES for block in blocks(path, "console")], ids=name_of
)
def test_console_blocks_run(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_console(block.text)


def command_at(words: list[str]) -> tuple[Any, list[str]]:
    """Return the command that words name, and the words that follow."""
    command = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    return command, words


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md"], ids=name_of)
def test_commands_of_pmae_exist_with_their_options(path):
    for line in pmae_commands(path):
        words = line.split()
        command, rest = command_at(words[words.index("pmae") + 1 :])
        known = {option for p in command.params for option in (*p.opts, *p.secondary_opts)}
        used = {word.split("=")[0] for word in rest if word.startswith("--")}
        is_found = not hasattr(command, "commands") or rest in ([], ["COMMAND", "--help"])
        assert is_found, line
        assert used <= known | {"--help"}, line


def test_the_guide_has_all_commands_and_pages_of_the_dashboard():
    shell = (DOCS / "guide" / "from-the-shell.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `pmae (\w+)` \|", shell, re.MULTILINE))
    assert named == set(typer.main.get_command(app).commands)
    guide = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "guide").glob("*.md"))
    titles = re.findall(
        r'\("\w+\.py", "([^"]+)"', (ROOT / "dashboard" / "app.py").read_text(encoding="utf-8")
    )
    assert len(titles) > 6
    assert [title for title in titles if f"**{title}**" not in guide] == []


# Between a menu and its entry, as in "Share > Handout".
MENU_ARROW = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"


def texts_of_the_dashboard():
    """Return all that the code of the dashboard may show, as one text."""
    trees = [
        ast.parse(path.read_text(encoding="utf-8"))
        for folder in (ROOT / "dashboard", ROOT / "pmae_core" / "imputers")
        for path in folder.rglob("*.py")
    ]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    parts = [
        path.read_text(encoding="utf-8")
        for ending in ("js", "html")
        for path in (ROOT / "dashboard" / "components").rglob(f"*.{ending}")
    ]
    return "\n".join([*(node.value for node in nodes if isinstance(node.value, str)), *parts])


def test_what_the_guide_prints_bold_is_on_a_page():
    shown = texts_of_the_dashboard()
    for path in (DOCS / "guide").glob("*.md"):
        without_code = re.sub(r"`[^`]*`", "", prose(path))
        bold = re.findall(r"\*\*([^*]+)\*\*", without_code)
        names = [" ".join(name.split()) for words in bold for name in words.split(MENU_ARROW)]
        assert [name for name in names if name.rstrip(".:") not in shown] == [], path.name


# What replaces comments while the site is built


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_comments_are_known(path):
    text = path.read_text(encoding="utf-8")
    comments = re.findall(r"<!--.*?-->", text)
    found = list(hooks.PLACEHOLDER.finditer(text))
    assert comments == [match[0] for match in found]
    assert all(hooks.replaced_comment(match).strip() for match in found)


def test_figures_go_where_their_script_is():
    html = hooks.figure_html(hooks.masking_curve(), "curve", "../")
    assert '<script src="../assets/plotly.min.js">' in html
    assert "share of rows observed" in html


def test_the_script_of_figures_is_loaded_once():
    figure = hooks.figure_html(hooks.masking_curve(), "curve", "../")

    page = hooks.with_one_script(f"before\n{figure}\nbetween\n{figure}\nafter")

    assert page == f"before\n{figure}\nbetween\n{figure.split(chr(10), 1)[1]}\nafter"
    assert hooks.with_one_script("no figure") == "no figure"


def test_the_gallery_has_every_figure_with_the_call_that_makes_it():
    text = hooks.GALLERY.read_text(encoding="utf-8")
    shown = [match[2] for match in hooks.PLACEHOLDER.finditer(text) if match[1] == "plot"]
    assert sorted(shown) == sorted(hooks.PLOTS) == sorted(plots.__all__)
    assert all(call.startswith(f"plots.{name}(") for name, call in hooks.PLOTS.items())

    on_page = hooks.replaced_comment(
        hooks.PLACEHOLDER.search("<!-- plot: share_missing -->"), "a/b"
    )
    assert on_page.startswith("```python\nplots.share_missing(table)\n```\n")
    assert '<script src="../assets/plotly.min.js">' in on_page
    assert "alkaline_phosphatase" in on_page


def test_names_of_the_reference_can_be_imported():
    names = hooks.public_names("pmae_core.table")
    assert "pmae_core.table.io.reading.read_table" in names
    assert "pmae_core.errors.TableError" in hooks.public_names("pmae_core.errors")
    assert "pmae_core.plots.figures.share_missing" in hooks.public_names("pmae_core.plots")
    assert "pmae_core.evaluation.METRICS" in hooks.public_names("pmae_core.evaluation")


def modules_of_the_reference():
    """Return the modules whose names the pages of the reference list."""
    pages = (DOCS / "reference").glob("*.md")
    matches = [m for page in pages for m in hooks.PLACEHOLDER.finditer(page.read_text("utf-8"))]
    return [match[2] for match in matches if match[1] == "reference"]


def test_the_reference_lists_every_public_package_once():
    listed = modules_of_the_reference()
    modules = [f"pmae_core.{module.name}" for module in pkgutil.iter_modules(pmae_core.__path__)]
    public = {name for name in modules if hasattr(importlib.import_module(name), "__all__")}

    # The command line has a page of the guide.
    assert public - {"pmae_core.cli"} <= set(listed)
    assert len(listed) == len(set(listed))


def test_the_reference_describes_every_name_of_the_library():
    described = {
        name for module in modules_of_the_reference() for name in hooks.public_names(module)
    }
    table = hooks.top_names_table()
    offered = set(pmae_core.__all__) - {"__version__"}

    assert set(re.findall(r"^\| \[`(\w+)`\]", table, re.MULTILINE)) == offered
    assert set(re.findall(r"\]\[([\w.]+)\]", table)) <= described
    assert not re.search(r"\| +\|$", table, re.MULTILINE)


def test_what_was_measured_is_told_and_nothing_is_made_up(tmp_path):
    for name in results.TELLERS:
        lacking = results.words(name, tmp_path)
        assert "Not measured yet" in lacking
        (module,) = re.findall(r"BENCHMARKS=(\S+)`", lacking)
        assert importlib.util.find_spec(f"benchmarks.{module}")
    (tmp_path / "classroom_load.json").write_text(
        """{"machine": {"cores": 4, "memory_gb": 16}, "class": {"students": 30,
        "training_at_once": 5, "minutes": 3.0, "failures": [], "interactions": {"count": 1234,
        "median_seconds": 0.2, "p95_seconds": 0.91, "longest_seconds": 2}, "memory_mb":
        {"before": 300, "most": 600, "a_session": 10.0}}, "one_session": {"reruns": 500,
        "grown_mb_since": 1.5}}"""
    )
    words = results.words("classroom_load", tmp_path)
    assert "0.91 s (95th percentile)" in words
    assert "10.0 MB per session" in words


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in results.TELLERS
        if (hooks.RESULTS / f"{results.file_of(name)}.json").exists()
    ],
)
def test_results_in_the_repository_can_be_told(name):
    parts = results.words(name, hooks.RESULTS).split("\n\n")
    tables = [block.splitlines() for block in parts if block.startswith("|")]
    assert tables
    for lines in tables:
        assert len({line.count("|") for line in lines}) == 1


# The coverage of fewer tables is too rough for a sentence; the notes show it with their number.
ENOUGH_REPLICATIONS = 50


@pytest.fixture
def coverage():
    """Return what enough tables tell of each design, without the tables that miss nothing."""
    found = json.loads((hooks.RESULTS / "coverage.json").read_text(encoding="utf-8"))["designs"]
    return {
        design: {
            name: one
            for name, one in methods.items()
            if name != "complete" and one["replications"] >= ENOUGH_REPLICATIONS
        }
        for design, methods in found.items()
        if design != "distribution"
    }


def test_what_the_statistical_notes_say_of_coverage_is_true(coverage):
    imputed = {
        design: {name: one for name, one in methods.items() if name != "complete-cases"}
        for design, methods in coverage.items()
    }
    # Where the model fits, the mean coverage is right within chance.
    assert all(abs(one["mean_coverage"] - 0.95) < 0.02 for one in imputed["linear"].values())
    # Where it does not, no method's is, and the terms that are no straight lines are the worst.
    worst = {"non-linear": "slope of y on x1 x2", "mixed": "slope of y on x1 in c"}
    for design, term in worst.items():
        for one in imputed[design].values():
            covered = {name: of["coverage"] for name, of in one["quantities"].items()}
            assert one["mean_coverage"] < 0.93
            assert min(covered, key=covered.get) == term
    # Complete cases cover as often as imputations by the wrong model, with wider intervals.
    cases = coverage["non-linear"]["complete-cases"]
    for one in imputed["non-linear"].values():
        assert cases["mean_coverage"] >= one["mean_coverage"]
        assert cases["width_over_complete"] > one["width_over_complete"]


# The tutorials


@pytest.fixture
def median_imputer(tmp_path, monkeypatch):
    """Bring the tutorial's imputer into the registry, and take it out again."""
    (file, use) = blocks(DOCS / "extend" / "add-an-imputer.md", "python")
    assert file.title.startswith("pmae_core/imputers/")
    path = tmp_path / file.title.rpartition("/")[2]
    path.write_text(file.text, encoding="utf-8")
    list_imputers()
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    name = f"pmae_core.imputers.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return use


def test_the_imputer_of_the_tutorial_imputes(median_imputer, capsys):
    exec(compile(median_imputer.text, "add-an-imputer.md", "exec"), {})

    assert capsys.readouterr().out == "0 cells are still missing\n"
    assert "median" in [info.name for info in list_imputers()]


@pytest.fixture
def tutorial_page(tmp_path):
    """Write the page of the tutorial to a file."""
    (page,) = blocks(DOCS / "extend" / "add-a-page.md", "python")
    assert page.title.startswith("pages/")
    path = tmp_path / page.title.rpartition("/")[2]
    path.write_text(page.text, encoding="utf-8")
    return path


def test_the_page_of_the_tutorial_opens_and_remembers(tutorial_page, tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    page = AppTest.from_file(str(tutorial_page), default_timeout=60)
    page.session_state[session.TOKEN_KEY] = Workspace.create().token

    page.run()
    page.toggle[0].set_value(False).run()

    assert not page.exception
    assert not page.error
    assert page.title[0].value == "Runs"
    assert page.subheader[0].value == "How long are values missing?"


def test_the_line_of_the_navigation_is_like_its_neighbors(tutorial_page):
    (line,) = blocks(DOCS / "extend" / "add-a-page.md", "text")
    ((file, _, icon),) = ast.literal_eval(f"[{line.text}]")

    assert file == tutorial_page.name
    assert icon.startswith(":material/")


def plan_of_the_class():
    """Return minutes and lesson of each row of the plan for a class."""
    text = (DOCS / "tutorials" / "teach.md").read_text(encoding="utf-8")
    plan = text.partition("## The plan")[2].partition("\n## ")[0]
    return re.findall(r"^\| (\d+) \| (.*?)\|", plan, re.MULTILINE)


def test_the_plan_for_a_class_takes_45_minutes_and_its_lessons_exist():
    titles = {lesson.title for lesson in LESSONS}
    text = (DOCS / "tutorials" / "teach.md").read_text(encoding="utf-8")
    others = text.partition("## Other plans")[2].partition("\n## ")[0]
    lists = re.findall(r"^\| [A-Z][^|]+ \| ([^|]+) \|$", others, re.MULTILINE)[1:]
    named = [title for one in lists for title in one.split("; ")]

    assert sum(int(minutes) for minutes, _ in plan_of_the_class()) == 45
    assert {lesson.strip() for _, lesson in plan_of_the_class()} <= titles | {""}
    assert len(named) > 8
    assert set(named) <= titles


# The settings


def test_the_table_of_settings_is_that_of_the_code():
    text = (DOCS / "configuration.md").read_text(encoding="utf-8")
    in_table = set(re.findall(r"^\| `([A-Z_]+)` \|", text, re.MULTILINE))
    own = re.compile(r"\b(PMAE_[A-Z_]+|RAY_[A-Z_]+|CUDA_VISIBLE_DEVICES|HYPOTHESIS_PROFILE)\b")
    folders = ("pmae_core", "dashboard", "pages", "tools", "benchmarks", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    files += [ROOT / name for name in ("Makefile", "Dockerfile", "compose.yaml", ".ci/run")]
    in_code = {name for file in files for name in own.findall(file.read_text(encoding="utf-8"))}

    # Set by the library for its own workers.
    assert in_table == in_code - {"PMAE_JOB_TOKEN"}
