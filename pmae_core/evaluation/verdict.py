"""What a finished comparison says, in sentences: which method to use, and what ties rest on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from pmae_core.evaluation.ranking import MIN_SEEDS
from pmae_core.words import count, duration, listed

# The method that imputes the mean or mode.
BASELINE = "naive"
# A tied method is preferred to the one with the best mean if it is this many times quicker and
# saves a noticeable time.
MUCH_QUICKER = 2.0
NOTICEABLE_SECONDS = 1.0
# Skills this far below 0 on every seed are called worse than the mean.
CLEARLY_WORSE = -0.01
MOST_WORSE = 3
NO_RESULT = "No method gave a result."


@dataclass(frozen=True)
class Writing:
    """How the parts of a sentence are written: as plain text, or with the signs of a markup.

    Attributes
    ----------
    method, column, strong : callable
        Return the name of a method, the name of a column, and important words as they are to
        stand in the sentence.
    """

    method: Callable[[str], str] = str
    column: Callable[[str], str] = str
    strong: Callable[[str], str] = str


PLAIN_TEXT = Writing()


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
        Of :meth:`pmae_core.evaluation.Comparison.ranking_table`.
    """
    first = ranking[ranking["rank"] == 1]
    if first.empty or BASELINE in set(first["method"]):
        return None
    seconds = first["seconds"].astype(float).fillna(float("inf"))
    hardly_slower = ~seconds.map(lambda taken: _is_much_quicker(seconds.min(), taken))
    chosen = str(first[hardly_slower]["method"].iloc[0])
    return Recommendation(chosen, tuple(name for name in first["method"] if name != chosen))


def verdict_sentence(
    ranking: pd.DataFrame, per_column: pd.DataFrame, writing: Writing = PLAIN_TEXT
) -> str:
    """Say in a sentence which method to use.

    Parameters
    ----------
    ranking : DataFrame
        Of :meth:`pmae_core.evaluation.Comparison.ranking_table`.
    per_column : DataFrame
        Of :attr:`pmae_core.evaluation.Comparison.per_column`.
    writing : Writing, optional
        How names and important words are written.
    """
    ranked = ranking[ranking["rank"].notna()]
    if ranked.empty:
        return NO_RESULT
    if len(ranked) == 1:
        name = writing.strong(writing.method(str(ranked["method"].iloc[0])))
        return f"{name} is the only method with a result, so there is nothing to compare it with."
    choice = recommended(ranked)
    if choice is None:
        return _no_better_than_mean(ranked, writing)
    return _recommendation(choice, ranked, per_column, writing)


def _no_better_than_mean(ranked: pd.DataFrame, writing: Writing) -> str:
    leader = ranked.iloc[0]
    if leader["method"] == BASELINE:
        no_better = writing.strong("No method is better than imputing the mean or mode")
        return f"{no_better} on the held-out cells."
    not_clearly = writing.strong("No method is clearly better than imputing the mean or mode")
    return (
        f"{not_clearly}: it is tied with {writing.method(leader['method'])}, which has the highest "
        f"skill ({leader['skill']:.2f})."
    )


def _recommendation(
    choice: Recommendation, ranked: pd.DataFrame, per_column: pd.DataFrame, writing: Writing
) -> str:
    seconds = ranked.set_index("method")["seconds"].astype(float)
    skill = ranked.set_index("method")["skill"].astype(float)
    parts = []
    if choice.tied:
        others = listed([writing.method(one) for one in choice.tied], most=3)
        parts.append(f"tied with {others}{_time_words(seconds, choice)}")
    else:
        parts.append(f"best on held-out cells (skill {skill[choice.method]:.2f}), no other is tied")
    if worse := worse_columns(per_column, choice.method):
        parts.append(_worse_words(worse, per_column, writing))
    return f"{writing.strong(f'Use {writing.method(choice.method)}')}: {'; '.join(parts)}."


def _time_words(seconds: pd.Series, choice: Recommendation) -> str:
    """Return the times of the method and of the slowest one tied with it, if they differ much."""
    own, slowest = float(seconds[choice.method]), float(seconds[list(choice.tied)].max())
    if not _is_much_quicker(own, slowest):
        return ""
    return f", {_seconds(own)} against {_seconds(slowest)}"


def _is_much_quicker(seconds: float, other: float) -> bool:
    return other >= MUCH_QUICKER * seconds and other - seconds >= NOTICEABLE_SECONDS


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else duration(seconds)


def worse_columns(per_column: pd.DataFrame, method: str) -> list[str]:
    """Return the columns in which a method is worse than the mean or mode on every seed."""
    cells = per_column[per_column["method"] == method]
    skills = cells.groupby("column", sort=False)["skill"]
    highest, mean = skills.max(), skills.mean()
    worse = mean[(highest < 0) & (mean < CLEARLY_WORSE)].sort_values()
    return [str(column) for column in worse.index]


def _worse_words(columns: Sequence[str], per_column: pd.DataFrame, writing: Writing) -> str:
    roles = per_column.drop_duplicates("column").set_index("column")["role"]
    numbers = {roles[column] in ("numerical", "datetime") for column in columns}
    both = "the mean or mode"
    baseline = both if len(numbers) > 1 else "the mean" if True in numbers else "the mode"
    return f"worse than {baseline} in {listed(map(writing.column, columns), most=MOST_WORSE)}"


def distribution_sentence(alike: str | None, writing: Writing = PLAIN_TEXT) -> str:
    """Name the method whose imputations are distributed most like the data, if it is another."""
    if alike is None:
        return ""
    name = writing.method(alike)
    return f"The imputations of {name} resemble the distribution of the data more closely."


def noise_sentence(n_seeds: int, *, masks_vary: bool) -> str:
    """Say what ties are based on, where that is less than it should be."""
    if not masks_vary:
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
