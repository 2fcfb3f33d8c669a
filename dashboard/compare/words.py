"""What a comparison says, in sentences (Markdown)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dashboard.compare.standing import Standing
from dashboard.text import code, listing, plain
from pmae_core.evaluation import Comparison
from pmae_core.evaluation.disagreement import disagreement_sentence
from pmae_core.evaluation.ranking import MIN_SEEDS
from pmae_core.words import count, percent

TIED = "(95% interval of the difference includes 0)"


def verdict(board: pd.DataFrame, comparison: Comparison, titles: Mapping[str, str]) -> str:
    """Say which methods lead, and whether point accuracy and distribution disagree."""
    ranked = board[board["rank"].notna()]
    if ranked.empty:
        return "No method gave a result."
    first = ranked[ranked["tie_group"] == 1]["method"].tolist()
    names = [f"**{plain(titles.get(name, name))}**" for name in first]
    if len(ranked) == 1:
        return f"{names[0]} is the only method with a result: there is nothing to compare it with."
    if len(first) == 1:
        sentence = f"{names[0]} is best; no other method is tied with it."
    elif len(first) == len(ranked):
        sentence = f"All {len(first)} methods are **tied** {TIED}."
    else:
        others = " and ".join([", ".join(names[1:-1]), names[-1]] if names[2:] else names[1:])
        be = "is" if len(first) == 2 else "are"
        sentence = f"{names[0]} has the best mean; {others} {be} tied with it {TIED}."
    disagreement = plain(disagreement_sentence(comparison, titles))
    return " ".join(filter(None, [sentence, disagreement, noise_sentence(comparison)]))


def noise_sentence(comparison: Comparison) -> str:
    """Say what the ties rest on, where that is less than it should be."""
    n_seeds = len({task.seed for task in comparison.tasks})
    if not comparison.masks_vary:
        return (
            "All seeds hide the same cells here, so ties are judged by how methods differ from "
            "column to column."
        )
    if n_seeds < MIN_SEEDS:
        return (
            f"With fewer than {MIN_SEEDS} seeds, ties are judged by how methods differ from column "
            "to column; more seeds would tell noise from merit."
        )
    return ""


def progress_sentence(standing: Standing) -> str:
    """Say what the provisional ranks rest on; empty where nothing is still to come."""
    if not standing.pending:
        return ""
    seeds = standing.comparison.settings["seeds"]
    methods = standing.comparison.settings["methods"]
    ranked = standing.ranked.methods
    basis = listing_of_seeds(standing.ranked_seeds)
    if len(ranked) < len(methods):
        waiting = len(methods) - len(ranked)
        return (
            f"Provisional: {basis}; {count(waiting, 'method has', 'methods have')} no result yet."
        )
    return (
        f"Provisional: ranked on {basis} of {len(seeds)}, which all methods have behind them, so "
        "that none is judged by easier cells."
    )


def listing_of_seeds(seeds: list[int]) -> str:
    """Return "seed 0" or "seeds 0, 1 and 2"."""
    words = [str(seed) for seed in seeds]
    if len(words) == 1:
        return f"seed {words[0]}"
    return f"seeds {', '.join(words[:-1])} and {words[-1]}" if words else "no seed"


def columns_sentence(winners: pd.DataFrame) -> str:
    """Say in which columns no method beats the mean."""
    hopeless = [column for column, row in winners.iterrows() if row["best"] is None]
    if not hopeless:
        return "In every column some method beats filling with the mean or most frequent category."
    if len(hopeless) == len(winners):
        return (
            "**No method beats the mean here** by more than chance, in any column: filling with "
            "the mean or the most frequent category may be as good as anything."
        )
    return (
        f"**No method beats the mean** by more than chance in {listing(hopeless)}: what a method "
        "fills in there may be worth no more than the mean or the most frequent category."
    )


def cells_sentence(
    cells: pd.DataFrame, column: str, method: str, *, categories: bool, about_imputations: str = ""
) -> str:
    """Say how near the imputed values of a column come to the truth.

    What the method's multiple imputations say of uncertainty is added where single ones vary too
    little.
    """
    if cells.empty:
        return f"There is no hidden cell of {code(column)} to show."
    if categories:
        share = (cells["truth"] == cells["imputed"]).mean()
        return f"{plain(method)} fills {percent(share)} of these cells of {code(column)} rightly."
    truth, imputed = (cells[kind].astype(float) for kind in ("truth", "imputed"))
    if truth.std() == 0 or len(truth) < 2:
        return f"These cells of {code(column)} are all alike."
    ratio = imputed.std() / truth.std()
    if ratio < 0.8:
        return (
            f"The imputed values of {code(column)} vary only {percent(ratio)} as much as the true "
            "ones: best guesses lie closer to the mean than real values do. "
            f"{about_imputations}"
        ).strip()
    return f"The imputed values of {code(column)} vary about as much as the true ones."


ASSUMPTION = "All methods assume that values are missing at random (MAR)."


def conclusion_sentence(rows: pd.DataFrame) -> str:
    """Say whether a conclusion depends on the method.

    Methods are compared with the truth where it is known, else with each other. Complete cases
    are no yardstick: under MAR they can be biased where methods are not.
    """
    done = rows[rows["status"] == "done"]
    methods = done[~done["method"].isin(["true data", "complete cases"])]
    if methods.empty:
        return "No method gave an estimate."
    estimates = methods["estimate"].astype(float)
    span = f"estimates range from {estimates.min():.4g} to {estimates.max():.4g}"
    signs = {_sign(row.low, row.high) for row in methods.itertuples()}
    is_mean = str(rows["estimand"].iloc[0]).startswith("mean of")
    if not is_mean and len(signs) > 1:
        return (
            f"**The conclusion depends on the method**: {span}, and some intervals include 0 "
            "while others do not (or the sign differs)."
        )
    truth = done[done["method"] == "true data"]
    if len(truth):
        return _beside_truth(methods, truth.iloc[0], span)
    if len(methods) == 1:
        return (
            f"The estimate is {estimates.iloc[0]:.4g} with {plain(methods['method'].iloc[0])}, the "
            "only method here: whether it depends on the method is not known."
        )
    apart = _farthest_apart(methods)
    if apart:
        return (
            f"**The methods disagree**: {span}; those of {plain(apart[0])} and {plain(apart[1])} "
            f"lie outside each other's intervals. {ASSUMPTION} The table does not say which is "
            "right."
        )
    return f"**All methods lead to the same conclusion**: {span}. {ASSUMPTION}"


def _beside_truth(methods: pd.DataFrame, truth: pd.Series, span: str) -> str:
    inside = methods["estimate"].astype(float).between(float(truth["low"]), float(truth["high"]))
    if inside.all():
        return f"**The conclusion holds with every method**: {span}, as the true data allow."
    outside = ", ".join(plain(name) for name in methods["method"][~inside])
    return (
        f"{span.capitalize()}; those of {outside} lie outside the interval of the true data. Do "
        "not rely on them here."
    )


def _farthest_apart(methods: pd.DataFrame) -> tuple[str, str] | None:
    """Return the methods of the lowest and highest estimate if neither interval has the other."""
    ordered = methods.astype({"estimate": float, "low": float, "high": float})
    ordered = ordered.sort_values("estimate", kind="stable")
    low, high = ordered.iloc[0], ordered.iloc[-1]
    if low["high"] < high["estimate"] and high["low"] > low["estimate"]:
        return str(low["method"]), str(high["method"])
    return None


def _sign(low: float, high: float) -> int:
    return 1 if low > 0 else -1 if high < 0 else 0


def downstream_sentence(scores: pd.DataFrame, target: str) -> str:
    """Say whether the way of filling matters for predicting the target."""
    methods = scores[scores["kind"] != "reference"]
    if methods.empty:
        return "No method gave a score."
    means = methods.groupby("method")["score"].mean().sort_values(ascending=False)
    by_seed = methods.pivot_table(index="seed", columns="method", values="score")
    noise = float(by_seed.std().mean()) if len(by_seed) > 1 else float("nan")
    span = float(means.iloc[0] - means.iloc[-1])
    if len(means) == 1:
        return f"{plain(means.index[0])} predicts {code(target)} with {means.iloc[0]:.3f}."
    if pd.notna(noise) and span < noise:
        return (
            f"For predicting {code(target)} the method hardly matters: the best and the worst are "
            f"{span:.3f} apart, less than one split differs from another."
        )
    return (
        f"{plain(means.index[0])} predicts {code(target)} best ({means.iloc[0]:.3f}), "
        f"{plain(means.index[-1])} worst ({means.iloc[-1]:.3f})."
    )
