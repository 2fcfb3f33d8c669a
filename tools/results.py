"""Results of the benchmarks as Markdown, for the documents."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def words(name: str, folder: Path) -> str:
    """Return what a benchmark found, or that it was not run.

    A name such as `coverage.widths` is another view of the results of `coverage`.
    """
    needed = [file_of(name), *BESIDES.get(name, ())]
    paths = [folder / f"{one}.json" for one in needed]
    lacking = [one for one, path in zip(needed, paths, strict=True) if not path.exists()]
    if lacking:
        return (
            f"*Not measured yet for this version: `make bench BENCHMARKS={benchmark(lacking[0])}`.*"
        )
    return TELLERS[name](*(json.loads(path.read_text(encoding="utf-8")) for path in paths))


def file_of(name: str) -> str:
    """Return the name of the file of results that a name is about, without its ending."""
    return name.partition(".")[0]


def benchmark(name: str) -> str:
    """Return the name of the benchmark behind a result, as `make bench` takes it."""
    (path,) = BENCHMARKS.glob(f"*/{file_of(name)}.py")
    return f"{path.parent.name}.{path.stem}"


def _classroom(result: dict[str, Any]) -> str:
    lesson, session, machine = result["class"], result["one_session"], result["machine"]
    waits, memory = lesson["interactions"], lesson["memory_mb"]
    rows = {
        "Machine": f"{machine['cores']} cores, {machine['memory_gb']} GB",
        "Students, training at once": f"{lesson['students']}, {lesson['training_at_once']}",
        "Interactions": f"{waits['count']:,} in {lesson['minutes']:g} minutes",
        "Failures": f"{len(lesson['failures'])}",
        "Time per interaction": f"{waits['median_seconds']:.2f} s (median), "
        f"{waits['p95_seconds']:.2f} s (95th percentile)",
        "Server memory": f"{memory['before']} MB before, {memory['most']} MB at most: "
        f"{memory['a_session']:.1f} MB per session",
        f"Growth over {session['reruns']} reruns": f"{session['grown_mb_since']:.1f} MB",
    }
    return _table(["", "Measured"], rows.items())


def _year_of_use(result: dict[str, Any]) -> str:
    stages = {"Before": "before", "At most": "most", "After": "after"}
    return _table(
        [f"{result['workspaces']:,} workspaces", "Workspaces", "Runs", "Files", "MB"],
        (
            (
                stage,
                f"{found['workspaces']:,}",
                f"{found['jobs']:,}",
                f"{found['files']:,}",
                f"{found['bytes'] / 1e6:,.1f}",
            )
            for stage, found in ((stage, result[name]) for stage, name in stages.items())
        ),
    )


def _hostile_upload(result: dict[str, Any]) -> str:
    uploads = {
        "without": "nothing",
        "far cells": "a workbook with cells in column ZZZ, again and again",
        "full time limit": f"a workbook that needs more than {result['limit_seconds']} s to read",
    }
    ratios = {"without": 1.0, **result["p95_ratio_to_without"]}
    return _table(
        ["Another visitor uploads", "95th percentile of an interaction", "Ratio"],
        (
            (what, f"{1000 * result['p95_seconds'][name]:,.0f} ms", f"{ratios[name]:.2f}")
            for name, what in uploads.items()
        ),
    )


def _time_to_accuracy(result: dict[str, Any]) -> str:
    return _table(
        ["Table", "Setting or method", "Imputation accuracy × 100", "Processor seconds"],
        (
            (
                f"{dataset}, {table['rows']:,} rows",
                f"`{label}`",
                f"{mean['imputation_accuracy_x100']:.1f}" + _asterisk(table["runs"][label]),
                f"{mean['cpu_seconds']:,.0f}" + _asterisk(table["runs"][label]),
            )
            for dataset, table in result["tables"].items()
            for label, mean in table["mean"].items()
        ),
    )


def _asterisk(runs: Sequence[dict[str, Any]]) -> str:
    return " *" if any("how" in run for run in runs) else ""


def _training_step(result: dict[str, Any]) -> str:
    return _table(
        ["Columns", "Rows per batch", "Plain, ms", "Ours, ms", "Speedup"],
        (
            (
                run["columns"],
                run["batch"],
                f"{run['milliseconds']['plain']['step']:.1f}",
                f"{run['milliseconds']['ours']['step']:.1f}",
                run["plain_over_ours"],
            )
            for run in result["runs"]
        ),
    )


def _threads(result: dict[str, Any]) -> str:
    return _table(
        ["Columns", "Rows per batch", "Quiet machine", "One core busy"],
        (
            (
                run["columns"],
                run["batch"],
                run["quiet"]["one_over_all"],
                run["busy"]["one_over_all"],
            )
            for run in result["runs"]
        ),
    )


def _scale(result: dict[str, Any]) -> str:
    return _table(
        ["Rows", "Columns", "Training, s", "Imputation, s", "Table, MB", "Added memory, MB"],
        (
            (
                f"{run['rows']:,}",
                run["columns"],
                f"{run['fit_seconds']:.1f}",
                f"{run['transform_seconds']:.1f}",
                f"{run['table_megabytes']:.0f}",
                f"{run['peak_above_libraries_megabytes']:.0f}",
            )
            for run in result["runs"]
        ),
    )


def _nine_tables(result: dict[str, Any]) -> str:
    return "\n\n".join(map(_part_of_nine_tables, result["parts"]))


def _part_of_nine_tables(part: dict[str, Any]) -> str:
    rows = part["most_rows"]
    most = max(rows.values())
    fewer = "".join(f" ({name}: {n:,})" for name, n in rows.items() if n < most)
    run = (
        f"**At most {most:,} rows of a table{fewer}**, {part['tables_and_patterns']} of "
        f"{part['of']} pairs of a table and a pattern, {part['seeds']} "
        f"seed{'s' if part['seeds'] > 1 else ''} each:"
    )
    ranks = _table(
        ["Method or setting", "Mean rank", "First places", "Accuracy × 100"],
        (
            (
                f"`{line['variant']}`",
                f"{line['mean_rank']:.2f}",
                line["first_places"],
                f"{line['mean_accuracy_x100']:.1f}",
            )
            for line in part["ranking"]
        ),
    )
    ratios = _table(
        ["`balanced` against", "Tables and patterns", "Accuracy × 100", "Other, × 100", "Ratio"],
        (
            (
                "the printed figures" if line["against"] == "printed" else f"`{line['against']}`",
                line["tables_and_patterns"],
                f"{line['balanced_x100']:.1f}",
                f"{line['paper_x100']:.1f}",
                f"{line['ratio']:.2f}",
            )
            for line in part["balanced_over_paper"]
        ),
    )
    return f"{run}\n\n{ranks}\n\n{ratios}"


_CHOICE_HEADER = ("Setting", "Tables and seeds", "Accuracy × 100", "Difference")


def _choices(result: dict[str, Any]) -> str:
    return _table(_CHOICE_HEADER, map(_choice_cells, result["summary"]))


def _blend_choices(result: dict[str, Any]) -> str:
    return _table(
        [*_CHOICE_HEADER, "Processor seconds"],
        ([*_choice_cells(line), f"{line['mean_cpu_seconds']:.1f}"] for line in result["summary"]),
    )


def _choice_cells(line: dict[str, Any]) -> list[Any]:
    is_the_same = not line["difference"] and not line["standard_error"]
    difference = "" if is_the_same else _difference(line)
    return [line["choice"], line["tables_and_seeds"], f"{line['mean_accuracy']:.1f}", difference]


_PARTS_OF_BLEND = {
    "report": "Tables kept aside",
    "few-rows": "The nine tables, at most 500 rows",
    "nine": "The nine tables, at most 10,000 rows (news: 4,000)",
}


def _blend(result: dict[str, Any]) -> str:
    return "\n\n".join(_part_of_blend(name, part) for name, part in result["parts"].items())


def _part_of_blend(name: str, part: dict[str, Any]) -> str:
    cost, above = part["cost"]["mean_cpu_seconds"], part["blend_above"]
    run = (
        f"**{_PARTS_OF_BLEND[name]}**, {part['tables_and_patterns']} pairs of a table and a "
        f"pattern, {part['cases']} of {part['wanted_cases']} cases. `pmae` is the best or at most "
        f"{part['tied_within']:g} points below it on {part['first_or_tied_on']}, and nowhere more "
        f"than {max(0.0, part['largest_distance_to_the_best']):.1f} points below:"
    )
    rows = (
        (
            f"`{method}`",
            f"{accuracy:.1f}",
            "" if method == "pmae" else f"{above[method]['points']:+.1f}",
            f"{cost[method]:.1f}" if method in cost else "",
        )
        for method, accuracy in part["mean_accuracy"].items()
    )
    header = ["Method", "Accuracy × 100", "`pmae` above it", "Processor seconds"]
    return f"{run}\n\n{_table(header, rows)}"


def _blend_members(result: dict[str, Any]) -> str:
    return _table(
        ["Table", "Rows", "Members so far", "Seconds", "Skill on held-out cells", "Accuracy × 100"],
        (
            (
                table["dataset"],
                f"{table['rows']:,}",
                ", ".join(answer["members"]),
                f"{answer['seconds']:.1f}",
                f"{answer['skill_on_held_out_cells']:.2f}",
                f"{answer['accuracy']:.1f}",
            )
            for table in result["tables"]
            for answer in table["answers"]
        ),
    )


def _blend_scale(result: dict[str, Any]) -> str:
    header = ["Rows", "Columns", "Trees", "First answer, s", "Fit, s", "Imputation, s"]
    return _table(
        [*header, "Table, MB", "Added memory, MB"],
        (
            (
                f"{run['rows']:,}",
                run["columns"],
                run["n_trees"],
                f"{run['seconds_to_answers'][0]:.1f}",
                f"{run['fit_seconds']:.0f}",
                f"{run['transform_seconds']:.0f}",
                f"{run['table_megabytes']:.0f}",
                f"{run['peak_above_libraries_megabytes']:.0f}",
            )
            for run in result["runs"]
        ),
    )


def _peers(result: dict[str, Any], coverage: dict[str, Any]) -> str:
    designs = {name: one for name, one in coverage["designs"].items() if name != "distribution"}
    most = {
        name: max(each["replications"] for each in one.values()) for name, one in designs.items()
    }
    failed = [
        f"- `{run['method']}` failed on {run['table']}: {run['sentence']}"
        for run in result["runs"]
        if run["status"] == "failed"
    ]
    table = _table(
        [
            *("Method", "Finished", "Accuracy × 100"),
            *(f"{name.capitalize()}, {n} tables" for name, n in most.items()),
            *("Processor seconds", "Peak memory, MB (libraries)"),
        ],
        (
            (
                f"`{line['method']}`",
                f"{line['done']} of {line['done'] + line['failed'] + line['skipped']}",
                _rounded(line["mean_accuracy_x100"], 1),
                *(
                    _mean_coverage(one.get(line["method"]), most[name])
                    for name, one in designs.items()
                ),
                _rounded(line["mean_cpu_seconds"], 1),
                f"{_rounded(line['mean_peak_megabytes'], 0)} "
                f"({_rounded(line['mean_libraries_megabytes'], 0)})",
            )
            for line in sorted(
                result["summary"]["methods"],
                key=lambda line: line["mean_accuracy_x100"] or 0,
                reverse=True,
            )
        ),
    )
    return "\n\n".join([table, *(["\n".join(failed)] if failed else [])])


def _rounded(figure: float | None, digits: int) -> str:
    return "–" if figure is None else f"{figure:,.{digits}f}"


def _mean_coverage(figures: dict[str, Any] | None, most: int) -> str:
    if figures is None:
        return "–"
    few = f" ({figures['replications']})" if figures["replications"] < most else ""
    return f"{100 * figures['mean_coverage']:.1f}%{few}"


def _ranking(result: dict[str, Any]) -> str:
    return _table(
        ["Equal methods", "Seeds", "Variation", "Told apart", "Without adjustment"],
        (
            (
                row["methods"],
                row["seeds"],
                row["kind"],
                f"{100 * row['moderated']:.1f}%",
                f"{100 * row['uncorrected']:.1f}%",
            )
            for row in result["equal"]
        ),
    )


def _coverage(result: dict[str, Any]) -> str:
    designs, methods = _coverage_designs(result)
    most = max(one["replications"] for design in designs.values() for one in design.values())

    def cell(design: dict[str, Any], method: str) -> str:
        if method not in design:
            return ""
        figures = design[method]
        few = f", {figures['replications']} tables" if figures["replications"] < most else ""
        return (
            f"{100 * figures['mean_coverage']:.1f}% ({100 * figures['lowest_coverage']:.0f}%{few})"
        )

    by_chance = 100 * math.sqrt(0.95 * 0.05 / most)
    extent = (
        f"{most} tables per design and method, if no other number is given. Chance alone moves a "
        f"coverage of 95% by about {by_chance:.1f} points (one standard error)."
    )
    table = _table(
        ["Method", *(f"{name.capitalize()} (lowest of six)" for name in designs)],
        ([method, *(cell(one, method) for one in designs.values())] for method in methods),
    )
    return f"{extent}\n\n{table}"


def _coverage_widths(result: dict[str, Any]) -> str:
    designs, methods = _coverage_designs(result)

    def cell(design: dict[str, Any], method: str) -> str:
        return f"{design[method]['width_over_complete']:.2f}" if method in design else ""

    return _table(
        ["Method", *map(str.capitalize, designs)],
        (
            [method, *(cell(one, method) for one in designs.values())]
            for method in methods
            if method != "complete"
        ),
    )


def _coverage_shapes(result: dict[str, Any]) -> str:
    measured = result["designs"]["distribution"]
    # Figures of one shape share a column: "three categories: share of a" and "... of b".
    shapes: dict[str, list[str]] = {}
    for name in measured["complete"]:
        shapes.setdefault(name.partition(": ")[0], []).append(name)
    heads = (
        f"{shape.capitalize()}: {' / '.join(name.partition(': ')[2] for name in names)}"
        for shape, names in shapes.items()
    )
    return _table(
        ["Method", *heads],
        (
            [
                method,
                *(" / ".join(f"{found[one]:.3g}" for one in names) for names in shapes.values()),
            ]
            for method, found in measured.items()
        ),
    )


def _coverage_designs(
    result: dict[str, Any],
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the designs in which intervals were computed, and the methods in any of them."""
    designs = {name: one for name, one in result["designs"].items() if name != "distribution"}
    return designs, list(dict.fromkeys(name for one in designs.values() for name in one))


def _difference(line: dict[str, Any]) -> str:
    error = line["standard_error"]
    return f"{line['difference']:+.1f}" + (f" ± {error:.1f}" if error is not None else "")


def _table(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


# Results that a table shows beside its own.
BESIDES = {"peers": ("coverage",)}

TELLERS: dict[str, Callable[..., str]] = {
    "classroom_load": _classroom,
    "year_of_use": _year_of_use,
    "hostile_upload": _hostile_upload,
    "time_to_accuracy": _time_to_accuracy,
    "training_step": _training_step,
    "threads": _threads,
    "scale": _scale,
    "choices": _choices,
    "nine_tables": _nine_tables,
    "blend": _blend,
    "blend_members": _blend_members,
    "blend_scale": _blend_scale,
    "blend_choices": _blend_choices,
    "peers": _peers,
    "ranking": _ranking,
    "coverage": _coverage,
    "coverage.widths": _coverage_widths,
    "coverage.shapes": _coverage_shapes,
}
