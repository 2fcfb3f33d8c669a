"""Run one job: ``python -m pmae_core.jobs.worker --home H --job ID``."""

import sys

from pmae_core.jobs.worker.log import print_as_far_as_possible
from pmae_core.jobs.worker.process import main

if __name__ == "__main__":
    print_as_far_as_possible()
    sys.exit(main())
