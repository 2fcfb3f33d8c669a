"""What every file of results says, for the page "What we measured".

Each finding reads its figures from the file, so that no number on the page is typed.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pmae_core.words import count, duration, listed, percent

Result = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """What a file of results is for.

    Attributes
    ----------
    question : str
        What was asked.
    figures : callable
        Returns what was found, from the content of the file.
    basis : callable
        Returns what the figures stand on.
    """

    question: str
    figures: Callable[[Result], str]
    basis: Callable[[Result], str]


def section(name: str, folder: Path) -> str:
    """Return all findings of a section of the page."""
    return "\n\n".join(_block(stem, finding, folder) for stem, finding in SECTIONS[name].items())


def _block(stem: str, finding: Finding, folder: Path) -> str:
    path = folder / f"{stem}.json"
    if not path.exists():
        return f"**{finding.question}** Not measured yet."
    result = json.loads(path.read_text(encoding="utf-8"))
    files = listed([f"`{name}`" for name in files_of(stem, folder)])
    made_by = "\n".join(dict.fromkeys(commands(result)))
    return "\n\n".join(
        [
            f"**{finding.question}** {finding.figures(result)}",
            f"<small>Based on {finding.basis(result)}.{_cost(result)}{_written(result)} "
            f"In {files}, from:</small>",
            f"```text\n{made_by}\n```",
        ]
    )


def files_of(stem: str, folder: Path) -> list[str]:
    """Return the names of the files that one benchmark wrote: its summary and its runs."""
    suffixes = (".json", ".csv", "_runs.jsonl", "_tasks.jsonl")
    return [stem + suffix for suffix in suffixes if (folder / (stem + suffix)).exists()]


def commands(result: Any) -> Iterator[str]:
    """Yield the commands that made a result, wherever they stand in it."""
    if isinstance(result, dict):
        if isinstance(result.get("command"), str):
            yield result["command"]
        for value in result.values():
            yield from commands(value)
    elif isinstance(result, list):
        for value in result:
            yield from commands(value)


def _cost(result: Result) -> str:
    seconds = sum(_spent(result.get("runs") or result.get("datasets") or []))
    return f" Its runs took {duration(seconds)} of processor time." if seconds >= 1 else ""


def _spent(runs: Any) -> Iterator[float]:
    """Yield the seconds of the processor of all runs."""
    if isinstance(runs, list):
        for run in runs:
            yield from _spent(run)
    elif isinstance(runs, dict):
        own = runs.get("cpu_seconds")
        if isinstance(own, int | float):
            yield own
        else:
            for value in runs.values():
                yield from _spent(value)


def _written(result: Result) -> str:
    written = {**result.get("machine", {}), **result.get("written", {})}
    parts = []
    if "on" in written:
        parts.append(f"Written on {written['on']} at `{written['commit']}`")
    if "cores" in written:
        parts.append(
            f"{'with' if parts else 'Measured with'} {count(written['cores'], 'core')} "
            f"and Python {written['python']}"
        )
    return f" {' '.join(parts)}." if parts else ""


# Accuracy


def _blend(result: Result) -> str:
    parts = [
        f"{_PARTS[name]}: {_accuracies(part['mean_accuracy'], ('pmae', *_RIVALS))}."
        for name, part in result["parts"].items()
    ]
    return "Mean imputation accuracy × 100. " + " ".join(parts)


_PARTS = {
    "report": "Tables kept aside",
    "few-rows": "The paper's tables, at most 500 rows",
    "nine": "The paper's tables, at most 10,000 rows",
}
_RIVALS = ("pmae-fast", "missforest", "knn", "em", "mice")


def _accuracies(means: dict[str, float], names: Any) -> str:
    return listed([f"`{name}` {means[name]:.1f}" for name in names if name in means], most=12)


def _basis_of_blend(result: Result) -> str:
    return "; ".join(
        f"{_PARTS[name].lower()}: {part['tables_and_patterns']} pairs of a table and a pattern, "
        f"{part['cases']} of {part['wanted_cases']} cases with {count(part['seeds'], 'seed')}"
        for name, part in result["parts"].items()
    )


def _ceiling(result: Result) -> str:
    summary = result["summary"]
    over = summary["ceiling_over"]
    means = _accuracies(summary["mean_accuracy"], ("pmae", "pmae-mix", "missforest"))
    return (
        "Models that know the true values of all other rows, mixed by the truth itself, reach "
        f"{summary['mean_accuracy']['knows the other rows']:.1f}: {percent(over['pmae'] - 1)} more "
        f"than `pmae`, {percent(over['missforest'] - 1)} more than `missforest`. On the same "
        f"cells: {means}. `pmae` goes "
        f"{percent(summary['blend_covers_of_the_way_from_missforest'])} of the way from "
        "`missforest` to these models."
    )


def _basis_of_ceiling(result: Result) -> str:
    n_seeds = len({run["seed"] for run in result["runs"]})
    return (
        f"{result['summary']['tables_and_patterns']} pairs of a table kept aside and a pattern, "
        f"{count(n_seeds, 'seed')}; other kinds of models might reach more"
    )


def _bench_quick(result: Result) -> str:
    lines = [
        f"`{line['method']}` {line['mean_accuracy_x100']:.1f}"
        + (
            ""
            if line["recorded_x100"] is None
            else f" (long benchmark, same cells: {line['recorded_x100']:.1f})"
        )
        for line in result["summary"]
    ]
    return f"Mean imputation accuracy × 100: {listed(lines, most=12)}."


def _basis_of_bench_quick(result: Result) -> str:
    tables = {run["table"] for run in result["runs"]}
    return (
        f"{count(len(tables), 'small table')} kept aside, one seed; {duration(result['seconds'])}"
    )


def _blend_members(result: Result) -> str:
    tables = [
        f"{table['dataset']}: {first['accuracy']:.1f} after {first['seconds']:.1f} s, "
        f"{last['accuracy']:.1f} after {last['seconds']:.1f} s"
        for table in result["tables"]
        for first, last in [(table["answers"][0], table["answers"][-1])]
    ]
    return f"Accuracy × 100 of the first and of the last answer. {'; '.join(tables)}."


def _choices(result: Result) -> str:
    line = min(result["summary"], key=lambda one: one["difference"])
    error = line["standard_error"]
    return (
        f"{count(len(result['summary']), 'setting')} compared. The largest loss is that of "
        f"“{line['choice']}”: {line['difference']:+.1f}{f' ± {error:.1f}' if error else ''} points."
    )


def _wide_choices(result: Result) -> str:
    lines = [
        f"{line['choice']}: {line['mean_accuracy']:.1f} in {duration(line['mean_cpu_seconds'])}"
        for line in result["summary"]
    ]
    return f"Accuracy × 100 and processor time per table: {'; '.join(lines)}."


def _basis_of_choices(result: Result) -> str:
    runs = result["runs"]
    pairs = {(run["dataset"], run["seed"]) for run in runs}
    most = max(run["max_rows"] for run in runs)
    return f"held-out observed cells of {len(pairs)} tables and seeds, at most {most:,} rows"


def _peers(result: Result) -> str:
    means = {
        line["method"]: line["mean_accuracy_x100"]
        for line in result["summary"]["methods"]
        if line["mean_accuracy_x100"] is not None
    }
    names = sorted(means, key=means.__getitem__, reverse=True)
    return f"Mean imputation accuracy × 100: {_accuracies(means, names)}."


def _basis_of_peers(result: Result) -> str:
    shared = result["summary"]["shared"]
    tables = {one["table"] for one in shared}
    most = max(run["rows"] for run in result["runs"] if "rows" in run)
    return (
        f"{count(len(shared), 'pair')} of a table and a seed that all methods finished "
        f"({count(len(tables), 'table')} kept aside, at most {most:,} rows)"
    )


def _generator(result: Result) -> str:
    tables = [
        f"{name} {one['nested']['mean']:.1f} (printed: {one['paper']:.1f})"
        for name, one in result["datasets"].items()
    ]
    return f"Imputation accuracy × 100 of 5-NN: {listed(tables)}."


def _basis_of_seeds(result: Result) -> str:
    runs = next(iter(result["datasets"].values()))
    n_seeds = len(runs["nested"]["per_seed"] if isinstance(runs, dict) else runs)
    return f"{listed(result['datasets'])}, {count(n_seeds, 'seed')} each"


def _released_masks(result: Result) -> str:
    means = result["mean_imputation_accuracy"]
    return (
        f"Imputation accuracy × 100: `paper` {100 * means['paper']:.1f}, `balanced` "
        f"{100 * means['balanced']:.1f}; the released code reached "
        f"{100 * result['release']['mean']:.1f}. `balanced` took "
        f"{percent(result['balanced_cpu_seconds_over_paper'])} of the processor time of `paper`."
    )


def _categories(result: Result) -> str:
    tables = [
        f"{name} {_mean_x100(runs, 'balanced'):.1f} with one probability per category, "
        f"{_mean_x100(runs, 'scalar'):.1f} with a number per category"
        for name, runs in result["datasets"].items()
    ]
    return f"Imputation accuracy × 100: {'; '.join(tables)}."


def _network_by_rows(result: Result) -> str:
    lines = result["summary"]
    added = [
        f"{line['network_adds']:+.1f} ± {2 * line['standard_error']:.1f} at "
        f"{count(line['max_rows'], 'row')}"
        for line in lines
    ]
    costs = [
        line["cpu_seconds_with_network"] / line["cpu_seconds_without_network"] for line in lines
    ]
    return (
        "Points of skill on held-out cells that the network adds to Gaussians and trees, ± 2 "
        f"standard errors: {listed(added, most=len(added))}. "
        f"It takes {min(costs):.0f} to {max(costs):.0f} times the processor time."
    )


def _mean_x100(runs: list[Result], label: str) -> float:
    return 100 * statistics.mean(run[label]["imputation_accuracy"] for run in runs)


def _lesson_masking(result: Result) -> str:
    found = []
    for steps in dict.fromkeys(run["steps"] for run in result["runs"]):
        means = [
            statistics.mean(
                run["r2"]
                for run in result["runs"]
                if run["steps"] == steps and run["masking"] == masking
            )
            for masking in ("uniform", "proportional")
        ]
        found.append(
            f"{means[0]:.2f} with uniform and {means[1]:.2f} with proportional masking after "
            f"{steps:,} steps"
        )
    return f"Mean R²: {listed(found)}."


def _basis_of_lesson(result: Result) -> str:
    return f"the lesson's table, {count(len({run['seed'] for run in result['runs']}), 'seed')}"


def _nine_tables(result: Result) -> str:
    parts = [
        f"at most {max(part['most_rows'].values()):,} rows: "
        + listed(
            [f"`{one['variant']}` {one['mean_rank']:.2f}" for one in part["ranking"][:3]], most=3
        )
        for part in result["parts"]
    ]
    return f"The best mean ranks, {'; '.join(parts)}."


def _basis_of_nine(result: Result) -> str:
    return "; ".join(
        f"{part['tables_and_patterns']} of {part['of']} pairs of a table and a pattern, "
        f"{count(part['seeds'], 'seed')} each"
        for part in result["parts"]
    )


def _small_tables(result: Result) -> str:
    far = result["far_from_paper"]
    return (
        f"{count(len(result['mean_ranks']), 'method')} in all; "
        f"{count(len(far), 'is', 'are')} far from the printed figures, with the reason in the file "
        f"({listed([line['method'] for line in far])})."
    )


def _basis_of_small_tables(result: Result) -> str:
    settings = result["settings"]
    return (
        f"{listed(settings['datasets'])}, {count(len(settings['patterns']), 'pattern')}, "
        f"{count(len(settings['seeds']), 'seed')}"
    )


def _paper(result: Result) -> str:
    done = [row for row in result["rows"] if row.get("status") == "done"]
    return f"{count(len(done), 'finished row')}; the page **Paper** shows and judges them."


def _basis_of_paper(result: Result) -> str:
    def values(key: str) -> list[Any]:
        return sorted({row[key] for row in result["rows"]})

    return (
        f"{listed(values('dataset'), most=9)}, {listed(values('pattern'))} pattern, "
        f"{listed(values('mechanism'))}, {count(len(values('seed')), 'seed')} at most"
    )


# Uncertainty


def _coverage(result: Result) -> str:
    shown = ("complete", "r-mice", "mice", "masked-trees", "pmae-fast", "pmae")
    parts = [
        f"{name} tables: "
        + listed(
            [f"`{one}` {100 * found[one]['mean_coverage']:.1f}%" for one in shown if one in found],
            most=len(shown),
        )
        for name, found in result["designs"].items()
        if name != "distribution"
    ]
    return f"{'; '.join(parts)}."


def _basis_of_coverage(result: Result) -> str:
    replications = {
        one["replications"]
        for name, found in result["designs"].items()
        if name != "distribution"
        for one in found.values()
    }
    return (
        f"{min(replications)} to {max(replications)} simulated tables of 300 rows per design and "
        "method, MAR"
    )


def _ranking(result: Result) -> str:
    most = max(result["equal"], key=lambda row: row["moderated"])
    worst = max(result["equal"], key=lambda row: row["uncorrected"])
    return (
        f"At most in {percent(most['moderated'])} of comparisons; without adjustment in up to "
        f"{percent(worst['uncorrected'])}."
    )


def _basis_of_ranking(result: Result) -> str:
    methods = [row["methods"] for row in result["equal"]]
    return f"simulated scores of {min(methods)} to {max(methods)} methods that are equally good"


# Speed


def _time_to_accuracy(result: Result) -> str:
    tables = [
        f"{name} {means['balanced']['imputation_accuracy_x100']:.1f} against "
        f"{means['paper']['imputation_accuracy_x100']:.1f}, {table['paper_over']['balanced']:g} "
        "times faster"
        for name, table in result["tables"].items()
        for means in [table["mean"]]
    ]
    return f"Accuracy × 100 of `balanced` against `paper`: {'; '.join(tables)}."


def _basis_of_time(result: Result) -> str:
    tables = [
        f"{name} ({table['rows']:,} rows, {count(len(table['runs']['balanced']), 'seed')})"
        for name, table in result["tables"].items()
    ]
    return f"{listed(tables)}; most figures of `paper` are printed ones with extrapolated times"


def _training_step(result: Result) -> str:
    ratios = [run["plain_over_ours"] for run in result["runs"]]
    return f"{min(ratios):.1f} to {max(ratios):.1f} times."


def _threads(result: Result) -> str:
    quiet = [run["quiet"]["one_over_all"] for run in result["runs"]]
    busy = [run["busy"]["one_over_all"] for run in result["runs"]]
    return (
        f"{min(quiet):.1f} to {max(quiet):.1f} times on a quiet machine, {min(busy):.1f} to "
        f"{max(busy):.1f} times with one core busy."
    )


def _scale(result: Result) -> str:
    run = max(result["runs"], key=lambda one: one["rows"] * one["columns"])
    seconds = run["fit_seconds"] + run["transform_seconds"]
    return f"{run['rows']:,} × {run['columns']} in {duration(seconds)}."


def _blend_scale(result: Result) -> str:
    run = max(result["runs"], key=lambda one: one["rows"] * one["columns"])
    return (
        f"{run['rows']:,} × {run['columns']} in {duration(run['seconds'])}, with "
        f"{run['peak_in_tables']:.1f} times the memory of the table above the libraries."
    )


def _sizes(result: Result) -> str:
    return f"{count(len(result['runs']), 'size')} of simulated tables, one run each"


def _runs(result: Result) -> str:
    return f"{count(len(result['runs']), 'setting')}, medians"


def _checkpoints(result: Result) -> str:
    share = max(run["share_of_training"] for run in result["runs"])
    return f"At most {percent(share)} of the time of training."


def _startup(result: Result) -> str:
    starts = [f"{name} {one['here_ms']} ms" for name, one in result["starts"].items()]
    return f"{listed([start.replace('pmae --help', '`pmae --help`') for start in starts])}."


def _cost_estimate(result: Result) -> str:
    found, seen = result["summary"], result["summary"]["ratio"]
    loads = [table["load_average_before"] for table in result["tables"]]
    return (
        f"Of {count(found['n_estimates'], 'estimate')}, {percent(seen['share_within_factor_2'])} "
        f"are within a factor of 2 of the actual time (median {seen['median_miss']:.1f}, worst "
        f"{seen['worst_miss']:.1f}). The range beside an estimate contains "
        f"{percent(found['share_within_range'])} of the times. Other programs ran meanwhile (load "
        f"{min(loads):.1f} to {max(loads):.1f})."
    )


def _rounds(result: Result) -> str:
    return f"medians of {count(result['rounds'], 'start')} with warm files"


# The dashboard and its jobs


def _dashboard_speed(result: Result) -> str:
    seconds = result["seconds"]
    switches = [page["median"] for page in seconds["page_switch"].values()]
    slow = result["slower_than_wanted"]
    return (
        f"Whole first page {seconds['first_paint']['whole_page']['median']:.1f} s; switching pages "
        f"{min(switches):.2f} to {max(switches):.2f} s; a slider of the Masking lab "
        f"{seconds['slider']['page_at_rest']['median']:.2f} s. Slower than we want: "
        f"{listed(slow) if slow else 'nothing'}."
    )


def _live(result: Result) -> str:
    rates = [
        drag["frames_per_second"]
        for tables in result["drags"].values()
        for table in tables.values()
        for drags in table.values()
        for drag in drags
        if isinstance(drag, dict)
    ]
    return f"{min(rates):.0f} to {max(rates):.0f} frames per second."


def _page_lengths(result: Result) -> str:
    after = list(result["measured"].values())[-1]
    pages = [page["with_results_pixels"] for page in after["pages"].values()]
    return (
        f"{min(pages):,} to {max(pages):,} pixels with results; from the upload of a table to the "
        f"first answer {count(after['journey']['clicks'], 'click')}."
    )


def _classroom_load(result: Result) -> str:
    lesson = result["class"]
    waits = lesson["interactions"]
    return (
        f"{waits['median_seconds']:.2f} s per interaction (median), {waits['p95_seconds']:.2f} s "
        f"(95th percentile); {count(len(lesson['failures']), 'failure')}."
    )


def _basis_of_classroom(result: Result) -> str:
    lesson = result["class"]
    return (
        f"{count(lesson['students'], 'simulated student')}, {lesson['training_at_once']} of whom "
        f"train networks, for {lesson['minutes']:g} minutes"
    )


def _hostile_upload(result: Result) -> str:
    ratios = [f"{name} {ratio:.2f}" for name, ratio in result["p95_ratio_to_without"].items()]
    return f"95th percentile of an interaction over that without uploads: {listed(ratios)}."


def _fault_drill(result: Result) -> str:
    return (
        f"{result['succeeded']} of {count(result['jobs'], 'job')} succeeded, "
        f"{result['equal_results']} with the result of an undisturbed run."
    )


def _job_latency(result: Result) -> str:
    return (
        f"{result['median']['in_all']:.1f} s in a new process, "
        f"{result['spare_worker']['median']['in_all']:.2f} s with a spare worker (medians)."
    )


def _job_store(result: Result) -> str:
    slowest = max(one["p95_ms"] for one in result["listing"].values())
    return (
        f"{slowest:.0f} ms at most (95th percentile) for a list of 100 among "
        f"{count(result['settings']['jobs'], 'job')}."
    )


def _ray_equals_local(result: Result) -> str:
    equal = "equal bit for bit" if result["equal_bit_for_bit"] else "not equal"
    return f"{result['n_done']['ray']} of {result['n_tasks']} results, {equal}."


def _year_of_use(result: Result) -> str:
    most, after = result["most"], result["after"]
    return (
        f"{most['bytes'] / 1e6:,.1f} MB at most, {after['bytes'] / 1e6:,.1f} MB after the last "
        "workspace was removed."
    )


def _about(words: str) -> Callable[[Result], str]:
    return lambda _: words


SECTIONS: dict[str, dict[str, Finding]] = {
    "accuracy": {
        "blend": Finding("Is `pmae` more accurate than other methods?", _blend, _basis_of_blend),
        "ceiling": Finding(
            "How much more accurate could a method be?", _ceiling, _basis_of_ceiling
        ),
        "bench_quick": Finding(
            "Does a quick run give the same figures?", _bench_quick, _basis_of_bench_quick
        ),
        "peers": Finding("How accurate are other packages?", _peers, _basis_of_peers),
        "blend_members": Finding(
            "Do answers improve while a fit goes on?",
            _blend_members,
            lambda result: (
                f"{count(len(result['tables']), 'table')} of at most 2,000 rows, one seed"
            ),
        ),
        "network_by_rows": Finding(
            "What does the network add in small tables?",
            _network_by_rows,
            lambda result: (
                f"{count(len({run['dataset'] for run in result['runs']}), 'table')} to choose on, "
                f"{count(len({run['seed'] for run in result['runs']}), 'seed')} each"
            ),
        ),
        "blend_choices": Finding(
            "What do the settings of trees and blend contribute?", _choices, _basis_of_choices
        ),
        "wide_choices": Finding(
            "How many trees does a wide table need?", _wide_choices, _basis_of_choices
        ),
        "choices": Finding(
            "What do the settings of the network contribute?", _choices, _basis_of_choices
        ),
        "categories": Finding("Do categories need probabilities?", _categories, _basis_of_seeds),
    },
    "uncertainty": {
        "coverage": Finding(
            "Do nominal 95% confidence intervals contain the truth?", _coverage, _basis_of_coverage
        ),
        "ranking": Finding(
            "How often does a comparison tell equal methods apart?", _ranking, _basis_of_ranking
        ),
    },
    "paper": {
        "nine_tables": Finding(
            "Which method has the best mean rank on the paper's tables?",
            _nine_tables,
            _basis_of_nine,
        ),
        "released_masks": Finding(
            "Does the preset `paper` reach the released code?",
            _released_masks,
            lambda result: f"{count(len(result['runs']['paper']), 'released mask')} of diabetes",
        ),
        "generator": Finding(
            "Is the simulated missingness that of the paper?", _generator, _basis_of_seeds
        ),
        "lesson_masking": Finding(
            "Does proportional masking help in the lesson on masking?",
            _lesson_masking,
            _basis_of_lesson,
        ),
        "small_tables": Finding(
            "How close are all methods to the printed figures on small tables?",
            _small_tables,
            _basis_of_small_tables,
        ),
        "paper_table2": Finding("Table 2: all methods.", _paper, _basis_of_paper),
        "paper_table3": Finding("Table 3: masking functions.", _paper, _basis_of_paper),
        "paper_table4": Finding("Table 4: from ReMasker to PMAE.", _paper, _basis_of_paper),
        "paper_grid": Finding("The grid of a and b.", _paper, _basis_of_paper),
        "paper_mechanisms": Finding("MCAR, MAR and MNAR.", _paper, _basis_of_paper),
        "paper_mixing": Finding("Token mixing.", _paper, _basis_of_paper),
        "paper_downstream": Finding("Downstream tasks.", _paper, _basis_of_paper),
    },
    "speed": {
        "time_to_accuracy": Finding(
            "Is the preset `balanced` as accurate as the paper, in less time?",
            _time_to_accuracy,
            _basis_of_time,
        ),
        "blend_scale": Finding(
            "How long does `fast` take for a large table?", _blend_scale, _sizes
        ),
        "scale": Finding(
            "How long does the network alone take, with a fixed number of steps?", _scale, _sizes
        ),
        "training_step": Finding(
            "How much faster is our training step than a plain one?", _training_step, _runs
        ),
        "threads": Finding("How much faster is a step on all cores?", _threads, _runs),
        "checkpoints": Finding("What do checkpoints cost?", _checkpoints, _runs),
        "startup": Finding("How long do starts take?", _startup, _rounds),
        "cost_estimate": Finding(
            "How good are the estimates before a job?",
            _cost_estimate,
            lambda result: (
                f"{listed([one['dataset'] for one in result['tables']])}, "
                f"{count(len(result['tables'][0]['rows']), 'method')}"
            ),
        ),
    },
    "dashboard": {
        "dashboard_speed": Finding(
            "How long do people wait?",
            _dashboard_speed,
            _about("medians of several tries in a real browser, one visitor"),
        ),
        "live": Finding(
            "Does the curve of the Masking lab follow the hand?",
            _live,
            _about("sliders dragged in a real browser, tables of 12 and 90 columns"),
        ),
        "page_lengths": Finding(
            "How long are the pages?",
            _page_lengths,
            _about("all pages at 1280 × 720 pixels with one table"),
        ),
        "classroom_load": Finding(
            "Does a class fit on one server?", _classroom_load, _basis_of_classroom
        ),
        "hostile_upload": Finding(
            "Do other visitors notice a hostile upload?",
            _hostile_upload,
            _about("one visitor beside workbooks made to keep the server busy"),
        ),
        "fault_drill": Finding(
            "Do jobs survive faults?",
            _fault_drill,
            lambda result: (
                f"{count(result['jobs'], 'job')} and random faults of "
                f"{count(len(result['faults']), 'kind')}"
            ),
        ),
        "job_latency": Finding(
            "How soon does a job start?",
            _job_latency,
            lambda result: f"{count(result['repeats'], 'job')}",
        ),
        "job_store": Finding(
            "Are long lists of jobs quick?", _job_store, _about("lists of several kinds")
        ),
        "ray_equals_local": Finding(
            "Does a Ray cluster give the same results?",
            _ray_equals_local,
            lambda result: (
                f"one comparison on {result['dataset']}, two nodes on one machine, one "
                "of which is killed"
            ),
        ),
        "year_of_use": Finding(
            "Does the disk return to its level after a year?",
            _year_of_use,
            lambda result: f"a simulated year with {count(result['workspaces'], 'workspace')}",
        ),
    },
}
