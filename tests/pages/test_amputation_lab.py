import base64
import json

import numpy as np
import pandas as pd
import pytest

from dashboard.amputation.scenario import Scenario
from pmae_core.amputation.patterns import COUPLINGS, MECHANISMS, PATTERNS
from tests.support.seen import without_errors

PAGE = "amputation_lab.py"
RNG = np.random.default_rng(0)
COMPLETE = pd.DataFrame(RNG.normal(size=(150, 4)), columns=["a", "b", "c", "d"])


def text_of(app):
    parts = (app.markdown, app.caption, app.info, app.warning, app.success, app.error)
    return "\n".join(element.value for group in parts for element in group)


def choose(app, **words):
    for name, word in words.items():
        app.selectbox(key=f"amputation_lab:{name}").select(word)
    return app.run()


def look_into(app, tab):
    app.session_state["amputation_lab:details"] = tab
    return app.run()


def save(app, name):
    look_into(app, "Scenarios")
    app.text_input(key="amputation_lab:new_name").input(name)
    (button,) = [button for button in app.button if button.label == "Save"]
    return button.click().run()


def test_the_sample_is_shown_with_its_figures(open_page):
    app = open_page(PAGE)

    without_errors(app)
    assert app.title[0].value == "Amputation lab"
    assert len(app.get("plotly_chart")) == 2
    assert "cells were removed" in text_of(app)
    assert "276 complete of 418 rows" in text_of(app)
    assert len(look_into(app, "Removed values").get("plotly_chart")) == 4


def test_only_the_tab_in_sight_is_drawn_and_stays_open(fill, open_page):
    fill(COMPLETE)
    app = look_into(open_page(PAGE), "All columns")
    assert "The longer the line, the more the chance differs" in text_of(app)
    assert not [toggle for toggle in app.toggle if toggle.key == "amputation_lab:ordered"]

    app.number_input(key="amputation_lab:seed").set_value(7).run()

    without_errors(app)
    assert "The longer the line, the more the chance differs" in text_of(app)


def test_a_tab_that_a_scenario_does_not_have_gives_way_to_the_first(fill, open_page):
    frame = COMPLETE.copy()
    frame.loc[:59, "a"] = np.nan
    fill(frame)
    app = look_into(open_page(PAGE), "All weights")

    app.radio(key="amputation_lab:kind").set_value("like-mine").run()

    without_errors(app)
    assert "complete of 150 rows" in text_of(app)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_pattern_mechanism_and_coupling_can_be_seen(fill, open_page, mechanism):
    fill(COMPLETE)
    app = choose(open_page(PAGE), mechanism=mechanism)

    for pattern in PATTERNS:
        for coupling in COUPLINGS if mechanism != "self-masking" else [None]:
            words = {"pattern": pattern} | ({"coupling": coupling} if coupling else {})
            choose(app, **words)
            without_errors(app)
            assert "cells were removed" in text_of(app)


def test_nested_missing_values_are_monotone_and_independent_ones_are_not(fill, open_page):
    fill(COMPLETE)
    app = open_page(PAGE)
    assert "The pattern is **monotone**, not general as requested: nested" in text_of(app)

    choose(app, coupling="independent")

    assert "The pattern is **general**: a row may miss any columns" in text_of(app)


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        ("MCAR", "neither the value itself nor another column matters (MCAR)"),
        ("MAR", "does not matter (MAR)"),
        ("MNAR", "even if no other column changes (MNAR)"),
        ("self-masking", "no other column drives `a` (self-masking)"),
    ],
)
def test_the_first_screen_tells_the_mechanisms_apart(fill, open_page, mechanism, words):
    fill(COMPLETE)
    app = choose(open_page(PAGE), mechanism=mechanism)
    app.multiselect(key="amputation_lab:columns").set_value(["a", "b"]).run()
    app.selectbox(key="amputation_lab:focus").select("a").run()

    without_errors(app)
    assert words in text_of(app)
    rule = "Chance alone decides" if mechanism == "MCAR" else "`a` is missing more often where"
    assert rule in text_of(app)


