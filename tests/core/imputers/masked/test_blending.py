"""How good an answer of a blend is."""

import numpy as np

from pmae_core.imputers.masked._blending import FEWEST_CELLS_FOR_SKILL, _skill


def test_few_cells_have_no_skill():
    enough = np.arange(FEWEST_CELLS_FOR_SKILL, dtype=float)[:, None]
    few = np.array([[1.0], [1.01]])
    truth = {0: enough, 1: few, 2: np.ones_like(enough)}

    # The column of two cells would have a skill of about -20,000 and decide the mean of all.
    found = _skill(truth, {0: enough, 1: few + 1, 2: enough})

    assert found == {0: 1.0}
