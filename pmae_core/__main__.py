"""Run the command line: ``python -m pmae_core``."""

from pmae_core.cli import main

if __name__ == "__main__":
    main()
