"""What to type where a command line lacks its argument: an example, and the names that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mtlspec.io.project import Project

_SHOWN = 12
_NONE_YET = {
    "specs": "there are none yet: `mtlspec init first` writes one",
    "runs": "there are none yet: `mtlspec run` makes one of a spec",
    "data cards": "there are none yet: `mtlspec data new FILE` writes one",
    "encoder cards": "there are none yet: `mtlspec init first` writes one",
}


def what_to_type(error: Exception) -> str | None:
    """`name the SPEC, as in ...; specs here: ...`, if an argument is missing."""
    parameter, context = getattr(error, "param", None), getattr(error, "ctx", None)
    if parameter is None or context is None or getattr(parameter, "param_type_name", "") != "argument":
        return None
    if getattr(error, "message", ""):
        return None  # it is there, but something is wrong with it
    name = (parameter.metavar or parameter.name).strip("[].").upper()
    example = _example(context)
    told = f"{context.command_path} needs {name}" + (f", as in `{example}`" if example else "")
    sort = _sort(context.command_path, name)
    return told if sort is None else f"{told}; {_listed(sort)}"


def _example(context: Any) -> str | None:
    """The first one of its help that begins with this command."""
    from mtlspec.cli.examples import filled

    epilogs = (each.command.epilog or "" for each in (context, context.parent))
    lines = [line.strip() for epilog in epilogs for line in epilog.splitlines()]
    own = next((line for line in lines if line.startswith(f"{context.command_path} ")), None)
    return None if own is None else filled(own).split("  ")[0]


def _sort(path: str, name: str) -> str | None:
    """What the argument is a name of."""
    if name == "CARD":
        return "encoder cards" if " encoder " in path else "data cards"
    if path.startswith("mtlspec registry"):
        return "runs"
    return "specs" if name == "SPEC" else None


def _listed(sort: str) -> str:
    from mtlspec.errors import SetupError
    from mtlspec.io.project import Project

    try:
        found = sorted(_names(Project.find(), sort))
    except SetupError:
        return "there is no project here: `mtlspec init first` makes one"
    if not found:
        return _NONE_YET[sort]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"{sort} here: {', '.join(found[:_SHOWN])}{more}"


def _names(project: Project, sort: str) -> list[str]:
    if sort == "runs":
        return [path.parent.name for path in (project.root / "registry" / "runs").glob("*/dvc.yaml")]
    folders = {
        "specs": project.root / "specs",
        "data cards": project.data_cards,
        "encoder cards": project.encoder_cards,
    }
    return [path.stem for path in folders[sort].glob("*.yaml")]
