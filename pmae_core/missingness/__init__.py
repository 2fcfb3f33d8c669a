"""What is missing: how much, where, in which patterns, and what goes with it."""

from pmae_core.missingness._rules import MissingnessRule
from pmae_core.missingness.blocks import MissingBlock, find_blocks
from pmae_core.missingness.comparison import (
    ValueDistribution,
    compare_distributions,
    compare_imputed,
    compare_rows,
)
from pmae_core.missingness.dropping import count_complete_rows, dropping_path, dropping_shift
from pmae_core.missingness.flux import measure_flux
from pmae_core.missingness.little import (
    LITTLE_CAUTION,
    LittleTest,
    little_test,
)
from pmae_core.missingness.nullity import (
    NullityMatrix,
    NullityTree,
    RowOrder,
    bin_nullity,
    cluster_columns,
    correlate_blocks,
    correlate_nullity,
    strongest_pairs,
)
from pmae_core.missingness.patterns import MissingPatterns, find_patterns
from pmae_core.missingness.prediction import MissingnessTree, predict_missingness
from pmae_core.missingness.story import (
    MissingnessStory,
    block_name,
    block_sentence,
    never_together_sentence,
    tell_story,
)
from pmae_core.missingness.summary import MissingnessSummary, summarize_missingness

__all__ = [
    "LITTLE_CAUTION",
    "LittleTest",
    "MissingBlock",
    "MissingPatterns",
    "MissingnessRule",
    "MissingnessStory",
    "MissingnessSummary",
    "MissingnessTree",
    "NullityMatrix",
    "NullityTree",
    "RowOrder",
    "ValueDistribution",
    "bin_nullity",
    "block_name",
    "block_sentence",
    "cluster_columns",
    "compare_distributions",
    "compare_imputed",
    "compare_rows",
    "correlate_blocks",
    "correlate_nullity",
    "count_complete_rows",
    "dropping_path",
    "dropping_shift",
    "find_blocks",
    "find_patterns",
    "little_test",
    "measure_flux",
    "never_together_sentence",
    "predict_missingness",
    "strongest_pairs",
    "summarize_missingness",
    "tell_story",
]
