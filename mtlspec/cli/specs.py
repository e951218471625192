"""How commands name a spec: by its file, or by the name of a file in specs/."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from mtlspec.errors import MtlspecError, SpecError, did_you_mean
from mtlspec.io.project import Project
from mtlspec.spec.sources import Sources, instead_of_file


def find_spec(name: str, project: Project) -> Path:
    """The absolute path of a spec file inside the project."""
    given, specs = Path(name), project.root / "specs"
    candidates = (given, project.root / given, specs / given, specs / f"{name}.yaml")
    for candidate in candidates:
        if _is_file(candidate):
            return project.inside(candidate.resolve())
    message = f"there is no spec '{name}'"
    for candidate in candidates if name else ():
        if (found := instead_of_file(candidate)) is not None:
            message = f"the spec '{name}' is no file: {project.relative(candidate.absolute())} is {found}"
    known = [path.stem for path in specs.glob("*.yaml") if _is_file(path)]
    raise SpecError("E190", message, None, did_you_mean(given.stem, known))


def run_name(name: str, project: Project) -> str:
    """The run that a spec's file, or the name of one in specs/, stands for: the spec says what it is called."""
    is_file = name.endswith((".yaml", ".yml"))
    if is_file or not project.run(name).base.is_dir():
        with suppress(MtlspecError):
            said = Sources(project).spec(find_spec(name, project), ()).get("name")
            if said is not None and isinstance(said.value, str):
                return said.value
    return Path(name).stem if is_file else name


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for the file system
        return False
