"""``pmae jobs submit --spec``."""

import json

import pytest

from pmae_core.table import read_table, write_table
from tests.support.shell import one_line, run_jobs, submitted


def test_the_same_document_gives_the_same_result(store, survey, tmp_path):
    first = submitted("impute", survey, "--method", "em", "--seed", 3, "--wait")
    document = tmp_path / "job.json"
    document.write_text(run_jobs("show", first, "--spec").stdout)

    second = submitted("--spec", document, "--wait")

    assert second != first
    assert store.job(second).spec == store.job(first).spec
    for name in ("filled.parquet", "imputed.parquet"):
        one, other = (store.job(job).folder / "result" / name for job in (first, second))
        assert one.read_bytes() == other.read_bytes()


def test_a_document_travels_with_its_table(store, survey, tmp_path, monkeypatch):
    document = tmp_path / "job.json"
    job_id = submitted("impute", survey, "--method", "em")
    document.write_text(run_jobs("show", job_id, "--spec").stdout)
    monkeypatch.setenv("PMAE_HOME", str(tmp_path / "elsewhere"))

    assert "no table" in run_jobs("submit", "--spec", document, code=1).stderr
    run_jobs("submit", "--spec", document, "--table", survey)

    write_table(read_table(survey).head(50), other := tmp_path / "other.csv")
    refused = run_jobs("submit", "--spec", document, "--table", other, code=1)
    assert "not the table of the document" in one_line(refused.stderr)


def test_versions_that_changed_since_the_document_are_named(store, survey, tmp_path):
    content = json.loads(run_jobs("show", submitted("impute", survey), "--spec").stdout)
    content["versions"]["numpy"] = "1.0"
    document = tmp_path / "job.json"
    document.write_text(json.dumps(content))

    noted = run_jobs("submit", "--spec", document).stderr
    assert "written with numpy 1.0" in one_line(noted)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Usage"),
        (["--wait"], "Say what to do"),
        (["--spec", "job.json", "train", "SURVEY"], "Leave out train"),
    ],
)
def test_wrong_usage_is_said_in_a_sentence(store, survey, arguments, sentence):
    words = (survey if word == "SURVEY" else word for word in arguments)
    assert sentence in one_line(run_jobs("submit", *words, code=2).output)
    assert store.count() == 0
