"""`mtlspec plan`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mtlspec.execute.estimate import Estimates
    from mtlspec.execute.staleness import StageStatus

EXAMPLES = (
    "mtlspec plan specs/stem_cell.yaml",
    "mtlspec plan stem_cell --set train.epochs=2",
    "mtlspec plan stem_cell --write && dvc repro",
)


@dataclass(frozen=True)
class _Forecast:
    """The stages of a plan with what they will take; sums are None if of some stage nothing is known yet."""

    spec: str
    stages: Sequence[StageStatus]
    seconds: Estimates
    megabytes: Estimates
    workers: int

    @property
    def to_run(self) -> list[StageStatus]:
        return [status for status in self.stages if status.state != "cached"]

    @property
    def unknown(self) -> int:
        """Stages to run of whose like none has run here."""
        return len(self.to_run) - min(len(self._known(self.seconds)), len(self._known(self.megabytes)))

    @property
    def minutes(self) -> float | None:
        from mtlspec.execute.estimate import wall_seconds

        return None if self.unknown else wall_seconds(self._known(self.seconds), self.workers) / 60

    @property
    def disk(self) -> float | None:
        return None if self.unknown else sum(self._known(self.megabytes))

    def _known(self, estimates: Estimates) -> list[float]:
        found = (estimates[status.stage.name] for status in self.to_run)
        return [number for number in found if number is not None]


def command(
    spec: Annotated[str, typer.Argument(help="A spec file, the name of one in specs/, or a run's name.")],
    set_: Annotated[list[str] | None, typer.Option("--set", help="Override: key.path=value. Repeatable.")] = None,
    as_: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Name of the variant that --set makes.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the stages for DVC, without running them.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="List cached stages too.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> None:
    """Show what a run would do: each stage, cached or why not, with estimated minutes and disk."""
    import os

    from mtlspec.cli import console
    from mtlspec.cli.specs import find_wanted
    from mtlspec.execute.alone import run_alone
    from mtlspec.execute.estimate import megabytes, seconds
    from mtlspec.execute.materialise import materialise
    from mtlspec.execute.run import room
    from mtlspec.execute.staleness import statuses
    from mtlspec.io.project import Project
    from mtlspec.track.record import outgrown_run

    project = Project.find()
    planned = materialise(project, *find_wanted(spec, project, set_, as_))
    forecast = _Forecast(
        planned.plan.spec,
        statuses(planned),
        seconds(planned.plan, planned.places),
        megabytes(planned.plan, planned.places),
        workers=room(planned.loaded.spec.run, os.cpu_count() or 1),
    )
    if write:
        with run_alone(project, planned.plan.spec):
            planned.write()
    if json_:
        console.say_json(_as_json(forecast))
        return
    rows = [_row(status, forecast) for status in forecast.stages if everything or status.state != "cached"]
    if rows:
        console.say_table(("stage", "state", "min", "why"), rows)
        console.say()
    console.say(_summary(forecast))
    if why := outgrown_run(planned.places):
        console.say(f"{why}: none of its stages can be taken over")


def _as_json(forecast: _Forecast) -> dict[str, Any]:
    stages = [
        {
            "stage": status.stage.name,
            "kind": status.stage.kind,
            "id": status.stage.id,
            "state": status.state,
            "reasons": status.reasons,
            "seconds": _rounded(forecast.seconds[status.stage.name], 1),
            "megabytes": _rounded(forecast.megabytes[status.stage.name], 2),
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
    seconds = forecast.seconds[status.stage.name]
    minutes = "?" if seconds is None else f"{seconds / 60:.1f}"
    return status.stage.name, status.state, "" if status.state == "cached" else minutes, "; ".join(status.reasons)


def _summary(forecast: _Forecast) -> str:
    every, to_run = len(forecast.stages), len(forecast.to_run)
    text = f"{forecast.spec}: {every} stages, {every - to_run} cached, {to_run} to run"
    if forecast.unknown:
        return f"{text}; no estimate: nothing like {forecast.unknown} of them has run here yet"
    return f"{text}; about {forecast.minutes:.1f} min on {forecast.workers} workers, {forecast.disk:.0f} MB"


def _rounded(number: float | None, digits: int) -> float | None:
    return None if number is None else round(number, digits)
