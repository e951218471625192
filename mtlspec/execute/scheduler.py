"""Run a plan: ask DVC what is stale, restore what it has, run the rest on warm workers, record as it comes in."""

from __future__ import annotations

import selectors
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

from mtlspec.errors import MtlspecError, Problems, StageError
from mtlspec.execute.dvc_voice import speak_for_dvc
from mtlspec.execute.failure import failure
from mtlspec.execute.freeing import Store
from mtlspec.execute.kept_models import KeptModels
from mtlspec.execute.label_check import problems_of_prepared, warnings_of_prepared
from mtlspec.execute.listener import Listener
from mtlspec.execute.materialise import Materialised, plan_again
from mtlspec.execute.recorder import Recorder
from mtlspec.execute.results import write_results
from mtlspec.execute.zygote import COMPILATION, Zygote
from mtlspec.plan.dvc import PLAN_STAGE, results_stage
from mtlspec.plan.types import Stage

Outcome = Literal["cached", "restored", "ran", "failed", "skipped"]


class Watcher(Protocol):
    """Sees the run go by; the command line draws it."""

    def started(self, stage: str) -> None: ...
    def progressed(self, stage: str, done: int, total: int, what: str) -> None: ...
    def finished(self, stage: str, outcome: Outcome) -> None: ...
    def waiting(self, what: str) -> None: ...

    def told(self, line: str) -> None:
        """A line for whoever runs this: an error that DVC reports, or a warning."""

    def busy(self, stage: str, what: str) -> AbstractContextManager[None]:
        """As long as DVC reads, copies or hashes what a stage has to do with: seconds for gigabytes, else nothing."""
        ...


