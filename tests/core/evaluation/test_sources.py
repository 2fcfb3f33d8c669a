"""Sources of imputed tables: names, imputers and tables."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import ScoringError
from pmae_core.evaluation.sources import (
    TRUE_DATA,
    name_imputations,
    new_imputer,
    reason_of,
    refuse_reference_names,
)
from pmae_core.imputers.classic.knn import KNNImputer
from pmae_core.table import Schema

FRAME = pd.DataFrame({"x": [1.0, np.nan], "y": [3.0, 4.0]})


def test_names_stand_for_themselves_and_tables_for_what_they_are_called():
    imputed = FRAME.fillna(2.0)

    assert name_imputations(["em", "knn"], FRAME) == {"em": "em", "knn": "knn"}
    assert name_imputations({"mine": imputed}, FRAME)["mine"] is imputed


@pytest.mark.parametrize(
    ("methods", "sentence"),
    [
        ("em", "must be a list"),
        ({"mine": FRAME[["y"]]}, "lacks the column.* x"),
        ({"mine": [FRAME, FRAME[:1]]}, "not have the same rows"),
        ({"mine": [3]}, "not a int"),
    ],
)
def test_what_does_not_match_the_table_is_refused(methods, sentence):
    with pytest.raises(ScoringError, match=sentence):
        name_imputations(methods, FRAME)


def test_names_of_references_are_refused():
    refuse_reference_names(["em"])
    with pytest.raises(ScoringError, match="Rename the method"):
        refuse_reference_names(["em", TRUE_DATA])


def test_an_imputer_is_copied_with_roles_seed_and_parameters():
    given = KNNImputer(n_neighbors=3)
    schema = Schema.infer(FRAME)

    made = new_imputer(given, {"n_neighbors": 1}, schema, 7)

    assert (made.n_neighbors, made.random_state, made.schema) == (1, 7, schema)
    assert given.n_neighbors == 3


def test_a_failure_becomes_a_sentence():
    assert reason_of(ScoringError("Too few rows.")) == "Too few rows."
    unexpected = "The method failed unexpectedly: KeyError: 'x'"
    assert reason_of(KeyError("x")) == unexpected
