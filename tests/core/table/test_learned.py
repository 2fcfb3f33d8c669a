"""Is a column learned, and if not, why? Everything that asks gets one answer."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.amputation import ampute
from pmae_core.errors import SchemaError
from pmae_core.evaluation.holdout import hold_out_like_mine
from pmae_core.evaluation.metrics import score_imputation
from pmae_core.explain.donors import Neighborhood
from pmae_core.imputers import make_imputer
from pmae_core.table import NotLearned, Role, Schema, TableEncoder
from pmae_core.table.learned import why_column_not_learned
from tests.support.odd_tables import IMPUTABLE, LEARNED, NOT_LEARNED, odd_table


def test_schema_answers_alike_with_and_without_the_table():
    frame, schema = odd_table()
    for answer in (schema.not_learned(), schema.not_learned(frame)):
        assert answer == NOT_LEARNED
    for learned in (schema.learned(), schema.learned(frame)):
        assert learned == LEARNED
    assert sorted(schema.imputable()) == sorted(schema.imputable(frame)) == sorted(IMPUTABLE)
    assert Schema.from_json(schema.to_json()).not_learned() == NOT_LEARNED


def test_encoder_and_imputer_agree_with_the_schema():
    frame, schema = odd_table()
    encoder = TableEncoder(schema=schema).fit(frame)
    assert [column.name for column in encoder.columns_] == LEARNED
    assert encoder.not_learned_ == NOT_LEARNED
    with pytest.warns(match="keeps its missing cells: none of its cells is observed"):
        imputed = make_imputer("naive", schema=schema).fit_transform(frame)
    assert [name for name in frame if not imputed[name].isna().any()] == [
        name for name in frame if name in IMPUTABLE or name == "patient_id"
    ]
    assert imputed.loc[0, "infinite_or_7"] == 7.0


def test_donors_holdout_amputation_and_scores_agree_with_the_schema():
    frame, schema = odd_table()
    assert list(Neighborhood(frame, schema)._coordinates) == LEARNED
    held_out = hold_out_like_mine(frame, share=0.2, seed=0, schema=schema).missing.any()
    assert set(held_out.index[held_out]) == set(LEARNED)
    removed = ampute(
        frame, "general", "MCAR", "independent", proportions=0.5, schema=schema
    ).missing.any()
    assert set(removed.index[removed]) == set(IMPUTABLE)
    everywhere = np.ones(frame.shape, dtype=bool)
    score = score_imputation(frame, frame.ffill().bfill(), everywhere, schema)
    assert set(score.skipped) - set(IMPUTABLE) == set(NOT_LEARNED) - set(IMPUTABLE)


@pytest.mark.parametrize("reason", NotLearned)
def test_each_reason_has_a_sentence(reason):
    assert reason.sentence[0].isupper()
    assert reason.sentence == reason.clause[0].upper() + reason.clause[1:] + "."
    assert reason.imputed == (reason is NotLearned.CONSTANT)


def test_an_infinite_number_is_a_label_like_any_other():
    series = pd.Series([7.0, np.inf, np.nan])
    assert why_column_not_learned(series, Role.NUMERICAL) is NotLearned.CONSTANT
    assert why_column_not_learned(series, Role.CATEGORICAL) is None
    schema = Schema.infer(series.to_frame("x"))
    assert schema.not_learned() == {"x": NotLearned.CONSTANT}
    assert schema.with_roles({"x": "categorical"}).not_learned() == {}


def test_cells_that_do_not_fit_the_role_are_refused():
    with pytest.raises(SchemaError, match="does not hold dates"):
        why_column_not_learned(pd.Series(["a", "b"]), Role.DATETIME)
