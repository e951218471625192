"""The files of a package: all that a reader needs of a run, made from its record and what lies beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import yaml

from mtlspec.errors import IntegrityError, MtlspecError
from mtlspec.io.digest import digest_file, pretty_json
from mtlspec.io.manifest import verify_manifest
from mtlspec.io.project import OWN_KINDS, Project, RunPlaces
from mtlspec.plan.build import resolved
from mtlspec.plan.code import OWN
from mtlspec.plan.source import read_source
from mtlspec.spec.load import load_spec
from mtlspec.spec.own_kinds import use_own_kinds
from mtlspec.use.frames import Results
from mtlspec.use.models import artifact_of
from mtlspec.use.package.checklists import answers, as_markdown
from mtlspec.use.package.croissant import croissant
from mtlspec.use.package.known import Known


def contents(project: Project, known: Known, with_report: bool) -> dict[str, bytes]:
    """Name in the package -> bytes."""
    use_own_kinds(project.root)
    record = known.record
    places, name = project.run(record["spec"]["name"]), record["spec"]["name"]
    found = answers(known)
    texts = {
        "resolved_spec.yaml": _yaml(known.spec),
        "code.json": pretty_json({key: record[key] for key in ("code", "environments", "lock")}),
        "scores.csv": Results(record, places).scores.to_csv(index=False, lineterminator="\n"),
        "checklist.md": as_markdown(found, name),
        "checklist.json": pretty_json([asdict(one) for one in found]),
        f"cards/encoders/{known.encoder['name']}.yaml": _yaml(known.encoder),
        **{f"cards/data/{card['name']}.yaml": _yaml(card) for card in known.cards.values()},
        **{f"croissant/{corpus}.json": pretty_json(croissant(known, corpus)) for corpus in known.cards},
    }
    return {
        **{path: text.encode() for path, text in texts.items()},
        "record.json": places.record.read_bytes(),
        **dict(_as_written(project, places, record)),
        **dict(_sources(project, record)),
        **dict(_report(places, record) if with_report else _summary(places, record)),
    }


def _as_written(project: Project, places: RunPlaces, record: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """The spec's own file, if it still says what was run."""
    source = read_source(places)
    if source is None or not (project.root / source.spec).is_file():
        return
    path = project.inside(project.root / source.spec)
    with suppress(MtlspecError):
        said = resolved(load_spec(path, project, source.overrides))
        ran = {
            "spec": record["spec"]["resolved"],
            "data": record["data"]["cards"],
            "encoder": record["encoder"]["card"],
        }
        text = path.read_bytes()
        if _agrees(said, ran, text.decode()):
            yield f"specs/{path.name}", text


def _agrees(said: Any, ran: Any, text: str) -> bool:
    """Whether a spec says today what was run; options that it does not name and mtlspec learnt since do not count."""
    if isinstance(ran, Mapping) and isinstance(said, Mapping):
        known = all(key in said and _agrees(said[key], value, text) for key, value in ran.items())
        return known and not any(re.search(rf"\b{re.escape(key)}\b", text) for key in said.keys() - ran.keys())
    if isinstance(ran, list) and isinstance(said, list):
        return len(ran) == len(said) and all(_agrees(*pair, text) for pair in zip(said, ran, strict=True))
    return bool(said == ran)


def _sources(project: Project, record: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Pinned versions and the project's own kinds, as far as they are still those of the record."""
    wanted = {path.removeprefix(OWN): sha for path, sha in record["code"]["files"].items() if path.startswith(OWN)}
    files = {f"{OWN_KINDS}/{path}": (project.own_kinds / path, sha) for path, sha in wanted.items()}
    files["requirements.lock"] = (project.lock_file, record["lock"])
    for name, (path, sha) in files.items():
        if path.is_file() and digest_file(path) == sha:
            yield name, path.read_bytes()


def _report(places: RunPlaces, record: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """The recorded one, every byte compared."""
    folder = artifact_of(places, "report", f"the report of '{places.spec_name}'")
    if verify_manifest(folder) != record["stages"]["report"]["artifact"]:
        message = "the report on this machine is not the one of the record"
        raise IntegrityError("E572", message, folder, f"`mtlspec run {places.spec_name}` brings the two together")
    for name in sorted(record["stages"]["report"]["files"]):
        yield f"report/{name}", (folder / name).read_bytes()


def _summary(places: RunPlaces, record: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """What git has of the report, if it is still that of the record."""
    name = places.summary.name
    recorded = record["stages"]["report"]["files"].get(name)
    if places.summary.is_file() and digest_file(places.summary) == recorded:
        yield f"report/{name}", places.summary.read_bytes()


def _yaml(value: Mapping[str, Any]) -> str:
    text: str = yaml.safe_dump(dict(value), sort_keys=True, allow_unicode=True, width=120)
    return text
