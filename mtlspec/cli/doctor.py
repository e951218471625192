"""`mtlspec doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = ("mtlspec doctor", "mtlspec doctor --json")


def command(json_: Annotated[bool, typer.Option("--json", help="For scripts.")] = False) -> int:
    """Test this environment: versions, tools, disk, determinism, compiled code, workers."""
    from mtlspec.cli import console
    from mtlspec.execute.health import checks
    from mtlspec.io.project import Project

    found = []
    for check in checks(Project.find()):
        found.append(check)
        if not json_:
            mark = "ok  " if check.holds else "FAIL"
            console.say(f"{mark}  {check.name:<20} {check.detail}", style=None if check.holds else "red")
    if json_:
        console.say_json([{"check": c.name, "holds": c.holds, "detail": c.detail} for c in found])
    return 0 if all(check.holds for check in found) else 6
