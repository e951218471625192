"""`mtlspec doctor`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mtlspec.execute.health import Check

EXAMPLES = (
    "mtlspec doctor",
    "mtlspec doctor --json",
    "mtlspec doctor --encoder {encoder}",
    "mtlspec doctor --kinds",
)


def command(
    encoder: Annotated[
        str | None,
        typer.Option(help="Prove on this encoder (a card's name or a directory) that its heads can be reached."),
    ] = None,
    kinds: Annotated[
        bool, typer.Option("--kinds", help="Try the project's own kinds: what ours promise, they must keep.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> int:
    """Test this environment: versions, tools, disk, determinism, compiled code, workers; or one encoder's heads.

    With `--kinds`, what lies in the project's `kinds/` is trained, interrupted, saved, loaded and compared.
    """
    if kinds:
        return _own_kinds(json_)
    return _environment(json_) if encoder is None else _heads(encoder, json_)


def _environment(json_: bool) -> int:
    from mtlspec.cli import console
    from mtlspec.execute.health import checks
    from mtlspec.io.project import Project

    found = []
    for check in checks(Project.find()):
        found.append(check)
        if not json_:
            mark = "ok  " if check.holds else "FAIL"
            console.say(f"{mark}  {check.name:<20} {check.detail}", style=None if check.holds else "red")
    if json_:
        console.say_json(_as_json(found))
    return 0 if all(check.holds for check in found) else 6


def _heads(encoder: str, json_: bool) -> int:
    """Exit code 3, that of an encoder which is not what it should be, if a check fails."""
    from mtlspec.cli import console
    from mtlspec.execute.head_health import examine

    examined = examine(encoder)
    if not json_:
        console.note(f"{encoder}: {examined.about}")
    found = list(examined.checks())
    sound = all(check.holds for check in found)
    if json_:
        console.say_json({"encoder": encoder, "weights": examined.about, "sound": sound, "checks": _as_json(found)})
    else:
        rows = [("ok" if check.holds else "FAIL", check.name, check.detail) for check in found]
        console.say_table(("", "check", "what was seen"), rows)
        verdict = "its heads can be gated, captured, biased and removed" if sound else "its heads must not be trusted"
        console.say(f"{encoder} ({examined.model.config.model_type}): {verdict}", style=None if sound else "red")
    return 0 if sound else 3


def _own_kinds(json_: bool) -> int:
    """Exit code 1 if a kind breaks a promise."""
    import tempfile
    from pathlib import Path

    from mtlspec.cli import console
    from mtlspec.errors import SetupError
    from mtlspec.io.project import Project
    from mtlspec.io.words import counted
    from mtlspec.spec.families import FOLDERS
    from mtlspec.spec.own_kinds import own_kinds

    project = Project.find()
    if not list(own_kinds(project)):
        hint = "a kind is a file in the folder of its family: " + ", ".join(FOLDERS)
        raise SetupError("E661", "the project has no kinds of its own", project.own_kinds, hint)
    from mtlspec.contract.examine import Tried, examine

    tried: list[Tried] = []
    with tempfile.TemporaryDirectory(prefix="mtlspec-") as scratch:
        for found in examine(project, Path(scratch)):
            if not json_ and (not tried or tried[-1].kind != found.kind):
                console.say(found.kind)
            tried.append(found)
            if not json_:
                mark = "ok  " if found.holds else "FAIL"
                detail = f": {found.detail}" if found.detail else ""
                console.say(f"  {mark}  {found.promise}{detail}", style=None if found.holds else "red")
    broken = {found.kind for found in tried if not found.holds}
    if json_:
        fields = [{"kind": f.kind, "promise": f.promise, "holds": f.holds, "detail": f.detail} for f in tried]
        console.say_json({"sound": not broken, "promises": fields})
    else:
        count = len({found.kind for found in tried})
        whole = counted(count, "kind")
        verdict = f"{len(broken)} of {whole}: a promise is broken" if broken else f"{whole}: all promises are kept"
        console.say(verdict, style="red" if broken else None)
    return 1 if broken else 0


def _as_json(found: Iterable[Check]) -> list[dict[str, object]]:
    return [{"check": check.name, "holds": check.holds, "detail": check.detail} for check in found]
