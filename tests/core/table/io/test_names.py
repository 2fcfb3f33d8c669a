"""Column names."""

from hypothesis import given
from hypothesis import strategies as st

from pmae_core.names import make_unique
from pmae_core.table.io.names import clean_names


@given(st.lists(st.sampled_from(["a", "a.1", "a.2", "b", "a.1.1"]), max_size=12))
def test_names_become_unique_and_first_ones_stay(names):
    unique = make_unique(names)
    assert len(set(unique)) == len(names)
    assert all(unique[names.index(name)] == name for name in names)


def test_clean_names_need_no_remark():
    remarks = []
    assert clean_names([" a ", 2019, "b c"], remarks.append) == ["a", "2019", "b c"]
    assert remarks == []


def test_changes_are_named():
    remarks = []
    names = clean_names(["a", None, " ", "a ", "column_2"], remarks.append)
    assert names == ["a", "column_2", "column_3", "a.1", "column_2.1"]
    sentences = " ".join(remarks)
    assert "'column_2' and 'column_3'" in sentences
    assert "'a' to 'a.1'" in sentences
