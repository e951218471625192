"""Ctrl-C says what is kept and how to go on, in every command that leaves something half-done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mtlspec.cli import console
from mtlspec.execute.interruption import Interrupted


@contextmanager
def explained(*lines: str) -> Iterator[None]:
    """Ctrl-C inside says these lines, or those that it brings along, and ends the command."""
    try:
        yield
    except KeyboardInterrupt as stop:
        for line in stop.lines if isinstance(stop, Interrupted) else lines:
            console.error(line)
        raise SystemExit(130) from None  # an interruption that reached the frame would be told again
