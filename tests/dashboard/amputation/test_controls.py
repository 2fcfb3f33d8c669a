import pytest

from dashboard.amputation.controls import control_values, shareable_values
from dashboard.amputation.scenario import Scenario


@pytest.mark.parametrize(
    ("proportions", "way"), [(None, "drawn"), (0.4, "one"), ({"a": 0.25}, "by_hand")]
)
def test_the_way_to_set_proportions_follows_from_them(proportions, way):
    values = control_values(Scenario(proportions=proportions))

    assert values["proportions"] == way
    assert ("proportion" in values) == (way == "one")


def test_controls_that_a_scenario_does_not_set_keep_their_values():
    assert not {"coupling", "column_share"} & set(control_values(Scenario()))
    assert control_values(Scenario(column_share=0.5))["own_share"] is True


def test_a_link_names_no_columns():
    scenario = Scenario(columns=("income",), proportions={"income": 0.5}, seed=3)

    shared = shareable_values(scenario)

    assert "income" not in str(shared)
    assert "proportions" not in shared
    assert shared["seed"] == 3
