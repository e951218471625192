"""Write a plan to disk: stage files, code fingerprints and DVC's pipelines; remove what no longer belongs."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mtlspec.errors import MtlspecError, Place, SpecError, StageError
from mtlspec.execute.pipelines import show_if_hidden, write_results_files
from mtlspec.io.digest import pretty_json
from mtlspec.io.project import Project, RunPlaces
from mtlspec.io.write import write_text_if_changed
from mtlspec.plan.build import build_plan
from mtlspec.plan.code import PACKAGE
from mtlspec.plan.dvc import PIPELINE, PLAN_STAGE, pipeline_text, stage_file
from mtlspec.plan.source import Source, read_source
from mtlspec.plan.types import Plan
from mtlspec.spec.load import LoadedSpec, load_spec, own_name
from mtlspec.spec.overrides import name_of_run, same
from mtlspec.spec.sources import Sources


@dataclass(frozen=True)
class Materialised:
    """A plan with the files it consists of, as text; nothing is written yet."""

    project: Project
    places: RunPlaces
    loaded: LoadedSpec
    plan: Plan
    fixed: dict[Path, str]  # what the spec alone determines: stage files and dvc.yaml
    derived: dict[Path, str]  # what the code determines too: plan.json and fingerprints; outputs of the plan stage

    def write(self) -> None:
        """Write all files that differ, then remove stages, records and artifacts that are no longer in the plan.

        From then on DVC sees them, whatever their data.
        """
        for path, text in {**self.fixed, **self.derived}.items():
            write_text_if_changed(self.project.inside(path), text)
        self._remove_leftovers()
        write_results_files(self.project)
        show_if_hidden(self.project, self.places)

    def _remove_leftovers(self) -> None:
        names = {stage.name for stage in self.plan.stages}
        base = self.places.base
        keep = {*self.fixed, *self.derived}
        for folder in ("stages", "code"):
            for path in base.joinpath(folder).glob("*.json"):
                if path not in keep:
                    path.unlink()
        for folder in ("records", "timings"):
            for path in base.joinpath(folder).glob("*.json"):
                if path.stem not in names:
                    path.unlink()
        for folder in ("artifacts", "kept", "work"):
            for path in base.joinpath(folder).glob("*"):
                if path.is_dir() and path.name not in names:
                    shutil.rmtree(path)  # finished artifacts stay in DVC's cache and come back with their stage


def materialise(project: Project, spec_path: Path, overrides: Sequence[str] = ()) -> Materialised:
    """Load, check and plan a spec; pure until `write`."""
    return materialise_loaded(project, load_spec(spec_path, project, overrides))


def materialise_loaded(project: Project, loaded: LoadedSpec) -> Materialised:
    require_own_name(project, loaded)
    plan = build_plan(loaded)
    places = project.run(plan.spec)
    source = Source(loaded.source, loaded.overrides)
    planned_from = [*loaded.files, project.lock_file, project.own_kinds, PACKAGE]
    relative = [
        _from_run(project, path) for path in planned_from if path.exists() and path.is_relative_to(project.root)
    ]
    fixed = {
        places.params(PLAN_STAGE): source.text(),
        places.base / PIPELINE: pipeline_text(plan, relative),
    }
    fixed |= {places.params(stage.name): stage_file(stage) for stage in plan.stages}
    derived = {places.plan: plan.text()}
    derived |= {places.code(unit.name): pretty_json(unit.model_dump(mode="json")) for unit in plan.units}
    return Materialised(project, places, loaded, plan, fixed, derived)


def planned_today(project: Project, places: RunPlaces) -> Materialised:
    """What the spec of a run says now; a run that bears its spec's own name is that of the file as it stands."""
    told = read_source(places)
    if told is None:
        message = "its stages are broken"
        raise SpecError("E822", message, None, f"run it again, or `mtlspec registry remove {places.spec_name}`")
    path = project.root / told.spec
    is_own = own_name(Sources(project).spec(path)) == places.spec_name
    planned = materialise(project, path, () if is_own else told.overrides)
    if planned.plan.spec != places.spec_name:
        hint = f"`mtlspec registry remove {places.spec_name}` if it is not wanted any more"
        raise SpecError("E823", f"the spec is called '{planned.plan.spec}' now", Place(told.spec), hint)
    return planned


def require_own_name(project: Project, loaded: LoadedSpec) -> None:
    """Neither a copy of a spec that kept its name nor other overrides replace the results of the first."""
    name = loaded.spec.name
    told = read_source(project.run(name))
    if told is None:
        return
    if told.spec != loaded.source and name in _called(project, told):
        message = f"the name '{name}' is that of {told.spec}, which has been run"
        hint = f"give this spec another name, or `mtlspec registry remove {name}`"
        raise SpecError("E189", message, Place(loaded.source), hint)
    if told.spec == loaded.source and loaded.overrides and not same(told.overrides, loaded.overrides):
        message = f"the name '{name}' is that of another variant, `{told.command()}`"
        hint = f"choose another name with `--as`, or `mtlspec registry remove {name}`"
        raise SpecError("E824", message, Place(loaded.source), hint)


def _called(project: Project, told: Source) -> set[str]:
    """What a run's spec is called now, and what its overrides make of that; nothing if its file is gone or broken."""
    path = project.root / told.spec
    with suppress(MtlspecError):
        base = own_name(Sources(project).spec(path)) if path.is_file() else None
        return {base, name_of_run(base, told.overrides)} if base is not None else set()
    return set()


def remove_run(project: Project, places: RunPlaces) -> None:
    """Forget a run: its stages, records and artifacts. Git and DVC's cache still have what they had."""
    shutil.rmtree(places.base)
    write_results_files(project)


def plan_again(project: Project, places: RunPlaces) -> None:
    """The plan stage: plan from the same spec; refresh what depends on code, refuse if the spec itself changed."""
    planned = planned_today(project, places)
    for path, text in planned.fixed.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            raise StageError(
                "E408",
                "the spec, a card or a default changed since the stages were written",
                path,
                f"`mtlspec plan --write {places.spec_name}` writes them anew",
            )
    for path, text in planned.derived.items():
        write_text_if_changed(path, text)


def _from_run(project: Project, path: Path) -> str:
    return f"../../../{path.relative_to(project.root).as_posix()}"
