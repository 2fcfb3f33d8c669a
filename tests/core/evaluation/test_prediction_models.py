"""Scores of models that predict a target."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from pmae_core.evaluation.prediction_models import _auroc


def test_auroc_of_several_classes_is_scikit_learns_macro_average():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 90)
    proba = rng.dirichlet(np.ones(3), 90) + 0.3 * np.eye(3)[truth]
    proba /= proba.sum(axis=1, keepdims=True)
    expected = roc_auc_score(truth, proba, multi_class="ovr")
    assert _auroc(truth, proba, np.arange(3)) == pytest.approx(expected)
    two = (truth > 0).astype(int)
    binary = np.column_stack([proba[:, 0], 1 - proba[:, 0]])
    assert _auroc(two, binary, np.arange(2)) == pytest.approx(roc_auc_score(two, binary[:, 1]))
    # A class that training never saw is found no better than by chance.
    without = _auroc(truth, proba[:, :2], np.arange(2))
    areas = [roc_auc_score(truth == k, proba[:, k]) for k in (0, 1)]
    assert without == pytest.approx((sum(areas) + 0.5) / 3)
