"""What a visitor notices while somebody else uploads a file that is made to keep the server busy.

A visitor opens pages and lets go of sliders while another one uploads, again and again, (1) a small
workbook whose rows each have a formatted cell in column ZZZ, and (2) a workbook that takes longer
to read than the server allows. Spans with and without uploads take turns, so that other work on
the machine touches all alike; what counts is the ratio of the 95th percentiles.

python -m benchmarks.service.hostile_upload [--rounds 3] [--seconds 20] [--tree <a checkout>]
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import random
import statistics
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import psutil

from benchmarks.recording import commit, machine, write_result
from benchmarks.service.classroom_load import release_sliders
from tests.support.paths import ROOT
from tests.support.studio import StudioServer
from tests.support.wire import WireVisitor

LIMIT_SECONDS = 15
THINK_SECONDS = 0.1
MOVES_A_ROUND = 4
UPLOADER = "Open your file"
WANTED_RATIO = 1.5


# The files


def far_cells_workbook(n_rows: int = 20_000) -> bytes:
    """Return a workbook whose rows each have a formatted cell in column ZZZ."""
    rows = [f'<row r="{n}"><c r="ZZZ{n}" s="0"/></row>' for n in range(3, n_rows + 1)]
    return _workbook(
        '<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="A2"><v>2</v></c></row>', rows
    )


def slow_workbook(n_rows: int = 150_000) -> bytes:
    """Return a workbook that takes a minute or more to read."""
    chance = random.Random(0)
    words = ["".join(chance.choices("abcdefghij", k=4)) for _ in range(64)]
    cells = [f'<c t="inlineStr"><is><t>{word}</t></is></c>' for word in words]
    return _workbook(
        "", [f"<row>{''.join(chance.choices(cells, k=20))}</row>" for _ in range(n_rows)]
    )


def _workbook(first_rows: str, rows: Sequence[str]) -> bytes:
    empty, result = io.BytesIO(), io.BytesIO()
    openpyxl.Workbook().save(empty)
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        f"{first_rows}{''.join(rows)}</sheetData></worksheet>"
    )
    with (
        zipfile.ZipFile(empty) as old,
        zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.namelist():
            new.writestr(part, sheet if part == "xl/worksheets/sheet1.xml" else old.read(part))
    return result.getvalue()


# The visitors


def interact(server: StudioServer, end: float) -> list[float]:
    """Open pages and move sliders until the end; return how long each interaction took."""
    chance = random.Random(0)
    with WireVisitor(server.url) as visitor:
        visitor.open("masking_lab")
        visitor.waits.clear()
        while time.monotonic() < end:
            for page in ("missingness", "masking_lab"):
                visitor.open(page)
                time.sleep(THINK_SECONDS)
            for _ in range(MOVES_A_ROUND):
                release_sliders(visitor, chance.uniform(0, 0.5), chance.uniform(0.1, 0.9))
                time.sleep(THINK_SECONDS)
        return list(visitor.waits)


class Uploader(threading.Thread):
    """Somebody who uploads a file, again as soon as it was read or refused."""

    def __init__(self, server: StudioServer, content: bytes, end: float) -> None:
        super().__init__()
        self.server, self.content, self.end = server, content, end
        self.n_uploads = 0
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            with WireVisitor(self.server.url) as visitor:
                visitor.open("")  # Data
                while time.monotonic() < self.end:
                    visitor.upload(UPLOADER, "upload.xlsx", self.content)
                    self.n_uploads += 1
                    while visitor.is_refreshing:
                        time.sleep(1.0)
                        visitor.refresh()
        except Exception as error:
            self.error = error


# Everything


def measured(server: StudioServer, options: argparse.Namespace) -> dict[str, Any]:
    """Return waits of the visitor in seconds by what the other one did, all rounds together."""
    files: dict[str, Callable[[], bytes]] = {
        "without": lambda: b"",
        "far cells": far_cells_workbook,
        "full time limit": slow_workbook,
    }
    contents = {name: make() for name, make in files.items()}
    waits: dict[str, list[list[float]]] = {name: [] for name in files}
    n_uploads = dict.fromkeys(files, 0)
    for _ in range(options.rounds):
        for name, content in contents.items():
            end = time.monotonic() + options.seconds
            uploader = Uploader(server, content, end) if content else None
            if uploader:
                uploader.start()
            waits[name].append(interact(server, end))
            if uploader:
                uploader.join()
                if uploader.error:
                    raise uploader.error
                n_uploads[name] += uploader.n_uploads
    usual = percentile(waits["without"])
    return {
        "p95_seconds": {name: round(percentile(spans), 4) for name, spans in waits.items()},
        "median_seconds": {
            name: round(statistics.median(itertools.chain(*spans)), 4)
            for name, spans in waits.items()
        },
        "p95_ratio_to_without": {
            name: round(percentile(waits[name]) / usual, 2) for name in waits if name != "without"
        },
        "p95_seconds_by_round": {
            name: [round(percentile([span]), 4) for span in spans] for name, spans in waits.items()
        },
        "interactions": {name: sum(map(len, spans)) for name, spans in waits.items()},
        "uploads": n_uploads,
        "upload_bytes": {name: len(content) for name, content in contents.items() if content},
        "failures_in_the_log": len(server.failures()),
    }


def percentile(spans: Sequence[Sequence[float]], share: int = 95) -> float:
    """Return a percentile of all waits."""
    return statistics.quantiles(itertools.chain(*spans), n=100, method="inclusive")[share - 1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 1 if the other visitor noticed too much."""
    options = parsed(arguments)
    load_before = os.getloadavg()[0]
    os.environ["PMAE_UPLOAD_SECONDS"] = str(LIMIT_SECONDS)
    with (
        tempfile.TemporaryDirectory() as home,
        StudioServer(Path(home), tree=options.tree) as server,
    ):
        interact(server, time.monotonic())  # what is loaded once counts for nobody
        found = measured(server, options)
    result = {
        "what": "seconds that a visitor waits for an interaction while another one uploads a "
        "hostile workbook, against without uploads",
        "command": "python -m benchmarks.service.hostile_upload "
        f"--rounds {options.rounds} --seconds {options.seconds:g}",
        "commit": commit(options.tree),
        "machine": machine(load_before, memory_gb=round(psutil.virtual_memory().total / 1e9)),
        "limit_seconds": LIMIT_SECONDS,
        "wanted_ratio": WANTED_RATIO,
        **found,
    }
    print(json.dumps(result, indent=2), flush=True)
    if options.write:
        write_result("hostile_upload", result)
    return int(max(found["p95_ratio_to_without"].values()) > WANTED_RATIO)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, choices=range(1, 21), metavar="1..20")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each span")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to measure")
    parser.add_argument("--dry", dest="write", action="store_false", help="write no result")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
