"""The metadata of a package as an RO-Crate: what each file is, where it comes from, what made it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mtlspec.io.digest import digest_bytes, pretty_json
from mtlspec.use.package.croissant import CONFORMS
from mtlspec.use.package.known import Known

METADATA = "ro-crate-metadata.json"
_VERSION = "1.2"
_FORMATS = {
    "json": "application/json", "md": "text/markdown", "csv": "text/csv", "yaml": "application/yaml",
    "html": "text/html", "lock": "text/plain", "py": "text/x-python",
}  # fmt: skip
_FOLDERS = {
    "report/": "The report as it was recorded: page, text, and what follows.",
    "report/tables/": "Every table of the report as CSV, LaTeX and JSON.",
    "report/figures/": "Every figure of the report as SVG and PNG.",
    "report/glue/": "Predictions in the form that the GLUE server takes.",
}
_ABOUT = {
    "README.md": "What is in the package, and how to compute it again.",
    "record.json": "The record of the run: digests of everything that went in and came out, and all scores.",
    "resolved_spec.yaml": "The experiment with all defaults written out, to be read.",
    "code.json": "The code fingerprint: sha256 of each source that a stage could run, packages, environments.",
    "scores.csv": "Every score of every trained model, with its signature.",
    "checklist.md": "Answers to the checklists of ACL and NeurIPS that follow from the record.",
    "checklist.json": "The same answers for programs.",
    "requirements.lock": "Exact versions of all packages.",
    "report/report.html": "The report, one page without references to the network.",
    "report/report.md": "The report as text.",
    "report/summary.md": "What the report says first.",
}


def folders(files: Mapping[str, bytes]) -> list[str]:
    """Those that the metadata describe."""
    return [folder for folder in _FOLDERS if any(name.startswith(folder) for name in files)]


def described(files: Mapping[str, bytes], known: Known, date: str) -> bytes:
    """The text of the metadata file; files in tables and figures are told by their folders."""
    from rocrate.rocrate import ROCrate

    crate = ROCrate(version=_VERSION)
    _root(crate, known, date)
    own = folders(files)
    parts = {folder: crate.add_dataset(None, folder, properties=_folder(folder)) for folder in own}
    for name in sorted(files):
        if not name.startswith(tuple(folder for folder in own if folder != "report/")):
            parts[name] = crate.add_file(None, name, properties=_file(name, files[name]))
    inside = [part for name, part in parts.items() if name.removeprefix("report/") not in ("", name)]
    if inside:
        parts["report/"]["hasPart"] = inside if len(inside) > 1 else inside[0]
    croissant = crate.add(_context(crate, CONFORMS, "CreativeWork", {"name": "Croissant 1.0"}))
    for name in known.cards:
        parts[f"croissant/{name}.json"]["about"] = _corpus(crate, known, name)
        parts[f"croissant/{name}.json"]["conformsTo"] = croissant
    action = crate.add(_action(crate, known))
    action["instrument"] = crate.add(_software(crate, known))
    action["object"] = [entity for name, entity in parts.items() if name.startswith(("specs/", "cards/", "kinds/"))]
    action["result"] = [parts[name] for name in ("record.json", "scores.csv", "report/") if name in parts]
    crate.root_dataset["mentions"] = action
    return pretty_json(crate.metadata.generate()).encode()


def _root(crate: Any, known: Known, date: str) -> None:
    name = known.record["spec"]["name"]
    crate.name = f"{name}: an experiment in multi-task learning"
    crate.description = known.spec.get("description") or f"The run {name} of mtlspec: {known.runs()}."
    crate.root_dataset["datePublished"] = date
    crate.license = crate.add(_context(crate, "#licence", "CreativeWork", _licence(known)))


def _licence(known: Known) -> dict[str, Any]:
    told = "; ".join(known.licences())
    return {"name": "Licences", "description": f"The package states none of its own. {told}. No corpus is in it."}


def _corpus(crate: Any, known: Known, name: str) -> Any:
    card = known.cards[name]
    told = {"name": card["licence"], "description": f"What the card of the corpus {name} says of its licence."}
    about = {"name": card.get("title") or name, "description": card["source"], "inLanguage": card["language"]}
    corpus = crate.add(_context(crate, f"#corpus-{name}", "Dataset", about))
    corpus["license"] = crate.add(_context(crate, f"#licence-{name}", "CreativeWork", told))
    return corpus


def _software(crate: Any, known: Known) -> Any:
    code = known.record["code"]
    about = {
        "name": "mtlspec",
        "description": f"Its sources have the fingerprint in code.json ({len(code['files'])} files).",
        "softwareRequirements": [f"{name}=={version}" for name, version in sorted(code["packages"].items())],
    }
    return _context(crate, "#mtlspec", "CreativeWork", about)  # an application must have an address, which none knows


def _action(crate: Any, known: Known) -> Any:
    about = {"name": f"mtlspec run {known.record['spec']['name']}", "description": f"{known.runs()}; {known.budget()}."}
    return _context(crate, "#run", "CreateAction", about)


def _context(crate: Any, identifier: str, kind: str, about: Mapping[str, Any]) -> Any:
    from rocrate.model.contextentity import ContextEntity

    return ContextEntity(crate, identifier, properties={"@type": kind, **about})


def _folder(name: str) -> dict[str, Any]:
    return {"name": name.rstrip("/"), "description": _FOLDERS[name]}


def _file(name: str, data: bytes) -> dict[str, Any]:
    about = {
        "name": name,
        "description": _ABOUT.get(name) or _by_folder(name),
        "contentSize": str(len(data)),
        "sha256": digest_bytes(data),
        "encodingFormat": _FORMATS.get(name.rpartition(".")[2], "application/octet-stream"),
    }
    return {**about, **({"encodingFormat": "application/ld+json"} if name.startswith("croissant/") else {})}


def _by_folder(name: str) -> str:
    told = {
        "croissant": "A Croissant description of a corpus: files with digests, splits, layers.",
        "cards": "A card: where a corpus or an encoder comes from, its licence, its digests.",
        "specs": "The experiment as it was written: the spec.",
        "kinds": "Source of a kind of the project's own.",
    }
    return told.get(name.partition("/")[0], "A file of the report.")
