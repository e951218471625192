"""How commands name a spec: by its file, or by the name of a file in specs/."""

from __future__ import annotations

from pathlib import Path

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.io.project import Project


def find_spec(name: str, project: Project) -> Path:
    """The absolute path of a spec file inside the project."""
    given = Path(name)
    for candidate in (given, project.root / given, project.root / "specs" / f"{name}.yaml"):
        if _is_file(candidate):
            return project.inside(candidate.resolve())
    known = [path.stem for path in (project.root / "specs").glob("*.yaml")]
    raise SpecError("E190", f"there is no spec '{name}'", None, did_you_mean(Path(name).stem, known))


def run_name(name: str) -> str:
    """The run that a spec's file or name stands for."""
    return Path(name).stem if name.endswith((".yaml", ".yml")) else name


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for the file system
        return False
