"""What a look into a trained network's blocks says, against the tokens themselves."""

import numpy as np
import pandas as pd
import pytest
import torch

from pmae_core.imputers import PMAENetworkImputer
from pmae_core.imputers.masked.mixing import mixing_magnitudes


@pytest.mark.parametrize("architecture", ["mixer", "transformer"])
def test_magnitudes_before_the_first_block_are_those_of_the_tokens(architecture):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    table.loc[::4, "b"] = np.nan
    imputer = PMAENetworkImputer(
        architecture=architecture, preset="paper-steps", steps=2, random_state=0
    ).fit(table)
    found = pd.DataFrame(mixing_magnitudes(imputer, table))
    assert len(found) == 3 * len(imputer.network_.network.encoder)

    network = imputer.network_.network
    incomplete = imputer.encoder_.transform(table[table["b"].isna()])
    values, kept = torch.tensor(incomplete.values), torch.tensor(incomplete.observed)
    tokens = network.tokenizer(values, kept) + network.positions[1:]
    sizes = tokens.detach().abs().mean(dim=(0, 2)).numpy()
    np.testing.assert_allclose(found["before"][:3], sizes / sizes.mean(), rtol=1e-5)
