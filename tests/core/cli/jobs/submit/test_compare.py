"""``pmae jobs submit compare``."""

import pandas as pd
import pytest

from pmae_core.evaluation import Comparison
from pmae_core.table import read_table, write_table
from tests.support.shell import one_line, run_jobs, submitted


def test_a_comparison_with_all_its_options(store, survey, tmp_path):
    job_id = submitted(
        *("compare", survey, "--methods", "naive, em", "--seeds", 2, "--seed", 5, "--share", 0.2),
        *("--param", "em.max_iter=3", "--budget", "1h30m", "--method-budget", "1.5m"),
        *("--target", "kind", "--wait"),
    )

    record = store.job(job_id)
    wanted = {
        "methods": ["naive", "em"],
        "seeds": [5, 6],
        "holdout_share": 0.2,
        "method_params": {"em": {"max_iter": 3}},
        "budget_seconds": 5400.0,
        "method_budget_seconds": 90.0,
        "target": "kind",
    }
    assert wanted.items() <= record.spec.params.items()
    run_jobs("result", job_id, "-o", tmp_path / "results.csv")
    assert len(pd.read_csv(tmp_path / "results.csv")) == 4
    run_jobs("result", job_id, "-o", tmp_path / "all.json")
    assert Comparison.from_json((tmp_path / "all.json").read_text()).methods == ["naive", "em"]
    run_jobs("result", job_id, "-o", tmp_path / "report.html")
    assert "<html" in (tmp_path / "report.html").read_text()


def test_missingness_can_be_simulated_or_scored_with_the_truth(store, survey, tmp_path):
    complete = read_table(survey).ffill().bfill()
    write_table(complete, path := tmp_path / "complete.csv")

    simulated = submitted(
        *("compare", path, "--methods", "naive"),
        *("--pattern", "monotone", "--mechanism", "MAR", "--coupling", "independent"),
    )
    scored = submitted("compare", survey, "--methods", "naive", "--truth", path)

    assert store.job(simulated).spec.params["amputation"] == {
        "pattern": "monotone",
        "mechanism": "MAR",
        "coupling": "independent",
    }
    truth = store.job(scored).spec.params["truth"]
    pd.testing.assert_frame_equal(store.get_table(truth), read_table(path))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--methods", "em", "--param", "max=3"], "METHOD.NAME"),
        (["--methods", "em", "--budget", "soon"], "not a time"),
        (["--methods=em", "--pattern=general", "--share=0.2"], "Give only one of these"),
    ],
)
def test_wrong_usage_is_said_in_a_sentence(store, survey, options, sentence):
    result = run_jobs("submit", "compare", survey, *options, code=2)
    assert sentence in one_line(result.output)
    assert store.count() == 0
