"""Tables to choose on, and tables to report on."""

from benchmarks.tables import FURTHER, TO_CHOOSE_ON, TO_REPORT_ON, WIDE, load_table
from pmae_core.table.samples.datasets import BENCHMARK_NAMES


def test_no_table_is_both_chosen_on_and_reported_on():
    assert not set(TO_CHOOSE_ON) & set(TO_REPORT_ON)
    assert set(TO_CHOOSE_ON) | set(TO_REPORT_ON) | set(WIDE) == set(FURTHER)
    assert not set(WIDE) & set(TO_REPORT_ON)
    assert not set(TO_REPORT_ON) & set(BENCHMARK_NAMES)
    assert min(len(TO_CHOOSE_ON), len(TO_REPORT_ON)) >= 6


def test_engineered_tables_are_complete_and_repeat():
    for name in ("curved", "orbits", "groups", "thresholds"):
        table = load_table(name, max_rows=300)
        assert len(table.frame) == 300
        assert not table.frame.isna().any(axis=None)
        assert table.frame.equals(load_table(name, max_rows=300).frame)


def test_wide_tables_have_more_columns_than_the_others():
    n_columns = {name: load_table(name, max_rows=100).frame.shape[1] for name in WIDE}
    assert n_columns == {"digits": 64, "questionnaire": 90, "factors": 120}


def test_tables_of_scikit_learn():
    assert load_table("wine-recognition").frame.shape == (178, 13)
    assert load_table("breast-cancer", max_rows=100).frame.shape == (100, 30)
