"""`mtlspec check`: what is wrong with a spec, all of it at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mtlspec.errors import MtlspecError, Problems

if TYPE_CHECKING:
    from mtlspec.io.project import Project

EXAMPLES = (
    "mtlspec check specs/stem_cell.yaml",
    "mtlspec check stem_cell --set train.epochs=1 --set seeds=[1]",
    "mtlspec check specs/*.yaml --json",
)


def command(
    specs: Annotated[list[str], typer.Argument(metavar="SPEC...", help="Spec files, or names of files in specs/.")],
    set_: Annotated[list[str] | None, typer.Option("--set", help="Override: key.path=value. Repeatable.")] = None,
    as_: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Name of the variant that --set makes.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="For scripts: summaries and errors on stdout.")] = False,
) -> int:
    """Check specs and the cards they name, without running anything.

    Every error is one line: file:line:column, a number, what is wrong and, where possible, what was meant.
    """
    from mtlspec.cli import console
    from mtlspec.cli.specs import find_wanted
    from mtlspec.io.project import Project

    project = Project.find()
    summaries: list[dict[str, Any]] = []
    problems: list[MtlspecError] = []
    for name in specs:
        try:
            summaries.append(_summary(project, *find_wanted(name, project, set_, as_)))
        except MtlspecError as error:
            problems.extend(error.problems)
    if json_:
        console.say_json({"specs": summaries, "errors": [_error(problem) for problem in problems]})
        return problems[0].exit_code if problems else 0
    for summary in summaries:
        _show(summary)
    if problems:
        raise Problems(problems)
    return 0


def _summary(project: Project, path: Path, overrides: Sequence[str]) -> dict[str, Any]:
    from mtlspec.spec.expand import expand
    from mtlspec.spec.load import load_spec

    loaded = load_spec(path, project, overrides)
    trainings = [variant.group for variant in expand(loaded.spec)]
    return {
        "file": project.relative(path),
        "name": loaded.spec.name,
        "data": {name: card.name for name, card in loaded.data.items()},
        "encoder": loaded.encoder.name,
        "tasks": {task: options.type for task, options in loaded.spec.tasks.items()},
        "models": {group: trainings.count(group) for group in loaded.spec.models},
        "seeds": list(loaded.spec.seeds),
        "analyses": list(loaded.spec.analyses),
        "trainings": len(trainings),
        "files": [project.relative(file) for file in loaded.files],
    }


def _show(summary: dict[str, Any]) -> None:
    from mtlspec.cli import console
    from mtlspec.io.words import counted

    console.say(f"{summary['file']}: correct", style="green")
    corpora = [name if name == card else f"{name} ({card})" for name, card in summary["data"].items()]
    console.say(f"  data       {', '.join(corpora)}")
    console.say(f"  encoder    {summary['encoder']}")
    console.say("  tasks      " + ", ".join(f"{task} ({kind})" for task, kind in summary["tasks"].items()))
    console.say("  models     " + ", ".join(f"{group} ({number})" for group, number in summary["models"].items()))
    console.say("  analyses   " + (", ".join(summary["analyses"]) or "none"))
    console.say(f"  trainings  {summary['trainings']}, over {counted(len(summary['seeds']), 'seed')}")


def _error(problem: MtlspecError) -> dict[str, Any]:
    place = problem.place
    return {
        "file": place.file if place else None,
        "line": place.line or None if place else None,
        "column": place.column or None if place else None,
        "code": problem.code,
        "message": problem.message,
        "hint": problem.hint,
    }
