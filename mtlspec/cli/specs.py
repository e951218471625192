"""How commands name a spec: by its file, by the name of a file in specs/, or by the name of a run of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mtlspec.errors import MtlspecError, SpecError, did_you_mean
from mtlspec.io.project import Project
from mtlspec.plan.source import read_source
from mtlspec.spec.load import own_name
from mtlspec.spec.overrides import name_said, naming
from mtlspec.spec.sources import Sources, instead_of_file

_RUN = r"[a-z][a-z0-9_-]*"  # as runs are called; a spec's name, and what overrides add to it


def find_wanted(
    name: str, project: Project, overrides: Sequence[str] | None = None, called: str | None = None
) -> tuple[Path, tuple[str, ...]]:
    """The spec file and the overrides that a command line asks for; a variant's name stands for its own."""
    more = (*(overrides or ()), *([naming(called)] if called is not None else []))
    try:
        return find_spec(name, project), more
    except SpecError:
        told = read_source(project.run(name)) if re.fullmatch(_RUN, name) else None
        if told is None or not (project.root / told.spec).is_file():
            raise
    kept = [text for text in told.overrides if not more or name_said([text]) is None]
    return project.inside(project.root / told.spec), (*kept, *more)


def find_spec(name: str, project: Project) -> Path:
    """The absolute path of a spec file inside the project."""
    given, specs, runs = Path(name), project.root / "specs", project.root / "registry" / "runs"
    candidates = (given, project.root / given, specs / given, specs / f"{name}.yaml")
    for candidate in candidates:
        if _is_file(candidate):
            return project.inside(candidate.resolve())
    message = f"there is no spec '{name}'"
    for candidate in candidates if name else ():
        if (found := instead_of_file(candidate)) is not None:
            message = f"the spec '{name}' is no file: {project.relative(candidate.absolute())} is {found}"
    known = {path.stem for path in specs.glob("*.yaml") if _is_file(path)}
    known |= {path.parent.name for path in runs.glob("*/dvc.yaml")}
    raise SpecError("E190", message, None, did_you_mean(given.stem, known))


def run_name(name: str, project: Project) -> str:
    """The run that a spec's file, or the name of one in specs/, stands for: the spec says what it is called.

    Neither a run nor a spec is an error; a run stays when its spec is gone.
    """
    is_file = name.endswith((".yaml", ".yml"))
    called = Path(name).stem if is_file else name
    is_run = project.run(called).base.is_dir()
    if is_run and not is_file:
        return called
    try:
        path = find_spec(name, project)
    except MtlspecError:
        if is_run:
            return called
        raise
    with suppress(MtlspecError):
        return own_name(Sources(project).spec(path)) or called
    return called


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for the file system
        return False
