"""The command line: one small file a command; see `app` for how a command joins."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the `mtlspec` program."""
    from mtlspec.cli.app import run

    sys.exit(run(sys.argv[1:]))
