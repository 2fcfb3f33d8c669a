"""The command line: ``pmae``."""

from pmae_core.cli.app import main

__all__ = ["main"]
