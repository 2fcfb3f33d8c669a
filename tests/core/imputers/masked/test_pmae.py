"""The PMAE blend: its accuracy, its answers on the way, and its files."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from pmae_core.errors import Cancelled, ImputationError, ImputationWarning
from pmae_core.events import AnswerImproved, FitProgress, TrainingProgress, TrainingStarted
from pmae_core.imputers import PMAENetworkImputer, load_imputer, make_imputer
from pmae_core.imputers.masked._estimates import true_cells
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.imputers.masked.pmae import PMAEImputer
from pmae_core.storage.arrays import read_arrays, write_arrays
from tests.support.mixed_tables import curved_table, linear_table, mixed_table
from tests.support.paths import ROOT

TINY_NETWORK = {"steps": 20, "width": 8, "encoder_depth": 1, "decoder_depth": 1}
TABLES = {"linear": linear_table, "curved": curved_table, "mixed": mixed_table}


def make(**params) -> PMAEImputer:
    given = {"n_trees": 10, "network_params": TINY_NETWORK, "device": "cpu", "random_state": 0}
    return PMAEImputer(**(given | params))


@pytest.fixture(scope="module")
def incomplete() -> pd.DataFrame:
    return mixed_table()[1]


@pytest.fixture(scope="module")
def fitted(incomplete) -> PMAEImputer:
    return make().fit(incomplete)


# ------------------------------------------------------------------ accuracy


def errors_of_parts(imputer: PMAEImputer, truth: pd.DataFrame, incomplete: pd.DataFrame):
    """Return the error of the blend and of each member on missing cells, as a share of variance."""
    encoded = imputer.encoder_.transform(incomplete)
    true = imputer.encoder_.transform(truth).values
    numbers = OwnNumbers(imputer.encoder_.scalers_)
    blend, missing = imputer.blend_, ~encoded.observed
    cells = (encoded.values, encoded.observed, missing)
    errors = []
    for estimates in (blend.estimate(*cells), *blend.parts(*cells)):
        by_column = []
        for j, found in estimates.items():
            n_categories = encoded.columns[j].n_categories
            correct = true_cells(true[missing[:, j], j], j, numbers, n_categories)
            spread = np.square(correct - correct.mean(axis=0)).mean()
            by_column.append(np.square(found - correct).mean() / spread)
        errors.append(np.mean(by_column))
    return errors[0], dict(zip(blend.members, errors[1:], strict=True))


@pytest.mark.parametrize("name", TABLES)
def test_the_blend_is_about_as_good_as_its_best_member_or_better(name):
    truth, incomplete = TABLES[name]()
    imputer = make(n_trees=100, network_params={"steps": 200}).fit(incomplete)

    blended, members = errors_of_parts(imputer, truth, incomplete)

    # Shares that some sixty cells of a column teach cannot be exact.
    assert blended < 1.2 * min(members.values())
    assert blended < max(members.values())
    assert blended < 0.6


def test_skill_is_that_of_missing_cells(fitted):
    truth, incomplete = mixed_table()

    blended, _ = errors_of_parts(fitted, truth, incomplete)

    assert fitted.answers_[-1].skill == pytest.approx(1 - blended, abs=0.12)


def test_no_member_counts_for_everything_because_of_its_name(fitted):
    assert fitted.shares_.to_numpy().max() < 1
    assert (fitted.shares_.to_numpy() > 0.05).any(axis=0).sum() >= 2


# ------------------------------------------------------------------ answers


def test_answers_come_the_quickest_first(fitted, incomplete):
    events = []
    make().fit(incomplete, callbacks=[events.append])

    answers = [event for event in events if isinstance(event, AnswerImproved)]
    assert [answer.members for answer in answers] == [
        ["gaussian"],
        ["gaussian", "trees"],
        ["gaussian", "trees", "network"],
    ]
    assert [answer.to_come for answer in answers] == [["trees", "network"], ["network"], []]
    seconds = [answer.seconds for answer in answers]
    assert 0 < seconds[0] < seconds[1] < seconds[2]
    assert all(set(answer.column_skill) == set(incomplete.columns) for answer in answers)
    for answer in answers:
        skills = answer.column_skill.values()
        assert min(skills) < answer.skill < max(skills)
    kinds = [type(event) for event in events]
    assert kinds.index(AnswerImproved) < kinds.index(FitProgress) < kinds.index(TrainingStarted)
    assert [answer.skill for answer in fitted.answers_] == [answer.skill for answer in answers]


@pytest.mark.parametrize("n_answers", [1, 2])
def test_a_fit_that_is_cancelled_leaves_its_last_answer(incomplete, n_answers):
    seen = []

    def has_answers() -> bool:
        return sum(isinstance(event, AnswerImproved) for event in seen) >= n_answers

    cancelled = make()
    with pytest.raises(Cancelled):
        cancelled.fit(incomplete, callbacks=[seen.append], cancel=has_answers)

    members = ["gaussian", "trees"][:n_answers]
    assert cancelled.answers_[-1].members == members
    expected = make(members=members).fit(incomplete)
    pd.testing.assert_frame_equal(
        cancelled.transform(incomplete), expected.transform(incomplete), check_exact=True
    )
    assert cancelled.settings_["shares"] == expected.settings_["shares"]
    assert not cancelled.sample(incomplete, 1)[0].isna().any(axis=None)


def test_a_cancelled_fit_can_be_saved(incomplete, tmp_path):
    seen = []
    imputer = make()
    with pytest.raises(Cancelled):
        imputer.fit(
            incomplete,
            callbacks=[seen.append],
            cancel=lambda: any(isinstance(event, AnswerImproved) for event in seen),
        )
    imputer.save(tmp_path / "model")

    loaded = load_imputer(tmp_path / "model")

    pd.testing.assert_frame_equal(
        loaded.transform(incomplete), imputer.transform(incomplete), check_exact=True
    )


def test_a_fit_that_is_cancelled_at_once_has_no_answer(incomplete):
    imputer = make()
    with pytest.raises(Cancelled):
        imputer.fit(incomplete, cancel=lambda: True)

    assert imputer.answers_ == []
    for use in (imputer.transform, imputer.sample, lambda _: imputer.shares_):
        with pytest.raises(ImputationError, match=r"no answer: its fit was cancelled too early\.$"):
            use(incomplete)


def test_a_second_fit_forgets_the_first(fitted, incomplete):
    imputer = make().fit(linear_table()[1])

    imputer.fit(incomplete)

    pd.testing.assert_frame_equal(
        imputer.transform(incomplete), fitted.transform(incomplete), check_exact=True
    )
    assert len(imputer.answers_) == 3


def test_a_resumed_fit_leads_to_the_same_table(fitted, incomplete, tmp_path):
    seen, again = [], []
    with pytest.raises(Cancelled, match="Training was cancelled after 10 steps"):
        make().fit(
            incomplete,
            callbacks=[seen.append],
            cancel=lambda: any(isinstance(event, TrainingProgress) for event in seen),
            checkpoint_dir=tmp_path,
        )

    resumed = make().fit(incomplete, checkpoint_dir=tmp_path, callbacks=[again.append])

    assert [event.first_step for event in again if isinstance(event, TrainingStarted)] == [10]
    pd.testing.assert_frame_equal(
        resumed.transform(incomplete), fitted.transform(incomplete), check_exact=True
    )


# ------------------------------------------------------------------ members and shares


def test_shares_add_up_and_settings_agree(fitted, incomplete):
    shares = fitted.shares_

    assert list(shares.index) == list(incomplete.columns)
    assert list(shares.columns) == ["gaussian-ranks", "gaussian-own-scale", "trees", "network"]
    assert (shares.to_numpy() >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert fitted.settings_["shares"] == shares.T.to_dict()


@pytest.mark.parametrize(
    ("members", "columns"),
    [
        (["gaussian"], ["gaussian-ranks", "gaussian-own-scale"]),
        (["trees"], ["trees"]),
        (["network"], ["network"]),
        (("network", "trees"), ["trees", "network"]),
        (["network", "gaussian"], ["gaussian-ranks", "gaussian-own-scale", "network"]),
    ],
    ids=str,
)
def test_some_members_are_enough(incomplete, tmp_path, members, columns):
    imputer = make(members=members).fit(incomplete)

    assert list(imputer.shares_.columns) == columns
    np.testing.assert_allclose(imputer.shares_.sum(axis=1), 1)
    imputed = imputer.transform(incomplete)
    assert not imputed.isna().any(axis=None)
    assert not imputer.sample(incomplete, 1)[0].isna().any(axis=None)
    imputer.save(tmp_path / "model")
    loaded = load_imputer(tmp_path / "model")
    pd.testing.assert_frame_equal(loaded.transform(incomplete), imputed, check_exact=True)


def test_presets_say_what_is_blended():
    assert set(make().members_in_force()) == {"network", "gaussian", "trees"}
    assert set(make(preset="fast").members_in_force()) == {"gaussian", "trees"}
    assert make(preset="fast", members=["network"]).members_in_force() == ("network",)


@pytest.mark.parametrize("members", [[], ["magic"], ["trees", "trees"], "trees"])
def test_other_members_are_refused(incomplete, members):
    with pytest.raises(ImputationError, match="members must be"):
        make(members=members).fit(incomplete)


@pytest.mark.parametrize(
    "name",
    [
        "categorical",
        "min_category_count",
        "numeric",
        "preset",
        "random_state",
        "schema",
        "validation_share",
    ],
)
def test_what_members_share_cannot_be_set_for_the_network(incomplete, name):
    with pytest.raises(ImputationError, match=f"network_params cannot set {name}: all members"):
        make(network_params={name: 1}).fit(incomplete)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"nonsense": 1}, "network_params has no parameter nonsense"),
        ({"steps": -1}, "steps must be"),
        ({"width": "wide"}, "width must be"),
    ],
)
def test_wrong_parameters_of_the_network_are_refused(incomplete, params, sentence):
    with pytest.raises(ImputationError, match=sentence):
        make(network_params=params).fit(incomplete)


def test_parameters_reach_the_network(incomplete):
    imputer = make(network_params={**TINY_NETWORK, "architecture": "transformer"}).fit(incomplete)

    assert imputer.settings_["network"]["architecture"] == "transformer"
    assert imputer.settings_["network"]["steps"] == 20
    assert imputer.training_result_.step == 20


def test_the_work_is_that_of_the_network_and_of_the_other_members():
    parts = make(network_params={"width": 8}).work_parts()

    assert [name for name, _ in parts] == ["pmae", "pmae-mix"]
    assert parts[0][1]["members"] == ["gaussian", "trees"]
    assert parts[1][1]["width"] == 8
    assert make(preset="fast").work_parts() == ()


def test_the_network_is_that_of_pmae_mix(incomplete):
    imputer = make(network_params={"steps": 30}).fit(incomplete)
    encoder = imputer.encoder_

    alone = encoder.decode(imputer.blend_.network.impute(encoder.transform(incomplete)), incomplete)

    network = PMAENetworkImputer(steps=30, random_state=0)
    pd.testing.assert_frame_equal(alone, network.fit_transform(incomplete), check_exact=True)


def test_as_many_trees_as_the_table_needs(incomplete):
    assert make(preset="fast").fit(incomplete).settings_["n_trees"] == 10
    automatic = make(preset="fast", n_trees="auto").fit(incomplete)
    assert automatic.settings_["n_trees"] == 100


# ------------------------------------------------------------------ repetition, threads, files


def test_seeds_repeat_and_differ(fitted, incomplete):
    imputed = fitted.transform(incomplete)

    pd.testing.assert_frame_equal(make().fit_transform(incomplete), imputed, check_exact=True)
    other = make(random_state=1).fit_transform(incomplete)
    assert not other["x"].equals(imputed["x"])


def test_threads_do_not_change_a_bit(incomplete):
    alone, together = (make(preset="fast", n_jobs=n_jobs).fit(incomplete) for n_jobs in (1, 2))

    pd.testing.assert_frame_equal(
        together.transform(incomplete), alone.transform(incomplete), check_exact=True
    )
    pd.testing.assert_frame_equal(together.shares_, alone.shares_, check_exact=True)


@pytest.mark.parametrize("preset", ["balanced", "fast"])
def test_a_saved_imputer_imputes_and_draws_the_same(incomplete, tmp_path, preset):
    imputer = make(preset=preset).fit(incomplete)
    imputer.save(tmp_path / "model")

    loaded = PMAEImputer.load(tmp_path / "model")

    assert loaded.settings_ == imputer.settings_
    assert loaded.answers_ == imputer.answers_
    assert loaded.training_result_ == imputer.training_result_
    pd.testing.assert_frame_equal(loaded.shares_, imputer.shares_, check_exact=True)
    pd.testing.assert_frame_equal(
        loaded.transform(incomplete), imputer.transform(incomplete), check_exact=True
    )
    for ours, theirs in zip(
        imputer.sample(incomplete, 2, random_state=3),
        loaded.sample(incomplete, 2, random_state=3),
        strict=True,
    ):
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_an_imputer_without_anything_to_learn_is_saved_too(tmp_path):
    frame = pd.DataFrame({"same": [1.0, np.nan, 1.0]})
    make().fit(frame).save(tmp_path / "model")

    loaded = load_imputer(tmp_path / "model")

    assert loaded.transform(frame)["same"].tolist() == [1.0, 1.0, 1.0]
    assert loaded.shares_.empty


@pytest.mark.parametrize(
    ("group", "sentence"),
    [
        ("blend", "no array 'shares'"),
        ("gaussian_own", "a member of the blend is missing"),
        ("gaussian_ranks", "damaged"),
        ("forests", "a column has no forest"),
        ("errors_of_blend", "the errors of a column are not complete"),
    ],
)
def test_a_file_without_one_of_its_parts_is_refused(incomplete, tmp_path, group, sentence):
    path = tmp_path / "model"
    make(preset="fast").fit(incomplete).save(path)
    groups, state = read_arrays(path)
    del groups[group]
    write_arrays(path, groups, state)

    with pytest.raises(ImputationError, match=sentence):
        load_imputer(path)


def test_shares_of_other_columns_are_refused(incomplete, tmp_path):
    path = tmp_path / "model"
    make(preset="fast").fit(incomplete).save(path)
    groups, state = read_arrays(path)
    groups["blend"]["shares"] = groups["blend"]["shares"][:-1]
    write_arrays(path, groups, state)

    with pytest.raises(ImputationError, match="the shares do not fit"):
        load_imputer(path)


WITHOUT_TORCH = """
import sys
import numpy as np


