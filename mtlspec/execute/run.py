"""`mtlspec run` from the spec file to the record: plan, check pins, write stages, schedule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mtlspec.errors import Problems
from mtlspec.execute.alone import run_alone
from mtlspec.execute.estimate import Estimates, estimates
from mtlspec.execute.interruption import Interrupted, what_is_kept
from mtlspec.execute.label_check import problems_of_files
from mtlspec.execute.leftovers import repair_metadata
from mtlspec.execute.machine import Machine
from mtlspec.execute.materialise import Materialised, materialise
from mtlspec.execute.scheduler import Scheduler, Watcher
from mtlspec.execute.staleness import statuses
from mtlspec.execute.surveys import Surveys
from mtlspec.io.project import Project
from mtlspec.spec.models import RunOptions as MachineOptions


@dataclass(frozen=True)
class RunOptions:
    workers: int  # 0: as many as the machine has room for
    keep_going: bool
    cores: int


class Display(Protocol):
    """Makes a watcher for a run of these stages, with expected seconds for those that are stale.

    They are the plan's, which every command counts; writing the plan and the results is book-keeping.
    """

    def __call__(
        self, stages: Collection[str], seconds: Estimates, workers: int
    ) -> AbstractContextManager[Watcher]: ...


def run_spec(
    project: Project,
    spec_path: Path,
    overrides: Sequence[str],
    options: RunOptions,
    display: Display,
    note: Callable[[str], None],
) -> Materialised:
    """Everything that is stale is run and recorded, or an error says what stopped it; what finished is kept."""
    planned = materialise(project, spec_path, overrides)
    if overrides:
        note(f"{planned.plan.spec}: a variant of {planned.loaded.base}, with a record of its own")
    with run_alone(project, planned.plan.spec):
        for path in repair_metadata(project, planned.places):
            note(f"repaired: removed {path}, which an interrupted command had left broken")
        expected = estimates(project, planned.plan)
        stale = {status.stage.name for status in statuses(planned) if status.computed}
        surveys = Surveys(project) if stale else None
        missing = list(Machine(project, lambda: stale, note, surveys=surveys).lacks(planned.loaded.needs))
        if surveys is not None and not options.keep_going:
            missing += problems_of_files(project, planned.loaded, surveys.found).values()
        if missing:
            raise Problems(missing)
        planned.write()
        workers = options.workers or room(planned.loaded.spec.run, options.cores)
        stages = [stage.name for stage in planned.plan.stages]
        with display(stages, {name: expected[name].seconds for name in stale}, workers) as watcher:
            _schedule(Scheduler(planned, workers, watcher, options.keep_going, stale))
    return planned


def _schedule(scheduler: Scheduler) -> None:
    try:
        scheduler.run()
    except KeyboardInterrupt:
        plan, places = scheduler.planned.plan, scheduler.planned.places
        kept = {name for name, outcome in scheduler.outcomes.items() if outcome in ("ran", "cached", "restored")}
        done = sum(stage.name in kept for stage in plan.stages)
        state = what_is_kept(places, len(plan.stages), done, scheduler.running, scheduler.progress)
        raise Interrupted(state.lines()) from None


def room(machine: MachineOptions, cores: int) -> int:
    """How many stages run side by side unless somebody asks for more: as many as cores allow, one on a GPU.

    Two models on one GPU share its memory and its time, and each of them is slower than alone.
    """
    return max(cores // machine.threads, 1) if machine.device == "cpu" else 1
