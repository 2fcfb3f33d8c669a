"""Options that jobs share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pmae_core.cli.jobs.access import WORKSPACE, engine_of
from pmae_core.cli.jobs.wait import Wait, report
from pmae_core.cli.options import AsJson, given

if TYPE_CHECKING:
    import pandas as pd

    from pmae_core.jobs import JobSpec, JobStore
    from pmae_core.table import Schema

Threads = Annotated[
    int | None, typer.Option(min=1, help="Threads; a fair share of the cores by default.")
]


@dataclass(frozen=True)
class SubmitOptions:
    """How a job is submitted, whatever it does."""

    name: Annotated[str | None, typer.Option(help="A name for the job.")] = None
    engine: Annotated[
        str | None,
        typer.Option(help="local or ray; by default PMAE_ENGINE or, without it, local."),
    ] = None
    wait: Wait = False
    as_json: AsJson = False

    def submit(self, store: JobStore, spec: JobSpec) -> None:
        """Submit a job, print its id and, if wanted, wait for its end."""
        runner = engine_of(store, self.engine)
        record = runner.submit(spec, WORKSPACE, name=self.name)
        report(store, runner, record, wait=self.wait, as_json=self.as_json)


@dataclass(frozen=True)
class SpecOptions:
    """The seed and the resources of a job."""

    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")] = 0
    threads: Threads = None
    gpus: Annotated[
        int | None, typer.Option(min=0, help="GPUs; one by default if there is one.")
    ] = None
    memory: Annotated[
        int | None,
        typer.Option(metavar="MB", min=1, help="The job fails if it uses more memory."),
    ] = None

    def make_spec(
        self,
        store: JobStore,
        engine: str | None,
        kind: str,
        params: Mapping[str, Any],
        table: tuple[pd.DataFrame, Schema] | None = None,
    ) -> JobSpec:
        """Return the document of a job; the store keeps its table."""
        from dataclasses import replace

        from pmae_core.jobs import JobSpec

        usual = engine_of(store, engine).default_resources()
        wanted = given(threads=self.threads, gpus=self.gpus, memory_mb=self.memory)
        frame, schema = table or (None, None)
        return JobSpec.make(
            kind,
            params=params,
            table=None if frame is None else store.put_table(frame, WORKSPACE),
            schema=schema,
            seed=self.seed,
            resources=replace(usual, **wanted),
        )
