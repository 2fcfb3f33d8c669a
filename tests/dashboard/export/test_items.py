"""What can be exported, in which order and which formats."""

from types import SimpleNamespace

import pandas as pd
import pytest

from dashboard import runs
from dashboard.export import items
from pmae_core.export import MethodsText


@pytest.fixture
def completed(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "origin", lambda digest: runs.Origin("my visits.csv"))
    record = SimpleNamespace(spec=SimpleNamespace(table="0" * 64), folder=tmp_path)
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    return SimpleNamespace(record=record, imputed_frame=frame, n_imputations=3, model_file=None)


@pytest.fixture
def export(completed):
    """Return a function that lists the items of the table, changed as asked."""
    how = SimpleNamespace(model=None)
    text = MethodsText("a paragraph", "a paragraph", ())

    def export_items(comparison=None, **changes):
        changed = SimpleNamespace(**{**vars(completed), **changes})
        return {
            item.key: item
            for item in items.all_items(changed, how, comparison, text, is_escaped=True)
        }

    return export_items


def test_what_most_people_want_comes_first(export):
    found = export()

    assert list(found) == ["table", "imputations", "script", "methods", "mask", "everything"]
    assert [one.name for one in found["table"].formats] == [
        "my-visits-imputed.csv",
        "my-visits-imputed.xlsx",
        "my-visits-imputed.parquet",
    ]
    assert found["imputations"].title == "3 imputations"


def test_what_a_run_has_not_made_is_not_listed(export, tmp_path):
    assert "imputations" not in export(n_imputations=0)
    (tmp_path / "model.safetensors").write_bytes(b"weights")

    model = export(model_file=tmp_path / "model.safetensors")["model"]

    assert model.formats[0].content() == b"weights"


def test_the_zip_names_the_report_of_a_comparison(export):
    assert "report" not in export()["everything"].about
    assert "the report of your comparison" in export(comparison=object())["everything"].about


def test_every_mask_is_of_its_own_format(export, completed, monkeypatch):
    monkeypatch.setattr(items.files, "mask_file", lambda _, ending: ending)

    assert [one.content() for one in export()["mask"].formats] == ["csv", "parquet"]
