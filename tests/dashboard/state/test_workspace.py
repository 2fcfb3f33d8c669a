import os
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.state import table_history as module
from dashboard.state.documents import DocumentsGoneError
from dashboard.state.workspace import Workspace, WorkspaceError, workspace_days
from pmae_core.errors import SchemaError, TableError
from pmae_core.table import Role

DAY = 86400


@pytest.fixture
def own(tmp_path):
    return Workspace.create(tmp_path)


@pytest.fixture
def people():
    return pd.DataFrame(
        {
            "age": [41, -999, 37, 52],
            "town": ["Ulm", "?", "Bonn", "Ulm"],
            "height": ["1,75", "?", "1,68", "1,80"],
        }
    )


def reopened(workspace):
    """The same workspace as a server finds it that was started anew."""
    module.forget_recent()
    return Workspace.open(workspace.token, workspace.folder.parent.parent)


# Tokens


def test_a_workspace_is_found_by_its_token_alone(tmp_path):
    one, other = Workspace.create(tmp_path), Workspace.create(tmp_path)

    assert len(one.token) == 32
    assert one.token != other.token
    assert Workspace.open(one.token, tmp_path).folder == one.folder
    assert stat.S_IMODE(one.folder.stat().st_mode) == 0o700
    assert one.token not in one.id


def test_a_home_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(WorkspaceError, match="PMAE_HOME set to a writable folder"):
        Workspace.create(tmp_path / "file")


@pytest.mark.parametrize(
    "token",
    ["", "..", "../../etc", "a" * 31, "a" * 33, "a" * 32, "a/" * 16, "ä" * 32, "a" * 31 + "\n"],
)
def test_other_names_open_nothing(tmp_path, token):
    Workspace.create(tmp_path)

    assert Workspace.open(token, tmp_path) is None


def test_links_are_not_followed(tmp_path, own):
    link = own.folder.parent / ("b" * 32)
    link.symlink_to(own.folder)

    assert Workspace.open(link.name, tmp_path) is None


def test_the_link_with_the_token_is_used_up_by_one_of_many_at_once(tmp_path, own):
    browsers = 8
    start = threading.Barrier(browsers)

    def take(_):
        start.wait()
        return Workspace.open(own.token, tmp_path).take_key_link()

    with ThreadPoolExecutor(browsers) as pool:
        assert sorted(pool.map(take, range(browsers))) == [False] * (browsers - 1) + [True]


# Expiry


def test_unused_workspaces_expire_after_thirty_days(tmp_path, own):
    now = time.time()

    assert Workspace.open(own.token, tmp_path, now=now + 29 * DAY)
    assert Workspace.open(own.token, tmp_path, now=now + 31 * DAY) is None


def test_use_puts_the_expiry_off(tmp_path, own):
    long_ago = time.time() - 29 * DAY
    os.utime(own.folder / "last_used", (long_ago, long_ago))

    assert Workspace.open(own.token, tmp_path)
    assert Workspace.open(own.token, tmp_path, now=time.time() + 29 * DAY)


def test_the_number_of_days_can_be_set(tmp_path, own, monkeypatch):
    monkeypatch.setenv("PMAE_WORKSPACE_DAYS", "1.5")
    assert Workspace.open(own.token, tmp_path, now=time.time() + 2 * DAY) is None
    monkeypatch.setenv("PMAE_WORKSPACE_DAYS", "0")
    assert Workspace.open(own.token, tmp_path, now=time.time() + 9999 * DAY)


@pytest.mark.parametrize("days", ["many", "-1", "inf", "nan"])
def test_days_that_are_none_are_refused(monkeypatch, days):
    monkeypatch.setenv("PMAE_WORKSPACE_DAYS", days)

    with pytest.raises(WorkspaceError, match="number of days"):
        workspace_days()


def test_another_tab_does_not_bring_a_deleted_workspace_back(tmp_path, own, people):
    own.save_table(people, name="people", source="a test")
    in_another_tab = Workspace.open(own.token, tmp_path)

    own.delete()

    with pytest.raises(DocumentsGoneError, match="was deleted, perhaps in another tab"):
        in_another_tab.update("masking", a=0.1)
    with pytest.raises(DocumentsGoneError, match="Reload the page"):
        in_another_tab.save_table(people, name="people", source="a test")
    assert list(own.folder.parent.iterdir()) == []
    own.delete()  # it is no error if it is gone already


