"""What a comparison shows, in sentences (Markdown)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dashboard.compare.results import ComparisonResults
from dashboard.text import code, listing, plain
from pmae_core.evaluation.verdict import Writing
from pmae_core.inference.stability import NOT_PROPER
from pmae_core.words import listed, percent

CHANGES = "**The method changes this result: report it with care.**"
ASSUMPTION = "All methods assume that values are missing at random (MAR)."


# Which method


def verdict(results: ComparisonResults, titles: Mapping[str, str]) -> str:
    """Say in a sentence which method to use; provisional results name what they are based on."""
    ranking = results.ranked.ranking_table()
    ranked = ranking[ranking["rank"].notna()]
    if results.basis and not ranked.empty:
        return _provisional(ranked, results, titles)
    writing = Writing(
        method=lambda name: plain(titles.get(name, name)),
        column=code,
        strong=lambda words: f"**{words}**",
    )
    return results.ranked.verdict(writing)


def _provisional(
    ranked: pd.DataFrame, results: ComparisonResults, titles: Mapping[str, str]
) -> str:
    """Name the leader so far: ties are not judged before all runs have ended."""
    beginning = "So far, after" if results.pending else "Stopped after"
    leader = ranked.iloc[0]
    skill = f"a skill of {leader['skill']:.2f}"
    name = f"**{plain(titles.get(leader['method'], leader['method']))}**"
    if len(ranked) == 1:
        return f"{beginning} {results.basis}: only {name} has a result ({skill})."
    end = "Ties are judged when all runs have ended."
    if not results.pending:
        end = "Resume the comparison to judge ties on all runs."
    return f"{beginning} {results.basis}: {name} leads with {skill}. {end}"


# Which columns


def columns_sentence(winners: pd.DataFrame) -> str:
    """Say in which columns no method is shown to beat the mean."""
    unpredictable = [column for column, row in winners.iterrows() if row["best"] is None]
    if not unpredictable:
        return "In every column, at least one method is shown to beat the mean or mode."
    if len(unpredictable) == len(winners):
        return (
            "**No method is shown to beat the mean or mode** in any column: the held-out cells do "
            "not show that the observed columns predict the missing values."
        )
    return (
        f"**No method is shown to beat the mean or mode** in {listing(unpredictable)}: the "
        "held-out cells do not show that imputed values there are any better."
    )


def winners_table(winners: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Return per column the best method and those tied with it, by their titles."""
    best = [
        "No method is shown to beat the mean" if name is None else titles.get(name, name)
        for name in winners["best"]
    ]
    tied = [listed([titles.get(name, name) for name in names]) for names in winners["tied"]]
    return pd.DataFrame(
        {"column": winners.index, "best": best, "tied": tied, "skill": winners["skill"].to_numpy()}
    )


# Which cells


def cells_sentence(
    cells: pd.DataFrame, column: str, method: str, *, categories: bool, about_imputations: str = ""
) -> str:
    """Say how close the imputed values of a column come to the truth.

    What the method's multiple imputations say of uncertainty is added where single ones vary too
    little.
    """
    if cells.empty:
        return f"No cell of {code(column)} was held out."
    if categories:
        share = (cells["truth"] == cells["imputed"]).mean()
        return f"{plain(method)} imputes {percent(share)} of these {code(column)} cells correctly."
    truth, imputed = (cells[kind].astype(float) for kind in ("truth", "imputed"))
    if truth.std() == 0 or len(truth) < 2:
        return f"All of these {code(column)} cells are equal."
    ratio = imputed.std() / truth.std()
    if ratio < 0.8:
        return (
            f"The imputed values of {code(column)} vary only {percent(ratio)} as much as the true "
            "ones: best guesses lie closer to the mean than real values do. "
            f"{about_imputations}"
        ).strip()
    return f"The imputed values of {code(column)} vary about as much as the true ones."


# Which conclusion


def conclusion_sentence(rows: pd.DataFrame) -> str:
    """Say whether a conclusion depends on the method, beginning with its name.

    Methods are compared with the truth where it is known, else with each other. Complete cases
    are no yardstick: under MAR they can be biased where methods are not.
    """
    estimand = str(rows["estimand"].iloc[0])
    name = plain(estimand[0].upper() + estimand[1:])
    return f"{name}: {_dependence(rows)}"


def _dependence(rows: pd.DataFrame) -> str:
    done = rows[rows["status"] == "done"]
    methods = done[~done["method"].isin(["true data", "complete cases"])]
    if methods.empty:
        return "no method gave an estimate."
    estimates = methods["estimate"].astype(float)
    span = f"from {estimates.min():.4g} to {estimates.max():.4g}"
    signs = {_sign(row.low, row.high) for row in methods.itertuples()}
    is_mean = str(rows["estimand"].iloc[0]).startswith("mean of")
    if not is_mean and len(signs) > 1:
        return (
            f"{CHANGES} Estimates range {span}, and some intervals include 0 while others do not "
            "(or the sign differs)."
        )
    truth = done[done["method"] == "true data"]
    if len(truth):
        return _beside_truth(methods, truth.iloc[0], span)
    if len(methods) == 1:
        return (
            f"{estimates.iloc[0]:.4g} with {plain(methods['method'].iloc[0])}, the only method so "
            "far."
        )
    apart = _farthest_apart(methods)
    if apart:
        return (
            f"{CHANGES} Estimates range {span}; those of {plain(apart[0])} and {plain(apart[1])} "
            "lie outside each other's intervals."
        )
    return f"**the method hardly changes this result.** Estimates range {span}. {ASSUMPTION}"


def _beside_truth(methods: pd.DataFrame, truth: pd.Series, span: str) -> str:
    inside = methods["estimate"].astype(float).between(float(truth["low"]), float(truth["high"]))
    if inside.all():
        return f"**every method agrees with the true data.** Estimates range {span}."
    outside = listed([plain(name) for name in methods["method"][~inside]])
    return (
        f"{CHANGES} Estimates range {span}; those of {outside} lie outside the interval of the "
        "true data."
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


def intervals_caption(done: pd.DataFrame) -> str:
    """Say how to read the intervals of a conclusion, and which of them are too narrow."""
    narrow = []
    if (done["kind"] == "single").any():
        narrow.append("hollow dots (one imputation, treated as observed)")
    is_improper = done["note"].astype(str).str.contains(NOT_PROPER, regex=False)
    if is_improper.any():
        names = listed([plain(name) for name in done.loc[is_improper, "method"]])
        narrow.append(f"{names} (one fitted model)")
    truth = " The vertical line is the true data." if (done["method"] == "true data").any() else ""
    caution = f" They are too narrow for {' and '.join(narrow)}." if narrow else ""
    return f"Lines are 95% intervals.{caution}{truth}"


# Which prediction


def downstream_sentence(scores: pd.DataFrame, target: str) -> str:
    """Say whether the method of imputation matters for predicting the target."""
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
            f"For predicting {code(target)} the method hardly matters: the best and the worst "
            f"score differ by {span:.3f}, less than scores vary between splits."
        )
    return (
        f"Predictions of {code(target)} are best with {plain(means.index[0])} "
        f"({means.iloc[0]:.3f}) and worst with {plain(means.index[-1])} ({means.iloc[-1]:.3f})."
    )