class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "timm"):
            raise ImportError(f"{name} was imported")


sys.meta_path.insert(0, NoTorch())
from pmae_core.imputers import load_imputer, make_imputer

rng = np.random.default_rng(0)
table = rng.normal(size=(60, 3))
table[:, 1] += table[:, 0]
table[rng.random(table.shape) < 0.2] = np.nan
imputer = make_imputer("pmae", preset="fast", n_trees=5, random_state=0).fit(table)
imputed = imputer.transform(table)
imputer.sample(table, 1)
imputer.save(sys.argv[1])
assert (load_imputer(sys.argv[1]).transform(table) == imputed).all()
print("done")
"""


def test_fast_needs_no_torch_nor_does_its_file(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, str(tmp_path / "model")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert run.stdout.strip() == "done", run.stderr


# ------------------------------------------------------------------ tables of all kinds


def test_a_table_too_wide_for_a_gaussian_is_left_to_the_others(incomplete, monkeypatch):
    monkeypatch.setattr("pmae_core.imputers.masked._table_gaussian.MOST_COORDINATES", 5)
    imputer = make()

    with pytest.warns(ImputationWarning, match="too many columns and categories") as warned:
        imputer.fit(incomplete)

    assert [one.filename for one in warned] == [__file__]
    assert list(imputer.shares_.columns) == ["trees", "network"]
    assert imputer.blend_.forests.gaussian is None
    assert imputer.settings_["network"]["start"] == "none"
    assert not imputer.transform(incomplete).isna().any(axis=None)
    with pytest.raises(ImputationError, match="Choose further members"):
        make(members=["gaussian"]).fit(incomplete)


def test_thousands_of_categories():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(1500)]
    frame = pd.DataFrame({"word": words * 2, "x": rng.normal(size=3000)})
    frame.loc[rng.random(3000) < 0.1, "word"] = None
    frame.loc[rng.random(3000) < 0.1, "x"] = np.nan
    imputer = make(n_trees=5, schema={"word": "categorical"})

    imputed = imputer.fit_transform(frame)

    assert not imputed.isna().any(axis=None)
    assert set(imputed["word"]) <= set(words)


@pytest.mark.parametrize("columns", [["town", "side"], ["x", "y", "income"]], ids=str)
@pytest.mark.parametrize("preset", ["balanced", "fast"])
def test_columns_of_one_kind(incomplete, columns, preset):
    truth = mixed_table()[0][columns]
    imputer = make(preset=preset).fit(incomplete[columns])

    imputed = imputer.transform(incomplete[columns])

    assert not imputed.isna().any(axis=None)
    assert not imputer.sample(incomplete[columns], 1)[0].isna().any(axis=None)
    missing = incomplete[columns[0]].isna() & incomplete[columns[1]].notna()
    if columns[0] == "town":
        usual = truth["town"].mode()[0]
        right = (imputed["town"] == truth["town"])[missing].mean()
        assert right > (truth["town"] == usual)[missing].mean()
    else:
        errors = (imputed["x"] - truth["x"])[missing]
        assert errors.var() < 0.3 * truth["x"].var()


@pytest.mark.parametrize("members", [None, ["network"], ["trees"], ["gaussian"]], ids=str)
def test_six_rows(members):
    table = pd.DataFrame(
        {
            "x": [1.0, 2.0, np.nan, 4.0, 5.0, 6.0],
            "y": [2.0, 4.0, 6.0, np.nan, 10.0, 12.0],
            "town": ["Ulm", "Ulm", "Bonn", "Bonn", None, "Bonn"],
        }
    )
    imputer = make(members=members)

    imputed = imputer.fit_transform(table)

    assert not imputed.isna().any(axis=None)
    assert imputed["x"].between(1, 6).all()
    assert imputer.answers_[-1].skill is None
    np.testing.assert_allclose(imputer.shares_.sum(axis=1), 1)
    for draw in imputer.sample(table, 3):
        assert not draw.isna().any(axis=None)


def test_new_rows_are_imputed_as_they_would_be_with_others(fitted, incomplete):
    truth, _ = mixed_table(360)
    fresh = truth.iloc[300:].assign(y=np.nan)

    imputed = fitted.transform(fresh)

    errors = (imputed["y"] - truth["y"].iloc[300:]) / truth["y"].std()
    assert np.square(errors).mean() < 0.3
    one = fitted.transform(fresh.iloc[[5]])
    np.testing.assert_allclose(one["y"], imputed["y"].iloc[[5]], rtol=1e-4)


def test_draws_have_the_spread_of_what_cannot_be_known():
    rng = np.random.default_rng(1)
    truth = pd.DataFrame({"x": rng.normal(size=600)})
    truth["y"] = truth["x"] + rng.normal(0, 0.5, 600)
    incomplete = truth.assign(y=truth["y"].where(rng.random(600) > 0.3))
    cells = incomplete["y"].isna()

    draws = make(preset="fast").fit(incomplete).sample(incomplete, 40)

    spread = np.std([draw.loc[cells, "y"] for draw in draws], axis=0).mean()
    assert spread == pytest.approx(0.5, abs=0.1)
    mean = np.mean([draw.loc[cells, "y"] for draw in draws], axis=0)
    assert np.corrcoef(mean, truth.loc[cells, "x"])[0, 1] > 0.9


@pytest.mark.parametrize("unit", [1e-300, 1e308])
def test_the_smallest_and_the_largest_numbers(unit):
    _, incomplete = linear_table()
    incomplete = incomplete / incomplete.abs().max() * unit
    imputer = make(preset="fast")

    imputed = imputer.fit_transform(incomplete)

    assert np.isfinite(imputed).all(axis=None)
    assert imputer.answers_[-1].skill > 0.5


def test_scikit_learns_own_checks():
    failed = []
    for estimator, check in estimator_checks_generator(make(preset="fast", n_trees=5)):
        try:
            check(estimator)
        except Exception as error:
            # array API checks ask for an environment variable and skip without it
            if type(error).__name__ not in {"SkipTest", "Skipped"}:
                failed.append((check, error))
    assert not failed


def test_it_is_the_method_pmae():
    imputer = make_imputer("pmae", preset="fast")

    assert isinstance(imputer, PMAEImputer)
    assert imputer.preset == "fast"
