"""Comparisons whose results are written by hand."""

from pmae_core.evaluation import Comparison, TaskResult

SEEDS = [0, 1, 2]
NOISE = (0.0, 0.02, -0.02)


def task(method, seed, accuracy, **changes):
    column = {"role": "numerical", "n_missing": 40, "n_scored": 40, "skill": accuracy}
    metrics = {"imputation_accuracy": accuracy, "r2": accuracy, "r2_unclipped": accuracy}
    metrics |= {"accuracy": None, "rmse": 1 - accuracy, "mae": 1 - accuracy, "wasserstein": 0.1}
    metrics |= {"distribution_skill": accuracy - 0.1, "coverage": 0.6}
    given = {
        "method": method,
        "seed": seed,
        "status": "done",
        "scores": {**metrics, "skill": accuracy, "energy_distance": 1 - accuracy},
        "n_imputations": 5,
        "per_column": [{"column": name, **column, **metrics} for name in ("x", "y")],
        "points": {"x": {"truth": [1.0, 2.0], "imputed": [1.1, 1.9]}},
        "fit_seconds": 1.0,
        "impute_seconds": 0.5,
        "peak_memory_mb": 10.0,
    }
    return TaskResult(**{**given, **changes})


def failed(method, seed, error="It broke."):
    return TaskResult(method=method, seed=seed, status="failed", error=error)


def comparison(tasks, **settings):
    methods = list(dict.fromkeys(one.method for one in tasks))
    given = {"methods": methods, "seeds": SEEDS, "holdout": "like-mine", **settings}
    return Comparison(tasks=tasks, settings=given)


def _task_of_skills(method, seed, skills, seconds=0.2):
    columns = [
        {"column": name, "role": role, "n_missing": 9, "n_scored": 9, "skill": skill}
        for (name, role), skill in zip(
            (("x", "numerical"), ("y", "numerical"), ("language", "categorical")),
            skills,
            strict=True,
        )
    ]
    mean = sum(skills) / len(skills)
    return TaskResult(
        method=method,
        seed=seed,
        status="done",
        scores={"skill": mean},
        per_column=columns,
        fit_seconds=seconds,
        impute_seconds=0.0,
        peak_memory_mb=1.0,
    )


def comparison_of_skills(skills, n_seeds=3, seconds=None, holdout="like-mine"):
    """Return a comparison of methods by their skills in three columns, with some noise."""
    tasks = [
        _task_of_skills(name, seed, [skill + NOISE[(seed + place) % 3] for skill in of_columns],
             (seconds or {}).get(name, 0.2))
        for seed in range(n_seeds)
        for place, (name, of_columns) in enumerate(skills.items())
    ]  # fmt: skip
    given = {"methods": list(skills), "seeds": list(range(n_seeds)), "holdout": holdout}
    return Comparison(tasks=tasks, settings=given)
