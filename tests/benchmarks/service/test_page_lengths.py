"""Pages are found by the navigation, labels stay side by side, scrolls count in screens."""

import json

import pytest

from benchmarks.service.page_lengths import (
    HEIGHT,
    JOURNEYS,
    TABLE,
    UPLOAD,
    Link,
    Studio,
    beside_others,
    parsed,
    screens_to_scroll,
    script_of,
    side_by_side,
    turns,
)
from pmae_core.jobs import JobSpec
from tests.support.paths import ROOT
from tests.support.seeded_runs import MARK, runs, the_workspace


@pytest.fixture
def table(tmp_path, monkeypatch):
    path = tmp_path / TABLE
    path.parent.mkdir()
    path.write_text("wages,education\n1,2\n")
    monkeypatch.setenv("PMAE_DATA_DIR", str(tmp_path))
    return path


@pytest.fixture
def checkout(tmp_path):
    """Make what a checkout must have."""
    (tmp_path / "dashboard").mkdir()
    (tmp_path / "dashboard" / "app.py").touch()
    return tmp_path


def test_without_options_this_checkout_is_measured(table):
    options = parsed([])

    assert (options.tree, options.label, options.table) == ([ROOT], ["after"], table)


def test_two_checkouts_in_one_run(table, checkout):
    trees = ["--tree", str(ROOT), "--label", "before", "--tree", str(checkout), "--label", "after"]

    assert parsed(trees).tree == [ROOT, checkout]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tree", str(ROOT)] * 2, "a --label of its own"),
        (["--tree", str(ROOT), "--label", "before"] * 2, "a --label of its own"),
        (["--tree", str(ROOT / "docs")], "is not a checkout"),
        (["--label", "between"], "invalid choice"),
        (["--rounds", "0"], "must be positive"),
    ],
)
def test_options_that_make_no_sense(table, capsys, options, said):
    with pytest.raises(SystemExit):
        parsed(options)
    assert said in capsys.readouterr().err


def test_without_the_table_nothing_starts(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PMAE_DATA_DIR", str(tmp_path))

    with pytest.raises(SystemExit):
        parsed([])
    assert "PMAE_DATA_DIR" in capsys.readouterr().err


def test_measuring_one_label_leaves_the_other(tmp_path):
    path = tmp_path / "page_lengths.json"
    for label, pixels in [("after", 1), ("before", 2), ("after", 3)]:
        path.write_text(json.dumps(beside_others({label: {"pixels": pixels}}, path)))

    measured = json.loads(path.read_text())["measured"]
    assert list(measured) == ["before", "after"]
    assert measured == {"before": {"pixels": 2}, "after": {"pixels": 3}}


def test_lines_of_a_script_are_those_of_the_measured_checkout(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "data.py").write_text("a = 1\nb = 2\n")
    studio = Studio("after", tmp_path, tmp_path)
    studio.links = [Link("Data", "/")]

    assert studio.script_lines() == {"Data": 2}


@pytest.mark.parametrize(
    ("link", "script"),
    [
        (Link("Data", "/"), "data.py"),
        (Link("Masking lab", "/masking_lab"), "masking_lab.py"),
        (Link("Export", "/export"), "export.py"),
    ],
)
def test_script_of_a_page(link, script):
    assert script_of(link) == script


@pytest.mark.parametrize(
    ("top", "height", "screens"),
    [
        (0, 40, 0),
        (HEIGHT - 40, 40, 0),
        (HEIGHT - 39, 40, 1),
        (2 * HEIGHT - 40, 40, 1),
        (5 * HEIGHT, 40, 5),
        (-10, 40, 1),
    ],
)
def test_screens_to_scroll(top, height, screens):
    assert screens_to_scroll(top, height) == screens


def test_each_turn_begins_with_the_next_studio():
    assert [turns(["a", "b"], number) for number in range(3)] == [
        ["a", "b"],
        ["b", "a"],
        ["a", "b"],
    ]
    assert turns(["a"], 5) == ["a"]


def test_figures_by_page():
    assert side_by_side(lines={"Data": 9}, pixels={"Data": 720}) == {
        "Data": {"lines": 9, "pixels": 720}
    }


@pytest.mark.parametrize("label", JOURNEYS)
def test_every_journey_uploads_once(label):
    assert JOURNEYS[label].clicks.count(UPLOAD) == 1


@pytest.mark.parametrize("name", runs("wages"))
def test_seeded_runs_are_runs_of_the_library(name):
    kind, params = runs("wages")[name]

    spec = JobSpec.make(kind, params=params, table="0" * 64)

    assert name.startswith(MARK)
    assert spec.kind == kind


def test_the_workspace_to_seed_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    (tmp_path / "workspaces" / "token").mkdir(parents=True)

    assert the_workspace().folder == tmp_path / "workspaces" / "token"
