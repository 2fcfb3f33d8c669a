"""What a link may set on each page: what the page itself shares, and nothing else."""

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from dashboard.amputation.controls import shareable_values
from dashboard.amputation.scenario import Scenario
from dashboard.learn import LESSONS
from dashboard.learn.exercises.exercise import Exercise, link_settings
from dashboard.learn.progress import unanswered
from dashboard.masking.lab import PRESETS, masking_from
from dashboard.shell.link_settings import allowed_in_links
from dashboard.state.links import encoded, read_shared
from dashboard.train.settings import lab_masking
from tests.support.json_values import TEXTS, json_values

SECTIONS = ("masking_lab", "amputation_lab", "learn")


def shared_by_pages():
    """Yield (section, settings) as the pages put them into links."""
    for preset in PRESETS:
        yield "masking_lab", preset.masking.to_dict()
    yield "amputation_lab", shareable_values(Scenario(kind="like-mine", seed=2**31 - 1))
    yield (
        "amputation_lab",
        shareable_values(Scenario(coupling="nested", proportions=0.05, column_share=1.0)),
    )
    by_hand = Scenario(columns=("x",), proportions={"x": 0.5})
    yield "amputation_lab", shareable_values(by_hand)
    for lesson in LESSONS:
        exercise = Exercise("", None, None, "")
        yield "learn", link_settings(lesson, lesson.first_seed, exercise) | unanswered(lesson)


@pytest.mark.parametrize(("section", "shared"), list(shared_by_pages()))
def test_a_link_may_set_what_its_page_shares(section, shared):
    found = read_shared(encoded(section, shared), allowed_in_links)

    assert (found.section, found.usable) == (section, shared)
    assert (found.refused, found.n_unknown) == ((), 0)


@pytest.mark.parametrize(
    "section", ["jobs", "origins", "upload", "data", "train", "compare", "impute", "../x", ""]
)
def test_a_link_may_set_nothing_else(section):
    assert allowed_in_links(section) == {}


@settings(max_examples=40)
@given(data=some.data())
@pytest.mark.parametrize("section", SECTIONS)
def test_whatever_a_link_contains_only_declared_values_are_used(section, data):
    allowed = allowed_in_links(section)
    names = some.sampled_from([*sorted(allowed), *TEXTS])
    written = data.draw(some.dictionaries(names, json_values(), max_size=4))
    content = json.dumps([section, written]).encode()
    shared = base64.urlsafe_b64encode(content).decode()

    if len(shared) > 8_000:
        with pytest.raises(ValueError, match="too long"):
            read_shared(shared, allowed_in_links)
        return
    found = read_shared(shared, allowed_in_links)

    assert found.usable.keys() | set(found.refused) <= allowed.keys()
    assert all(allowed[name].allows(value) for name, value in found.usable.items())
    assert len(found.usable) + len(found.refused) + found.n_unknown == len(written)
    json.dumps(found.usable, allow_nan=False).encode()  # the workspace can keep them


@settings(max_examples=40)
@given(data=some.data())
def test_whatever_is_kept_of_the_masking_lab_is_a_masking(data):
    names = some.sampled_from(sorted(allowed_in_links("masking_lab")))
    kept = data.draw(some.dictionaries(names, json_values()))

    masking = masking_from(kept)

    assert masking.function == masking.info.name
    assert lab_masking(kept) in (None, masking)
