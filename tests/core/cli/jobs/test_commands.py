"""``pmae jobs``, from the command to the store; most of it with an engine in this process."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pmae_core.cli.app import app
from pmae_core.cli.jobs import commands as cli_jobs
from pmae_core.cli.jobs import submit as cli_submit
from pmae_core.errors import Cancelled, PMAEError
from pmae_core.evaluation import Comparison
from pmae_core.jobs import JobProgress, JobSpec, JobState, JobStore, ProcessId, Resources
from pmae_core.jobs.cost import CostEstimate, MethodCost
from pmae_core.jobs.worker.context import JobContext
from pmae_core.jobs.worker.run import run_job
from pmae_core.table import read_table, write_table


class InlineEngine:
    """Runs jobs when somebody waits for them, in this process."""

    name = "local"

    def __init__(self, store):
        self.store = store

    def default_resources(self):
        return Resources(threads=1)

    def submit(self, spec, workspace="local", name=None):
        return self.store.submit(spec, workspace, engine=self.name, name=name)

    def cancel(self, job_id):
        return self.store.request_cancel(job_id)

    def resume(self, job_id):
        return self.store.resume(job_id)

    def supervise(self):
        pass

    def claim(self):
        return self.store.claim_next(
            self.name, running_limit=1, gpu_limit=0, owner=ProcessId.current()
        )

    def wait(self, job_id, timeout=None):
        record, token = self.claim()
        context = JobContext(
            folder=record.folder,
            load_table=self.store.get_table,
            model_path=lambda one: self.store.job(one).folder / "result" / "model.safetensors",
            emit=lambda event: None,
            cancel=lambda: False,
        )
        try:
            result = run_job(record.spec, context)
            self.store.finish(record.id, token, JobState.SUCCEEDED, result=result)
        except Cancelled:
            self.store.finish(record.id, token, JobState.CANCELLED)
        except PMAEError as error:
            self.store.finish(record.id, token, JobState.FAILED, error=str(error))
        return self.store.job(job_id)


@pytest.fixture
def store(tmp_path, monkeypatch) -> JobStore:
    monkeypatch.setenv("PMAE_HOME", str(tmp_path / "home"))
    for module in (cli_jobs, cli_submit):
        monkeypatch.setattr(module, "engine_of", lambda store, name=None: InlineEngine(store))
    return JobStore()


@pytest.fixture
def holes(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=80).round(3)
    frame = pd.DataFrame({"x": x, "y": (2 * x).round(3), "kind": np.where(x > 0, "a", "b")})
    frame.loc[::4, "y"] = np.nan
    frame.loc[1::5, "x"] = np.nan
    write_table(frame, path := tmp_path / "holes.csv")
    return path


def run(*args: object, code: int = 0):
    result = CliRunner().invoke(app, ["jobs", *map(str, args)])
    assert result.exit_code == code, result.output + repr(result.exception)
    assert "Traceback" not in result.output
    return result


def words(text: str) -> str:
    return " ".join(text.split())


def submitted(*args: object) -> str:
    return run("submit", *args).stdout.strip()


# ---------------------------------------------------------------- submit


def test_an_imputation_from_the_command_to_the_filled_table(store, holes, tmp_path):
    job_id = submitted("impute", holes, "--method", "em", "--seed", 3, "--wait", "--name", "mine")

    record = store.job(job_id, "local")
    assert (record.state, record.name, record.spec.seed) == ("succeeded", "mine", 3)
    out = tmp_path / "filled.csv"
    run("result", job_id[:6], "-o", out)
    before, after = read_table(holes), read_table(out)
    assert not after.isna().any(axis=None)
    assert (before.isna() | (before == after)).all(axis=None)


def test_roles_sentinels_and_settings_reach_the_document(store, holes):
    job_id = submitted(
        *("impute", holes, "--method", "knn", "--param", "n_neighbors=2"),
        *("--role", "kind=ignored", "--sentinel", "a", "--threads", 3, "--memory", 900),
    )

    spec = store.job(job_id).spec
    assert spec.params == {
        "method": "knn",
        "params": {"n_neighbors": 2},
        "imputations": 0,
        "left_alone": [],
    }
    assert [column["role"] for column in spec.table_schema["columns"]][-1] == "ignored"
    assert spec.resources == Resources(threads=3, memory_mb=900)
    assert store.get_table(spec.table)["kind"].isna().any()


def test_a_trained_model_fills_other_rows(store, holes, tmp_path):
    tiny = ("--param", "steps=3", "--param", "width=8", "--param", "encoder_depth=1")
    trained = submitted("train", holes, *tiny, "--no-fill", "--wait")
    assert store.job(trained).result["files"] == ["model.safetensors"]
    run("result", trained, "-o", tmp_path / "kept.safetensors")
    assert (tmp_path / "kept.safetensors").stat().st_size > 0

    filled = submitted("impute", holes, "--model", trained[:8], "--draws", 2, "--wait")

    assert store.job(filled).spec.params == {"model": trained, "imputations": 2, "left_alone": []}
    run("result", filled, "--file", "imputation-2.parquet", "-o", tmp_path / "draw.csv")
    assert not read_table(tmp_path / "draw.csv").isna().any(axis=None)


def test_a_comparison_with_all_its_options(store, holes, tmp_path):
    job_id = submitted(
        *("compare", holes, "--methods", "naive, em", "--seeds", 2, "--seed", 5, "--share", 0.2),
        *("--param", "em.max_iter=3", "--budget", "1h30m", "--method-budget", "1.5m"),
        *("--target", "kind", "--wait"),
    )

    record = store.job(job_id)
    wanted = {
        "methods": ["naive", "em"],
        "seeds": [5, 6],
        "holdout_share": 0.2,
        "method_params": {"em": {"max_iter": 3}},
        "budget_seconds": 5400.0,
        "method_budget_seconds": 90.0,
        "target": "kind",
    }
    assert wanted.items() <= record.spec.params.items()
    run("result", job_id, "-o", tmp_path / "results.csv")
    assert len(pd.read_csv(tmp_path / "results.csv")) == 4
    run("result", job_id, "-o", tmp_path / "all.json")
    assert Comparison.from_json((tmp_path / "all.json").read_text()).methods == ["naive", "em"]
    run("result", job_id, "-o", tmp_path / "report.html")
    assert "<html" in (tmp_path / "report.html").read_text()


def test_holes_of_a_comparison_can_be_made_or_judged_by_the_truth(store, holes, tmp_path):
    complete = read_table(holes).ffill().bfill()
    write_table(complete, tmp_path / "complete.csv")

    made = submitted(
        *("compare", tmp_path / "complete.csv", "--methods", "naive"),
        *("--pattern", "monotone", "--mechanism", "MAR", "--coupling", "independent"),
    )
    judged = submitted("compare", holes, "--methods", "naive", "--truth", tmp_path / "complete.csv")

    assert store.job(made).spec.params["amputation"] == {
        "pattern": "monotone",
        "mechanism": "MAR",
        "coupling": "independent",
    }
    truth = store.job(judged).spec.params["truth"]
    pd.testing.assert_frame_equal(store.get_table(truth), read_table(tmp_path / "complete.csv"))


def test_a_benchmark_names_its_table(store):
    job_id = submitted(
        *("benchmark", "diabetes", "--methods", "naive", "--seeds", 1, "--max-rows", 60),
        *("--pattern", "general", "--wait"),
    )

    assert store.job(job_id).state == "succeeded"
    assert store.job(job_id).spec.table is None


def test_the_same_document_gives_the_same_result(store, holes, tmp_path):
    first = submitted("impute", holes, "--method", "em", "--seed", 3, "--wait")
    document = tmp_path / "job.json"
    document.write_text(run("show", first, "--spec").stdout)

    second = submitted("--spec", document, "--wait")

    assert second != first
    assert store.job(second).spec == store.job(first).spec
    for name in ("imputed.parquet", "was_imputed.parquet"):
        one, other = (store.job(job).folder / "result" / name for job in (first, second))
        assert one.read_bytes() == other.read_bytes()


def test_a_document_travels_with_its_table(store, holes, tmp_path, monkeypatch):
    document = tmp_path / "job.json"
    job_id = submitted("impute", holes, "--method", "em")
    document.write_text(run("show", job_id, "--spec").stdout)
    monkeypatch.setenv("PMAE_HOME", str(tmp_path / "elsewhere"))

    assert "no table" in run("submit", "--spec", document, code=1).stderr
    run("submit", "--spec", document, "--table", holes)

    write_table(read_table(holes).head(50), other := tmp_path / "other.csv")
    refused = run("submit", "--spec", document, "--table", other, code=1)
    assert "not the table of the document" in words(refused.stderr)


def test_other_versions_than_those_of_a_document_are_told(store, holes, tmp_path):
    content = json.loads(run("show", submitted("impute", holes), "--spec").stdout)
    content["versions"]["numpy"] = "1.0"
    document = tmp_path / "job.json"
    document.write_text(json.dumps(content))

    assert "written with numpy 1.0" in words(run("submit", "--spec", document).stderr)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["submit"], 2, "Usage"),
        (["submit", "--wait"], 2, "Name what to do"),
        (["submit", "--spec", "job.json", "train", "HOLES"], 2, "name no kind"),
        (["submit", "train", "HOLES", "--method", "em"], 1, "has no model"),
        (["submit", "impute", "HOLES", "--method", "nobody"], 1, "no method 'nobody'"),
        (["submit", "impute", "HOLES", "--method", "em", "--model", "ab"], 2, "brings its method"),
        (["submit", "impute", "HOLES", "--model", "ab"], 1, "no job whose id begins with ab"),
        (["submit", "impute", "HOLES", "--param", "steps"], 2, "NAME=VALUE"),
        (["submit", "impute", "HOLES", "--role", "kind"], 2, "COLUMN=ROLE"),
        (["submit", "compare", "HOLES", "--methods", "em", "--param", "max=3"], 2, "METHOD.NAME"),
        (["submit", "compare", "HOLES", "--methods", "em", "--budget", "soon"], 2, "no time"),
        (
            ["submit", "compare", "HOLES", "--methods=em", "--pattern=general", "--share=0.2"],
            2,
            "Give one of these",
        ),
        (["show", "ab"], 1, "no job whose id begins with ab"),
        (["show", "../.."], 1, "not the beginning of a job id"),
        (["list", "--state", "asleep"], 1, "unknown. Choose queued"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(store, holes, arguments, code, sentence):
    result = run(*(holes if word == "HOLES" else word for word in arguments), code=code)

    framed = result.output.replace("│", " ")
    assert sentence in words(framed)
    assert store.count() == 0


def test_the_end_of_a_job_is_the_end_of_waiting(store, tmp_path):
    write_table(pd.DataFrame({"only": [1.5, None, 2.5, 3.5]}), tmp_path / "one.csv")

    failed = run("submit", "impute", tmp_path / "one.csv", "--method", "mice", "--wait", code=1)

    assert "at least two" in words(failed.stderr)
    assert store.jobs()[0].state == "failed"


def test_a_job_goes_on_when_waiting_is_stopped(store, holes, monkeypatch):
    def interrupt(self, job_id, timeout=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(InlineEngine, "wait", interrupt)

    result = run("submit", "impute", holes, "--method", "em", "--wait", code=130)

    assert "The job goes on" in result.stderr
    assert store.jobs()[0].state == "queued"


# ---------------------------------------------------------------- list, show, logs


def test_jobs_are_listed_newest_first(store, holes):
    ids = [submitted("impute", holes, "--method", "em", "--name", f"n{i}") for i in range(3)]

    assert [job["id"] for job in json.loads(run("list", "--json").stdout)] == ids[::-1]
    shown = run("list", "--limit", 2)
    assert "n2" in shown.stdout and "n0" not in shown.stdout
    assert "2 of 3 jobs" in shown.stderr
    assert json.loads(run("list", "--state", "failed", "--json").stdout) == []


def test_jobs_of_other_workspaces_are_not_seen(store, holes):
    digest = store.put_table(read_table(holes), "other")
    spec = JobSpec.make("impute", params={"method": "em"}, table=digest)
    stranger = store.submit(spec, "other")

    assert json.loads(run("list", "--json").stdout) == []
    for command in ("show", "logs", "cancel", "resume", "result"):
        assert "no job whose id begins" in words(run(command, stranger.id, code=1).stderr)
    assert store.job(stranger.id).state == "queued"


def test_a_job_in_the_queue_shows_its_place(store, holes):
    first, second = (submitted("impute", holes, "--method", "em") for _ in range(2))

    assert "number 2 in the queue" in words(run("show", second).stdout)
    shown = json.loads(run("show", second, "--json").stdout)
    assert (shown["id"], shown["state"], shown["queue_position"]) == (second, "queued", 2)
    assert shown["spec"] == json.loads(run("show", second, "--spec").stdout)
    assert json.loads(run("show", first, "--json").stdout)["queue_position"] == 1


def test_a_running_job_shows_how_far_it_is_and_what_was_expected(store, holes):
    job_id = submitted("impute", holes, "--method", "em")
    record, token = InlineEngine(store).claim()
    progress = JobProgress(fraction=0.25, message="round 5 of 20", eta_seconds=75.0)
    store.heartbeat(record.id, token, memory_mb=321.0, progress=progress)
    cost = MethodCost(method="em", seconds=100.0, low=50.0, high=8000.0, memory_mb=300.0)
    estimate = CostEstimate(per_method=[cost])
    store.set_estimate(job_id, estimate.with_actual(150.0))

    text = words(run("show", job_id).stdout)

    assert "round 5 of 20, 25%, 1 min 15 s left" in text
    assert "321 MB" in text
    assert "About 1 min 40 s (50 s to 2 h 13 min), 300 MB" in text
    assert "in fact 2 min 30 s, 1.5 times the estimate" in text


def test_the_log_and_the_events_of_a_job(store, holes):
    job_id = submitted("impute", holes, "--method", "em", "--wait")
    (store.job(job_id).folder / "log.txt").write_bytes(b"One line.\n\xff\n")

    assert run("logs", job_id, "--follow").stdout.startswith("One line.\n")
    events = [json.loads(line) for line in run("logs", job_id, "--json").stdout.splitlines()]
    assert [event["data"]["state"] for event in events if event["kind"] == "state"] == [
        "queued",
        "running",
        "succeeded",
    ]


def test_following_a_log_ends_with_the_job(store, holes, monkeypatch):
    job_id = submitted("impute", holes, "--method", "em")
    _, token = InlineEngine(store).claim()
    log = store.job(job_id).folder / "log.txt"
    log.write_text("begin\n")

    def work_a_little(seconds):
        with log.open("a") as file:
            file.write("end\n")
        store.finish(job_id, token, JobState.FAILED, error="It broke.")

    monkeypatch.setattr(cli_jobs.time, "sleep", work_a_little)

    assert run("logs", job_id, "--follow").stdout == "begin\nend\n"


# ---------------------------------------------------------------- result, cancel, resume, gc


def test_a_result_is_asked_for_rightly(store, holes, tmp_path):
    job_id = submitted("impute", holes, "--method", "em")
    assert "has no result: it is queued" in words(run("result", job_id, code=1).stderr)
    InlineEngine(store).wait(job_id)

    assert json.loads(run("result", job_id, "--json").stdout)["n_imputed"] > 0
    assert "n_imputed" in run("result", job_id).stdout
    assert "--output" in run("result", job_id, "--file", "imputed.parquet", code=2).output
    assert "exists already" in words(run("result", job_id, "-o", holes, code=1).stderr)
    none = run("result", job_id, "--file", "../spec.json", "-o", tmp_path / "a.json", code=1)
    assert "has no file ../spec.json" in words(none.stderr)


def test_a_job_is_cancelled_and_resumed(store, holes):
    job_id = submitted("impute", holes, "--method", "em")

    assert "Cancelled." in run("cancel", job_id[:8]).stderr
    assert "ended already" in words(run("cancel", job_id, code=1).stderr)
    resumed = json.loads(run("resume", job_id, "--wait", "--json").stdout)

    assert (resumed["id"], resumed["state"]) == (job_id, "succeeded")
    assert "nothing to resume" in words(run("resume", job_id, code=1).stderr)


def test_a_running_job_is_asked_to_stop(store, holes):
    job_id = submitted("impute", holes, "--method", "em")
    InlineEngine(store).claim()

    assert "Asked to stop" in run("cancel", job_id).stderr
    assert "asked to stop" in run("show", job_id).stdout


def test_old_jobs_are_cleaned_away(store, holes):
    job_id = submitted("impute", holes, "--method", "em", "--wait")

    assert "Would remove 1 job" in run("gc", "--jobs", 0, "--dry-run").stdout
    assert store.count() == 1
    report = json.loads(run("gc", "--jobs", 0, "--json").stdout)
    assert report["jobs"] == [job_id]
    assert store.count() == 0
    assert "Removed 0 jobs" in run("gc", "--days", 1).stdout


# ---------------------------------------------------------------- estimate, and the real engine


def test_the_cost_is_estimated_before(store, holes):
    options = ("--methods", "naive,em", "--seeds", 4, "--budget", "2s", "--param", "em.max_iter=5")

    data = json.loads(run("estimate", holes, *options, "--json").stdout)
    text = words(run("estimate", holes, *options).stdout)

    assert [cost["method"] for cost in data["per_method"]] == ["naive", "em"]
    assert data["total_seconds"] > 0 and data["seeds"] == 4
    assert "Ran to its end on the whole table" in text
    assert "About" in text


@pytest.mark.slow
def test_a_job_runs_in_a_process_of_its_own(holes, tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PMAE_ENGINE", raising=False)

    job_id = submitted("impute", holes, "--method", "em", "--wait")

    record = JobStore().job(job_id)
    assert (record.state, record.attempt) == ("succeeded", 1)
    assert record.estimate["actual_seconds"] > 0
    assert "Attempt 1" in run("logs", job_id).stdout
