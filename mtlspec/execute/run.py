"""`mtlspec run` from the spec file to the record: plan, check pins, write stages, schedule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mtlspec.data.pins import check_pins, resolve_root
from mtlspec.execute.estimate import Estimates, seconds
from mtlspec.execute.materialise import Materialised, materialise
from mtlspec.execute.recorder import repair_metadata
from mtlspec.execute.scheduler import Scheduler, Watcher
from mtlspec.execute.staleness import statuses
from mtlspec.execute.turn import run_alone
from mtlspec.io.project import Project
from mtlspec.spec.load import LoadedSpec


@dataclass(frozen=True)
class RunOptions:
    workers: int  # 0: as many as cores allow
    keep_going: bool
    cores: int


class Display(Protocol):
    """Makes a watcher for a run of so many stages, with expected seconds for those that are stale."""

    def __call__(self, stages: int, seconds: Estimates, workers: int) -> AbstractContextManager[Watcher]: ...


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
    check_data(planned.loaded, project)
    with run_alone(project, planned.plan.spec):
        for path in repair_metadata(project, planned.places):
            note(f"repaired: removed {path}, which an interrupted command had left broken")
        expected = seconds(planned.plan, planned.places)
        stale = {status.stage.name for status in statuses(planned) if status.state != "cached"}
        planned.write()
        workers = options.workers or max(options.cores // planned.loaded.spec.run.threads, 1)
        stages = len(planned.plan.stages) + 2  # the plan and the results are stages too
        with display(stages, {name: expected[name] for name in stale}, workers) as watcher:
            Scheduler(planned, workers, watcher, options.keep_going).run()
    return planned


def check_data(loaded: LoadedSpec, project: Project) -> None:
    """Data that lies on disk is what its card pinned; DVC would accept a drifted file in silence."""
    card = loaded.data
    if card.generator is None:
        check_pins(card, resolve_root(card, project), project.data_cards / f"{card.name}.yaml")
