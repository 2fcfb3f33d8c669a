import numpy as np
import pytest

from pmae_core.evaluation import Comparison, TaskResult
from pmae_core.evaluation.disagreement import disagreement_sentence


def comparison(scores):
    """Make a comparison from {method: (skill, energy distance)} with a little noise."""
    tasks = [
        TaskResult(
            method=method,
            seed=seed,
            status="done",
            scores={"skill": skill, "energy_distance": distance + 0.001 * noise},
            per_column=[{"column": "x", "skill": skill + 0.001 * noise}],
        )
        for number, (method, (skill, distance)) in enumerate(scores.items())
        for seed, noise in enumerate(np.random.default_rng(number).normal(size=3))
    ]
    settings = {"methods": list(scores), "seeds": [0, 1, 2], "holdout": "like-mine"}
    return Comparison(tasks=tasks, settings=settings)


def test_the_sentence_names_both_methods():
    found = comparison({"missforest": (0.6, 0.3), "pmae": (0.4, 0.1), "naive": (0.0, 0.5)})
    assert found.disagreement() == ("missforest", "pmae")
    assert disagreement_sentence(found, {"missforest": "MissForest", "pmae": "PMAE"}) == (
        "MissForest is closest on single cells; imputations by PMAE resemble the distribution of "
        "the data more."
    )


def test_a_method_tied_on_cells_can_be_better_in_distribution():
    found = disagreement_sentence(
        comparison({"a": (0.6003, 0.3), "b": (0.6, 0.1), "c": (0.1, 0.9)}), {"b": "B"}
    )
    assert found.endswith(
        " and B are tied on single cells; imputations by B resemble the distribution of the data "
        "more."
    )


@pytest.mark.parametrize(
    "scores",
    [
        {"a": (0.6, 0.1), "b": (0.4, 0.3)},
        {"a": (0.6, 0.1), "b": (0.4, 0.1), "c": (0.1, 0.9)},
    ],
)
def test_agreement_and_ties_need_no_sentence(scores):
    assert comparison(scores).disagreement() is None
    assert disagreement_sentence(comparison(scores)) == ""


def test_results_without_the_distance_say_nothing():
    old = comparison({"a": (0.5, 0.1), "b": (0.4, 0.2)})
    for task in old.tasks:
        del task.scores["energy_distance"]
    assert disagreement_sentence(old) == ""
    assert disagreement_sentence(comparison({})) == ""
