import json

import numpy as np
import pandas as pd
import pytest

from dashboard.paper import measured
from dashboard.paper.measured import (
    all_methods,
    at_most,
    beside_paper,
    caps_of,
    common_means,
    coverage_of,
    far_methods,
    mean_ranks,
    means_of,
    presets_of,
    read_measured,
    results_folder,
    stamp,
    title_of,
    with_preset,
)
from pmae_core.errors import ScoringError
from tests.support.paper_results import write_results

SMALL = {"datasets": ["diabetes"], "patterns": ["general"]}


def test_without_files_everything_is_empty(tmp_path):
    assert read_measured(tmp_path, "table2").rows.empty
    assert read_measured(tmp_path, "table2").failures.empty
    assert all_methods(tmp_path).empty
    assert beside_paper(all_methods(tmp_path)).empty
    assert far_methods(beside_paper(all_methods(tmp_path))).empty
    assert stamp(tmp_path) == ()


def test_the_folder_can_be_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_RESULTS_DIR", str(tmp_path))
    assert results_folder() == tmp_path
    monkeypatch.delenv("PMAE_RESULTS_DIR")
    assert results_folder() == measured.ROOT / "benchmarks" / "results"


def test_seeds_are_averaged(tmp_path):
    write_results(tmp_path, "table2", methods=["em", "igrm"], failing=["igrm"], **SMALL)
    measurements = read_measured(tmp_path, "table2")
    (mean,) = means_of(measurements.rows).to_dict(orient="records")
    scores = 100 * measurements.rows.query("method == 'em'")["imputation_accuracy"]
    assert mean["mean"] == pytest.approx(scores.mean())
    assert mean["error"] == pytest.approx(scores.sem())
    assert (mean["n_done"], mean["n_seeds"], mean["n_rows"]) == (2, 2, 442)
    assert measurements.failures["method"].unique().tolist() == ["igrm"]
    assert means_of(measurements.rows, "energy").empty


def test_of_two_caps_the_larger_table_counts(tmp_path):
    for max_rows, shift in ((200, 0.2), (300, 0.1), (100, 0.3)):
        write_results(
            tmp_path, "table2", methods=["em"], max_rows=max_rows, shift=shift, seeds=1, **SMALL
        )
    (mean,) = means_of(read_measured(tmp_path, "table2").rows).to_dict(orient="records")
    assert mean["n_rows"] == 300


def test_smoke_runs_are_left_out(tmp_path):
    tiny = {"pmae-mix": {"steps": 2}}
    write_results(tmp_path, "table2", methods=["em", "pmae-mix"], method_params=tiny, **SMALL)
    measurements = read_measured(tmp_path, "table2")
    assert measurements.rows["method"].unique().tolist() == ["em"]
    assert measurements.n_unusual == 2


@pytest.mark.parametrize("name", ["table2", "table3", "table4", "grid", "mixing"])
def test_what_an_experiment_has_is_usual(tmp_path, name):
    write_results(tmp_path, name, presets=["paper-steps", "paper"], **SMALL)
    assert read_measured(tmp_path, name).n_unusual == 0


def test_a_file_without_the_columns_is_refused_in_a_sentence(tmp_path):
    content = {"runs": [], "rows": [{"method": "em", "run": 0}]}
    (tmp_path / "paper_table2.json").write_text(json.dumps(content))
    with pytest.raises(ScoringError, match="lacks columns"):
        read_measured(tmp_path, "table2")


def small_tables(folder, **changes):
    row = {
        **{"dataset": "wine", "pattern": "general", "mechanism": "MNAR", "method": "pmae-mix"},
        **{"n_seeds": 3, "n_done": 3, "imputation_accuracy_x100": 18.0},
        **{"standard_error_x100": 0.5, "r2": 0.17},
    }
    pd.DataFrame([{**row, **changes}]).to_csv(folder / "small_tables.csv", index=False)


def test_small_tables_add_results_that_are_missing(tmp_path):
    small_tables(tmp_path)
    (mean,) = all_methods(tmp_path).to_dict(orient="records")
    assert (mean["mean"], mean["preset"], mean["n_rows"]) == (18.0, "balanced", 1599)
    assert all_methods(tmp_path, "r2")["mean"].tolist() == [pytest.approx(17.0)]

    write_results(
        tmp_path, "table2", methods=["pmae-mix"], datasets=["wine"], patterns=["general"], seeds=4
    )
    (mean,) = all_methods(tmp_path).to_dict(orient="records")
    assert mean["n_done"] == 4


def test_the_command_of_the_small_tables_is_known(tmp_path):
    (tmp_path / "small_tables.json").write_text('{"command": "python -m x"}')
    write_results(tmp_path, "table2", methods=["em"], **SMALL)
    runs = read_measured(tmp_path, "table2").runs
    assert [run["command"] for run in runs] == ["pmae benchmark table2", "python -m x"]


def test_small_tables_without_a_result_are_left_out(tmp_path):
    small_tables(tmp_path, n_done=0, imputation_accuracy_x100=None)
    assert all_methods(tmp_path).empty


