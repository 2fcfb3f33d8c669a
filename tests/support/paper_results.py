"""Results of the paper's experiments made up for tests: nobody has to train anything."""

import zlib
from itertools import product

import pandas as pd

from pmae_core.replication import EXPERIMENTS, ResultFile, Selection
from pmae_core.replication.printed_figures import printed_figure
from pmae_core.replication.run import cells_of
from pmae_core.table import list_datasets

N_ROWS = {info.name: info.n_rows for info in list_datasets()}
SCORES = ("imputation_accuracy", "r2", "accuracy", "downstream")
COLUMNS = ("age", "bmi", "bp", "sex")


def write_results(folder, name, *, failing=(), shift=0.01, **chosen):
    """Write made-up results of an experiment; ``failing`` methods have a reason instead."""
    plan = EXPERIMENTS[name].plan(Selection(**{"seeds": 2, "max_rows": 10_000, **chosen}))
    results = ResultFile(folder, name)
    for cell, variant, seed in product(cells_of(plan), plan.variants, range(plan.seeds)):
        row = {
            **cell.key,
            "n_rows": cell.max_rows or N_ROWS[cell.dataset],
            "method": variant.imputer,
            "variant": variant.label,
            **variant.describe(),
            "seed": seed,
            "status": "done",
            "error": None,
        }
        if variant.imputer in failing:
            results.add([{**row, "status": "failed", "error": "It <b>broke</b>."}])
        elif name == "mixing":
            results.add([{**row, **block} for block in _blocks(variant.label, seed)])
        else:
            results.add([{**row, **_scores(plan, cell, variant, seed, shift)}])
    results.write({"command": f"pmae benchmark {name}", "versions": {"pmae": "0.1"}})
    return results


def _noise(*parts):
    return (zlib.crc32("/".join(map(str, parts)).encode()) % 1000) / 1000


def _scores(plan, cell, variant, seed, shift):
    printed = printed_figure(variant.imputer, cell.dataset, cell.pattern) or 30.0
    spread = 0.02 * _noise(cell, variant.label, seed)
    accuracy = printed / 100 + shift + spread
    scores = dict.fromkeys(("imputation_accuracy", "r2", "accuracy"), accuracy)
    if plan.experiment.downstream_rows is not None:
        is_number = cell.dataset in ("diabetes", "news")
        metric = "r2" if is_number else "auroc"
        known = printed_figure(variant.imputer, cell.dataset, cell.pattern, f"downstream_{metric}")
        score = (known or 80.0) / 100 + spread - shift
        scores |= {"downstream_metric": metric, "downstream": score}
    return scores


def _blocks(label, seed):
    return [
        {
            "block": block,
            "column": column,
            "before": 1.0,
            "after": 0.5 + _noise(label, seed, column),
        }
        for block in (1, 2)
        for column in COLUMNS
    ]


def made_up_rows(name, score, **chosen):
    """Return rows of an experiment as a frame: ``score(variant, cell, seed)`` in points."""
    plan = EXPERIMENTS[name].plan(Selection(**{"seeds": 3, **chosen}))
    rows = [
        {
            **cell.key,
            "n_rows": cell.max_rows or N_ROWS[cell.dataset],
            "method": variant.imputer,
            "variant": variant.label,
            "seed": seed,
            "status": "done",
            "downstream_metric": "r2" if cell.dataset in ("diabetes", "news") else "auroc",
            **dict.fromkeys(SCORES, score(variant, cell, seed) / 100),
        }
        for cell, variant, seed in product(cells_of(plan), plan.variants, range(plan.seeds))
    ]
    return pd.DataFrame(rows)
