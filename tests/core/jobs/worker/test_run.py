"""The work of each kind of job, without store and processes."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import Cancelled, DamageWarning, DatasetUnavailableError
from pmae_core.evaluation import Comparison, TaskStarted, downstream_scores
from pmae_core.events import AnswerImproved, DamageFound, TrainingProgress, TrainingStarted
from pmae_core.explain import Condition, StructuralMissingness
from pmae_core.imputers import PMAENetworkImputer, load_imputer
from pmae_core.inference import conclusion_stability
from pmae_core.jobs.spec import JobSpec
from pmae_core.jobs.worker import answers, consequences
from pmae_core.jobs.worker.answers import read_answer
from pmae_core.jobs.worker.consequences import Consequences, compute_consequences, read_consequences
from pmae_core.jobs.worker.context import JobContext, PhaseStarted
from pmae_core.jobs.worker.results import read_frame
from pmae_core.jobs.worker.run import run_job
from pmae_core.storage.files import read_sealed, write_sealed
from pmae_core.table import Schema
from tests.support.damage import with_flipped_bit

DIGEST = "0" * 64
QUICK = {"steps": 60, "width": 8, "encoder_depth": 1, "batch_size": 16, "patience": 0}


def small_table(n_rows: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=n_rows)
    table = pd.DataFrame(
        {
            "x": x,
            "count": pd.array(rng.integers(0, 9, n_rows), dtype="Int64"),
            "town": pd.Categorical.from_codes((x > 0).astype(int), ["Aa", "Bb"]),
        },
        index=pd.Index(range(100, 100 + n_rows), name="visit"),
    )
    table.loc[table.index[::4], "x"] = np.nan
    table.loc[table.index[1::5], "count"] = pd.NA
    table.loc[table.index[2::6], "town"] = np.nan
    return table


class Listener:
    """Collects events, and wants to stop at the nth of a kind."""

    def __init__(self, stop_at=None):
        self.events = []
        self.stop_at = stop_at

    def context(self, folder, table=None, model=None):
        table = small_table() if table is None else table
        return JobContext(
            folder=folder,
            load_table={DIGEST: table}.__getitem__,
            model_path=lambda job_id: model,
            emit=self.events.append,
            cancel=lambda: self.stop_at is not None and self.stop_at(self.events),
        )


def train_spec(**params):
    given = {"method": "pmae-mix", "params": QUICK, **params}
    return JobSpec.make("train", params=given, table=DIGEST, seed=3)


def test_training_gives_a_model_and_the_imputed_table(tmp_path):
    listener = Listener()
    result = run_job(train_spec(), listener.context(tmp_path))
    out = tmp_path / "result"
    assert json.loads((out / "result.json").read_text()) == result
    assert set(result["files"]) == {"model.safetensors", "imputed.parquet", "was_imputed.parquet"}
    beside = {"result.json", "checksums.sha256"}
    assert set(result["files"]) == {path.name for path in out.iterdir()} - beside

    table = small_table()
    imputed = read_frame(out / "imputed.parquet")
    expected = PMAENetworkImputer(**QUICK, random_state=3).fit_transform(table)
    pd.testing.assert_frame_equal(imputed, expected)
    was_imputed = read_frame(out / "was_imputed.parquet")
    pd.testing.assert_frame_equal(was_imputed, table.isna())
    assert result["n_imputed"] == int(table.isna().to_numpy().sum())
    assert result["training"]["step"] == 60
    pd.testing.assert_frame_equal(
        load_imputer(out / "model.safetensors").transform(table), expected
    )
    phases = [event.phase for event in listener.events if isinstance(event, PhaseStarted)]
    assert phases == ["fit", "impute"]


def test_training_without_imputing(tmp_path):
    quick = {**QUICK, "steps": 5}
    context = Listener().context(tmp_path, small_table(n_rows=200))
    result = run_job(train_spec(impute=False, params=quick), context)
    assert result["files"] == ["held_out.json", "model.safetensors"]
    assert "n_imputed" not in result


def test_a_cancelled_training_goes_on_to_the_same_bits(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run_job(train_spec(), Listener().context(whole))

    def late(events):
        return any(isinstance(e, TrainingProgress) and e.step >= 30 for e in events)

    with pytest.raises(Cancelled):
        run_job(train_spec(), Listener(late).context(broken))
    assert not (broken / "result").exists()
    assert (broken / "checkpoint").is_dir()

    resumed = Listener()
    run_job(train_spec(), resumed.context(broken))
    [started] = [event for event in resumed.events if isinstance(event, TrainingStarted)]
    assert started.first_step == 30
    assert not (broken / "result.tmp").exists()
    for name in ("imputed.parquet", "model.safetensors"):
        same = (whole / "result" / name).read_bytes() == (broken / "result" / name).read_bytes()
        assert same or name == "model.safetensors"  # which also keeps the seconds


def test_a_training_with_a_damaged_checkpoint_ends_with_the_same_bits_and_a_note(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run_job(train_spec(), Listener().context(whole))
    with pytest.raises(Cancelled):
        run_job(train_spec(), Listener(bool).context(broken))
    (broken / "checkpoint" / "checkpoint.safetensors").write_bytes(b"")

    resumed = Listener()
    result = run_job(train_spec(), resumed.context(broken))

    said = "The newest checkpoint is damaged, so training started again."
    assert DamageFound(sentence=said) in resumed.events
    assert said in result["notes"]
    table = "result/imputed.parquet"
    assert (whole / table).read_bytes() == (broken / table).read_bytes()


def test_imputing_with_a_method_and_with_its_draws(tmp_path):
    spec = JobSpec.make("impute", params={"method": "em", "imputations": 2}, table=DIGEST, seed=1)
    result = run_job(spec, Listener().context(tmp_path))
    assert result["n_imputations"] == 2
    draws = [read_frame(tmp_path / "result" / f"imputation-{i}.parquet") for i in (1, 2)]
    table = small_table()
    assert not draws[0].equals(draws[1])
    for draw in draws:
        assert draw.notna().all(axis=None)
        pd.testing.assert_series_equal(draw["x"][table["x"].notna()], table["x"].dropna())


def test_imputing_new_rows_with_a_trained_model(tmp_path):
    quick = {**QUICK, "steps": 20}
    run_job(train_spec(params=quick), Listener().context(tmp_path / "train"))
    model = tmp_path / "train" / "result" / "model.safetensors"
    table = small_table(25)
    spec = JobSpec.make("impute", params={"model": "1" * 32, "imputations": 1}, table=DIGEST)
    result = run_job(spec, Listener().context(tmp_path / "impute", table, model))
    imputed = read_frame(tmp_path / "impute" / "result" / "imputed.parquet")
    pd.testing.assert_frame_equal(imputed, load_imputer(model).transform(table))
    assert result["model"] == "1" * 32
    assert not (tmp_path / "impute" / "checkpoint").exists()


def test_how_a_model_was_trained_outlives_its_job(tmp_path):
    quick = {**QUICK, "steps": 5}
    run_job(train_spec(params=quick), Listener().context(tmp_path / "train"))
    model = tmp_path / "train" / "result" / "model.safetensors"
    spec = JobSpec.make("impute", params={"model": "1" * 32}, table=DIGEST)

    result = run_job(spec, Listener().context(tmp_path / "impute", None, model))

    assert result["method"] == "pmae-mix"
    assert result["trained"] == {"params": quick, "seed": 3}
    kept = tmp_path / "impute" / "result" / "model.safetensors"
    pd.testing.assert_frame_equal(
        load_imputer(kept).transform(small_table()), load_imputer(model).transform(small_table())
    )


def test_structural_missingness_stays_missing(tmp_path):
    table = small_table().assign(smoker=["no", "yes"] * 20, packs=[np.nan, 1.5] * 20)
    table.loc[table.index[1], "packs"] = np.nan
    structural = StructuralMissingness("packs", Condition("smoker", "is", ("no",)), 20)
    params = {"method": "em", "imputations": 1, "left_alone": [structural.to_dict()]}
    spec = JobSpec.make("impute", params=params, table=DIGEST)

    result = run_job(spec, Listener().context(tmp_path, table))

    assert (result["n_left_alone"], result["still_missing"]) == (20, {})
    for name in ("imputed", "imputation-1"):
        packs = read_frame(tmp_path / "result" / f"{name}.parquet")["packs"]
        assert packs.isna().tolist() == (table["smoker"] == "no").tolist()
    was_imputed = read_frame(tmp_path / "result" / "was_imputed.parquet")
    assert was_imputed["packs"].sum() == 1
    assert result["n_imputed"] == int(was_imputed.to_numpy().sum())


def test_columns_that_stay_empty_are_named(tmp_path):
    table = small_table().assign(nothing=np.nan)
    spec = JobSpec.make("impute", params={"method": "naive"}, table=DIGEST)
    result = run_job(spec, Listener().context(tmp_path, table))
    assert result["still_missing"] == {"nothing": len(table)}
    assert any("nothing" in note for note in result["notes"])


def compare_spec(**params):
    given = {"methods": ["naive", "knn"], "seeds": [0, 1], **params}
    return JobSpec.make("compare", params=given, table=DIGEST)


def test_comparing_writes_its_report_and_each_task(tmp_path):
    result = run_job(compare_spec(), Listener().context(tmp_path))
    out = tmp_path / "result"
    assert result["files"] == ["comparison.json", "per_column.csv", "report.html", "results.csv"]
    comparison = Comparison.from_json((out / "comparison.json").read_text())
    assert result["best_method"] == comparison.best_method()
    assert (result["n_tasks"], result["n_done"]) == (4, 4)
    assert len(list((tmp_path / "tasks").glob("*-seed*.json"))) == 4


def test_a_cancelled_comparison_keeps_its_tasks_and_runs_only_the_rest(tmp_path):
    def after_two(events):
        return sum(type(event).__name__ == "TaskFinished" for event in events) >= 2

    with pytest.raises(Cancelled):
        run_job(compare_spec(), Listener(after_two).context(tmp_path / "broken"))
    assert len(list((tmp_path / "broken" / "tasks").glob("*-seed*.json"))) == 2
    resumed = Listener()
    run_job(compare_spec(), resumed.context(tmp_path / "broken"))
    assert sum(type(event).__name__ == "TaskStarted" for event in resumed.events) == 2

    run_job(compare_spec(), Listener().context(tmp_path / "whole"))
    scores = [
        [task.scores for task in Comparison.from_json(
            (tmp_path / name / "result" / "comparison.json").read_text()).tasks]
        for name in ("broken", "whole")
    ]  # fmt: skip
    assert scores[0] == scores[1]


def test_a_comparison_does_without_damaged_files_and_says_so(tmp_path):
    spec = compare_spec(methods=["naive", "em"], **CONSEQUENCES)
    context = Listener().context(tmp_path, consequences_table())
    run_job(spec, context)
    files = [tmp_path / "result" / name for name in ("conclusions.csv", "downstream.csv")]
    expected = [path.read_text() for path in files]
    scores = Comparison.from_json((tmp_path / "result" / "comparison.json").read_text()).table
    for name in ("tasks/em-seed1", "consequences/downstream-em", "consequences/conclusions-naive"):
        path = tmp_path / f"{name}.json"
        content = path.read_bytes()
        path.write_bytes(with_flipped_bit(content, len(content) // 2))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        result = run_job(spec, context)

    said = [
        "The stored result of em (seed 1) is damaged, so this run is repeated.",
        "The stored downstream scores of em are damaged, so they are computed again.",
        "The stored conclusions of naive are damaged, so they are computed again.",
    ]
    assert result["notes"] == said
    assert read_consequences(tmp_path).notes == said
    assert [path.read_text() for path in files] == expected
    again = Comparison.from_json((tmp_path / "result" / "comparison.json").read_text()).table
    timed = [name for name in scores if name.endswith(("seconds", "memory_mb"))]
    pd.testing.assert_frame_equal(again.drop(columns=timed), scores.drop(columns=timed))


def test_comparing_with_roles_truth_and_target(tmp_path):
    truth = small_table().assign(x=1.5, count=pd.array([3] * 40, dtype="Int64"), town="Aa")
    truth["x"] = np.linspace(0, 1, 40)
    table = truth.assign(label=1)
    table.loc[table.index[::3], "x"] = np.nan
    schema = Schema.infer(table, roles={"count": "categorical"})
    spec = JobSpec.make(
        "compare",
        params={"methods": ["naive"], "seeds": [0], "truth": "1" * 64, "target": "label"},
        table=DIGEST,
        schema=schema,
    )
    tables = {DIGEST: table, "1" * 64: truth}
    listener = Listener()
    context = JobContext(
        folder=tmp_path,
        load_table=tables.__getitem__,
        model_path=lambda job_id: tmp_path,
        emit=listener.events.append,
        cancel=lambda: False,
    )
    run_job(spec, context)
    settings = json.loads((tmp_path / "result" / "comparison.json").read_text())["settings"]
    assert (settings["holdout"], settings["target"]) == ("known-truth", "label")


def test_a_benchmark_simulates_its_missing_values(tmp_path):
    params = {
        "dataset": "diabetes",
        "pattern": "monotone",
        "mechanism": "MCAR",
        "methods": ["naive"],
        "seeds": [0],
        "max_rows": 60,
    }
    try:
        result = run_job(JobSpec.make("benchmark", params=params), Listener().context(tmp_path))
    except DatasetUnavailableError:
        pytest.skip("the dataset is not here")
    settings = json.loads((tmp_path / "result" / "comparison.json").read_text())["settings"]
    assert settings["amputation"] == {"pattern": "monotone", "mechanism": "MCAR"}
    assert settings["n_rows"] == 60
    assert result["n_done"] == 1


def test_work_can_be_done_elsewhere(tmp_path):
    seen = []

    def remote(spec, context, out):
        seen.append(spec.kind)
        (out / "imputed.parquet").write_bytes(b"far")
        return {"kind": "train"}

    context = Listener().context(tmp_path)
    elsewhere = JobContext(**{**vars(context), "fit_remote": remote})
    assert run_job(train_spec(), elsewhere)["files"] == ["imputed.parquet"]
    assert seen == ["train"]


def consequences_table(n_rows=60):
    rng = np.random.default_rng(1)
    x = rng.normal(size=n_rows)
    table = pd.DataFrame({"x": x, "y": x + 0.1 * rng.normal(size=n_rows), "label": x > 0})
    table.loc[::4, "y"] = np.nan
    return table


CONSEQUENCES = {
    "target": "label",
    "downstream": True,
    "conclusions": [["mean", "y"], ["slope", "y", "x"]],
    "conclusion_imputations": 2,
}


def test_comparing_with_a_downstream_task_and_conclusions(tmp_path):
    table = consequences_table()
    spec = compare_spec(methods=["naive", "em"], **CONSEQUENCES)
    listener = Listener()
    result = run_job(spec, listener.context(tmp_path, table))
    out = tmp_path / "result"
    assert {"downstream.csv", "conclusions.csv", "consequences.json"} < set(result["files"])
    found = read_consequences(tmp_path)
    expected = downstream_scores(table, "label", ["naive", "em"], seeds=[0, 1])
    keys = ["method", "model", "seed"]
    pd.testing.assert_series_equal(
        found.downstream.set_index(keys)["score"].sort_index(),
        expected.set_index(keys)["score"].sort_index(),
    )
    estimands = [("mean", "y"), ("slope", "y", "x")]
    expected = conclusion_stability(table, estimands, ["naive", "em"], n_imputations=2)
    assert found.conclusions["estimand"].tolist() == expected["estimand"].tolist()
    np.testing.assert_array_equal(found.conclusions["low"], expected["low"])
    report = (out / "report.html").read_text()
    assert "Predicting the target" in report and "slope of y on x" in report
    phases = [event.phase for event in listener.events if isinstance(event, PhaseStarted)]
    assert phases == ["downstream", "conclusions", "write"]
    assert found.to_dict() == Consequences.from_dict(found.to_dict()).to_dict()


def test_quick_methods_run_first_and_conclude_before_slow_ones_begin(tmp_path):
    spec = compare_spec(methods=["mice", "knn", "naive"], conclusions=[["mean", "y"]])
    seen: list[tuple[str, list[str]]] = []

    def emit(event):
        if isinstance(event, TaskStarted):
            concluded = (tmp_path / "consequences").glob("conclusions-*.json")
            seen.append((event.method, [path.stem for path in concluded]))

    def expected_seconds():
        # A first answer does not wait for the estimate.
        assert [method for method, _ in seen] == ["naive"] * 2
        return {"mice": 3.0, "knn": 2.0}

    context = Listener().context(tmp_path, consequences_table())
    run_job(spec, replace(context, emit=emit, expected_seconds=expected_seconds))

    assert [method for method, _ in seen] == ["naive"] * 2 + ["knn"] * 2 + ["mice"] * 2
    assert [sorted(concluded) for _, concluded in seen[::2]] == [
        [],
        ["conclusions-naive"],
        ["conclusions-knn", "conclusions-naive"],
    ]
    found = read_consequences(tmp_path).conclusions
    # The result is that of a job that does one after the other.
    other = tmp_path / "other"
    run_job(spec, Listener().context(other, consequences_table()))
    pd.testing.assert_frame_equal(found, read_consequences(other).conclusions)


def test_consequences_are_taken_up_again(tmp_path, monkeypatch):
    # No method is quick enough to conclude before the others have run.
    monkeypatch.setattr(consequences, "QUICK_SECONDS", -1.0)

    def while_concluding(events):
        return any(isinstance(e, PhaseStarted) and e.phase == "conclusions" for e in events)

    spec = compare_spec(**CONSEQUENCES)
    table = consequences_table()
    with pytest.raises(Cancelled):
        run_job(spec, Listener(while_concluding).context(tmp_path, table))
    partial = read_consequences(tmp_path)
    assert set(partial.downstream["method"]) == {"naive", "knn", "complete cases"}
    assert partial.conclusions.empty
    marked = tmp_path / "consequences" / "downstream-knn.json"
    rows = [{**row, "status": "from disk"} for row in read_sealed(marked)["rows"]]
    write_sealed(marked, {"rows": rows})

    run_job(spec, Listener().context(tmp_path, table))

    found = read_consequences(tmp_path)
    of_knn = found.downstream[found.downstream["method"] == "knn"]
    assert set(of_knn["status"]) == {"from disk"}
    assert set(found.conclusions["method"]) == {"naive", "knn", "complete cases"}


def test_consequences_of_simulated_missingness_know_the_truth(tmp_path):
    table = consequences_table().assign(y=lambda t: t["x"] * 2)
    spec = compare_spec(
        amputation={"pattern": "monotone", "mechanism": "MCAR", "columns": ["y"]}, **CONSEQUENCES
    )
    run_job(spec, Listener().context(tmp_path, table))
    found = read_consequences(tmp_path)
    assert "true data" in set(found.downstream["method"])
    truth = found.conclusions.set_index(["estimand", "method"])["estimate"]
    assert truth["slope of y on x", "true data"] == pytest.approx(2)


def test_a_comparison_survives_a_downstream_task_that_cannot_be(tmp_path):
    table = consequences_table().assign(label="always the same")
    result = run_job(compare_spec(**CONSEQUENCES), Listener().context(tmp_path, table))
    assert result["n_done"] == 4
    assert any("fewer than two classes" in note for note in result["notes"])
    assert read_consequences(tmp_path).downstream.empty


def test_a_target_among_the_features_is_noted_or_refused(tmp_path):
    table = consequences_table()
    table["label"] = table["x"] + 0.02 * np.random.default_rng(0).normal(size=len(table))
    spec = compare_spec(methods=["naive", "em"], **{**CONSEQUENCES, "conclusions": None})
    result = run_job(spec, Listener().context(tmp_path / "near", table))
    (note,) = [note for note in result["notes"] if "almost perfectly" in note]
    assert note.startswith("'x'")
    table["label"] = 2 * table["x"]
    result = run_job(spec, Listener().context(tmp_path / "same", table))
    assert any("'x' is a one-to-one recoding" in note for note in result["notes"])


def test_a_time_budget_ends_consequences_too(tmp_path):
    listener = Listener()
    context = listener.context(tmp_path, consequences_table())
    spec = compare_spec(**CONSEQUENCES)
    arguments = {
        "table": consequences_table(),
        "methods": ["naive"],
        "seeds": [0],
        "target": "label",
    }
    found = compute_consequences(spec.params, arguments, context, deadline=0.0)
    assert found.downstream["error"].tolist() == ["not run: time budget"]
    assert not (tmp_path / "consequences").exists()


def blend_spec(**params):
    given = {"n_trees": 5, "network_params": {**QUICK, "batch_size": None}, **params}
    params = {"method": "pmae", "params": given}
    return JobSpec.make("impute", params=params, table=DIGEST, seed=3)


def test_a_blend_says_how_much_each_member_counts(tmp_path):
    result = run_job(blend_spec(), Listener().context(tmp_path))

    assert json.loads((tmp_path / "result" / "result.json").read_text()) == result
    assert [answer["members"][-1] for answer in result["answers"]] == [
        *("gaussian", "trees", "network")
    ]
    assert set(result["shares"]) == {"x", "count", "town"}
    for shares in result["shares"].values():
        assert sum(shares.values()) == pytest.approx(1, abs=1e-3)

    model = tmp_path / "result" / "model.safetensors"
    again = JobSpec.make("impute", params={"model": "1" * 32}, table=DIGEST)
    applied = run_job(again, Listener().context(tmp_path / "again", model=model))
    assert (applied["shares"], applied["answers"]) == (result["shares"], result["answers"])


def test_a_cancelled_blend_leaves_its_last_answer(tmp_path):
    def after_the_trees(events):
        return any(isinstance(e, TrainingProgress) for e in events)

    with pytest.raises(Cancelled):
        run_job(blend_spec(), Listener(after_the_trees).context(tmp_path))

    answer = read_answer(tmp_path)
    assert answer["members"] == ["gaussian", "trees"]
    assert answer["n_imputed"] == int(small_table().isna().to_numpy().sum())
    assert set(answer["shares"]) == {"x", "count", "town"}
    imputed = read_frame(tmp_path / "answer" / "imputed.parquet")
    assert imputed.notna().all(axis=None)
    assert not (tmp_path / "result").exists()

    run_job(blend_spec(), Listener().context(tmp_path))
    assert (tmp_path / "result").is_dir()
    assert read_answer(tmp_path) is None


def test_no_answer_of_a_large_table_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(answers, "MOST_CELLS", 10)
    listener = Listener(lambda events: any(isinstance(e, AnswerImproved) for e in events))

    with pytest.raises(Cancelled):
        run_job(blend_spec(), listener.context(tmp_path))

    assert read_answer(tmp_path) is None
