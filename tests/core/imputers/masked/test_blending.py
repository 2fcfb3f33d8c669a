"""Members that join a blend one after the other, and what each is worth."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import Cancelled
from pmae_core.imputers.masked._blending import (
    SHARE_HELD_OUT,
    Blending,
)
from pmae_core.imputers.masked._estimates import true_cells
from pmae_core.imputers.masked._forests import Growth
from pmae_core.imputers.masked._masked_forests import Masks
from pmae_core.imputers.masked._validation import validation_cells
from pmae_core.imputers.masked.network import PMAENetworkImputer
from pmae_core.imputers.run import FitRun
from pmae_core.table import TableEncoder
from tests.support.mixed_tables import curved_table, linear_table, mixed_table

GROWTH = Growth(n_trees=20, min_leaf="auto", max_features=0.5, n_jobs=1)


def blending_of(incomplete: pd.DataFrame, cancel=lambda: False, callbacks=()) -> Blending:
    encoder = TableEncoder(numeric="rank").fit(incomplete)
    run = FitRun(seed=0, callbacks=callbacks, cancel=cancel, checkpoint_dir=None)
    return Blending(encoder.transform(incomplete), encoder.scalers_, Masks(), run, n_threads=1)


class Oracle:
    """A network that knows the observed cells up to noise, and keeps what it was given."""

    def __init__(self, blending: Blending, noise: float):
        self.blending, self.noise = blending, noise
        self.rng = np.random.default_rng(0)
        self.asked = []

    def estimate(self, values, kept, wanted):
        self.asked.append((kept, wanted))
        found = {}
        for j in np.flatnonzero(wanted.any(axis=0)).tolist():
            n_categories = self.blending.encoded.columns[j].n_categories
            truth = true_cells(values[wanted[:, j], j], j, self.blending.numbers, n_categories)
            found[j] = np.clip(truth + self.noise * self.rng.normal(size=truth.shape), 0, 1)
        return found


def test_members_join_one_after_the_other():
    _, incomplete = mixed_table()
    blending = blending_of(incomplete)
    blending.fit_gaussians()
    assert blending.blend.members == []  # fitted, but not asked for

    answers = [
        blending.add_gaussians(),
        blending.add_forests(GROWTH),
        blending.add_network(lambda: Oracle(blending, 0.1)),
    ]

    names = ["gaussian-ranks", "gaussian-own-scale", "trees", "network"]
    for answer, n_members in zip(answers, (2, 3, 4), strict=True):
        assert answer.blend.members == names[:n_members]
        assert answer.blend.shares.shape == (5, n_members)
        assert (answer.blend.shares >= 0).all()
        np.testing.assert_allclose(answer.blend.shares.sum(axis=1), 1)
        assert set(answer.column_skill) == set(range(5))
        assert set(answer.blend.errors) == set(range(5))
    assert blending.blend is answers[-1].blend


def test_lines_are_left_to_gaussians_and_curves_to_trees():
    shares = {}
    for name, (_, incomplete) in {"line": linear_table(), "curve": curved_table()}.items():
        blending = blending_of(incomplete)
        blending.fit_gaussians()
        blending.add_gaussians()
        shares[name] = blending.add_forests(GROWTH).blend.shares[:, 2]

    assert shares["curve"][1] > 0.7  # a parabola
    assert shares["line"].mean() < 0.5 < shares["curve"].mean()


def test_an_answer_gets_better_with_a_member_that_helps():
    _, incomplete = curved_table()
    blending = blending_of(incomplete)
    blending.fit_gaussians()

    gaussian = blending.add_gaussians().column_skill
    trees = blending.add_forests(GROWTH).column_skill

    assert gaussian[1] < 0.3  # no line says anything about a parabola
    assert trees[1] > 0.6


@pytest.mark.parametrize(("noise", "low", "high"), [(0.01, 0.9, 1.0), (2.0, 0.0, 0.15)])
def test_a_network_counts_as_much_as_held_out_cells_teach(noise, low, high):
    _, incomplete = linear_table()
    blending = blending_of(incomplete)
    blending.fit_gaussians()
    before = blending.add_gaussians()
    network = Oracle(blending, noise)

    answer = blending.add_network(lambda: network)

    of_network = answer.blend.shares[:, 2]
    assert (low <= of_network).all()
    assert (of_network <= high).all()
    # Others keep their proportions.
    np.testing.assert_allclose(
        answer.blend.shares[:, :2], before.blend.shares * (1 - of_network)[:, None]
    )


def test_a_network_is_asked_for_held_out_cells_given_the_others():
    _, incomplete = mixed_table()
    blending = blending_of(incomplete)
    network = Oracle(blending, 0.1)

    blending.add_network(lambda: network)

    wanted = network.asked[0][1]
    assert not any((kept & wanted).any() for kept, wanted in network.asked)
    np.testing.assert_array_equal(wanted, blending.held_out.cells)


@pytest.mark.parametrize("preset", ["balanced", "fast"])
def test_held_out_cells_are_those_that_the_network_has_not_learned_from(preset):
    _, incomplete = mixed_table()
    blending = blending_of(incomplete)

    share = PMAENetworkImputer(preset=preset).settings_for(300)["validation_share"]

    assert share == SHARE_HELD_OUT
    again = validation_cells(blending.encoded.observed, share, seed=0)
    np.testing.assert_array_equal(again.rows, blending.held_out.rows)
    np.testing.assert_array_equal(again.cells, blending.held_out.cells)


def test_a_network_alone_counts_fully():
    _, incomplete = mixed_table()
    blending = blending_of(incomplete)

    answer = blending.add_network(lambda: Oracle(blending, 0.1))

    assert answer.blend.members == ["network"]
    assert (answer.blend.shares == 1).all()


def test_with_too_few_cells_to_hold_out_all_members_count_the_same():
    _, incomplete = mixed_table(20)
    blending = blending_of(incomplete)
    assert blending.held_out is None
    blending.fit_gaussians()
    first = blending.add_gaussians()
    assert first.column_skill == {} and first.skill is None
    assert set(first.blend.errors) == set(range(5))

    answer = blending.add_network(lambda: Oracle(blending, 0.1))

    assert answer.column_skill == {} and answer.skill is None
    np.testing.assert_allclose(answer.blend.shares, 1 / 3)
    assert answer.blend.errors.keys() == first.blend.errors.keys()


def test_errors_are_those_of_the_blend_on_cells_it_does_not_know():
    _, incomplete = linear_table(2000)
    blending = blending_of(incomplete)

    answer = blending.add_network(lambda: Oracle(blending, 0.0))
    noisy = blending_of(incomplete)
    spread = noisy.add_network(lambda: Oracle(noisy, 0.1)).blend.errors

    for j, exact in answer.blend.errors.items():
        np.testing.assert_allclose(exact.cells - exact.estimates, 0, atol=1e-5)
        assert (spread[j].cells - spread[j].estimates).std() > 0.02


def test_no_row_teaches_errors_twice():
    _, incomplete = mixed_table(300)
    blending = blending_of(incomplete)
    blending.fit_gaussians()

    blend = blending.add_gaussians().blend

    for j in (0, 1, 3):
        assert len(blend.errors[j].cells) == blending.encoded.observed[:, j].sum()


def test_a_network_that_overfits_is_taken_to_be_off_by_as_much_as_on_held_out_cells():
    _, incomplete = linear_table(1500)
    blending = blending_of(incomplete)
    truth = {j: blending._truth(blending._examples[j][0][:400], j) for j in range(2)}
    held_out = {j: true + 0.2 for j, true in blending._true_held_out().items()}

    class Overfitted(Oracle):
        def estimate(self, values, kept, wanted):
            return {j: found + 0.1 for j, found in super().estimate(values, kept, wanted).items()}

    found = blending._network_on_examples(Overfitted(blending, 0.0), held_out)

    for j, true in truth.items():
        off = np.abs(found[j][:400] - true).mean()
        assert 0.17 < off <= 0.2


def test_work_can_be_cancelled_between_gaussians():
    _, incomplete = mixed_table()
    asked = []

    def cancel() -> bool:
        asked.append(None)
        return len(asked) == 4

    with pytest.raises(Cancelled):
        blending_of(incomplete, cancel).fit_gaussians()


def test_trees_are_counted():
    _, incomplete = mixed_table(60)
    seen = []
    blending_of(incomplete, callbacks=[seen.append]).add_forests(GROWTH)

    assert [event.done for event in seen] == list(range(4, 101, 4))
    assert (seen[-1].total, seen[-1].unit) == (100, "tree")


def test_skill_is_relative_to_the_variance_of_the_column():
    _, incomplete = linear_table()
    blending = blending_of(incomplete)
    rows = np.flatnonzero(blending.encoded.observed[:, 0])
    truth = blending._truth(rows, 0)

    assert blending._skill(truth, truth, 0) == 1.0
    assert blending._skill(truth, np.full_like(truth, truth.mean()), 0) == pytest.approx(0.0)
    # Two cells that are nearly alike do not make a good estimate look bad.
    few = np.array([[0.5], [0.501]])
    assert blending._skill(few, few + 0.01, 0) > 0.99
