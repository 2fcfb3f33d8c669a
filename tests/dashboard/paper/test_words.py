import pandas as pd

from dashboard.paper.measured import Coverage
from dashboard.paper.words import (
    DIFFERENCES,
    PRESETS,
    agreement,
    command_for,
    coverage,
    mean_over,
    near_in_general,
    not_run_sentence,
    order_not_level,
    why_far,
)
from pmae_core.imputers.masked.presets import PRESETS as KNOWN_PRESETS
from pmae_core.replication.printed_figures import PATTERNS


def test_every_preset_is_explained():
    assert set(PRESETS) == set(KNOWN_PRESETS)


def test_the_command_names_tables_only_if_these_alone_are_missing():
    tables = {"datasets": ["wine"]}
    assert command_for("table3", Coverage(6, 9, tables)) == "pmae benchmark table3 --datasets wine"
    assert command_for("table3", Coverage(5, 9, tables)) == "pmae benchmark table3"
    both = {**tables, "methods": ["pmae-mix"]}
    assert command_for("table3", Coverage(0, 9, both)) == "pmae benchmark table3"


def test_what_was_not_run_is_said_plainly():
    assert not_run_sentence(Coverage(9, 9, {})) == ""
    sentence = not_run_sentence(Coverage(5, 9, {"datasets": ["wine"], "methods": ["pmae-mix"]}))
    assert sentence.startswith("**5 of 9** combinations")
    assert "None with tables wine; methods PMAE-mix." in sentence
    assert "None with" not in not_run_sentence(Coverage(5, 9, {}))


def means(*rows):
    return pd.DataFrame(rows, columns=["dataset", "n_rows", "n_done"])


def test_a_cap_on_rows_is_said():
    sentence = coverage(means(("wine", 1599, 3), ("adult", 10_000, 2)))
    assert "wine (1,599 rows), adult (10,000 of 48,842 rows), 2 to 3 seeds each" in sentence
    assert coverage(means(("wine", 1599, 1))).endswith("1 seed each.")
    assert coverage(means()) == "Nothing was measured yet."


def test_tables_with_the_same_patterns_are_named_together():
    cells = pd.DataFrame(
        [("wine", "general"), ("wine", "monotone"), ("adult", "general")],
        columns=["dataset", "pattern"],
    )
    assert mean_over(cells) == "Measured: mean over wine (general, monotone); adult (general)."
    assert mean_over(cells.iloc[:0]) == ""


def test_far_methods_have_a_reason():
    far = pd.DataFrame({"method": ["miracle", "em"], "difference": [10.04, -6.0]})
    known, unknown = why_far(far)
    assert known.startswith("**MIRACLE** is 10.0 points higher on average. The original")
    assert unknown == "**EM** is 6.0 points lower on average. The reason is not known."


def test_agreement_is_in_absolute_differences():
    both = pd.DataFrame({"mean": [20.0, 30.0, 9.0], "printed": [19.0, 40.0, None]})
    both["difference"] = both["mean"] - both["printed"]
    assert agreement(both) == (
        "**50% of 2 results are within 2 points of the paper.** The median absolute difference is "
        "5.5 points; 90% are within 9.1 points."
    )
    # Differences of both signs do not cancel.
    assert agreement(both.assign(difference=-both["difference"])) == agreement(both)
    assert agreement(both.iloc[2:]) == ""


def test_simple_methods_show_how_alike_the_general_masks_are():
    both = pd.DataFrame(
        [
            ("em", "wine", "general", 0.5),
            ("knn", "wine", "general", -0.9),
            ("em", "adult", "general", 0.5),
            ("knn", "adult", "general", -1.9),
            ("em", "bike", "general", 0.1),
            ("em", "wine", "monotone", 9.0),
        ],
        columns=["method", "dataset", "pattern", "difference"],
    )
    # Bike lacks a method, and other patterns do not count.
    assert near_in_general(both).endswith(
        "EM and KNN are within a point of the paper on 1 of 2 tables."
    )
    assert near_in_general(both.iloc[4:]) == ""


def test_the_reasons_of_the_protocol_are_there():
    assert {"Masks", "Loss", "Scaling"} <= set(DIFFERENCES)


def test_means_of_other_tables_or_steps_differ_in_level():
    cells = pd.DataFrame(
        [
            (dataset, pattern)
            for dataset in ("diabetes", "wine", "shoppers")
            for pattern in PATTERNS
        ],
        columns=["dataset", "pattern"],
    )
    assert order_not_level(cells, {"paper"}, "table3") == ""
    assert order_not_level(cells.iloc[:0], set(), "table3") == ""
    assert "fewer tables" in order_not_level(cells.iloc[:8], {"paper"}, "table3")
    both = order_not_level(cells, {"paper-steps"}, "table4")
    assert "fewer tables or patterns and shorter training" in both
