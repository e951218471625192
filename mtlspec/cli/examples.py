"""The names in examples: those of the project that somebody is in, or those that `mtlspec init first` would make."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from mtlspec.errors import SetupError

_STARTER = {"spec": "first", "data": "english_mini", "encoder": "tiny", "layer": "xpos"}


def filled(text: str) -> str:
    """Lines of examples with their `{spec}`, `{data}`, `{layer}` and `{encoder}`."""
    found = names() if "{" in text else {}
    return re.sub(r"\{(\w+)\}", lambda match: found.get(match[1], match[0]), text)


def names() -> dict[str, str]:
    """A spec of the project and its cards: one on generated data if there is one, since everybody can run that."""
    from mtlspec.io.project import Project

    try:
        project = Project.find()
    except SetupError:
        return _STARTER
    cards = {path.stem: _read(path) for path in sorted(project.data_cards.glob("*.yaml"))}
    told = [_named(path, cards) for path in sorted((project.root / "specs").glob("*.yaml"))]
    return min(told, key=lambda each: (not each[0], each[1]["spec"]))[1] if told else _STARTER


def _named(spec: Path, cards: Mapping[str, str]) -> tuple[bool, dict[str, str]]:
    """Whether the spec is on generated data, and the names."""
    text = _read(spec)
    data = re.search(r"^data: *(\w+) *(?:#.*)?$", text, re.MULTILINE)
    encoder = re.search(r"^encoder: *(?:\{ *card: *)?(\w+)", text, re.MULTILINE)
    card = data[1] if data else next(iter(cards), _STARTER["data"])
    layer = re.search(r"^ *layers: *\{ *(\w+):", cards.get(card, ""), re.MULTILINE)
    generated = data is not None and re.search(r"^generator:", cards.get(card, ""), re.MULTILINE) is not None
    return generated, {
        "spec": spec.stem,
        "data": card,
        "encoder": encoder[1] if encoder else _STARTER["encoder"],
        "layer": layer[1] if layer else _STARTER["layer"],
    }


def _read(path: Path) -> str:
    """As text: an example is shown also where the file has a mistake."""
    return path.read_text(encoding="utf-8", errors="replace")
