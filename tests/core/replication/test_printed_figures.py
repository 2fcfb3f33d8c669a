import pytest

from pmae_core.imputers import list_imputers
from pmae_core.masking import list_masking_functions
from pmae_core.replication.printed_figures import (
    DATASETS,
    PAPER_NAMES,
    PATTERNS,
    REASONS,
    printed_ablation,
    printed_by_dataset,
    printed_figure,
    printed_masking,
    printed_summary,
)


def test_every_method_of_the_paper_is_one_of_ours():
    assert set(PAPER_NAMES) <= {info.name for info in list_imputers()}
    assert set(REASONS) <= set(PAPER_NAMES)
    assert set(printed_by_dataset()["method"]) == set(PAPER_NAMES.values())


def test_the_summary_is_the_mean_over_the_patterns_of_the_appendix():
    detailed = printed_by_dataset()
    means = detailed[
        (detailed["metric"] == "imputation_accuracy") & (detailed["dataset"] == "avg")
    ].groupby("method")["value_x100"]
    summary = printed_summary()
    summary = summary[summary["metric"] == "imputation_accuracy"].set_index("method")
    for method, row in summary.drop(index="MIWAE").iterrows():
        assert means.mean()[method] == pytest.approx(row["mean_x100"], abs=0.08)
    # Here the paper's table and its appendix do not agree.
    assert means.mean()["MIWAE"] == pytest.approx(summary.loc["MIWAE", "mean_x100"] + 1.23, abs=0.1)


def test_a_figure_is_found_by_our_names():
    assert printed_figure("knn", "default", "general") == 52.9
    assert printed_figure("pmae-mix", "adult", "monotone", "downstream_auroc") == 99.1
    assert printed_figure("igrm", "adult", "general") is None
    assert printed_figure("softimpute", "wine", "general") is None


def test_all_tables_and_patterns_have_figures():
    for dataset in DATASETS:
        assert all(printed_figure("em", dataset, pattern) is not None for pattern in PATTERNS)


def test_the_small_tables_of_the_paper_name_what_we_have():
    names = {function.name for function in list_masking_functions()}
    assert set(printed_masking()["masking"]) == names
    assert printed_masking().set_index("masking")["accuracy_x100"].idxmax() == "logit"
    assert printed_ablation()["accuracy_x100"].is_monotonic_increasing
