"""Links with settings: whatever somebody wrote into one, the pages open, now and ever after."""

import itertools
import json

import pytest

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


def test_values_that_no_page_can_show_are_not_kept(workspace, open_app):
    app = open_app(s=encoded("amputation_lab", {"seed": HUGE, "pattern": "monotone"}))

    assert not app.exception
    assert app.warning[0].value == "This link had settings we could not use: `seed`."
    assert kept_settings(workspace)["amputation_lab"] == {"pattern": "monotone"}


# What earlier versions let links write into a workspace


@pytest.mark.parametrize("section", PAGE_OF)
def test_a_page_opens_whatever_a_link_once_wrote(workspace, open_page, section):
    strange = itertools.cycle([HUGE, ["x", HUGE], "x"])
    damaged = dict(zip(allowed_in_links(section), strange, strict=False))
    if section == "learn":
        damaged |= {"lesson": "slopes", "slopes_answer": ["x"], "slopes_revealed": True}
        damaged |= {"slopes_seed": HUGE, "slopes_cause": ["x"], "done": "x"}
    if section == "amputation_lab":
        damaged |= {"by_hand": "x", "proportions": "by_hand", "columns": "x", "seed": HUGE}
    workspace.update(section, **damaged)

    app = open_page(PAGE_OF[section])

    assert not app.exception
    assert not app.error


def test_the_studio_opens_whatever_a_link_once_wrote(workspace, open_app):
    open_app()
    workspace.update("jobs", heard_until=HUGE)
    workspace.update("upload", name=HUGE, number_question="x")
    workspace.upload_path.write_text("a,b\n1,2\n")

    app = open_app()

    assert not app.exception
    assert not app.error
