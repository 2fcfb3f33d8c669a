"""What a comparison shows, in sentences (Markdown)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dashboard.compare.results import ComparisonResults
from dashboard.compare.tables import BASELINE, ranking_table
from dashboard.text import code, listing, plain
from pmae_core.evaluation import Comparison
from pmae_core.evaluation.disagreement import disagreement
from pmae_core.evaluation.ranking import MIN_SEEDS
from pmae_core.inference.stability import NOT_PROPER
from pmae_core.words import count, duration, listed, percent

# A tied method is preferred to the one with the best mean if it is this many times quicker and
# saves a noticeable time.
MUCH_QUICKER = 2.0
NOTICEABLE_SECONDS = 1.0
# Skills this far below 0 on every seed are called worse than the mean.
CLEARLY_WORSE = -0.01
MOST_WORSE = 3
CHANGES = "**The method changes this result: report it with care.**"
ASSUMPTION = "All methods assume that values are missing at random (MAR)."


# Which method


@dataclass(frozen=True)
class Recommendation:
    """The method to use, and the methods tied with it.

    Attributes
    ----------
    method : str
        The method with the best mean; where that takes much longer than others tied with it, the
        best of those that hardly take longer than the quickest.
    tied : tuple of str
        The other methods of rank 1, the best mean first.
    """

    method: str
    tied: tuple[str, ...]


def recommended(ranking: pd.DataFrame) -> Recommendation | None:
    """Return which method to use; None if no method is ranked, or the baseline is tied for first.

    Parameters
    ----------
    ranking : DataFrame
        Of :func:`dashboard.compare.tables.ranking_table`.
    """
    first = ranking[ranking["rank"] == 1]
    if first.empty or BASELINE in set(first["method"]):
        return None
    seconds = first["seconds"].astype(float).fillna(float("inf"))
    hardly_slower = ~seconds.map(lambda taken: _is_much_quicker(seconds.min(), taken))
    chosen = str(first[hardly_slower]["method"].iloc[0])
    return Recommendation(chosen, tuple(name for name in first["method"] if name != chosen))


def verdict(results: ComparisonResults, titles: Mapping[str, str]) -> str:
    """Say in a sentence which method to use; provisional results name what they are based on."""
    ranking = ranking_table(results.ranked)
    ranked = ranking[ranking["rank"].notna()]
    if ranked.empty:
        return "No method gave a result."
    if results.basis:
        return _provisional(ranked, results, titles)
    if len(ranked) == 1:
        name = _bold(ranked["method"].iloc[0], titles)
        return f"{name} is the only method with a result, so there is nothing to compare it with."
    choice = recommended(ranked)
    if choice is None:
        sentence = _no_better_than_mean(ranked, titles)
    else:
        sentence = _recommendation(choice, ranked, results.ranked, titles)
    notes = [_distribution_sentence(results.ranked, titles), noise_sentence(results.ranked)]
    return " ".join(filter(None, [sentence, *notes]))


def _provisional(
    ranked: pd.DataFrame, results: ComparisonResults, titles: Mapping[str, str]
) -> str:
    """Name the leader so far: ties are not judged before all runs have ended."""
    beginning = "So far, after" if results.pending else "Stopped after"
    leader = ranked.iloc[0]
    skill = f"a skill of {leader['skill']:.2f}"
    name = _bold(leader["method"], titles)
    if len(ranked) == 1:
        return f"{beginning} {results.basis}: only {name} has a result ({skill})."
    end = "Ties are judged when all runs have ended."
    if not results.pending:
        end = "Resume the comparison to judge ties on all runs."
    return f"{beginning} {results.basis}: {name} leads with {skill}. {end}"


def _no_better_than_mean(ranked: pd.DataFrame, titles: Mapping[str, str]) -> str:
    leader = ranked.iloc[0]
    if leader["method"] == BASELINE:
        return "**No method is better than imputing the mean or mode** on the held-out cells."
    return (
        f"**No method is clearly better than imputing the mean or mode**: it is tied with "
        f"{plain(titles.get(leader['method'], leader['method']))}, which has the highest skill "
        f"({leader['skill']:.2f})."
    )


def _recommendation(
    choice: Recommendation,
    ranked: pd.DataFrame,
    comparison: Comparison,
    titles: Mapping[str, str],
) -> str:
    by_method = ranked.set_index("method")
    chosen = by_method.loc[choice.method]
    name = plain(titles.get(choice.method, choice.method))
    parts = []
    if choice.tied:
        others = listed([plain(titles.get(one, one)) for one in choice.tied], most=3)
        parts.append(f"tied with {others}{_time_words(chosen, by_method.loc[list(choice.tied)])}")
    else:
        parts.append(f"best on held-out cells (skill {chosen['skill']:.2f}), no other is tied")
    if worse := worse_columns(comparison, choice.method):
        parts.append(_worse_words(worse, comparison))
    return f"**Use {name}**: {'; '.join(parts)}."


def _time_words(chosen: pd.Series, tied: pd.DataFrame) -> str:
    """Return the times of the method and of the slowest one tied with it, if they differ much."""
    slowest = tied["seconds"].max()
    if not _is_much_quicker(chosen["seconds"], slowest):
        return ""
    return f", {_seconds(chosen['seconds'])} against {_seconds(slowest)}"


def _is_much_quicker(seconds: float, other: float) -> bool:
    return other >= MUCH_QUICKER * seconds and other - seconds >= NOTICEABLE_SECONDS


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else duration(seconds)


def worse_columns(comparison: Comparison, method: str) -> list[str]:
    """Return the columns in which a method is worse than the mean or mode on every seed."""
    cells = comparison.per_column
    skills = cells[cells["method"] == method].groupby("column", sort=False)["skill"]
    highest, mean = skills.max(), skills.mean()
    worse = mean[(highest < 0) & (mean < CLEARLY_WORSE)].sort_values()
    return [str(column) for column in worse.index]


def _worse_words(columns: Sequence[str], comparison: Comparison) -> str:
    roles = comparison.per_column.drop_duplicates("column").set_index("column")["role"]
    numbers = {roles[column] in ("numerical", "datetime") for column in columns}
    baseline = {(True,): "the mean", (False,): "the mode"}.get(tuple(numbers), "the mean or mode")
    return f"worse than {baseline} in {listing(columns, most=MOST_WORSE)}"


def _bold(method: str, titles: Mapping[str, str]) -> str:
    return f"**{plain(titles.get(method, method))}**"


def _distribution_sentence(comparison: Comparison, titles: Mapping[str, str]) -> str:
    """Name the method whose imputations are distributed most like the data, if it is another."""
    methods = disagreement(comparison)
    if methods is None:
        return ""
    alike = plain(titles.get(methods[1], methods[1]))
    return f"The imputations of {alike} resemble the distribution of the data more closely."


def noise_sentence(comparison: Comparison) -> str:
    """Say what ties are based on, where that is less than it should be."""
    n_seeds = len({task.seed for task in comparison.tasks})
    if not comparison.masks_vary:
        return (
            "All seeds hold out the same cells here, so ties are judged by how methods differ "
            "between columns."
        )
    if n_seeds < MIN_SEEDS:
        return (
            f"With {count(n_seeds, 'seed')}, ties are judged by how methods differ between "
            f"columns; {MIN_SEEDS} or more seeds show how much results vary."
        )
    return ""


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
