import dataclasses

import pytest

from dashboard.data import samples
from dashboard.state.session import open_sample
from dashboard.state.workspace import Workspace
from pmae_core.table import list_datasets


@pytest.fixture
def own(tmp_path):
    return Workspace.create(tmp_path)


def test_an_opened_sample_is_known_by_name_and_source(own):
    open_sample(own, "cirrhosis")
    table = own.table()

    assert samples.sample_of(table).name == "cirrhosis"
    assert samples.sample_of(dataclasses.replace(table, source="your file")) is None
    assert samples.sample_of(dataclasses.replace(table, name="mine")) is None


def test_the_help_names_every_table_that_comes_with_the_app():
    infos = list_datasets()

    sentence = samples.help_text(infos)

    assert all((info.name in sentence) == (info.kind == "sample") for info in infos)
    assert sentence.endswith("come with the app; the others are from the paper.")


def test_labels_say_what_needs_a_download():
    info = dataclasses.replace(list_datasets()[0], name="wine", n_rows=1599)

    assert samples.label(info) == "wine (1,599 rows)"
    assert samples.label(dataclasses.replace(info, available=False)) == (
        "wine (1,599 rows, download)"
    )


def test_the_origin_is_told_in_sentences():
    info = dataclasses.replace(
        list_datasets()[0], title="Patients.", source="UCI", license="CC BY 4.0"
    )

    assert samples.origin(info) == "Patients. Source: UCI. License: CC BY 4.0."
