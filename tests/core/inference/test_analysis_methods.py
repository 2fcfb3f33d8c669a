"""One regression on the imputations of several methods."""

import pytest

from pmae_core.errors import AnalysisError, ExpressionError, ScoringError
from pmae_core.inference import analyze, compare_analyses


def test_methods_stand_below_each_other(frame, imputed):
    several = [imputed, imputed.assign(y=imputed["y"] + 0.1)]
    methods = {"several": several, "one": imputed, "none": frame}

    found = compare_analyses(methods, "y ~ x", original=frame)

    assert found["method"].unique().tolist() == ["complete cases", "several", "one", "none"]
    assert found.groupby("method")["kind"].first().to_dict() == {
        "complete cases": "reference",
        "several": "pooled",
        "one": "single",
        "none": "",
    }
    expected = analyze(several, "y ~ x").table["estimate"].tolist()
    assert found.loc[found["method"] == "several", "estimate"].tolist() == expected
    failed = found.loc[found["method"] == "none"].iloc[0]
    assert failed["status"] == "failed"
    assert "missing values in the table" in failed["error"]


def test_what_is_wrong_with_all_methods_is_an_error(imputed):
    with pytest.raises(ExpressionError):
        compare_analyses({"one": imputed}, "y ~")
    with pytest.raises(AnalysisError, match="at least one method"):
        compare_analyses({}, "y ~ x")
    with pytest.raises(ScoringError, match="reserved"):
        compare_analyses({"complete cases": imputed}, "y ~ x")
