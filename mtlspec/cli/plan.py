"""`mtlspec plan`."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = (
    "mtlspec plan specs/stem_cell.yaml",
    "mtlspec plan stem_cell --set train.epochs=2",
    "mtlspec plan stem_cell --write && dvc repro",
)


def command(
    spec: Annotated[str, typer.Argument(help="A spec file, or the name of one in specs/.")],
    set_: Annotated[list[str] | None, typer.Option("--set", help="Override: key.path=value. Repeatable.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the stages for DVC, without running them.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="List cached stages too.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> None:
    """Show what a run would do: each stage, cached or why not, with estimated minutes and disk."""
    import os

    from mtlspec.cli import console
    from mtlspec.cli.specs import find_spec
    from mtlspec.execute.estimate import megabytes, seconds, wall_seconds
    from mtlspec.execute.materialise import materialise
    from mtlspec.execute.staleness import statuses
    from mtlspec.io.project import Project

    project = Project.find()
    planned = materialise(project, find_spec(spec, project), set_ or ())
    found = statuses(planned)
    times = seconds(planned.plan, planned.places)
    sizes = megabytes(planned.plan, planned.places)
    if write:
        planned.write()
    to_run = [status for status in found if status.state != "cached"]
    workers = max((os.cpu_count() or 1) // planned.loaded.spec.run.threads, 1)
    minutes = wall_seconds([times[status.stage.name] for status in to_run], workers) / 60
    disk = sum(sizes[status.stage.name] for status in to_run)
    if json_:
        stages = [
            {
                "stage": status.stage.name,
                "kind": status.stage.kind,
                "id": status.stage.id,
                "state": status.state,
                "reasons": status.reasons,
                "seconds": round(times[status.stage.name], 1),
                "megabytes": round(sizes[status.stage.name], 2),
            }
            for status in found
        ]
        console.say_json(
            {"spec": planned.plan.spec, "minutes": round(minutes, 2), "megabytes": round(disk, 1), "stages": stages}
        )
        return
    rows = [
        (
            status.stage.name,
            status.state,
            f"{times[status.stage.name] / 60:.1f}" if status.state != "cached" else "",
            "; ".join(status.reasons),
        )
        for status in found
        if everything or status.state != "cached"
    ]
    if rows:
        console.say_table(("stage", "state", "min", "why"), rows)
        console.say()
    console.say(
        f"{planned.plan.spec}: {len(found)} stages, {len(found) - len(to_run)} cached, {len(to_run)} to run; "
        f"about {minutes:.1f} min on {workers} workers, {disk:.0f} MB"
    )
