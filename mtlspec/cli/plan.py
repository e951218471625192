"""`mtlspec plan`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mtlspec.cli.options import Json, Overrides, Spec, VariantName

if TYPE_CHECKING:
    from mtlspec.execute.estimate import Estimate
    from mtlspec.execute.staleness import StageStatus

EXAMPLES = (
    "mtlspec plan specs/{spec}.yaml",
    "mtlspec plan {spec} --set train.epochs=2",
    "mtlspec plan {spec} --write && dvc repro",
)


@dataclass(frozen=True)
class _Forecast:
    """The stages of a plan with what they will take; sums are None if of some stage nothing is known yet."""

    spec: str
    stages: Sequence[StageStatus]
    estimates: Mapping[str, Estimate]
    workers: int

    @property
    def to_run(self) -> list[StageStatus]:
        return [status for status in self.stages if status.computed]

    @property
    def restored(self) -> int:
        return sum(status.restored for status in self.stages)

    @property
    def minutes(self) -> float | None:
        from mtlspec.execute.estimate import wall_seconds

        known = [estimate.seconds for estimate in self._of_those_to_run() if estimate.seconds is not None]
        return None if len(known) < len(self.to_run) else wall_seconds(known, self.workers) / 60

    @property
    def disk(self) -> float | None:
        known = [estimate.megabytes for estimate in self._of_those_to_run() if estimate.megabytes is not None]
        return None if len(known) < len(self.to_run) else sum(known)

    def taken_from(self, source: str) -> int:
        """Stages to run whose numbers come from there."""
        return sum(estimate.source == source for estimate in self._of_those_to_run())

    def _of_those_to_run(self) -> list[Estimate]:
        return [self.estimates[status.stage.name] for status in self.to_run]


def command(
    spec: Spec,
    set_: Overrides = None,
    as_: VariantName = None,
    write: Annotated[bool, typer.Option("--write", help="Write the stages for DVC, without running them.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="List cached stages too.")] = False,
    json_: Json = False,
) -> None:
    """Show what a run would do: each stage, cached or why not, with estimated minutes and disk.

    Cached is what a run does not compute: it is up to date, or comes back from DVC's cache. Minutes are those of the
    stage's own last run or, with a `~`, of stages like it that have run here.
    """
    import os

    from mtlspec.cli import console
    from mtlspec.cli.specs import find_wanted
    from mtlspec.execute.alone import run_alone
    from mtlspec.execute.estimate import estimates
    from mtlspec.execute.materialise import materialise
    from mtlspec.execute.run import room
    from mtlspec.execute.seed_power import seed_warning
    from mtlspec.execute.staleness import statuses
    from mtlspec.io.project import Project
    from mtlspec.track.record import outgrown_run

    project = Project.find()
    planned = materialise(project, *find_wanted(spec, project, set_, as_))
    forecast = _Forecast(
        planned.plan.spec,
        statuses(planned),
        estimates(project, planned.plan),
        workers=room(planned.loaded.spec.run, os.cpu_count() or 1),
    )
    if write:
        with run_alone(project, planned.plan.spec):
            planned.write()
    if json_:
        console.say_json({**_as_json(forecast), "warning": seed_warning(planned)})
        return
    rows = [_row(status, forecast) for status in forecast.stages if everything or status.computed]
    if rows:
        console.say_table(("stage", "state", "min", "why"), rows)
        console.say()
    console.say(_summary(forecast))
    if warning := seed_warning(planned):
        console.say(warning)
    if why := outgrown_run(planned.places):
        console.say(f"{why}: none of its stages can be taken over")


def _as_json(forecast: _Forecast) -> dict[str, Any]:
    stages = [
        {
            "stage": status.stage.name,
            "kind": status.stage.kind,
            "id": status.stage.id,
            "state": _state(status),
            "reasons": status.reasons,
            "seconds": _rounded(forecast.estimates[status.stage.name].seconds, 1),
            "megabytes": _rounded(forecast.estimates[status.stage.name].megabytes, 2),
            "estimate": forecast.estimates[status.stage.name].source,
        }
        for status in forecast.stages
    ]
    return {
        "spec": forecast.spec,
        "minutes": _rounded(forecast.minutes, 2),
        "megabytes": _rounded(forecast.disk, 1),
        "stages": stages,
    }


def _row(status: StageStatus, forecast: _Forecast) -> tuple[str, str, str, str]:
    why = status.reasons[0] if status.reasons else ""  # the others: --json
    minutes = _minutes(forecast.estimates[status.stage.name]) if status.computed else ""
    return status.stage.name, _state(status), minutes, why


def _state(status: StageStatus) -> str:
    return status.state if status.computed else "cached"


def _minutes(estimate: Estimate) -> str:
    if estimate.seconds is None:
        return "?"
    about = "" if estimate.source == "own" else "~"
    return about + ("<0.1" if estimate.seconds < 6 else f"{estimate.seconds / 60:.1f}")


def _summary(forecast: _Forecast) -> str:
    from mtlspec.io.words import counted

    every, to_run = len(forecast.stages), len(forecast.to_run)
    back = f" ({forecast.restored} from DVC's cache)" if forecast.restored else ""
    text = f"{forecast.spec}: {counted(every, 'stage')}, {every - to_run} cached{back}, {to_run} to run"
    if not to_run:
        return text
    if forecast.minutes is None:
        return f"{text}; no estimate: nothing like {forecast.taken_from('nothing')} of them has run here yet"
    disk = "" if forecast.disk is None else f", {forecast.disk:.0f} MB"
    sources = {"alike": "like others that ran here", "default": "as usual for the embedded corpus"}
    told = [f"{number} {words}" for source, words in sources.items() if (number := forecast.taken_from(source))]
    about = "less than a minute" if forecast.minutes < 1 else f"about {forecast.minutes:.0f} min"
    times = f" (times of {', '.join(told)})" if told else ""
    return f"{text}; {about} on {counted(forecast.workers, 'worker')}{disk}{times}"


def _rounded(number: float | None, digits: int) -> float | None:
    return None if number is None else round(number, digits)
