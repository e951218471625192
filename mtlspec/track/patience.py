"""How long MLflow may keep us waiting: for one answer, never for all of them.

A server that makes progress is never cut off, however much there is to send. Timeouts of sockets are not enough: they
start again with every byte and every redirect, and drivers of databases have none. So the work is done in a thread that
says when it asks for something; if the answer takes too long the thread is left behind, and ends at its next question.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class OutOfPatienceError(Exception):
    """An answer took too long."""


class Patience:
    """Does work in a thread that can be left behind; at most `seconds` (None: any time) for each of its steps."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._allowed, self._until = 0.0, 0.0
        self._left = False

    def step(self, further: float = 0.0) -> None:
        """Another question is asked, whose answer may take `further` seconds more than most."""
        if self._left:
            raise OutOfPatienceError("nobody waits for the answer any more")
        self._allowed = (self.seconds or 0.0) + further
        self._until = time.monotonic() + self._allowed

    def run(self, work: Callable[[], None]) -> None:
        """Until the work is done or failed, or until one of its steps has taken too long."""
        if self.seconds is None:
            work()
            return
        failed: list[BaseException] = []
        done = threading.Event()

        def apart() -> None:
            try:
                work()
            except BaseException as error:
                failed.append(error)
            finally:
                done.set()

        self.step()
        threading.Thread(target=apart, daemon=True).start()
        try:
            self._wait(done)
        finally:
            self._left = True
        if failed:
            raise failed[0]

    def _wait(self, done: threading.Event) -> None:
        while (left := self._until - time.monotonic()) > 0:
            if done.wait(left):
                return
        if not done.is_set():
            raise OutOfPatienceError(f"no full answer within {self._allowed:.0f} s")
