"""`mtlspec check`: what is wrong with a spec, all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mtlspec.cli.options import Overrides, VariantName
from mtlspec.errors import MtlspecError, Problems

if TYPE_CHECKING:
    from mtlspec.io.project import Project
    from mtlspec.spec.load import LoadedSpec, Needs

_HASHED = 64e6  # bytes: a tenth of a second

EXAMPLES = (
    "mtlspec check specs/{spec}.yaml",
    "mtlspec check {spec} --set train.epochs=1 --set seeds=[1]",
    "mtlspec check specs/*.yaml --json",
)


def command(
    specs: Annotated[list[str], typer.Argument(metavar="SPEC", help="Spec files, or names of files in specs/.")],
    set_: Overrides = None,
    as_: VariantName = None,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="Leave this machine out: only what stands in the files of specs and cards."),
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="For scripts: summaries and errors on stdout.")] = False,
) -> int:
    """Check specs, the cards they name, and whether this machine has what they need, without running anything.

    Every error is one line: file:line:column, a number, what is wrong and, where possible, what was meant. Data and
    encoders must be here and locked, unless a run has made its own copies; large files are only looked for, not hashed.
    Small corpora are read: malformed sentences and labels that do not fit their tasks are named. Which corpora were
    not read is said. Of an encoder the settings are looked at; a run tries its tokenizer and its weights.
    """
    from mtlspec.cli import console
    from mtlspec.cli.specs import find_wanted
    from mtlspec.io.project import Project

    project = Project.find()
    summaries: list[dict[str, Any]] = []
    problems: dict[str, MtlspecError] = {}
    notes: dict[str, None] = {}
    for name in specs:
        try:
            found = _examine(project, *find_wanted(name, project, set_, as_), not offline, notes.setdefault)
        except MtlspecError as error:
            found = error.problems
        if isinstance(found, dict):
            summaries.append(found)
        else:
            problems |= {str(problem): problem for problem in found}  # several specs may name one card
    if json_:
        errors = [_error(problem) for problem in problems.values()]
        console.say_json({"specs": summaries, "errors": errors, "notes": list(notes)})
        return Problems(problems.values()).exit_code if problems else 0
    for summary in summaries:
        _show(summary)
    for note in notes:
        console.note(note)
    if problems:
        raise Problems(problems.values())
    return 0


def _examine(
    project: Project, path: Path, overrides: Sequence[str], here: bool, note: Callable[[str], None]
) -> dict[str, Any] | Sequence[MtlspecError]:
    """What there is to say of a sound spec, or all that is wrong with it."""
    from mtlspec.execute.materialise import require_own_name
    from mtlspec.spec.check_baseline import uncompared
    from mtlspec.spec.load import examine_spec

    examined = examine_spec(path, project, overrides)
    needs = examined.needs if examined.loaded is not None else _with_device(examined.needs, project, path, overrides)
    problems = list(examined.problems)
    if examined.loaded is not None:
        require_own_name(project, examined.loaded)
    if here:
        problems += _lacking(project, examined.loaded, needs, note)
    if problems or examined.loaded is None:
        return problems
    for said in uncompared(examined.loaded.spec):
        note(said)
    return _summary(project, path, examined.loaded)


def _with_device(needs: Needs, project: Project, path: Path, overrides: Sequence[str]) -> Needs:
    """The device that a spec asks for can be read although other things are wrong with it."""
    from pydantic import ValidationError

    from mtlspec.spec.models import RunOptions
    from mtlspec.spec.overrides import apply_overrides
    from mtlspec.spec.sources import Sources

    written, _ = apply_overrides(Sources(project).spec(path), overrides)
    said = written.get("run", "device")
    if said is None:
        return needs
    try:
        device = RunOptions.model_validate({"device": said.plain()}).device
    except ValidationError:  # which is among what is wrong
        return needs
    return replace(needs, device=device, device_place=said.place)


def _lacking(
    project: Project, loaded: LoadedSpec | None, needs: Needs, note: Callable[[str], None]
) -> list[MtlspecError]:
    """What a run would miss on this machine."""
    from mtlspec.execute.label_check import problems_of_files, warnings_of_files
    from mtlspec.execute.machine import Machine
    from mtlspec.execute.materialise import materialise_loaded
    from mtlspec.execute.staleness import statuses
    from mtlspec.execute.surveys import Surveys
    from mtlspec.io.budget import Budget

    def work() -> Collection[str] | None:
        if loaded is None:
            return None
        planned = materialise_loaded(project, loaded)
        return {status.stage.name for status in statuses(planned) if status.computed}

    budget = Budget(_HASHED)
    surveys = Surveys(project)
    found = list(Machine(project, work, note, budget, budget, surveys).lacks(needs))
    if loaded is not None:
        found += problems_of_files(project, loaded, surveys.found).values()
        for warning in warnings_of_files(project, loaded, surveys.found):
            note(warning)
    if budget.passed_over:
        files = "1 large file is" if budget.passed_over == 1 else f"{budget.passed_over} large files are"
        note(f"{files} here, but not compared with the card's digest: a run does that")
    if surveys.unread:
        named = ", ".join(sorted(surveys.unread))
        note(f"not read, because it would take long: {named}; a run looks for malformed sentences before it trains")
    return found


def _summary(project: Project, path: Path, loaded: LoadedSpec) -> dict[str, Any]:
    from mtlspec.spec.expand import expand

    variants = expand(loaded.spec)
    trainings = [variant.group for variant in variants]
    return {
        "file": project.relative(path),
        "name": loaded.spec.name,
        "data": {name: card.name for name, card in loaded.data.items()},
        "encoder": loaded.encoder.name,
        "tasks": {task: options.type for task, options in loaded.spec.tasks.items()},
        "models": {group: trainings.count(group) for group in loaded.spec.models},
        "seeds": list(dict.fromkeys(variant.seed for variant in variants)),
        "analyses": list(loaded.spec.analyses),
        "trainings": len(trainings),
        "files": [project.relative(file) for file in loaded.files],
    }


def _show(summary: dict[str, Any]) -> None:
    from mtlspec.cli import console
    from mtlspec.cli.console import together
    from mtlspec.io.words import counted

    console.say(f"{summary['file']}: correct", style="green")
    corpora = [name if name == card else together(f"{name} ({card})") for name, card in summary["data"].items()]
    fields = {
        "data": ", ".join(corpora),
        "encoder": summary["encoder"],
        "tasks": ", ".join(together(f"{task} ({kind})") for task, kind in summary["tasks"].items()),
        "models": ", ".join(together(f"{group} ({number})") for group, number in summary["models"].items()),
        "analyses": ", ".join(summary["analyses"]) or "none",
        "trainings": f"{summary['trainings']}, over {counted(len(summary['seeds']), 'seed')}",
    }
    for name, text in fields.items():
        console.say_field(f"  {name:9}  ", text)


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
