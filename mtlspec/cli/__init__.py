"""The command line: one small file a command; see `app` for how a command joins."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the `mtlspec` program."""
    try:
        from mtlspec.cli.app import run

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:  # before or after the frame answers for it
        sys.exit(130)