def test_chances_are_compared_with_the_strongest_driver_until_a_column_is_chosen(fill, open_page):
    fill(COMPLETE)
    app = choose(open_page(PAGE), mechanism="self-masking")
    app.selectbox(key="amputation_lab:focus").select("a").run()
    assert app.selectbox(key="amputation_lab:against").value in ("b", "c", "d")

    choose(app, mechanism="MNAR")
    assert app.selectbox(key="amputation_lab:against").value == "other columns' score"

    app.selectbox(key="amputation_lab:against").select("c").run()
    choose(app, mechanism="MCAR")
    assert app.selectbox(key="amputation_lab:against").value == "c"
    app.selectbox(key="amputation_lab:focus").select("c").run()
    without_errors(app)
    assert app.selectbox(key="amputation_lab:against").value != "c"


def test_all_weights_are_in_a_table(fill, open_page):
    wide = pd.DataFrame(RNG.normal(size=(60, 90)), columns=[f"q{j}" for j in range(90)])
    fill(wide)
    app = choose(open_page(PAGE), coupling="independent")

    without_errors(app)
    assert "The tab All weights has the others" in text_of(app)
    look_into(app, "All weights")
    (weights,) = [table.value for table in app.dataframe if "Driven by" in table.value]
    assert weights.shape == (90, 91)


def test_another_seed_removes_other_cells_and_is_remembered(fill, open_page):
    fill(COMPLETE)
    app = open_page(PAGE)
    before = text_of(app)

    app.number_input(key="amputation_lab:seed").set_value(7).run()

    assert text_of(app) != before
    assert open_page(PAGE).number_input(key="amputation_lab:seed").value == 7


def test_missing_values_in_chosen_columns_with_one_proportion(fill, open_page):
    fill(COMPLETE)
    app = choose(open_page(PAGE), mechanism="MCAR")
    app.multiselect(key="amputation_lab:columns").set_value(["b"])
    app.radio(key="amputation_lab:proportions").set_value("one").run()
    app.slider(key="amputation_lab:proportion").set_value(0.2).run()

    without_errors(app)
    assert "from 1 of 4 columns" in text_of(app)
    assert "every row has the same 80% chance of missing `b`" in text_of(app)


def test_the_share_of_columns_can_be_set(fill, open_page):
    fill(COMPLETE)
    app = choose(open_page(PAGE), mechanism="MCAR")
    app.toggle(key="amputation_lab:own_share").set_value(True).run()
    app.slider(key="amputation_lab:column_share").set_value(0.5).run()

    without_errors(app)
    assert "from 2 of 4 columns" in text_of(app)


def test_proportions_by_hand(workspace, fill, open_page):
    fill(COMPLETE)
    workspace.update("amputation_lab", by_hand={"a": 100, "b": 100, "c": 30, "d": 100})
    app = choose(open_page(PAGE), mechanism="MCAR")

    app.radio(key="amputation_lab:proportions").set_value("by_hand").run()

    without_errors(app)
    assert "from 1 of 4 columns" in text_of(app)
    assert "every row has the same 70% chance of missing `c`" in text_of(app)


def test_all_columns_at_100_percent_by_hand_is_a_sentence(workspace, fill, open_page):
    fill(COMPLETE)
    workspace.update("amputation_lab", by_hand=dict.fromkeys("abcd", 100), proportions="by_hand")

    app = open_page(PAGE)

    assert not app.exception
    assert "less than 100" in app.error[0].value


def test_mar_in_all_columns_is_a_sentence_in_the_words_of_the_page(fill, open_page):
    fill(COMPLETE)
    app = choose(open_page(PAGE), mechanism="MAR")
    app.toggle(key="amputation_lab:own_share").set_value(True).run()
    app.slider(key="amputation_lab:column_share").set_value(1.0).run()

    assert not app.exception
    (error,) = app.error
    assert "MAR needs at least one column that stays observed" in error.value
    assert "column_share" not in error.value.replace("\\", "")
    assert app.selectbox(key="amputation_lab:mechanism").value == "MAR"
    assert next(button for button in app.button if button.label == "Save").disabled


