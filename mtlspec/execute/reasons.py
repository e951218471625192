"""Why a stage must run, as a reader of specs would say it: one phrase for each cause, never a dump."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mtlspec.plan.phrases import changed, changed_file, changed_paths, first_of

_CARDS = {"card.data": "data card", "card.encoder": "encoder card", "data_card.data": "data card"}


def option_reasons(old: Any, new: Mapping[str, Any]) -> list[str]:
    """What differs between two stage files; the bare fact if the old one tells nothing."""
    if not isinstance(old, dict) or old == new:
        return ["options changed"]
    before, after = (file.get("params") or {} for file in (old, new))
    phrases: list[str] = []
    for place in ("card", "data_card"):
        a, b = before.get(place), after.get(place)
        if a != b and isinstance(a, dict) and isinstance(b, dict):
            phrases += _card_reasons(place, a, b)
            before, after = ({k: v for k, v in params.items() if k != place} for params in (before, after))
    changes = [(path.removeprefix("spec."), a, b) for path, a, b in changed_paths(before, after)]
    told = [
        change for change in changes if not change[0].startswith("reproduce.")
    ] or changes  # follows from the others
    phrases += [changed(_named(path), a, b) for path, a, b in sorted(told, key=lambda change: change[0].count("."))]
    phrases += _input_reasons(old.get("inputs") or {}, new["inputs"])
    return list(dict.fromkeys(phrases)) or ["other code is named"]


def code_reasons(old: Any, new: Mapping[str, Any]) -> list[str]:
    """What differs between two code fingerprints: our sources, then packages."""
    told = isinstance(old, dict) and all(isinstance(old.get(part), dict) for part in ("files", "packages"))
    if not told or old == new:
        return ["code changed"]
    files = [changed_file(path, old["files"].get(path), new["files"].get(path)) for path in _keys(old, new, "files")]
    phrases = [f"code: {first_of(files)}"] if files else []
    packages = {name: (old["packages"].get(name), new["packages"].get(name)) for name in _keys(old, new, "packages")}
    return phrases + [changed(f"package {name}", a, b) for name, (a, b) in packages.items()]


def parent_reasons(parents: Sequence[str], undecided: Sequence[str]) -> list[str]:
    """The stages that must run first; those that choose tasks may leave things as they are."""
    phrases = [f"after {first_of(parents)}"] if parents else []
    return phrases + [f"after {name}, if it chooses other tasks" for name in undecided]


def _card_reasons(place: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    what = _CARDS.get(f"{place}.{new.get('card')}", "card")
    head = f"{what} {new.get('name')}"
    if old.get("name") != new.get("name"):
        return [f"{what}: {old.get('name')} → {new.get('name')}"]
    phrases = []
    for path, a, b in changed_paths(old, new):
        if path.startswith("sha256"):
            phrases.append(f"{head}: files changed (sha256)")
        else:
            phrases.append(changed(f"{head}: {path.removeprefix('source.')}", a, b))
    return phrases


def _input_reasons(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    other = [name for name in new.values() if name not in old.values()]
    gone = [name for name in old.values() if name not in new.values()]
    phrases = [f"reads {first_of(other)}"] if other else []
    return phrases + ([f"no longer reads {first_of(gone)}"] if gone else [])


def _named(path: str) -> str:
    parts = path.split(".")
    if path == "models":
        return "the models that it reads"
    return f"task {parts[1]}" if parts[0] == "tasks" and len(parts) == 2 else f"option {path}"


def _keys(old: Mapping[str, Any], new: Mapping[str, Any], part: str) -> list[str]:
    names = old[part].keys() | new[part].keys()
    return sorted(name for name in names if old[part].get(name) != new[part].get(name))
