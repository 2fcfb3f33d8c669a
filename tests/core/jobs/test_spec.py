"""The specification: one document, checked, the same text for the same content."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmae_core.errors import JobError
from pmae_core.jobs.params import JobKind
from pmae_core.jobs.spec import JobSpec, JobState, Resources, installed_versions
from pmae_core.table import Schema

TABLE = "0123456789abcdef" * 4
JOB = "0123456789abcdef" * 2

GOOD = [
    ("train", {"method": "pmae-mix", "params": {"steps": 10}}),
    ("train", {"method": "remasker", "impute": False}),
    ("impute", {"method": "knn"}),
    ("impute", {"method": "mice", "imputations": 3}),
    ("impute", {"model": JOB, "imputations": 5}),
    ("compare", {"methods": ["naive", "knn"]}),
    (
        "compare",
        {
            "methods": ["naive", "em"],
            "seeds": [4, 5],
            "holdout": "amputation",
            "amputation": {"pattern": "general", "mechanism": "MAR"},
            "method_params": {"em": {}},
            "budget_seconds": 30,
            "target": {"date": "2024-02-29"},
            "truth": TABLE,
        },
    ),
    ("benchmark", {"dataset": "diabetes", "methods": ["naive"], "max_rows": 100}),
]


def make(kind, params, **settings):
    table = None if kind == "benchmark" else TABLE
    return JobSpec.make(kind, params=params, **{"table": table, **settings})


@pytest.mark.parametrize(("kind", "params"), GOOD)
def test_a_document_comes_back(kind, params):
    schema = Schema.infer(pd.DataFrame({"a": [1, 2]})) if kind != "benchmark" else None
    spec = make(kind, params, schema=schema, seed=3, resources=Resources(threads=2, memory_mb=99))
    assert JobSpec.from_json(spec.to_json()) == spec
    assert JobSpec.from_dict(spec.to_dict()) == spec
    assert JobSpec.from_json(spec.to_json()).digest == spec.digest
    assert spec.params.items() >= params.items()
    assert spec.versions == installed_versions()
    assert spec.changed_versions() == {}


BAD = [
    ("dance", {}, "kind must be one of train, .* not 'dance'"),
    ("train", {}, "needs the parameter method"),
    ("train", {"method": "pmae-mix", "fast": True}, "no parameter fast"),
    ("train", {"method": "knn"}, "use a job of the kind impute"),
    ("train", {"method": "pmae-mix", "impute": "yes"}, "impute must be true or false"),
    ("train", {"method": "pmae-mix", "params": {"stepz": 3}}, "no parameter stepz"),
    ("train", {"method": "pmae-mix", "params": {"random_state": 3}}, "Leave random_state out"),
    ("train", {"method": "pmae-mix", "params": [1]}, "params must be an object"),
    ("impute", {"method": "magic"}, "no method 'magic'"),
    ("impute", {"method": "knn", "imputations": 3}, "knn gives one imputation only"),
    ("impute", {"method": "mice", "imputations": -1}, "imputations must be a whole number"),
    ("impute", {"method": "mice", "imputations": True}, "imputations must be a whole number"),
    ("impute", {"method": "knn", "model": JOB}, "not both"),
    ("impute", {"model": "../../x"}, "the id of a training job"),
    ("impute", {"method": "knn", "left_alone": "packs"}, "must be a list of structurally"),
    (
        "impute",
        {"model": JOB, "left_alone": [{"column": "x"}]},
        "not a saved finding of structural missingness",
    ),
    ("impute", {"method": "auto", "imputations": 3}, "'auto' was retired: use 'pmae'"),
    ("compare", {"methods": ["knn", "auto"]}, "'auto' was retired: use 'pmae'"),
    ("compare", {"methods": []}, "methods must be a list"),
    ("compare", {"methods": "knn"}, "methods must be a list"),
    ("compare", {"methods": ["knn"], "seeds": [-1]}, "seeds must be a list"),
    ("compare", {"methods": ["knn"], "seeds": [1.5]}, "seeds must be a list"),
    ("compare", {"methods": ["knn"], "truth": "x"}, "the digest of a table"),
    ("compare", {"methods": ["knn"], "holdout": "mine"}, "no holdout 'mine'"),
    ("compare", {"methods": ["knn"], "budget_seconds": 0}, "a positive number"),
    ("compare", {"methods": ["knn"], "method_params": {"em": {}}}, "em, which is not compared"),
    ("compare", {"methods": ["knn"], "method_params": {"knn": 3}}, "of knn must be an object"),
    ("benchmark", {"dataset": "mars", "methods": ["knn"]}, "no dataset 'mars'"),
    ("benchmark", {"dataset": "wine", "methods": ["knn"], "pattern": "odd"}, "no pattern 'odd'"),
]


@pytest.mark.parametrize(("kind", "params", "sentence"), BAD)
def test_what_does_not_exist_is_refused_in_a_sentence(kind, params, sentence):
    with pytest.raises(JobError, match=sentence):
        make(kind, params)


NO_JSON = [np.int64(3), np.nan, float("inf"), {1: 2}, {1, 2}, object(), pd.Timestamp(0), b"x"]


@pytest.mark.parametrize("value", NO_JSON, ids=lambda value: type(value).__name__)
def test_what_json_cannot_hold_is_refused_and_where(value):
    with pytest.raises(JobError, match=r"params\.params"):
        make("train", {"method": "pmae-mix", "params": {"a": [value]}})


def test_deep_nesting_is_refused():
    nested = []
    for _ in range(2000):
        nested = [nested]
    with pytest.raises(JobError, match="nested"):
        make("train", {"method": "pmae-mix", "params": {"a": nested}})
    with pytest.raises(JobError, match="not JSON"):
        JobSpec.from_json("[" * 100_000)


def test_a_document_that_is_not_small_is_refused():
    with pytest.raises(JobError, match="characters"):
        make("compare", {"methods": ["naive"], "target": "x" * 9_000_000})


def test_tables_are_named_by_digest_where_they_belong():
    with pytest.raises(JobError, match="table must be the digest"):
        make("impute", {"method": "knn"}, table="../x")
    with pytest.raises(JobError, match="needs a table"):
        make("impute", {"method": "knn"}, table=None)
    with pytest.raises(JobError, match="by name"):
        make("benchmark", GOOD[-1][1], table=TABLE)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "not JSON"),
        ("[]", "must be an object"),
        ("{}", "needs the field kind"),
        ('{"kind": "train"}', "needs the field params"),
        ('{"kind": "train", "params": [], "table": null}', "params must be an object"),
        ('{"kind": "train", "params": {}, "color": "red"}', "no field color"),
        ('{"kind": "train", "params": {}, "resources": {"ram": 1}}', "no field ram"),
        ('{"kind": "train", "params": {}, "resources": {"threads": 0}}', "threads must be"),
        ('{"kind": "train", "params": {}, "seed": "1"}', "seed must be a whole number"),
        ('{"kind": ["train"], "params": {}}', "kind must be one of"),
        ('{"kind": "train", "params": {"method": NaN}}', "JSON cannot hold"),
        ('{"kind": "train", "params": {}, "\\ud800": 1}', "whose name is not text"),
    ],
)
def test_a_document_written_by_hand_is_checked(text, sentence):
    with pytest.raises(JobError, match=sentence):
        JobSpec.from_json(text)


def test_a_schema_that_is_none_is_refused():
    with pytest.raises(JobError, match="not a saved schema"):
        make("impute", {"method": "knn"}, schema={"columns": 3})


def test_defaults_are_part_of_the_document():
    short = make("impute", {"method": "knn"})
    long = make("impute", {"method": "knn", "params": {}, "imputations": 0})
    assert short == long
    assert short.digest == long.digest


def test_seeds_follow_the_seed_of_the_job():
    assert make("compare", {"methods": ["knn"]}, seed=7).params["seeds"] == [7, 8, 9]


def test_the_document_does_not_change_with_what_it_was_made_of():
    params = {"method": "pmae-mix", "params": {"steps": 10}}
    spec = make("train", params)
    params["params"]["steps"] = 20
    assert spec.params["params"]["steps"] == 10
    make("impute", {"method": "knn"}).params["params"]["n_neighbors"] = 3
    assert make("impute", {"method": "knn"}).params["params"] == {}


def test_all_tables_and_the_model_are_known():
    truth = "f" * 64
    assert make("compare", {"methods": ["knn"], "truth": truth}).tables == (TABLE, truth)
    assert make("benchmark", GOOD[-1][1]).tables == ()
    assert make("impute", {"model": JOB}).model == JOB


def test_other_versions_are_named():
    document = make("impute", {"method": "knn"}).to_dict()
    document["versions"] |= {"numpy": "1.0", "fortran": "77"}
    changed = JobSpec.from_dict(document).changed_versions()
    assert set(changed) == {"numpy", "fortran"}
    assert changed["fortran"] == ("77", "not installed")


def test_states_that_end():
    ended = {state for state in JobState if state.is_final}
    assert ended == {JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED}


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(
    params=st.dictionaries(st.text(), json_values, max_size=4),
    target=json_values,
    seed=st.integers(0, 2**32 - 1),
    threads=st.integers(1, 64),
)
def test_any_json_comes_back_and_is_canonical(params, target, seed, threads):
    spec = JobSpec(
        kind=JobKind.COMPARE,
        params={"methods": ["x"], "seeds": [1], "method_params": params, "target": target},
        table=TABLE,
        seed=seed,
        resources=Resources(threads=threads),
    )
    text = spec.to_json()
    again = JobSpec.from_json(text)
    assert again == spec
    assert again.to_json() == text
    shuffled = dict(reversed(json.loads(text).items()))
    assert JobSpec.from_dict(shuffled).digest == spec.digest
    assert text.isascii()


def test_a_document_is_made_without_torch():
    code = (
        "import sys; from pmae_core.jobs import JobSpec\n"
        f"JobSpec.make('train', params={{'method': 'pmae-mix'}}, table='{TABLE}')\n"
        "sys.exit('torch' in sys.modules or 'ray' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