def test_presets_of_pmae_are_told_apart(tmp_path):
    write_results(
        tmp_path, "table2", methods=["em", "pmae-mix"], presets=["paper-steps", "balanced"], **SMALL
    )
    means = all_methods(tmp_path)
    assert presets_of(means) == ["balanced", "paper-steps"]
    chosen = with_preset(means, "paper-steps")
    assert chosen["variant"].tolist() == ["em", "pmae-mix-preset=paper-steps"]


def test_methods_are_compared_on_the_same_number_of_rows(tmp_path):
    both = {"datasets": ["bike", "wine"], "patterns": ["general"], "seeds": 1}
    write_results(tmp_path, "table2", methods=["em", "knn", "pmae-mix"], max_rows=300, **both)
    write_results(tmp_path, "table2", methods=["em", "pmae-mix"], max_rows=1000, **both)
    write_results(tmp_path, "table2", methods=["em"], max_rows=1500, **both)
    means = all_methods(tmp_path)
    assert caps_of(means) == [1000, 300]
    assert set(at_most(means, 1000)["method"]) == {"em", "pmae-mix"}
    assert set(at_most(means, 1000)["n_rows"]) == {1000}
    assert set(at_most(means, 300)["method"]) == {"em", "knn", "pmae-mix"}
    # Without a cap it is the most that PMAE was run on.
    assert set(at_most(means, None)["n_rows"]) == {1000}


def test_rows_of_a_single_table_are_no_choice(tmp_path):
    write_results(tmp_path, "table2", methods=["pmae-mix"], max_rows=300, **SMALL)
    assert caps_of(all_methods(tmp_path)) == []


def beside(*rows):
    columns = ["method", "dataset", "pattern", "mean", "printed"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(difference=table["mean"] - table["printed"])


def test_printed_figures_stand_beside_ours(tmp_path):
    write_results(tmp_path, "table2", methods=["em", "softimpute"], shift=0.0, **SMALL)
    both = beside_paper(all_methods(tmp_path)).set_index("method")
    assert both.loc["em", "printed"] == 23.7
    assert 0 <= both.loc["em", "difference"] <= 2
    assert np.isnan(both.loc["softimpute", "difference"])


def test_ranks_are_among_methods_with_all_cells():
    both = beside(
        ("em", "wine", "general", 20.0, 10.0),
        ("em", "wine", "monotone", 30.0, 30.0),
        ("knn", "wine", "general", 10.0, 20.0),
        ("knn", "wine", "monotone", 20.0, 20.0),
        ("igrm", "wine", "general", 99.0, 99.0),
    )
    ranks = mean_ranks(both).set_index(["method", "pattern"])
    assert set(ranks.index.get_level_values("method")) == {"em", "knn"}
    assert ranks.loc[("em", "all"), ["measured", "printed", "n_cells"]].tolist() == [1.0, 1.5, 2]
    assert ranks.loc[("knn", "general"), ["measured", "printed"]].tolist() == [2.0, 1.0]


def test_methods_far_from_the_paper_come_first():
    both = beside(
        ("em", "wine", "general", 20.0, 19.0),
        ("knn", "wine", "general", 30.0, 20.0),
        ("gain", "wine", "general", 10.0, 30.0),
    )
    assert far_methods(both)["method"].tolist() == ["gain", "knn"]


def test_means_are_over_cells_that_all_have():
    means = pd.DataFrame(
        [
            ("logit", "wine", "general", 20.0, 3.0),
            ("logit", "wine", "monotone", 90.0, 3.0),
            ("logit", "diabetes", "general", 30.0, 4.0),
            ("linear", "wine", "general", 10.0, np.nan),
            ("linear", "diabetes", "general", 20.0, 1.0),
        ],
        columns=["masking", "dataset", "pattern", "mean", "error"],
    )
    averaged, cells = common_means(means, ["masking"])
    averaged = averaged.set_index("masking")
    assert averaged["mean"].to_dict() == {"linear": 15.0, "logit": 25.0}
    assert averaged["n_cells"].tolist() == [2, 2]
    assert averaged.loc["logit", "error"] == pytest.approx(2.5)
    assert np.isnan(averaged.loc["linear", "error"])
    assert set(cells["pattern"]) == {"general"}


def test_what_was_not_run_is_counted_and_named(tmp_path):
    write_results(
        tmp_path,
        "table3",
        datasets=["diabetes", "wine"],
        patterns=["general", "monotone"],
        failing=["pmae-mix"],
    )
    covered = coverage_of(read_measured(tmp_path, "table3").rows, "table3")
    assert (covered.n_run, covered.n_wanted) == (4, 9)
    assert covered.absent == {"datasets": ["shoppers"], "patterns": ["quasi-monotone"]}


def test_methods_have_names_for_readers_in_the_paper_or_not():
    assert title_of("pmae-mix", "balanced") == "PMAE-mix, balanced"
    assert title_of("softimpute") == "SoftImpute"
    assert title_of("mice") == "MICE"
    assert title_of("of another time") == "of another time"
