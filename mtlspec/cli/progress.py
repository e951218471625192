"""How a run is drawn: live bars on a terminal, one line a stage elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING, Self

from mtlspec.cli import console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from mtlspec.execute.estimate import Estimates
    from mtlspec.execute.scheduler import Outcome

_WORDS = {"cached": "cached", "restored": "restored", "ran": "done", "failed": "FAILED", "skipped": "skipped"}
_STYLES = {"ran": "green", "restored": "cyan", "failed": "bold red", "skipped": "yellow"}


class RunDisplay:
    """Implements the scheduler's Watcher."""

    def __init__(self, stages: int, seconds: Estimates, workers: int) -> None:
        self._total = stages
        self._seconds = seconds
        self._workers = workers
        self._began: dict[str, float] = {}
        self._counts: Counter[str] = Counter()
        self._waited: set[str] = set()
        self._bars: dict[str, TaskID] = {}
        self._live: Progress | None = None
        self._overall: TaskID | None = None

    def __enter__(self) -> Self:
        if console.messages().is_terminal:
            self._live = _live_progress()
            self._overall = self._live.add_task("all stages", total=self._total, what="")
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, error, trace
        if self._live is not None:
            self._live.stop()

    def started(self, stage: str) -> None:
        self._began[stage] = time.monotonic()
        if self._live is not None:
            self._bars[stage] = self._live.add_task(stage, total=None, what="starting")

    def progressed(self, stage: str, done: int, total: int, what: str) -> None:
        if self._live is not None and stage in self._bars:
            self._live.update(self._bars[stage], completed=done, total=total, what=what)

    def finished(self, stage: str, outcome: Outcome) -> None:
        self._counts[outcome] += 1
        self._seconds.pop(stage, None)
        took = f" in {time.monotonic() - self._began[stage]:.1f} s" if stage in self._began else ""
        if self._live is not None and self._overall is not None:
            if stage in self._bars:
                self._live.remove_task(self._bars.pop(stage))
            self._live.update(self._overall, advance=1, what=f"{self.summary()}{self._left()}")
        if outcome != "cached":
            console.messages().print(f"{_WORDS[outcome]:>8}  {stage}{took}", style=_STYLES[outcome], soft_wrap=True)

    def waiting(self, what: str) -> None:
        if what not in self._waited:
            self._waited.add(what)
            console.note(f"waiting for {what} to finish")

    def _left(self) -> str:
        """Nothing is said as long as a stage is waiting of whose like none has run here."""
        known = [seconds for seconds in self._seconds.values() if seconds is not None]
        return f"; about {sum(known) / self._workers / 60:.1f} min left" if len(known) == len(self._seconds) else ""

    def summary(self) -> str:
        return ", ".join(f"{count} {_WORDS[outcome]}" for outcome, count in self._counts.items())


def _live_progress() -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[what]}", style="dim", markup=False),
        console=console.messages(),
        refresh_per_second=5,
    )
