"""A project's own kinds: every folder of its `kinds/` extends a family, `kinds/sharing/mine.py` that of strategies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from mtlspec import kinds
from mtlspec.errors import MtlspecError, Place, Problems, SetupError, SpecError, did_you_mean
from mtlspec.io.project import Project
from mtlspec.spec.cards import NAME
from mtlspec.spec.families import FAMILIES, FOLDERS


def use_own_kinds(start: Path | None = None) -> None:
    """From now on, here and in processes that are started: the kinds of the project at or above `start`, if any."""
    if problems := use_sound_kinds(start, all_or_none=True):
        raise Problems(problems)


def use_sound_kinds(start: Path | None = None, all_or_none: bool = False) -> list[MtlspecError]:
    """As `use_own_kinds`, without what is wrong of them: that is returned."""
    kinds.every_added()  # mistakes in what others set are told first
    project = None
    with suppress(SetupError):
        project = Project.find(start)
    if project is None or not project.own_kinds.is_dir():
        return []
    problems = list(_problems(project))
    for folder in _folders(project.own_kinds) if not (problems and all_or_none) else ():
        if folder.name in FOLDERS:
            kinds.extend(FOLDERS[folder.name], folder)
    return problems


def own_kinds(project: Project) -> Iterator[tuple[str, str]]:
    """The project's own kinds, family and name, without those that cannot be one; `use_own_kinds` came before."""
    for folder in _folders(project.own_kinds) if project.own_kinds.is_dir() else ():
        if folder.name not in FOLDERS:
            continue
        family = FOLDERS[folder.name]
        for name in kinds.names(family):
            own = kinds.own_source(f"{family}.{name}")
            if own is not None and own.folder == folder and not list(_name_problems(name, family, Place(""))):
                yield family, name


def _folders(root: Path) -> list[Path]:
    """What lies in `kinds/` and is meant as a family's folder."""
    return [path for path in sorted(root.iterdir()) if path.is_dir() and path.name[0] not in "._"]


def _problems(project: Project) -> Iterator[MtlspecError]:
    """What of `kinds/` would be overlooked, or would stand in for a file of ours."""

    def place(path: Path) -> Place:
        return Place(project.relative(path))

    for file in sorted(project.own_kinds.glob("*.py")):
        hint = "put it into that of its family: " + ", ".join(FOLDERS)
        yield SpecError("E840", "it lies in no family's folder", place(file), hint)
    for folder in _folders(project.own_kinds):
        if folder.name not in FOLDERS:
            hint = did_you_mean(folder.name, FOLDERS) or "known: " + ", ".join(FOLDERS)
            yield SpecError("E841", f"no family of kinds is called '{folder.name}'", place(folder), hint)
            continue
        sources = (
            path for path in sorted(folder.iterdir()) if path.suffix == ".py" or (path / "__init__.py").is_file()
        )
        for path in sources:
            yield from _name_problems(path.stem, FOLDERS[folder.name], place(path))


def _name_problems(name: str, family: str, place: Place) -> Iterator[SpecError]:
    if name == "__init__":
        return
    if re.fullmatch(NAME, name.removeprefix("_")) is None:
        hint = "begin with a small letter; then small letters, digits and `_`, at most 40"
        yield SpecError("E842", f"'{name}' is not a name for a kind", place, hint)
    elif name in _names_of_ours(family):
        word = "module" if name.startswith("_") else FAMILIES.get(family, "kind")
        yield SpecError("E835", f"mtlspec has a {word} '{name}' already", place, "give the file another name")


def _names_of_ours(family: str) -> set[str]:
    """Files and folders of the package itself, private ones included."""
    spec = find_spec(family)
    assert spec is not None and spec.origin is not None
    return {path.stem for path in Path(spec.origin).parent.iterdir()}
