"""Workspaces and jobs of earlier versions name methods that no longer exist."""

import json

import numpy as np
import pandas as pd
import pytest

from dashboard.widgets.methods import known_methods
from pmae_core.evaluation import compare, write_comparison
from pmae_core.imputers import list_imputers, registry
from pmae_core.jobs import JobState
from tests.support.seen import text as words
from tests.support.seen import without_errors

SENTENCE = "The method 'em' was retired: use another one."


@pytest.fixture
def table():
    x = np.random.default_rng(0).normal(size=60)
    frame = pd.DataFrame({"x": x, "y": 2 * x})
    frame.loc[::5, "y"] = np.nan
    return frame


@pytest.fixture
def retire_em(monkeypatch):
    """Return a function that retires `em`, after which the pages have to do without it."""

    list_imputers()  # all of them register themselves before one is taken out

    def retire():
        left = {name: known for name, known in registry._REGISTRY.items() if name != "em"}
        monkeypatch.setattr(registry, "_REGISTRY", left)
        monkeypatch.setattr(registry, "_RETIRED", {"em": "use another one"})
        known_methods.cache_clear()

    yield retire
    known_methods.cache_clear()


def test_settings_that_name_it_are_forgotten(fill, table, open_page, retire_em):
    workspace = fill(table)
    workspace.update("compare", methods=["em", "naive"])
    workspace.update("impute", source="em")
    retire_em()

    compared = without_errors(open_page("compare.py"))
    imputed = without_errors(open_page("impute.py"))

    (methods,) = [one for one in compared.multiselect if one.label == "Methods"]
    assert methods.value == ["naive"]
    (source,) = [one for one in imputed.selectbox if one.label == "Method"]
    assert source.value == "pmae"


def test_its_imputation_can_be_seen_and_exported(fill, table, open_page, add_imputation, retire_em):
    fill(table)
    add_imputation({"method": "em", "imputations": 2})
    retire_em()

    without_errors(open_page("impute.py"))
    exported = open_page("export.py")

    assert not exported.exception
    assert SENTENCE in words(exported)
    labels = {button.proto.label for button in exported.get("download_button")}
    assert "Download table" in labels
    assert not labels & {"Download zip", "Download script"}


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING, JobState.FAILED])
def test_its_job_is_shown(state, fill, table, open_page, add_job, retire_em):
    fill(table)
    add_job("impute", {"method": "em"}, state)
    add_job("compare", {"methods": ["em", "naive"], "seeds": [0]}, JobState.QUEUED)
    retire_em()

    for page in ("impute.py", "compare.py", "export.py"):
        assert not open_page(page).exception, page


def test_a_comparison_with_it_is_shown(fill, table, open_page, add_job, retire_em):
    fill(table)
    done = add_job(
        "compare",
        {"methods": ["em", "naive"], "seeds": [0]},
        JobState.SUCCEEDED,
        result={"kind": "compare"},
    )
    write_comparison(compare(table, ["em", "naive"], seeds=[0]), done.folder / "result")
    retire_em()

    page = open_page("compare.py")

    assert not page.exception
    assert "em" in json.dumps([frame.value.to_json() for frame in page.dataframe])
