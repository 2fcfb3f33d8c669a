"""``pmae jobs submit train``."""

from pmae_core.table import read_table
from tests.support.shell import one_line, run_jobs, submitted

TINY = ("--param", "steps=3", "--param", "width=8", "--param", "encoder_depth=1")


def test_a_trained_model_imputes_other_rows(store, survey, tmp_path):
    trained = submitted("train", survey, *TINY, "--no-impute", "--wait")
    assert store.job(trained).result["files"] == ["model.safetensors"]
    run_jobs("result", trained, "-o", tmp_path / "kept.safetensors")
    assert (tmp_path / "kept.safetensors").stat().st_size > 0

    imputed = submitted("impute", survey, "--model", trained[:8], "--imputations", 2, "--wait")

    assert store.job(imputed).spec.params == {"model": trained, "imputations": 2, "left_alone": []}
    run_jobs("result", imputed, "--file", "imputation-2.parquet", "-o", tmp_path / "second.csv")
    assert not read_table(tmp_path / "second.csv").isna().any(axis=None)


def test_the_blend_can_be_trained(store, survey):
    few_trees = ("--param", "preset=fast", "--param", "n_trees=3")
    trained = submitted("train", survey, "--method", "pmae", *few_trees, "--wait")

    assert "model.safetensors" in store.job(trained).result["files"]


def test_a_method_without_a_model_is_refused_in_a_sentence(store, survey):
    result = run_jobs("submit", "train", survey, "--method", "em", code=1)
    assert "has no model" in one_line(result.output)
    assert store.count() == 0
