import pandas as pd
import pytest

from benchmarks.accuracy.nine_tables import Part, accuracies, against_the_paper, is_reached, ranking


@pytest.fixture
def rows():
    figures = [
        # table, pattern, variant, seed 0, seed 1
        ("diabetes", "general", "pmae-mix", 0.30, 0.32),
        ("diabetes", "general", "pmae-mix-preset=paper-steps", 0.20, 0.20),
        ("diabetes", "general", "knn", 0.10, 0.50),
        ("diabetes", "general", "slow", 0.90, None),
        ("wine", "general", "pmae-mix", 0.20, 0.20),
        ("wine", "general", "pmae-mix-preset=paper-steps", 0.30, 0.30),
        ("wine", "general", "knn", 0.10, 0.10),
        ("wine", "general", "slow", 0.90, 0.90),
    ]
    return pd.DataFrame(
        [
            {
                "dataset": dataset,
                "pattern": pattern,
                "variant": variant,
                "seed": seed,
                "status": "failed" if figure is None else "done",
                "imputation_accuracy": figure,
            }
            for dataset, pattern, variant, *seeds in figures
            for seed, figure in enumerate(seeds)
        ]
    )


def test_a_variant_without_all_seeds_has_no_figure(rows):
    table = accuracies(rows, seeds=2)
    assert table.loc[("diabetes", "general"), "pmae-mix"] == pytest.approx(31)
    assert pd.isna(table.loc[("diabetes", "general"), "slow"])


def test_ranks_are_means_over_tables_of_what_is_complete(rows):
    best, *others = ranking(accuracies(rows, seeds=2))
    assert [line["variant"] for line in (best, *others)] == [
        "pmae-mix",
        "pmae-mix-preset=paper-steps",
        "knn",
    ]
    assert (best["mean_rank"], best["first_places"]) == (1.5, 1)


def test_the_ratio_is_that_of_the_means_over_shared_tables(rows):
    steps, printed = against_the_paper(accuracies(rows, seeds=2))
    assert steps["ratio"] == pytest.approx(25.5 / 25)
    assert steps["balanced_is_better_on"] == 1
    assert (printed["against"], printed["tables_and_patterns"]) == ("printed", 2)


def test_a_smaller_part_has_its_own_tables_patterns_and_seeds():
    part = Part(
        max_rows=500,
        presets="paper",
        datasets=("wine",),
        patterns=("general",),
        most_seeds=1,
    )
    results = pd.DataFrame(
        [("wine", "general"), ("wine", "monotone"), ("adult", "general")],
        columns=["dataset", "pattern"],
    ).assign(max_rows=500, n_rows=500)
    kept = part.of_results(results)
    assert list(zip(kept["dataset"], kept["pattern"], strict=True)) == [("wine", "general")]
    (command,) = part.commands(seeds=2)
    assert {"--datasets=wine", "--patterns=general", "--seeds=1"} <= set(command)


def test_a_part_has_the_tables_that_were_sampled_so_or_are_small():
    part = Part(max_rows=500, presets="balanced", fewer_rows={"news": 200})
    results = pd.DataFrame(
        [
            ("diabetes", None, 442),
            ("wine", None, 1599),
            ("wine", 500, 500),
            ("news", 500, 500),
            ("news", 200, 200),
        ],
        columns=["dataset", "max_rows", "n_rows"],
    ).assign(pattern="general")
    kept = part.of_results(results)
    assert list(zip(kept["dataset"], kept["n_rows"], strict=True)) == [
        ("diabetes", 442),
        ("wine", 500),
        ("news", 200),
    ]
    many, few = part.commands(seeds=2)
    assert "--max-rows=500" in many and "--datasets=news" not in many
    assert "--max-rows=200" in few and "--datasets=news" in few


@pytest.mark.parametrize(
    ("first", "against", "n_cells", "ratio", "reached"),
    [
        ("pmae-mix", "pmae-mix-preset=paper", 27, 1.2, True),
        ("missforest", "pmae-mix-preset=paper", 27, 1.2, False),
        ("pmae-mix", "pmae-mix-preset=paper", 27, 1.05, False),
        ("pmae-mix", "pmae-mix-preset=paper", 26, 1.2, False),
        ("pmae-mix", "pmae-mix-preset=paper-steps", 27, 1.2, False),
    ],
)
def test_only_the_papers_own_settings_on_all_tables_count(first, against, n_cells, ratio, reached):
    over = {"against": against, "tables_and_patterns": n_cells, "ratio": ratio}
    part = {"tables_and_patterns": 27, "of": 27, "ranking": [{"variant": first}]}
    assert is_reached([{**part, "balanced_over_paper": [over]}]) is reached


@pytest.mark.parametrize(("ratio", "reached"), [(1.2, True), (1.05, False)])
def test_some_of_the_tables_can_refute_but_not_show_it(ratio, reached):
    def part(n_cells, ratio):
        over = {"against": "pmae-mix-preset=paper", "tables_and_patterns": n_cells, "ratio": ratio}
        return {
            "tables_and_patterns": n_cells,
            "of": n_cells,
            "ranking": [{"variant": "pmae-mix"}],
            "balanced_over_paper": [over],
        }

    assert is_reached([part(27, 1.2), part(8, ratio)]) is reached
    assert not is_reached([part(8, ratio)])