# Settings


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)
changes = st.lists(
    st.tuples(st.sampled_from(["masking", "data"]), st.sampled_from("abc"), json_values), max_size=8
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes)
def test_settings_are_what_was_written_last(tmp_path, changes):
    own = Workspace.create(tmp_path)
    expected = {"masking": {}, "data": {}}
    for section, name, value in changes:
        own.update(section, **{name: value})
        expected[section][name] = value

    again = reopened(own)
    assert {section: again.get(section) for section in expected} == expected


def test_settings_that_cannot_be_kept_change_nothing(own):
    own.update("masking", a=0.1)

    for value in (float("nan"), {1, 2}, object()):
        with pytest.raises(WorkspaceError, match="cannot be saved"):
            own.update("masking", a=value)

    assert own.get("masking") == {"a": 0.1}


def test_two_tabs_keep_each_other_s_settings(tmp_path, own):
    def tab(name):
        mine = Workspace.open(own.token, tmp_path)
        for value in range(20):
            mine.update("masking", **{name: value})

    tabs = [threading.Thread(target=tab, args=(name,)) for name in "abcd"]
    for thread in tabs:
        thread.start()
    for thread in tabs:
        thread.join()

    assert own.get("masking") == dict.fromkeys("abcd", 19)


# Scenarios


def test_scenarios_are_kept_by_name(own):
    own.save_scenario("first", {"pattern": "monotone", "seed": 1})
    own.save_scenario("  second  one ", {"pattern": "general"})
    own.save_scenario("first", {"pattern": "monotone", "seed": 2})

    assert reopened(own).scenarios() == {
        "second one": {"pattern": "general"},
        "first": {"pattern": "monotone", "seed": 2},
    }
    own.delete_scenario("first")
    own.delete_scenario("first")
    assert list(own.scenarios()) == ["second one"]


@pytest.mark.parametrize("name", ["", "   ", "x" * 81])
def test_scenarios_need_a_name(own, name):
    with pytest.raises(WorkspaceError, match="name of 1 to 80"):
        own.save_scenario(name, {})


def test_scenarios_are_not_endless(own, monkeypatch):
    monkeypatch.setattr("dashboard.state.workspace.MAX_SCENARIOS", 2)
    own.save_scenario("a", {})
    own.save_scenario("b", {})
    own.save_scenario("b", {"seed": 1})

    with pytest.raises(WorkspaceError, match="Delete one"):
        own.save_scenario("c", {})


# The table


def test_a_new_workspace_has_no_table(own):
    assert own.table() is None
    assert own.undo() is None
    with pytest.raises(WorkspaceError, match="No table is open"):
        own.set_roles({"a": "ignored"})


def test_a_table_is_there_again_after_a_restart(own, people):
    own.save_table(people, name="people.csv", source="a test")

    table = reopened(own).table()

    pd.testing.assert_frame_equal(table.frame, people)
    assert (table.name, table.source) == ("people.csv", "a test")
    assert table.schema.role("town") is Role.CATEGORICAL


def test_awkward_cells_are_kept_exactly(own):
    frame = pd.DataFrame(
        {
            "mixed": pd.Series([1, "two", 3.5, None], dtype=object),
            "whole": pd.array([1, None, 3, 4], dtype="Int64"),
            "yes": pd.array([True, None, False, True], dtype="boolean"),
            "grade": pd.Categorical(
                ["b", "a", None, "b"], categories=["c", "b", "a"], ordered=True
            ),
            "when": pd.to_datetime(["2024-02-29", None, "2024-03-01", "2024-03-02"], utc=True),
            "x": [np.inf, -np.inf, np.nan, -0.0],
            "<b>*x*</b>": ["", " ", "\n", "$"],
        }
    )
    own.save_table(frame, name="t", source="a test")

    pd.testing.assert_frame_equal(reopened(own).table().frame, frame)


def test_declared_values_are_missing_and_text_becomes_numbers(own, people):
    own.save_table(people, name="people", source="a test", decimal=",")
    own.set_sentinels({"age": [-999], "town": ["?"], "height": ["?"]})

    table = reopened(own).table()

    assert table.frame.isna().sum().to_dict() == {"age": 1, "town": 1, "height": 1}
    assert table.frame["height"].tolist()[0] == 1.75
    assert table.sentinels == {"age": (-999,), "town": ("?",), "height": ("?",)}
    pd.testing.assert_frame_equal(own.raw_table(own.table_state()), people)


def test_the_digest_changes_with_content_sentinels_and_roles(own, people):
    digests = [own.save_table(people, name="people", source="a test").digest]
    digests.append(own.set_roles({"age": "ignored"}).digest)
    digests.append(own.set_sentinels({"town": ["?"]}).digest)
    digests.append(own.save_table(people.iloc[1:], name="people", source="a test").digest)

    assert len(set(digests)) == 4
    assert own.save_table(people, name="other name", source="x").digest == digests[0]


