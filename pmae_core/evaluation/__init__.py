"""Judging imputations: scores on held-out cells, comparison of methods, predictions."""

from pmae_core.evaluation.comparing import compare
from pmae_core.evaluation.comparison import Comparison
from pmae_core.evaluation.distribution import energy_score
from pmae_core.evaluation.downstream import Downstream, downstream_scores
from pmae_core.evaluation.holdout import Holdout, HoldoutPlan
from pmae_core.evaluation.i_score import IScore, energy_i_score
from pmae_core.evaluation.imputation_scores import (
    IMPUTATION_METRICS,
    expected_coverage,
    score_imputations,
)
from pmae_core.evaluation.metrics import METRICS, ImputationScore, score_imputation
from pmae_core.evaluation.protocol import (
    BenchmarkTable,
    ReleasedMask,
    benchmark_table,
    prepare_benchmark_table,
    released_diabetes,
)
from pmae_core.evaluation.ranking import rank_methods
from pmae_core.evaluation.report import comparison_report, write_comparison
from pmae_core.evaluation.tasks import (
    Task,
    TaskFinished,
    TaskProgress,
    TaskResult,
    TaskStarted,
    run_task,
)
from pmae_core.evaluation.winners import column_winners

__all__ = [
    "IMPUTATION_METRICS",
    "METRICS",
    "BenchmarkTable",
    "Comparison",
    "Downstream",
    "Holdout",
    "HoldoutPlan",
    "IScore",
    "ImputationScore",
    "ReleasedMask",
    "Task",
    "TaskFinished",
    "TaskProgress",
    "TaskResult",
    "TaskStarted",
    "benchmark_table",
    "column_winners",
    "compare",
    "comparison_report",
    "downstream_scores",
    "energy_i_score",
    "energy_score",
    "expected_coverage",
    "prepare_benchmark_table",
    "rank_methods",
    "released_diabetes",
    "run_task",
    "score_imputation",
    "score_imputations",
    "write_comparison",
]
