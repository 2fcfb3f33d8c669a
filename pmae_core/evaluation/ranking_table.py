"""The ranking of methods as one table: ranks in words, intervals, costs and all scores."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from pmae_core.evaluation.ranking import LOWER_IS_BETTER
from pmae_core.evaluation.tasks import SCORES


def ranking_table(
    ranks: pd.DataFrame, table: pd.DataFrame, methods: Sequence[str], metric: str
) -> pd.DataFrame:
    """Return one row per method, best first.

    Parameters
    ----------
    ranks : DataFrame
        Of :func:`~pmae_core.evaluation.rank_methods`.
    table : DataFrame
        One row per method and seed: status, scores, seconds and memory.
    methods : sequence of str
        All methods; those without a result come last, without a rank.
    metric : str
        By which they are ranked.
    """
    by_method = table.groupby("method")
    n_done = (table["status"] == "done").groupby(table["method"]).sum()
    n_tasks = by_method.size()
    # How far behind is positive for worse, whatever the metric; on the axis worse may be right.
    worse = 1 if metric in LOWER_IS_BETTER else -1
    leaders = ranks.groupby("tie_group")["score"].transform("first")
    ends = pd.DataFrame({end: leaders + worse * ranks[f"behind_{end}"] for end in ("low", "high")})
    is_leader = ~ranks["tie_group"].duplicated()
    ranking = ranks[["rank", "tie_group", "score"]].assign(
        low=ends.min(axis=1).where(~is_leader, ranks["score"]),
        high=ends.max(axis=1).where(~is_leader, ranks["score"]),
    )
    order = [*ranks.index, *(name for name in methods if name not in ranks.index)]
    ranking = ranking.reindex(order)
    done = table[table["status"] == "done"].groupby("method")
    seconds = done["fit_seconds"].median() + done["impute_seconds"].median()
    ranking = ranking.assign(
        n_done=n_done.reindex(order, fill_value=0),
        n_tasks=n_tasks.reindex(order, fill_value=0),
        seconds=seconds.reindex(order),
        memory_mb=done["peak_memory_mb"].median().reindex(order),
        n_imputations=done["n_imputations"].max().replace(0, float("nan")).reindex(order),
    )
    for name in SCORES:
        ranking[name] = done[name].mean().reindex(order)
    ranking.index.name = "method"
    ranking = ranking.astype({"rank": "Int64", "tie_group": "Int64"})
    return ranking.assign(place=_places(ranking["rank"])).reset_index()


def _places(ranks: pd.Series) -> list[str]:
    """Return ranks in words: "tied for first with one other method"."""
    n_of_rank = ranks.value_counts()
    return ["" if pd.isna(rank) else _place(int(rank), int(n_of_rank[rank])) for rank in ranks]


def _place(rank: int, n_methods: int) -> str:
    place = "first" if rank == 1 else f"rank {rank}"
    if n_methods == 1:
        return place
    others = "one other method" if n_methods == 2 else f"{n_methods - 1} other methods"
    return f"tied for {place} with {others}"
