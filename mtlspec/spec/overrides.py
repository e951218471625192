"""`--set` overrides, and the name of the run that they make: a variant, which never replaces the run of its spec."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mtlspec.errors import MtlspecError, Place, Problems, SpecError
from mtlspec.io.digest import canonical_json
from mtlspec.io.project import Project
from mtlspec.spec.nodes import Node, merge
from mtlspec.spec.slugs import cut, setting_slug
from mtlspec.spec.words import shorten, show
from mtlspec.spec.yaml import parse_yaml

_SEGMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NAMING = "name"  # the key whose override names the variant; `--as NAME` is short for it


def naming(name: str) -> str:
    """The override that gives a variant a name of its own."""
    return f"{_NAMING}={name}"


def name_of_run(spec: str, overrides: Sequence[str]) -> str:
    """What a spec's run is called: as the spec is, or as its overrides say, or after the overrides."""
    said = settings(overrides)
    if not said:
        return spec
    named = name_said(overrides)
    if named is not None:
        return named
    return cut("-".join([spec, *(setting_slug(key, value) for key, value in said)]))


def name_said(overrides: Sequence[str]) -> str | None:
    """The name that overrides give, if one does."""
    return next((str(value) for key, value in settings(overrides) if key == _NAMING), None)


def without_name(overrides: Sequence[str]) -> list[str]:
    """What overrides set beside the name, as it was said."""
    return [text for text in overrides if text.partition("=")[0].strip() != _NAMING]


def settings(overrides: Sequence[str]) -> tuple[tuple[str, Any], ...]:
    """Key and value of each override that counts; in a fixed order, unless one lies inside another's value."""
    said: dict[str, Any] = {}
    for text in overrides:
        key, _, raw = text.partition("=")
        said.pop(key.strip(), None)
        said[key.strip()] = parse_yaml(raw.encode(errors="surrogateescape"), "--set").plain()
    nested = any(other.startswith(f"{key}.") for key in said for other in said)
    return tuple(said.items() if nested else sorted(said.items()))


def same(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether two lists of overrides say the same, whatever their order and spelling."""
    return canonical_json(settings(a)) == canonical_json(settings(b))


def apply_overrides(node: Node, overrides: Sequence[str]) -> tuple[Node, list[MtlspecError]]:
    """Those that can be, laid on a spec in their order; and what is wrong with the others."""
    problems: list[MtlspecError] = []
    for text in overrides:
        try:
            node = apply_override(node, text)
        except MtlspecError as error:
            problems.extend(error.problems)
    return node, problems


def check_name(spec: str, path: Path, project: Project, overrides: Sequence[str]) -> Iterator[SpecError]:
    """A variant is called neither like its own spec nor like another one, whose runs it would replace."""
    name, file = name_of_run(spec, overrides), project.relative(path.absolute())
    place = next((_place(text) for text in overrides if text.partition("=")[0].strip() == _NAMING), None)
    if name == spec:
        message = f"'{name}' is what {file} itself is called, and overrides do not replace its run"
        yield SpecError("E820", message, place, "choose another name, or edit the file")
    elif (other := project.root / "specs" / f"{name}.yaml").is_file() and not other.samefile(path):
        message = f"'{name}' is the name of another spec, {project.relative(other)}"
        yield SpecError("E821", message, place, "choose another name")


def apply_override(node: Node, text: str) -> Node:
    """`a.b.c=value` laid on a spec; the value is YAML: a scalar, `[1, 2]` or `{a: 1}`."""
    place = _place(text)
    dotted, equals, raw = text.partition("=")
    segments = dotted.strip().split(".")
    if not equals or not all(_SEGMENT.fullmatch(segment) for segment in segments):
        raise SpecError("E138", "an override is written `key.key=value`", place)
    if segments == ["extends"]:
        raise SpecError("E175", "`extends` cannot be set", place, "write it in the spec's file")
    if not raw.strip():
        raise SpecError("E139", "the value is missing", place, "write `null` to unset a key")
    try:
        parsed = parse_yaml(raw.encode(errors="surrogateescape"), place.file)
    except MtlspecError as error:
        problems = [SpecError(p.code, p.message, place, _override_hint(p)) for p in error.problems]
        raise Problems(problems) from None
    over = _said_at(parsed, place)
    for depth in reversed(range(len(segments))):
        below = node.get(*segments[:depth])
        if below is not None and not isinstance(below.value, dict | str | None):
            through = ".".join(segments[:depth])
            raise SpecError("E140", f"'{through}' is {show(below.plain())} and has no keys", place, "set it as a whole")
        over = Node({segments[depth]: over}, place, place)
    return merge(node, over)


def _override_hint(problem: MtlspecError) -> str | None:
    """Hints of the YAML reader speak of files."""
    return "use a UTF-8 locale" if problem.code == "E104" else problem.hint


def _said_at(node: Node, place: Place) -> Node:
    """The same tree, with one place for everything in it."""
    if isinstance(node.value, dict):
        return Node({key: _said_at(child, place) for key, child in node.value.items()}, place, place)
    if isinstance(node.value, list):
        return Node([_said_at(child, place) for child in node.value], place, place)
    return Node(node.value, place, place)


def _place(text: str) -> Place:
    return Place(f"--set {shorten(' '.join(text.encode(errors='replace').decode().split()))}")