def test_missing_values_like_the_tables_own(fill, open_page):
    frame = COMPLETE.copy()
    frame.loc[:59, "a"] = np.nan
    fill(frame)
    app = open_page(PAGE)

    app.radio(key="amputation_lab:base").set_value("completed")
    app.radio(key="amputation_lab:kind").set_value("like-mine").run()

    without_errors(app)
    assert "from 1 of 4 columns. `a` is observed in 60% of rows" in text_of(app)
    assert not [box for box in app.selectbox if box.key == "amputation_lab:mechanism"]
    assert "Each row takes the missing values of a random row" in text_of(app)
    assert "as requested" not in text_of(app)


def test_the_rows_that_lose_values_can_be_chosen(fill, open_page):
    frame = COMPLETE.copy()
    frame.loc[:59, "a"] = np.nan
    fill(frame)
    app = open_page(PAGE)
    look_into(app, "Settings explained")
    assert "90 complete of 150 rows" in text_of(app)

    app.radio(key="amputation_lab:base").set_value("completed").run()

    assert "All 150 rows are used: 60 missing cells were imputed first" in text_of(app)


def test_the_least_observed_column_is_highlighted_until_one_is_chosen(fill, open_page):
    fill(COMPLETE)
    app = open_page(PAGE)

    for name in "ab":
        app.multiselect(key="amputation_lab:columns").set_value([name]).run()
        assert app.selectbox(key="amputation_lab:focus").value == name

    app.selectbox(key="amputation_lab:focus").select("d").run()
    app.multiselect(key="amputation_lab:columns").set_value(["c"]).run()
    assert app.selectbox(key="amputation_lab:focus").value == "d"
    assert "No values of `d` were removed" in text_of(look_into(app, "Removed values"))


def test_a_complete_table_offers_neither_copies_nor_completion(fill, open_page):
    fill(COMPLETE)

    app = look_into(open_page(PAGE), "Settings explained")

    assert "The table is complete" in text_of(app)
    assert not [radio for radio in app.radio if radio.key == "amputation_lab:kind"]


def test_a_scenario_is_saved_opened_and_deleted(drawn, workspace, fill, open_page):
    fill(COMPLETE)
    app = choose(open_page(PAGE), mechanism="MCAR")
    app.number_input(key="amputation_lab:seed").set_value(3).run()

    save(app, "my *scenario*")
    without_errors(app)
    assert Scenario.from_dict(workspace.scenarios()["my *scenario*"]).seed == 3
    assert "my \\*scenario\\*" in text_of(app)

    app.number_input(key="amputation_lab:seed").set_value(4).run()
    app.button(key="amputation_lab:open:0").click().run()
    assert drawn(app.number_input, "amputation_lab:seed").value == 3

    app.button(key="amputation_lab:delete:0").click().run()
    assert workspace.scenarios() == {}
    assert "Deleted **my" in text_of(app)


def test_an_opened_scenario_sets_every_control(workspace, fill, open_page):
    fill(COMPLETE)
    scenario = Scenario(
        pattern="monotone",
        mechanism="MAR",
        coupling="independent",
        columns=("a", "b"),
        column_share=0.5,
        proportions=0.4,
        seed=9,
    )
    workspace.save_scenario("one", scenario.to_dict())
    app = look_into(open_page(PAGE), "Scenarios")

    app.button(key="amputation_lab:open:0").click().run()
    save(app, "two")

    without_errors(app)
    assert Scenario.from_dict(workspace.scenarios()["two"]) == scenario


def test_a_scenario_by_hand_is_opened_with_its_proportions(workspace, fill, open_page):
    fill(COMPLETE)
    scenario = Scenario(
        mechanism="MCAR", coupling="nested", columns=("b",), proportions={"b": 0.25}
    )
    workspace.save_scenario("one", scenario.to_dict())
    workspace.update("amputation_lab", by_hand=dict.fromkeys("abcd", 70), proportions="by_hand")
    app = look_into(open_page(PAGE), "Scenarios")

    app.button(key="amputation_lab:open:0").click().run()

    without_errors(app)
    assert "from 1 of 4 columns" in text_of(app)
    assert "every row has the same 75% chance of missing `b`" in text_of(app)


