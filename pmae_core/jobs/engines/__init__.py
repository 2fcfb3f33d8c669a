"""Engines start jobs and supervise them: on this machine, or on a Ray cluster."""

from pmae_core.jobs.engines.base import Engine, make_engine
from pmae_core.jobs.engines.local import LocalEngine

__all__ = ["Engine", "LocalEngine", "make_engine"]
