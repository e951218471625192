"""How commands name a spec: by its file, or by the name of a file in specs/."""

from __future__ import annotations

from pathlib import Path

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.io.project import Project


def find_spec(name: str, project: Project) -> Path:
    """The absolute path of a spec file inside the project."""
    given = Path(name)
    for candidate in (given, project.root / given, project.root / "specs" / f"{name}.yaml"):
        if candidate.is_file():
            return project.inside(candidate.resolve())
    known = [path.stem for path in (project.root / "specs").glob("*.yaml")]
    raise SpecError("E190", f"there is no spec '{name}'", None, did_you_mean(Path(name).stem, known))
