"""The process that makes an estimate: ``python -m pmae_core.jobs.cost HOME WORKSPACE SECONDS``.

It reads the document of a job and writes one line of JSON. It knows nothing of Streamlit.
"""

import json
import sys
from typing import Any

from pmae_core.errors import PMAEError
from pmae_core.jobs import JobSpec, JobStore
from pmae_core.jobs.cost import estimate_job


def main(home: str, workspace: str, seconds: str) -> None:
    """Say what a job of a workspace will cost."""
    store = JobStore(home)
    try:
        estimate = estimate_job(
            JobSpec.from_json(sys.stdin.read()),
            lambda digest: store.get_table(digest, workspace),
            budget_seconds=float(seconds),
        )
        said: dict[str, Any] = {"estimate": None if estimate is None else estimate.to_dict()}
    except PMAEError as error:
        said = {"error": str(error)}
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
