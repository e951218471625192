"""How a run is drawn: live bars on a terminal, one line a stage elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from mtlspec.cli import console
from mtlspec.execute.estimate import wall_seconds
from mtlspec.execute.interruption import from_update
from mtlspec.train.resuming import RESUMED

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from mtlspec.execute.estimate import Estimates
    from mtlspec.execute.scheduler import Outcome

_WORDS = {"cached": "cached", "restored": "restored", "ran": "done", "failed": "FAILED", "skipped": "skipped"}
_STYLES = {"ran": "green", "restored": "green", "failed": "bold red", "skipped": "bold"}
_WIDE = 100  # columns from which a bar may be long


class RunDisplay:
    """Implements the scheduler's Watcher."""

    def __init__(self, stages: Collection[str], seconds: Estimates, workers: int) -> None:
        self._stages = frozenset(stages)
        self._seconds = seconds
        self._workers = workers
        self._began: dict[str, float] = {}
        self._done: dict[str, float] = {}  # the part of a running stage that is behind it, as it told
        self._settling = 0.0  # seconds that went into stages that need not run: comparing them, and bringing them back
        self._counts: Counter[str] = Counter()
        self._waited: set[str] = set()
        self._bars: dict[str, TaskID] = {}
        self._live: Progress | None = None
        self._overall: TaskID | None = None

    def __enter__(self) -> Self:
        if console.messages().is_terminal and not console.messages().is_dumb_terminal:
            self._live = _live_progress(self._refresh)
            self._overall = self._live.add_task("all stages", total=len(self._stages), what="")
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, error, trace
        if self._live is not None:
            for bar in self._bars.values():
                self._live.remove_task(bar)
            self._live.stop()

    def started(self, stage: str) -> None:
        self._began[stage] = time.monotonic()
        if self._live is not None:
            self._bars[stage] = self._live.add_task(stage, total=None, what="starting")

    def progressed(self, stage: str, done: int, total: int, what: str) -> None:
        if what == RESUMED:
            console.say_outcome("resumed", f"{stage} from {from_update(done, total)}", "none")
            what = "updates"
        if total > 0:  # a stage that counts something else afterwards is not younger for it
            self._done[stage] = max(self._done.get(stage, 0.0), min(done / total, 1.0))
        if self._live is not None and stage in self._bars:
            self._live.update(self._bars[stage], completed=done, total=total, what=what)

    def finished(self, stage: str, outcome: Outcome) -> None:
        counts = stage in self._stages
        self._counts[outcome] += counts
        self._seconds.pop(stage, None)
        took = f" in {time.monotonic() - self._began[stage]:.1f} s" if stage in self._began else ""
        if self._live is not None and self._overall is not None:
            if stage in self._bars:
                self._live.remove_task(self._bars.pop(stage))
            self._live.update(self._overall, advance=int(counts))
        if outcome != "cached":
            console.say_outcome(_WORDS[outcome], f"{stage}{took}", _STYLES[outcome])

    def waiting(self, what: str) -> None:
        if what not in self._waited:
            self._waited.add(what)
            console.note(f"waiting for {what} to finish")

    def told(self, line: str) -> None:
        console.note(line)

    @contextmanager
    def busy(self, stage: str, what: str) -> Iterator[None]:
        """A bar that lasts shorter than a frame is never seen: only what takes long is drawn."""
        own = self._bars.get(stage)
        if self._live is None:
            with self._settled(stage):
                yield
        elif own is not None:  # `finished` removes it
            self._live.reset(own, total=None, what=what)
            yield
        else:
            passing = self._live.add_task(stage, total=None, what=what)
            try:
                with self._settled(stage):
                    yield
            finally:
                self._live.remove_task(passing)

    @contextmanager
    def _settled(self, stage: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        if stage not in self._began:
            self._settling += time.monotonic() - began

    def _refresh(self) -> None:
        """With every frame: time goes by although no stage ends. What is last is cut on a narrow terminal."""
        if self._live is not None and self._overall is not None:
            self._live.update(self._overall, what="; ".join(filter(None, (self.left(), self.summary()))))

    def left(self) -> str:
        """Nothing is said as long as a stage is waiting of whose like none has run here."""
        expected = dict(self._seconds)  # it is another thread that draws
        known = [self._still(stage, seconds) for stage, seconds in expected.items() if seconds is not None]
        settling = self._still_to_settle(expected)
        if not (known or settling) or len(known) < len(expected):
            return ""
        minutes = (wall_seconds(known, self._workers) + settling) / 60
        return f"{minutes:.0f} min left" if minutes >= 1 else "<1 min left"

    def _still_to_settle(self, expected: Collection[str]) -> float:
        """Seconds for the stages that need not run, one after another, if they take as long as those before."""
        counts = self._counts.copy()
        settled = counts["cached"] + counts["restored"]
        waiting = len(self._stages.difference(expected)) - counts.total()
        return max(waiting, 0) * self._settling / settled if settled else 0.0

    def _still(self, stage: str, seconds: float) -> float:
        """What is left of a stage: by what it told of itself, else by the time that it has had."""
        if stage in self._done:
            return seconds * (1.0 - self._done[stage])
        return max(seconds - (time.monotonic() - self._began[stage]), 0.0) if stage in self._began else seconds

    def summary(self) -> str:
        return ", ".join(f"{count} {_WORDS[outcome]}" for outcome, count in self._counts.items() if count)


def _live_progress(before: Callable[[], None]) -> Progress:
    """One line a bar, whatever the width: names and remarks are cut, numbers never. `before` precedes each frame."""
    from rich.console import RenderableType
    from rich.constrain import Constrain
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeElapsedColumn
    from rich.table import Column
    from rich.text import Text

    class Lines(Progress):
        def get_renderables(self) -> Iterator[RenderableType]:
            """A terminal echoes `^C` behind the last line: in a full line it would begin a new one."""
            before()
            yield Constrain(self.make_tasks_table(self.tasks), console.messages().width - len("^C^C") - 1)

    class Count(MofNCompleteColumn):
        def render(self, task: Task) -> Text:
            return Text() if task.total is None else super().render(task)

    wide = console.messages().width >= _WIDE

    def text(field: str, layout: Column) -> TextColumn:
        layout.no_wrap, layout.overflow = True, "ellipsis"
        return TextColumn(field, markup=False, table_column=layout)

    return Lines(
        text("{task.description}", Column(max_width=44 if wide else 26)),
        BarColumn(bar_width=24 if wide else 12),
        Count(table_column=Column(no_wrap=True)),
        TimeElapsedColumn(table_column=Column(no_wrap=True)),
        text("{task.fields[what]}", Column(ratio=1)),
        console=console.messages(),
        refresh_per_second=5,
        expand=True,
    )