def test_a_scenario_without_a_name_is_refused_with_a_sentence(workspace, fill, open_page):
    fill(COMPLETE)

    app = save(open_page(PAGE), "   ")

    assert not app.exception
    assert "name" in app.error[0].value
    assert workspace.scenarios() == {}


def test_a_damaged_scenario_can_still_be_deleted(workspace, fill, open_page):
    fill(COMPLETE)
    workspace.save_scenario("broken", {"pattern": "striped"})
    app = look_into(open_page(PAGE), "Scenarios")
    assert "cannot be read" in text_of(app)

    app.button(key="amputation_lab:delete:0").click().run()

    assert not app.exception
    assert workspace.scenarios() == {}


def test_a_scenario_of_another_table_says_what_does_not_fit(drawn, workspace, fill, open_page):
    fill(COMPLETE)
    workspace.save_scenario("other", Scenario(columns=("income",)).to_dict())
    app = look_into(open_page(PAGE), "Scenarios")

    app.button(key="amputation_lab:open:0").click().run()

    without_errors(app)
    assert drawn(app.multiselect, "amputation_lab:columns").value == []


def test_the_link_carries_settings_but_no_names_of_columns(fill, open_page):
    fill(COMPLETE)
    app = choose(open_page(PAGE), mechanism="MAR")
    app.multiselect(key="amputation_lab:columns").set_value(["a"]).run()

    (link,) = [code.value for code in app.code if "s=" in code.value]
    shared = link.split("s=")[1]
    section, settings = json.loads(base64.urlsafe_b64decode(shared + "=" * (-len(shared) % 4)))

    assert section == "amputation_lab"
    assert settings["mechanism"] == "MAR"
    assert "columns" not in settings


def test_an_all_missing_column_is_left_alone(fill, open_page):
    fill(COMPLETE.assign(nothing=np.nan))

    app = look_into(open_page(PAGE), "Settings explained")

    without_errors(app)
    assert "The table is complete" in text_of(app)
    assert "of 4 columns" in text_of(app)
    assert "nothing" not in app.multiselect(key="amputation_lab:columns").options
    assert "nothing" not in app.selectbox(key="amputation_lab:focus").options


def test_a_single_column_explains_why_no_missing_values_remain(fill, open_page):
    fill(COMPLETE[["a"]])

    app = open_page(PAGE)

    assert not app.exception
    assert "no missing values remain" in text_of(app)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": [1.5]}),
        pd.DataFrame({"x": [None, None]}),
        pd.DataFrame({"x": [1.5, None], "y": [None, 2.5]}),
        pd.DataFrame({"x": [1.5, 2.5], "y": ["a", "b"]}),
        pd.DataFrame({"x": [1.5] * 30, "y": ["same"] * 30}),
        pd.DataFrame({"id": range(40)}),
    ],
)
def test_tiny_and_odd_tables_give_a_sentence_or_a_picture(fill, open_page, frame):
    fill(frame)

    app = open_page(PAGE)

    assert not app.exception
    assert app.error or app.info or app.get("plotly_chart")


def test_markup_in_names_and_cells_is_text(fill, open_page):
    name = "<script>alert(1)</script> **x** :red[y]"
    cells = ["<img src=x>", "**b**"] * 75
    fill(COMPLETE.assign(**{name: cells}))
    app = open_page(PAGE)

    app.selectbox(key="amputation_lab:focus").select(name).run()

    without_errors(app)
    assert f"`{name}`" in text_of(app)
    for tab in ("Removed values", "All columns", "All weights", "Scenarios"):
        for chart in look_into(app, tab).get("plotly_chart"):
            assert "<script>" not in chart.proto.spec
            assert "<img" not in chart.proto.spec


def test_downloads_are_offered(fill, open_page):
    fill(COMPLETE, name="my table.csv")

    app = look_into(open_page(PAGE), "Download")

    labels = [button.proto.label for button in app.get("download_button")]
    assert {"Incomplete table", "Missing cells", "Settings"} <= set(labels)
