"""A guessed card as text, and the spec that a user may begin with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from mtlspec.data.guess.card import GuessedCard
from mtlspec.data.guess.reading import TASKS
from mtlspec.errors import visible_json

_PLAIN = re.compile(r"[A-Za-z][\w./-]*")
_NOT_TEXT = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"}
_WIDTH = 110  # characters of a line before a mapping is written over several


def card_text(values: Mapping[str, Any]) -> str:
    """YAML, an entry a line."""
    written = [f"{key}: {_flow(value)}" for key, value in values.items() if key not in ("files", "hold_out")]
    for group in values["files"]:
        first, *more = group.items()
        lines = [f"  - {line}" if not at else f"    {line}" for at, line in enumerate(_entry(*first))]
        written += ["files:", *lines, *(f"    {line}" for key, value in more for line in _entry(key, value))]
    if "hold_out" in values:
        written.append(f"hold_out: {_flow(values['hold_out'])}")
    return "\n".join(written) + "\n"


def task_types(found: GuessedCard) -> dict[str, str]:
    """Layer -> the task that learns it; entities only where every tag spells a part of one."""
    entities = {"ner"} & found.spans
    return {
        layer: "biaffine_ner" if layer in entities else TASKS[kind] for layer, kind in found.card.layer_kinds.items()
    }


def spec_text(found: GuessedCard, encoder: str, train: Mapping[str, Any]) -> str:
    """A spec with one task for every layer, each learnt alone and all together; `train`: what its encoder needs."""
    card, tasks = found.card, task_types(found)
    lines = ["mtlspec: 1", f"name: {card.name}", f"data: {card.name}", f"encoder: {{card: {encoder}}}", "tasks:"]
    lines += [f"  {layer}: {{type: {task}, layer: {layer}}}" for layer, task in tasks.items()]
    lines += ["train:", *(f"  {key}: {_flow(value)}" for key, value in train.items())] if train else []
    lines += ["models:", "  stl: {tasks: each, sharing: hard}"]
    lines += ["  mtl: {tasks: all, sharing: hard}"] if len(tasks) > 1 else []
    return "\n".join(lines) + "\n"


def _entry(key: str, value: Any) -> list[str]:
    line = f"{key}: {_flow(value)}"
    if len(line) <= _WIDTH or not isinstance(value, dict):
        return [line]
    return [f"{key}:", *(f"  {name}: {_flow(below)}" for name, below in value.items())]


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(below)}" for key, below in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _NOT_TEXT
        return value if plain else visible_json(json.dumps(value, ensure_ascii=False))
    return json.dumps(value)
