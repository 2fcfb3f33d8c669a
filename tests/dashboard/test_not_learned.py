"""Every page gives the library's answer to: is this column learned, and if not, why?"""

from dashboard.amputation.scenario import content_columns
from dashboard.compare.plan import target_columns
from dashboard.impute.plan import stays_missing
from dashboard.masking.lab import masking_table
from dashboard.train.curves import column_names
from dashboard.widgets.conclusions import number_columns
from tests.support.odd_tables import IMPUTABLE, LEARNED, NOT_LEARNED, odd_table


def test_pages_agree_with_the_schema():
    frame, schema = odd_table()
    masking = masking_table(frame, schema)
    assert set(masking.names) == set(LEARNED)
    assert masking.left_out == {name: why.clause for name, why in NOT_LEARNED.items()}
    assert column_names(schema.to_dict(), len(LEARNED)) == LEARNED
    assert number_columns(frame, schema) == ["age", "infinite_once"]
    assert target_columns(frame, schema) == LEARNED
    assert sorted(content_columns(schema)) == sorted(IMPUTABLE)
    assert stays_missing(schema) == {
        name: why.clause
        for name, why in NOT_LEARNED.items()
        if name not in IMPUTABLE and name != "patient_id"
    }


def test_a_table_without_anything_to_learn_is_said_so(tmp_path):
    from dashboard.data.summary import cautions
    from dashboard.state.workspace import Workspace

    frame, _ = odd_table()
    own = Workspace.create(tmp_path)
    own.save_table(frame[["empty", "only_infinite", "infinite_or_7", "same"]], name="t", source="x")
    assert any("no column to learn from" in caution for caution in cautions(own.table()))
