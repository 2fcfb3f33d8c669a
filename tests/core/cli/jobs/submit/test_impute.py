"""``pmae jobs submit impute``."""

import pytest

from pmae_core.jobs import Resources
from pmae_core.table import read_table
from tests.support.shell import one_line, run_jobs, submitted


def test_an_imputation_from_the_command_to_the_imputed_table(store, survey, tmp_path):
    job_id = submitted("impute", survey, "--method", "em", "--seed", 3, "--wait", "--name", "mine")

    record = store.job(job_id, "local")
    assert (record.state, record.name, record.spec.seed) == ("succeeded", "mine", 3)
    out = tmp_path / "imputed.csv"
    run_jobs("result", job_id[:6], "-o", out)
    before, after = read_table(survey), read_table(out)
    assert not after.isna().any(axis=None)
    assert (before.isna() | (before == after)).all(axis=None)


def test_roles_sentinels_and_settings_reach_the_document(store, survey):
    job_id = submitted(
        *("impute", survey, "--method", "knn", "--param", "n_neighbors=2"),
        *("--role", "kind=ignored", "--sentinel", "a", "--threads", 3, "--memory", 900),
    )

    spec = store.job(job_id).spec
    assert spec.params == {
        "method": "knn",
        "params": {"n_neighbors": 2},
        "draws": 0,
        "leave_alone": [],
    }
    assert [column["role"] for column in spec.schema["columns"]][-1] == "ignored"
    assert spec.resources == Resources(threads=3, memory_mb=900)
    assert store.get_table(spec.table)["kind"].isna().any()


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--method", "nobody"], 1, "no method 'nobody'"),
        (["--method", "em", "--model", "ab"], 2, "already has its method"),
        (["--model", "ab"], 1, "no job that begins with ab"),
        (["--param", "steps"], 2, "NAME=VALUE"),
        (["--role", "kind"], 2, "COLUMN=ROLE"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(store, survey, options, code, sentence):
    result = run_jobs("submit", "impute", survey, *options, code=code)
    assert sentence in one_line(result.output)
    assert store.count() == 0
