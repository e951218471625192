"""`mtlspec status`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

EXAMPLES = ("mtlspec status", "mtlspec status --json")


def command(json_: Annotated[bool, typer.Option("--json", help="For scripts.")] = False) -> None:
    """Show every materialised spec: how many stages are up to date, and what would run."""
    import json
    from collections import Counter

    from mtlspec.cli import console
    from mtlspec.errors import MtlspecError
    from mtlspec.execute.materialise import materialise, materialised_runs
    from mtlspec.execute.staleness import statuses
    from mtlspec.io.project import Project
    from mtlspec.plan.dvc import PLAN_STAGE
    from mtlspec.track.record import outgrown_run

    project = Project.find()
    rows = []
    for places in materialised_runs(project):
        row: dict[str, Any] = {"spec": places.spec_name, "file": "", "overrides": []}
        row["outgrown"] = outgrown_run(places) is not None
        try:
            told = json.loads(places.params(PLAN_STAGE).read_bytes())
            row |= {"file": told["spec"], "overrides": told["overrides"]}
            found = statuses(materialise(project, project.root / told["spec"], told["overrides"]))
        except MtlspecError as error:
            rows.append({**row, "error": str(error)})
            continue
        except (OSError, ValueError, KeyError, TypeError):
            said = f"its stages are broken: run it again, or `mtlspec registry remove {places.spec_name}`"
            rows.append({**row, "error": said})
            continue
        counts = Counter(status.state for status in found)
        first = next((status for status in found if status.state != "cached"), None)
        why = f"{first.stage.name}: {'; '.join(first.reasons)}" if first else ""
        rows.append({**row, "stages": len(found), "cached": counts["cached"], "why": why})
    if json_:
        console.say_json(rows)
        return
    if not rows:
        console.say("no spec has been planned here yet; try `mtlspec run specs/stem_cell.yaml`")
        return
    table = [
        (
            row["spec"],
            row["file"],
            row["error"] if "error" in row else f"{row['cached']} of {row['stages']}{', outgrown' * row['outgrown']}",
            row.get("why", ""),
        )
        for row in rows
    ]
    console.say_table(("spec", "file", "up to date", "first stage to run"), table)
