"""Links with settings: whatever somebody wrote into one, the pages open, now and ever after."""

import json

import pytest

from dashboard.learn.exercises import lesson_settings
from dashboard.shell.link_settings import allowed_in_links
from dashboard.state.links import encoded

HUGE = 10**400
PAGE_OF = {
    "masking_lab": "masking_lab.py",
    "amputation_lab": "amputation_lab.py",
    "learn": "learn.py",
}


def kept_settings(workspace):
    """Return all settings of a workspace, as they stand in its files."""
    return {
        file.stem: json.loads(file.read_text())
        for file in (workspace.folder / "settings").glob("*.json")
    }


def test_a_link_to_what_no_page_shares_changes_nothing(workspace, open_app):
    app = open_app(s=encoded("jobs", {"heard_until": "x"}))

    assert not app.exception
    assert not app.error
    assert "could not use" in app.warning[0].value
    assert "jobs" not in kept_settings(workspace)
    assert open_app().title[0].value == "Data"


@pytest.mark.parametrize("section", PAGE_OF)
def test_values_that_no_page_can_show_are_not_kept(workspace, open_app, section):
    names = list(allowed_in_links(section))

    app = open_app(s=encoded(section, dict.fromkeys(names[:10], HUGE)))

    assert not app.exception
    assert "could not use" in app.warning[0].value
    assert section not in kept_settings(workspace)


# What earlier versions let links write into a workspace


@pytest.mark.parametrize("value", [HUGE, ["x", 1]], ids=["huge", "list"])
@pytest.mark.parametrize("section", PAGE_OF)
def test_a_page_opens_whatever_a_link_once_wrote(workspace, open_page, section, value):
    damaged = dict.fromkeys(allowed_in_links(section), value)
    if section == "learn":
        damaged |= {"lesson": "slopes", "done": value, "slopes_revealed": True}
    if section == "amputation_lab":
        damaged |= {"by_hand": value, "proportions": "by_hand", "columns": value}
    workspace.update(section, **damaged)

    app = open_page(PAGE_OF[section])

    assert not app.exception
    assert not app.error


@pytest.mark.parametrize("value", ["x", HUGE], ids=["text", "huge"])
def test_the_studio_opens_whatever_a_link_once_wrote(workspace, open_app, value):
    open_app()
    for section in ("jobs", "upload", "data", "origins"):
        workspace.update(section, heard_until=value, name=value, number_question=value)
    workspace.upload_path.write_text("a,b\n1,2\n")

    app = open_app()

    assert not app.exception
    assert not app.error


def test_a_lesson_with_damaged_settings_has_its_usual_ones(workspace, open_page):
    workspace.update("learn", **dict.fromkeys(lesson_settings(), HUGE))

    assert open_page("learn.py").selectbox(key="learn:lesson").value == "reasons"
