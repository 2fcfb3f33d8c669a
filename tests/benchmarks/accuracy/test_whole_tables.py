"""The benchmark on whole tables: what it runs, in which order, and when a part is done."""

from __future__ import annotations

import pytest

from benchmarks.accuracy import whole_tables
from benchmarks.accuracy.whole_tables import METHODS, PAPER, SEEDS, Part
from pmae_core.replication import EXPERIMENTS
from pmae_core.replication.results import ResultFile

NAIVE = next(method for method in METHODS if method.name == "naive")


def variant_of(part: Part) -> str:
    (variant,) = EXPERIMENTS["table2"].plan(part.selection).variants
    return variant.label


@pytest.mark.parametrize("method", [*METHODS, PAPER], ids=str)
def test_every_part_is_one_variant_of_the_experiment(method):
    part = Part(method, "diabetes", "general", 4420)
    plan = EXPERIMENTS["table2"].plan(part.selection)
    assert plan.n_tasks == SEEDS
    assert plan.max_rows is None
    expected = {"paper": "preset=paper", "fast": "preset=fast"}.get(method.params.get("preset"), "")
    assert variant_of(part) == "-".join(filter(None, [method.name, expected]))


def test_cheap_parts_come_first():
    small, large = (Part(NAIVE, "diabetes", "general", cells) for cells in (4_420, 900_000))
    paper = Part(PAPER, "diabetes", "general", 4_420)
    assert small.expected_seconds < large.expected_seconds < paper.expected_seconds


def results_of(folder, part: Part, version: str, seeds: range, **changed) -> ResultFile:
    results = ResultFile(folder, "table2")
    row = {
        "dataset": part.dataset,
        "pattern": part.pattern,
        "mechanism": "MNAR",
        "coupling": "nested",
        "max_rows": None,
        "method": part.method.name,
        "variant": variant_of(part),
        "status": "done",
        "imputation_accuracy": 0.5,
    }
    results.add([{**row, "seed": seed, **changed} for seed in seeds])
    results.write({"versions": {"pmae": version}})
    return results


def test_a_part_is_done_when_all_its_seeds_have_results_of_this_version(tmp_path):
    part = Part(NAIVE, "diabetes", "general", 4_420)
    assert not part.is_done(ResultFile(tmp_path, "table2"), "1.0.0")
    assert not part.is_done(results_of(tmp_path, part, "0.1.0", range(SEEDS)), "1.0.0")
    changed = results_of(tmp_path, part, "1.0.0", range(1), imputation_accuracy=0.6)
    assert not part.is_done(changed, "1.0.0")
    whole = results_of(tmp_path, part, "1.0.0", range(SEEDS), imputation_accuracy=0.7)
    assert part.is_done(whole, "1.0.0")


def test_sampled_rows_do_not_count_as_whole_tables(tmp_path):
    part = Part(NAIVE, "news", "general", 4_420)
    results = results_of(tmp_path, part, "1.0.0", range(SEEDS), max_rows=2000)
    assert not part.is_done(results, "1.0.0")


def test_the_paper_runs_on_the_named_tables_only(monkeypatch):
    tables = {name: i for i, name in enumerate(whole_tables.DATASETS, start=1)}

    class Whole:
        def __init__(self, name):
            self.frame = type("Frame", (), {"size": 1000 * tables[name]})

    monkeypatch.setattr(whole_tables, "benchmark_table", Whole)
    found = whole_tables.parts()
    assert len(found) == 27 * len(METHODS) + len(whole_tables.PAPER_TABLES)
    assert {part.dataset for part in found if part.method is PAPER} == set(
        whole_tables.PAPER_TABLES
    )
    costs = [part.expected_seconds for part in found]
    assert costs == sorted(costs)
