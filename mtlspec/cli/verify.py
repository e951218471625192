"""`mtlspec verify`."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = (
    "mtlspec verify {spec}",
    "mtlspec verify {spec} --rerun --sample 3",
    "mtlspec verify {spec} --json",
)


def command(
    spec: Annotated[str, typer.Argument(help="The name of a run in registry/runs.")],
    rerun: Annotated[bool, typer.Option("--rerun", help="Compute stages again, from nothing, and compare.")] = False,
    sample: Annotated[
        int | None, typer.Option(min=1, help="With --rerun: only so many stages, chosen at random.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="With --sample: choose the same stages again.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> int:
    """Prove a record: hash every byte again (sealed), or compute again and compare (re-executed)."""
    import secrets

    if sample is not None and not rerun:
        raise typer.BadParameter("it says how many stages --rerun computes again: add --rerun", param_hint="--sample")
    if seed is not None and sample is None:
        raise typer.BadParameter("it chooses the stages of a sample: add --rerun and --sample", param_hint="--seed")

    from mtlspec.cli import console
    from mtlspec.cli.specs import run_name
    from mtlspec.execute.verify import choose, seal
    from mtlspec.execute.verify import rerun as run_again
    from mtlspec.io.project import Project
    from mtlspec.io.words import counted
    from mtlspec.plan.types import Plan
    from mtlspec.track.registry import find_record

    project = Project.find()
    name = run_name(spec, project)
    find_record(project, name)
    places = project.run(name)
    findings = []
    for finding in seal(places):
        findings.append(finding)
        if not finding.holds:
            console.error(f"{finding.verdict:>16}  {finding.stage}  {finding.detail}")
    console.note(f"sealed: {sum(f.holds for f in findings)} of {len(findings)} are what was recorded")
    if rerun and all(finding.holds for finding in findings):
        chosen_seed = secrets.randbelow(2**31) if seed is None else seed
        stages = choose(Plan.read(places.plan), sample, chosen_seed)
        console.note(
            f"computing {counted(len(stages), 'stage')} again" + (f" (--seed {chosen_seed})" if sample else "")
        )
        for finding in run_again(project, places, stages, lambda stage: console.note(f"{'running':>16}  {stage}")):
            findings.append(finding)
            show = console.say if finding.holds else console.error
            if not json_:
                show(f"{finding.verdict:>16}  {finding.stage}  {finding.detail}")
    holds = all(finding.holds for finding in findings)
    if json_:
        rows = [{"stage": f.stage, "verdict": f.verdict, "detail": f.detail} for f in findings]
        console.say_json({"spec": name, "holds": holds, "findings": rows})
    else:
        level = "re-executed" if rerun else "sealed"
        unproven = sum(finding.verdict == "unproven" for finding in findings)
        proven = f"{unproven} unproven, everything else holds" if unproven else "everything holds"
        console.say(f"{name}: {level}, {proven}" if holds else f"{name}: does not hold")
    return 0 if holds else 5