@dataclass
class Scheduler:
    """One run of one plan. Everything happens on the caller's thread; stages run in processes of their own."""

    planned: Materialised
    workers: int
    watcher: Watcher
    keep_going: bool = False
    foreseen: Collection[str] = ()  # stages that will be computed, as far as can be told
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    failures: list[MtlspecError] = field(default_factory=list)
    running: dict[str, Stage] = field(default_factory=dict)
    progress: dict[str, tuple[int, int]] = field(default_factory=dict)  # of running stages: done, of how many
    _queue: list[Stage] = field(default_factory=list)
    _compiled: bool = False
    _unfit: dict[str, MtlspecError] | None = None  # tasks whose labels do not fit; None: nobody looked
    _wanted: set[str] = field(default_factory=set)  # trainings whose freed weights some stage reads

    @cached_property
    def _models(self) -> KeptModels:
        return KeptModels.of(self.planned.plan, self.planned.places)

    def run(self) -> dict[str, Outcome]:
        """Every stage's outcome; raises what failed, after everything that finished was recorded."""
        places, project = self.planned.places, self.planned.project
        zygote: Zygote | None = None
        order = [PLAN_STAGE, *(stage.name for stage in self.planned.plan.stages)]
        speak_for_dvc(self.watcher.told)
        self._wanted |= set(self.foreseen)
        recorder = Recorder(project, places, order, self.watcher.waiting, self._rests)
        listener = Listener.open(project.state / "run")
        try:
            self._in_process(recorder, PLAN_STAGE, lambda: plan_again(project, places))
            waiting = list(self.planned.plan.stages)
            while waiting or self.running or self._queue:
                waiting = self._settle(recorder, waiting)
                for stage in self._next(list(self.running.values())):
                    zygote = zygote or Zygote.start(project.root)
                    recorder.begin(stage.name)
                    argv = [str(places.base), stage.name, listener.address, ""]
                    zygote.submit(stage.name, stage.kind, argv, places.log(stage.name), places.code(stage.unit))
                    self.running[stage.name] = stage
                    self.watcher.started(stage.name)
                if not self.running:
                    break
                assert zygote is not None
                self._use_idle_worker(zygote, waiting, len(self.running))
                self._wait(zygote, listener, recorder)
            for stage in [*waiting, *self._queue]:
                self._finish(stage.name, "skipped")
            if self.failures:
                raise self.failures[0] if len(self.failures) == 1 else Problems(self.failures)
            self._in_process(recorder, results_stage(places.spec_name), lambda: write_results(project, places))
            recorder.flush()
            self._free(recorder)
        finally:
            if zygote is not None:
                zygote.stop()
            listener.close()
            recorder.close()
        return self.outcomes

    def _in_process(self, recorder: Recorder, name: str, work: Callable[[], None]) -> None:
        """Book-keeping stages take milliseconds: no worker for them."""
        if not self._ticked_off(recorder, name):
            recorder.begin(name)
            work()
            recorder.record(name)
            self._finish(name, "ran")

    def _ticked_off(self, recorder: Recorder, name: str) -> bool:
        """Whether a stage is up to date, or came back from the cache."""
        with self.watcher.busy(name, "comparing"):
            up_to_date = not recorder.reasons(name)
        if up_to_date:
            self._finish(name, "cached")
            return True
        with self.watcher.busy(name, "restoring"):
            restored = recorder.restore(name)
        if restored:
            self._finish(name, "restored")
        return restored

    def _settle(self, recorder: Recorder, waiting: list[Stage]) -> list[Stage]:
        """Tick off what is cached or can be restored, queue what must run; returns what waits for its parents."""
        still: list[Stage] = []
        for stage in waiting:  # in plan order: a stage that is ticked off frees its children in the same pass
            parents = set(stage.inputs.values())
            if any(self.outcomes.get(parent) in ("failed", "skipped") for parent in parents):
                self._finish(stage.name, "skipped")
            elif not parents.issubset(self.outcomes):
                still.append(stage)
            elif not self._ticked_off(recorder, stage.name):
                if lacking := self._models.lacking(stage):
                    still += [stage, *self._call_back(lacking)]
                else:
                    self._queue.append(stage)
        self._queue.sort(key=_effort, reverse=True)
        return self._settle(recorder, still) if any(map(self._is_ready, still)) else still

    def _is_ready(self, stage: Stage) -> bool:
        return self.outcomes.keys() >= set(stage.inputs.values())

    def _call_back(self, trainings: Collection[str]) -> list[Stage]:
        """Trainings that were ticked off without their weights, which a stage turns out to read."""
        self._wanted |= set(trainings)
        back = [self.planned.plan.stage(name) for name in trainings if name in self.outcomes]
        for stage in back:
            del self.outcomes[stage.name]
        return back

    def _rests(self, training: str) -> bool:
        return training not in self._wanted and self._models.rests(training)

    def _free(self, recorder: Recorder) -> None:
        """Weights that the spec does not keep, once all who read them are done and the lock files tell of it."""
        if not recorder.has_flushed:
            return
        good = {name for name, outcome in self.outcomes.items() if outcome in ("cached", "restored", "ran")}
        if names := self._models.free(good.__contains__):
            store, gates = Store(self.planned.project), self._models.with_gates(names)
            recorder.free(lambda: store.free_weights(self.planned.places, names, gates))
            self._wanted -= set(names)

    def _next(self, running: list[Stage]) -> list[Stage]:
        """What to start now; nothing more after a failure, unless the run is to keep going.

        As long as files are read, nothing else starts, and as long as data are prepared, no model: malformed files and
        labels that do not fit their tasks are refused before anything is trained on any of them.
        """
        if not self._preparing and any(stage.kind == "train" for stage in self._queue):
            self._check_labels()
        if self.failures and not self.keep_going:
            return []
        reading = any(stage.kind == "data" for stage in (*self._queue, *running))
        first = {"data"} if reading else {"data", "encoder", "prepare"}
        ready = [stage for stage in self._queue if stage.kind in first or not (reading or self._preparing)]
        chosen = ready[: max(self.workers - len(running), 0)]
        self._queue = [stage for stage in self._queue if stage not in chosen]
        return chosen

    @property
    def _preparing(self) -> bool:
        return any(stage.kind == "prepare" and stage.name not in self.outcomes for stage in self.planned.plan.stages)

    def _check_labels(self) -> None:
        """Models of tasks whose labels do not fit are not trained; what cannot be learnt is only said."""
        if self._unfit is None:
            self._unfit = problems_of_prepared(self.planned)
            self.failures += self._unfit.values()
            for line in warnings_of_prepared(self.planned):
                self.watcher.told(line)
        unfit = [stage for stage in self._queue if stage.kind == "train" and self._unfit.keys() & stage.params["tasks"]]
        for stage in unfit:
            self._queue.remove(stage)
            self._finish(stage.name, "skipped")

    def _use_idle_worker(self, zygote: Zygote, waiting: list[Stage], running: int) -> None:
        """While the first stages leave a worker idle, compile what later ones would all compile at the same time."""
        if self._compiled or running >= self.workers:
            return
        self._compiled = True
        units = {stage.unit for stage in waiting}
        sources = {file for unit in self.planned.plan.units if unit.name in units for file in unit.files}
        zygote.compile(sorted(sources), self.planned.places.log("compilation"))

    def _wait(self, zygote: Zygote, listener: Listener, recorder: Recorder) -> None:
        """Until a stage ends, pass progress on."""
        with selectors.DefaultSelector() as selector:
            selector.register(zygote.channel, selectors.EVENT_READ)
            selector.register(listener.channel, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is listener.channel:
                        for message in listener.messages():
                            self._progressed(**message)
                        continue
                    replies = [reply for reply in _replies(zygote) if reply["job"] != COMPILATION]
                    for reply in replies:
                        self.running.pop(reply["job"])
                        self._conclude(recorder, reply)
                    if replies:
                        return

    def _progressed(self, stage: str, done: int, total: int, what: str) -> None:
        if stage in self.running:
            self.progress[stage] = (done, total)
            self.watcher.progressed(stage, done, total, what)

    def _conclude(self, recorder: Recorder, reply: dict[str, Any]) -> None:
        name = reply["job"]
        try:
            if reply["status"] != 0:
                raise failure(name, reply, self.planned.places.log(name))
            with self.watcher.busy(name, "storing"):
                recorder.record(name)
        except MtlspecError as error:
            self.failures.append(error)
            self._finish(name, "failed")
        else:
            self._finish(name, "ran")
            self._free(recorder)

    def _finish(self, stage: str, outcome: Outcome) -> None:
        self.outcomes[stage] = outcome
        self.watcher.finished(stage, outcome)


def _replies(zygote: Zygote) -> list[dict[str, Any]]:
    try:
        return list(zygote.replies())
    except (EOFError, ConnectionError):
        raise StageError("E409", "the worker server ended", None, "run again: finished stages are kept") from None


def _effort(stage: Stage) -> int:
    """Longest first keeps all workers busy to the end: steps grow with tasks and epochs."""
    if stage.kind != "train":
        return 0
    return len(stage.params["tasks"]) * int(stage.params["train"]["epochs"])
