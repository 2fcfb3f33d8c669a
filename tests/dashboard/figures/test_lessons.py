import pandas as pd

from dashboard.figures.lessons import training_cases_figure


def test_training_cases_stand_beside_the_missing_cells():
    shares = pd.DataFrame(
        {
            "predictors": [0, 1],
            "missing": [0.1, 0.9],
            "uniform": [0.5, 0.5],
            "proportional": [0.3, 0.7],
        }
    )

    assert [list(bars.y) for bars in training_cases_figure(shares).data] == [
        *([0.1, 0.9], [0.5, 0.5], [0.3, 0.7]),
    ]