def test_a_role_that_does_not_fit_is_refused_and_changes_nothing(own, people):
    own.save_table(people, name="people", source="a test")
    before = own.table_state()

    with pytest.raises(SchemaError):
        own.set_roles({"town": "numerical"})
    with pytest.raises(SchemaError, match="no such column"):
        own.set_roles({"nowhere": "ignored"})

    assert own.table_state() == before


def test_a_role_goes_with_the_cells_that_it_was_for(own, people):
    own.save_table(people, name="people", source="a test", decimal=",")
    own.set_sentinels({"height": ["?"]})
    own.set_roles({"height": "numerical", "age": "ignored"})

    own.set_sentinels({})

    assert own.table().schema.role("height") is Role.CATEGORICAL
    assert own.table().schema.role("age") is Role.IGNORED


def test_rules_are_kept_undone_and_part_of_the_digest(own, people):
    digests = [own.save_table(people, name="people", source="a test").digest]
    digests.append(own.set_rules({"age": {"lower": 0, "whole": True}}).digest)
    assert reopened(own).table().schema.rules == {"age": {"lower": 0.0, "whole": True}}
    assert own.set_rules({"age": {}}).digest == digests[0]
    assert len(set(digests)) == 2
    assert own.undo() == "change the rules of age"
    assert own.table().schema["age"].rules.whole


def test_rules_that_do_not_fit_are_refused_and_change_nothing(own, people):
    own.save_table(people, name="people", source="a test")
    before = own.set_rules({"age": {"lower": 0}})

    with pytest.raises(SchemaError, match="'town' has the role categorical"):
        own.set_rules({"town": {"lower": 0}})
    with pytest.raises(SchemaError, match="depends on itself"):
        own.set_rules({"age": {"derived": "age / 2"}})
    with pytest.raises(SchemaError, match="'age' has the role ignored"):
        own.set_roles({"age": "ignored"})

    assert own.table_state() == before


def test_a_rule_goes_with_the_cells_that_it_was_for(own, people):
    own.save_table(people, name="people", source="a test", decimal=",")
    own.set_sentinels({"height": ["?"]})
    own.set_roles({"height": "numerical"})
    own.set_rules({"height": {"lower": 1}, "age": {"lower": 0}})

    own.set_sentinels({})

    assert own.table().schema.rules == {"age": {"lower": 0.0}}


def test_undo_takes_back_one_step_after_the_other(own, people):
    own.save_table(people, name="people", source="a test")
    states = [own.table_state()]
    own.set_roles({"age": "ignored"})
    states.append(own.table_state())
    own.set_sentinels({"town": ["?"]}, what="declare ? missing")
    states.append(own.table_state())
    own.save_table(people[["age"]], name="ages", source="a test")

    undone = []
    while states:
        undone.append(reopened(own).undo())
        assert own.table_state() == states.pop()

    assert undone == ["open ages", "declare ? missing", "age → ignored"]
    assert own.undo() is None
    assert own.undoable() is None
    pd.testing.assert_frame_equal(own.table().frame, people)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("roles"), st.sampled_from(["numerical", "categorical", "ignored"])),
        st.tuples(st.just("sentinels"), st.sampled_from([1, 2, 3])),
        st.tuples(st.just("table"), st.integers(1, 4)),
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_any_steps_can_be_undone_and_no_table_is_left_behind(tmp_path, steps):
    own = Workspace.create(tmp_path)
    own.save_table(pd.DataFrame({"a": [0, 1, 2, 3]}), name="0", source="a test")
    states = [own.table_state()]
    for kind, value in steps:
        if kind == "roles":
            own.set_roles({"a": value})
        elif kind == "sentinels":
            own.set_sentinels({"a": [value]})
        else:
            frame = pd.DataFrame({"a": np.arange(4) + value})
            own.save_table(frame, name=str(value), source="a test")
        states.append(own.table_state())
    assert len(list((own.folder / "tables").iterdir())) <= module.MOST_RECENT + 1

    while own.undo() is not None:
        states.pop()
        assert own.table_state() == states[-1]
        assert own.table().frame.shape == (4, 1)


def test_tables_without_cells_or_names_of_their_own_are_refused(own, people):
    own.save_table(people, name="people", source="a test")
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])

    with pytest.raises(TableError, match="at least one of each"):
        own.save_table(people.iloc[:0], name="empty", source="a test")
    with pytest.raises(SchemaError, match="'a'"):
        own.save_table(twice, name="twice", source="a test")

    assert own.table_state().name == "people"


