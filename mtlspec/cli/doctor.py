"""`mtlspec doctor`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mtlspec.contract.examine import Tried
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

    With `--kinds`, what lies in the project's `kinds/` is trained, interrupted, saved, loaded and compared. What cannot
    be a kind, such as a folder of no family, is named, and the others are tried.
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
    """Exit code 1 if a kind breaks a promise, or if something in `kinds/` cannot be one."""
    import tempfile
    from pathlib import Path

    from mtlspec.cli import console
    from mtlspec.errors import SetupError
    from mtlspec.io.project import Project
    from mtlspec.spec.families import FOLDERS
    from mtlspec.spec.own_kinds import own_kinds, use_sound_kinds

    project = Project.find()
    lost = [str(problem) for problem in use_sound_kinds()]
    if not list(own_kinds(project)) and not lost:
        hint = "a kind is a file in the folder of its family: " + ", ".join(FOLDERS)
        raise SetupError("E661", "the project has no kinds of its own", project.own_kinds, hint)
    from mtlspec.contract.examine import examine

    for problem in [] if json_ else lost:
        console.say(f"FAIL  {problem}", style="red")
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
    sound = not lost and all(found.holds for found in tried)
    if json_:
        fields = [{"kind": f.kind, "promise": f.promise, "holds": f.holds, "detail": f.detail} for f in tried]
        console.say_json({"sound": sound, "not kinds": lost, "promises": fields})
    else:
        console.say(_verdict(tried, len(lost)), style=None if sound else "red")
    return 0 if sound else 1


def _verdict(tried: Sequence[Tried], lost: int) -> str:
    from mtlspec.io.words import counted

    broken = {found.kind for found in tried if not found.holds}
    whole = counted(len({found.kind for found in tried}), "kind")
    verdict = f"{len(broken)} of {whole}: a promise is broken" if broken else f"{whole}: all promises are kept"
    beside = f"{lost} of what lies in kinds/ cannot be found as a kind"
    return verdict if not lost else f"{verdict}; {beside}" if tried else beside


def _as_json(found: Iterable[Check]) -> list[dict[str, object]]:
    return [{"check": check.name, "holds": check.holds, "detail": check.detail} for check in found]
