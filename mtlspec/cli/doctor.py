"""`mtlspec doctor`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mtlspec.execute.health import Check

EXAMPLES = ("mtlspec doctor", "mtlspec doctor --json", "mtlspec doctor --encoder {encoder}")


def command(
    encoder: Annotated[
        str | None,
        typer.Option(help="Prove on this encoder (a card's name or a directory) that its heads can be reached."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> int:
    """Test this environment: versions, tools, disk, determinism, compiled code, workers; or one encoder's heads."""
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


def _as_json(found: Iterable[Check]) -> list[dict[str, object]]:
    return [{"check": check.name, "holds": check.holds, "detail": check.detail} for check in found]