def test_a_table_that_is_gone_is_said_to_be(own, people):
    own.save_table(people, name="people", source="a test")
    for file in (own.folder / "tables").iterdir():
        file.write_bytes(b"nonsense")

    with pytest.raises(TableError, match="Open it again on the Data page"):
        reopened(own).table()


def test_changing_a_loaded_table_changes_no_other(own, people):
    own.save_table(people, name="people", source="a test")
    frame = own.table().frame
    frame.loc[0, "age"] = 0

    assert own.table().frame.loc[0, "age"] == 41


def test_two_workspaces_share_nothing(tmp_path, people):
    one, other = Workspace.create(tmp_path), Workspace.create(tmp_path)
    one.save_table(people, name="people", source="a test")
    one.update("masking", a=0.1)
    one.save_scenario("mine", {})

    assert other.table() is None
    assert other.get("masking") == {}
    assert other.scenarios() == {}


def test_two_tabs_lose_no_step(tmp_path, people):
    own = Workspace.create(tmp_path)
    own.save_table(people, name="people", source="a test")

    def tab(column):
        Workspace.open(own.token, tmp_path).set_roles({column: "ignored"})

    tabs = [threading.Thread(target=tab, args=(name,)) for name in people]
    for thread in tabs:
        thread.start()
    for thread in tabs:
        thread.join()

    assert own.table_state().roles == dict.fromkeys(people, "ignored")


# Recent tables


def test_a_recent_table_comes_back_as_it_was_left(tmp_path):
    own = Workspace.create(tmp_path)
    own.save_table(pd.DataFrame({"a": [1, 2, -9]}), name="first", source="a test")
    own.set_roles({"a": "categorical"})
    left = own.set_sentinels({"a": [-9]})
    own.save_table(pd.DataFrame({"b": [1.5]}), name="second", source="a test")

    assert [state.name for state in own.recent_tables()] == ["second", "first"]
    own.switch_to(left.raw)

    assert own.table_state().digest == left.digest
    assert own.table().frame["a"].isna().tolist() == [False, False, True]
    assert [state.name for state in own.recent_tables()] == ["first", "second"]
    assert own.undo() == "open first"
    assert own.table_state().name == "second"


def test_only_some_tables_stay_recent_and_their_files_with_them(tmp_path):
    own = Workspace.create(tmp_path)
    for at in range(module.MOST_RECENT + 3):
        own.save_table(pd.DataFrame({"a": [at, at + 1]}), name=str(at), source="a test")

    names = [state.name for state in own.recent_tables()]
    assert names == [str(at) for at in range(7, 2, -1)]
    for state in own.recent_tables():
        assert own.load(state).frame["a"].tolist() == [int(state.name), int(state.name) + 1]
    with pytest.raises(WorkspaceError, match="This table no longer exists"):
        own.switch_to("0" * 32)


def test_levels_are_found_kept_and_undone(own):
    frame = pd.DataFrame({"pain": ["mild", "none", "severe"], "grade": ["b", "a", "c"]})
    own.save_table(frame, name="t", source="a test")
    own.set_roles({"pain": "ordinal"})
    with pytest.raises(SchemaError, match=r"not known: b, a and c\. Declare its levels"):
        own.set_roles({"grade": "ordinal"})
    own.set_rules({"grade": {"levels": ["c", "b", "a"]}})
    own.set_roles({"grade": "ordinal"})

    schema = reopened(own).table().schema
    assert schema["pain"].rules.levels == ("none", "mild", "severe")
    assert schema["grade"].rules.levels == ("c", "b", "a")

    with pytest.raises(SchemaError, match="'grade' is not known"):
        own.set_rules({"grade": {}})
    own.undo()
    assert own.table().schema.role("grade") is Role.CATEGORICAL


def test_levels_and_their_role_go_with_the_cells_that_they_were_for(own):
    frame = pd.DataFrame({"pain": ["mild", "none", "severe", "?"], "grade": ["b", "a", "c", "?"]})
    own.save_table(frame, name="t", source="a test")
    own.set_sentinels({"pain": ["?"], "grade": ["?"]})
    own.set_rules({"grade": {"levels": ["c", "b", "a"]}})
    own.set_roles({"grade": "ordinal", "pain": "ordinal"})

    own.set_sentinels({"grade": ["?", "a"], "pain": ["?"]})
    assert own.table().schema["grade"].rules.levels == ("c", "b", "a")
    own.set_sentinels({"pain": ["?"]})
    assert own.table().schema.role("pain") is Role.ORDINAL
    assert own.table().schema.role("grade") is Role.CATEGORICAL
    assert own.table().schema["grade"].rules.levels is None
