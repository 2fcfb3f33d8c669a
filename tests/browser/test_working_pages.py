"""The way of an analyst to an imputed table, in a real browser: train, compare, crash, go on."""

import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

SMALL, ENDLESS = "on patients.parquet, Quick, seed 0", "on patients.parquet, Paper, seed 0"
# On a machine that does much else; each takes some seconds by itself.
LONGEST_JOB_SECONDS = 300
LOSSES = "Does the training error fall?"
N_SEEDS = 2
COMPARISON = f"on patients.parquet, {N_SEEDS} seeds"
METHODS = ("Mean / mode", "Expectation maximization", "MissForest")


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """A small file with missing values in columns of every kind; its format keeps the types."""
    rng = np.random.default_rng(0)
    n_rows = 80
    age = rng.integers(20, 80, n_rows)
    frame = pd.DataFrame(
        {
            "patient": [f"P{number:03}" for number in range(n_rows)],
            "age": pd.array(age, dtype="Int64"),
            "pressure": (90 + 0.6 * age + rng.normal(0, 5, n_rows)).round(1),
            "city": pd.Categorical(rng.choice(["Lima", "Oslo", "Rome"], n_rows)),
            "smoker": pd.array(rng.random(n_rows) < 0.4, dtype="boolean"),
            "visit": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n_rows), "D"),
        }
    )
    for column in ("age", "pressure", "city", "smoker", "visit"):
        frame.loc[rng.choice(n_rows, 12, replace=False), column] = None
    path = tmp_path_factory.mktemp("files") / "patients.parquet"
    frame.to_parquet(path)
    return path


# Four jobs one after the other, each of which may wait for a busy machine.
@pytest.mark.timeout(900)
def test_from_a_file_to_an_imputed_table(visitor, server, patients):
    visitor.open()
    visitor.upload(patients)
    expect(visitor.page.get_by_text("patients.parquet is open.")).to_be_visible()
    expect(visitor.page.get_by_text("80 rows × 6 columns, 12.5% missing")).to_be_visible()

    start_two_trainings(visitor)
    find_it_running_after_a_reload(visitor)
    cancel_the_endless_one(visitor)
    see_the_small_one_done(visitor)

    start_a_comparison(visitor)
    known = wait_for_some_results(visitor)
    address = visitor.page.url
    server.crash()
    server.start()
    visitor.open(address)
    find_what_was_known(visitor, known)
    resume_to_the_end(visitor, known)

    incomplete = pd.read_parquet(patients)
    read_the_details_of_a_cell(visitor, incomplete)
    check_the_imputed_table(incomplete, download_the_imputed_table(visitor))


# Training


def start_two_trainings(visitor) -> None:
    visitor.go_to("Train")
    visitor.pick("Preset", "Quick")
    visitor.press_button("Start training")
    expect_training(visitor, SMALL, "Running")
    visitor.press_button("New run")
    visitor.pick("Preset", "Paper")
    visitor.press_button("Advanced settings")
    epochs = visitor.page.get_by_role("spinbutton", name="Epochs", exact=True)
    epochs.fill("100000")
    epochs.press("Enter")
    expect(visitor.page.get_by_text("Different from the preset: epochs.")).to_be_visible()
    visitor.page.keyboard.press("Escape")
    visitor.settle()
    visitor.press_button("Start training")
    expect_training(visitor, ENDLESS, "Running")
    # The settings are folded away, and the run is in sight without a scroll.
    expect(visitor.page.get_by_role("button", name="Start training")).to_have_count(0)
    expect(visitor.page.get_by_role("button", name="Cancel")).to_be_in_viewport()


def find_it_running_after_a_reload(visitor) -> None:
    visitor.page.reload()
    # One or two: a fast machine may be done with the small one by now.
    expect(visitor.page.get_by_text(re.compile(r"^\d runs? (active|at \d)"))).to_be_visible()
    expect_training(visitor, ENDLESS, "Running")
    # It moves before our eyes: steps are counted, and a curve grows from them.
    expect(visitor.page.get_by_text(re.compile(r"[Ss]tep [\d,]+ of [\d,]+, about"))).to_be_visible()
    assert visitor.figure_data(LOSSES)


def cancel_the_endless_one(visitor) -> None:
    visitor.press_button("Cancel")
    expect_training(visitor, ENDLESS, "Cancelled")
    expect(visitor.page.get_by_role("button", name="Resume", exact=True)).to_be_visible()


def see_the_small_one_done(visitor) -> None:
    visitor.choose("Run", SMALL)
    expect_training(visitor, SMALL, "Done")
    expect(visitor.page.get_by_text("60 missing values imputed")).to_be_visible()
    visitor.settle()
    # The newest run is the other one: what is looked at stays when something else is chosen.
    visitor.pick("What do you want to see?", "Settings of this run")
    expect_training(visitor, SMALL, "Done")
    assert ["Preset", "Quick"] in visitor.grid("Setting", "Value").rows()


