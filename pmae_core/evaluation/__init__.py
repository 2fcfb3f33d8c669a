"""Judging an imputation: metrics and the benchmark protocol of the paper."""

from pmae_core.evaluation.metrics import METRICS, ImputationScore, score_imputation
from pmae_core.evaluation.protocol import (
    BenchmarkTable,
    ReleasedMask,
    benchmark_table,
    prepare_benchmark_table,
    released_diabetes,
)

__all__ = [
    "METRICS",
    "BenchmarkTable",
    "ImputationScore",
    "Pooled",
    "ReleasedMask",
    "benchmark_table",
    "prepare_benchmark_table",
    "released_diabetes",
    "score_imputation",
]
