import numpy as np
import pandas as pd

from pmae_core.colors import IMPUTED, NEUTRAL
from pmae_core.evaluation.ranking import RANKED_METRICS
from pmae_core.plots.ranking import METRIC_WORDS, ranking_figure


def ranking(**changes):
    given = {
        "method": ["em", "knn", "naive", "gone"],
        "rank": pd.array([1, 1, 3, None], dtype="Int64"),
        "tie_group": pd.array([1, 1, 2, None], dtype="Int64"),
        "score": [0.8, 0.79, 0.1, np.nan],
        "low": [0.8, 0.7, 0.1, np.nan],
        "high": [0.8, 0.85, 0.1, np.nan],
        "n_done": [3, 3, 3, 0],
        "place": ["tied for first with one other method"] * 2 + ["rank 3", ""],
    }
    return pd.DataFrame({**given, **changes})


SEEDS = pd.DataFrame({"method": ["em", "knn"], "seed": [0, 0], "score": [0.81, 0.75]})


def texts(axis):
    return list(axis.ticktext)


def test_the_ranking_shows_ranked_methods_best_first():
    figure = ranking_figure(ranking(), SEEDS, "imputation_accuracy", {"em": "EM <b>"})

    assert texts(figure.layout.yaxis) == ["1. EM &lt;b&gt;", "1. knn", "3. naive"]
    (means,) = [trace for trace in figure.data if trace.name == "mean over seeds"]
    assert list(means.marker.color) == [IMPUTED, IMPUTED, NEUTRAL]
    assert means.customdata[0][0] == "tied for first with one other method"
    (bar,) = [trace for trace in figure.data if trace.mode == "lines"]
    assert list(bar.x) == [0.7, 0.85]
    bands = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert [(shape.y0, shape.y1) for shape in bands] == [(-0.5, 1.5)]


def test_an_endless_interval_ends_at_the_axis():
    figure = ranking_figure(
        ranking(low=[0.8, -np.inf, 0.1, np.nan], high=[0.8, np.inf, 0.1, np.nan]), SEEDS, "rmse"
    )
    low, high = figure.layout.xaxis.range
    (bar,) = [trace for trace in figure.data if trace.mode == "lines"]
    assert list(bar.x) == [low, high]


def test_every_metric_that_ranks_has_words_or_is_left_out_on_purpose():
    assert set(METRIC_WORDS) == set(RANKED_METRICS) - {"r2"}