def expect_training(visitor, name: str, state: str) -> None:
    """Wait until the training of this name is the one looked at, and in this state."""
    main = visitor.page.get_by_role("main")
    chosen = main.get_by_role("combobox", name="Run", exact=True)
    expect(chosen).to_have_value(re.compile(re.escape(name)))
    shown_state = main.get_by_text(re.compile(f"{state}$")).first
    expect(shown_state).to_be_visible(timeout=1000 * LONGEST_JOB_SECONDS)


def expect_job(visitor, name: str, state: str) -> None:
    """Wait until the job of this name is the one looked at, and in this state."""
    main = visitor.page.get_by_role("main")
    expect(main.get_by_role("strong").filter(has_text=name).first).to_be_visible()
    shown_state = main.get_by_text(re.compile(f"{state}$")).first
    expect(shown_state).to_be_visible(timeout=1000 * LONGEST_JOB_SECONDS)


# Comparing


def start_a_comparison(visitor) -> None:
    visitor.go_to("Compare")
    visitor.press_button("Usual")
    visitor.settle()
    others = (
        "Nearest neighbors",
        "MICE (Bayesian ridge)",
        "Masked trees",
        "PMAE (mixer)",
        "PMAE blend",
    )
    for method in others:
        visitor.press_button(f"Remove {method}")
        removed = visitor.page.get_by_role("button", name=f"Remove {method}", exact=True)
        expect(removed).to_have_count(0)
        visitor.settle()
    seeds = visitor.page.get_by_role("spinbutton", name="Seeds", exact=True)
    seeds.fill(str(N_SEEDS))
    seeds.press("Enter")
    visitor.settle()
    visitor.press_button("Start comparison")
    expect_job(visitor, COMPARISON, "Running")


def wait_for_some_results(visitor) -> set[float]:
    """Wait for the first results and return them; the slowest method is not done then."""
    expect(visitor.page.get_by_text("So far, after")).to_be_visible()
    visitor.pick("Details", "Runs")
    known = scores_of_runs(visitor)
    assert 0 < len(known) < N_SEEDS * len(METHODS)
    return set(known)


def find_what_was_known(visitor, known: set[float]) -> None:
    expect_job(visitor, COMPARISON, "Interrupted")
    expect(visitor.page.get_by_text("Finished parts are kept")).to_be_visible()
    expect(visitor.heading("Which runs have no result, and why?")).to_be_visible()
    visitor.settle()
    assert known <= set(scores_of_runs(visitor))


def resume_to_the_end(visitor, known: set[float]) -> None:
    visitor.press_button("Resume")
    expect_job(visitor, COMPARISON, "Done")
    visitor.settle()
    scores = scores_of_runs(visitor)
    assert len(scores) == N_SEEDS * len(METHODS)
    assert known <= set(scores)
    expect(visitor.heading("Does the method change my result?")).to_be_visible()
    visitor.pick("Details", "All scores")
    rows = visitor.grid("Rank", "Method").rows()
    assert {method for _, method, *_ in rows} == set(METHODS)


def scores_of_runs(visitor) -> list[float]:
    """Return the skill of each finished run."""
    rows = visitor.grid("Method", "seed 0").rows()
    cells = [cell for _, *seeds in rows for cell in seeds]
    return [float(cell) for cell in cells if re.fullmatch(r"-?\d\.\d+", cell)]


# Imputing


def read_the_details_of_a_cell(visitor, incomplete: pd.DataFrame) -> None:
    """Click into the imputed table, then ask for one missing cell: the training imputed them."""
    visitor.go_to("Impute")
    expect(visitor.page.get_by_text("60 cells imputed by PMAE")).to_be_visible()
    table = visitor.grid("age", "pressure")
    third_row = table.rows()[2][0]
    table.select(row=2, x=150)
    row = visitor.page.get_by_role("spinbutton", name="Row", exact=True)
    expect(row).to_have_value(third_row)

    missing = int(incomplete["pressure"].isna().argmax())
    row.fill(str(missing))
    row.press("Enter")
    visitor.settle()
    visitor.choose("Column", "pressure")
    expect(visitor.page.get_by_text(f"pressure in row {missing} is missing")).to_be_visible()
    assert visitor.figure_data("Which values are plausible?")


def download_the_imputed_table(visitor) -> pd.DataFrame:
    visitor.go_to("Export")
    visitor.pick("Format: Imputed table", "Parquet")
    with visitor.page.expect_download() as download:
        visitor.press_button("Download table")
    assert download.value.suggested_filename == "patients-imputed.parquet"
    return pd.read_parquet(download.value.path())


def check_the_imputed_table(incomplete: pd.DataFrame, imputed: pd.DataFrame) -> None:
    assert imputed.notna().all(axis=None)
    assert imputed.dtypes.equals(incomplete.dtypes)
    for column in incomplete:
        observed = incomplete[column].notna()
        pd.testing.assert_series_equal(
            imputed.loc[observed, column], incomplete.loc[observed, column]
        )
