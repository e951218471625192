"""`mtlspec status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mtlspec.execute.standing import Standing
    from mtlspec.io.project import Project

EXAMPLES = ("mtlspec status", "mtlspec status --json")


def command(json_: Annotated[bool, typer.Option("--json", help="For scripts.")] = False) -> None:
    """Show every run: how it stands, how many stages are up to date and here, its disk, and what would run first.

    current: as its spec says today; elsewhere: the same, but artifacts are not on this machine; stale: something
    changed; incomplete: stages have not run; outgrown: an older mtlspec recorded it; broken: it cannot be planned. MB
    are what its folder and its copies in DVC's cache take, which runs may share; `mtlspec gc` frees some of it.
    """
    from mtlspec.cli import console
    from mtlspec.execute.freeing import Store
    from mtlspec.execute.holdings import disk_use
    from mtlspec.execute.pipelines import materialised_runs
    from mtlspec.execute.standing import standing
    from mtlspec.io.project import Project
    from mtlspec.spec.overrides import without_name

    project = Project.find()
    store = Store(project)
    rows = [
        {**_row(places.spec_name, standing(project, places)), "bytes": disk_use(store, places)}
        for places in materialised_runs(project)
    ]
    if json_:
        console.say_json(rows)
        return
    if not rows:
        console.say(f"no spec has been planned here yet; try `{_first_command(project)}`")
        return
    table = [
        (
            row["spec"],
            " ".join([row["file"], *without_name(row["overrides"])]),
            row["state"],
            f"{row['cached']} of {row['stages']}" if "stages" in row else "",
            f"{row['bytes'] / 1e6:,.0f}",
            row.get("why") or row.get("error", ""),
        )
        for row in rows
    ]
    console.say_table(("run", "from", "state", "here", "MB", "first stage to run"), table)


def _first_command(project: Project) -> str:
    """What somebody could do now: run a spec that is there, or make one."""
    from mtlspec.cli.examples import filled

    return filled("mtlspec run {spec}" if any((project.root / "specs").glob("*.yaml")) else "mtlspec init {spec}")


def _row(name: str, found: Standing) -> dict[str, Any]:
    row: dict[str, Any] = {
        "spec": name,
        "file": found.source.spec if found.source else "",
        "overrides": list(found.source.overrides) if found.source else [],
        "state": found.word,
    }
    if found.problem is not None:
        return {**row, "error": found.problem}
    first = found.first
    why = f"{first.stage.name}: {first.reasons[0]}" if first else ""
    return {**row, "stages": len(found.stages), "cached": found.cached, "why": why}
