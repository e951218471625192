"""The README of a package: what is in it, and how to compute it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mtlspec.plan.source import Source
from mtlspec.track.signatures import RecordedSignatures
from mtlspec.use.package.known import Known
from mtlspec.use.package.redaction import HIDDEN

_PARTS = {
    "specs/": "the experiment as it was written: the spec",
    "resolved_spec.yaml": "the experiment with all defaults written out, to be read",
    "cards/": "the cards of data and encoder",
    "croissant/": "a Croissant description of each corpus",
    "record.json": "the record: digests of all that went in and came out, and scores",
    "scores.csv": "every score of every trained model, with its signature",
    "code.json": "the code fingerprint and the environments",
    "requirements.lock": "versions of all packages",
    "kinds/": "the project's own kinds",
    "checklist.md": "what the record answers of the checklists of ACL and NeurIPS",
    "report/report.html": "the report; its tables and figures lie beside it",
    "report/summary.md": "what the report says first",
}


def readme(known: Known, files: Mapping[str, bytes], hidden: Sequence[str]) -> str:
    """`hidden` are the files in which paths of the author's machine were hidden."""
    parts = [
        f"# {known.record['spec']['name']}",
        str(known.spec.get("description") or ""),
        f"{known.runs()}. {known.budget()}.",
        "## What is here",
        "\n".join(f"- `{part}`: {words}" for part, words in _PARTS.items() if any(f.startswith(part) for f in files)),
        "## Compute it again",
        _again(known, files),
        *_signed(known),
    ]
    if hidden:
        parts.append(f"Paths of the author's machine stand as `{HIDDEN}` in {', '.join(f'`{one}`' for one in hidden)}.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _again(known: Known, files: Mapping[str, bytes]) -> str:
    name, variant = known.record["spec"]["name"], known.record["spec"].get("variant")
    written = next((path for path in files if path.startswith("specs/")), None)
    lacking = "" if written else "The spec's file says something else by now: take that of the record's commit. "
    command = Source(written or f"specs/{name}.yaml", tuple(variant["overrides"]) if variant else ()).command()
    return (
        f"{lacking}Take mtlspec with the sources that `code.json` lists and the packages whose versions it names. Put "
        f"`specs/` into a project, and what is in `cards/` into its `registry/`. Then `{command}` computes everything, "
        f"and `mtlspec registry diff {name} record.json` compares. The data are not in the package: `croissant/` has "
        "their digests, `cards/` their sources."
    )


def _signed(known: Known) -> Iterator[str]:
    """Signatures of the main scores on test."""
    found = RecordedSignatures(known.record).of_scores
    main = known.record["stages"]["report"]["facts"].get("main", {})
    keys = {task: f"test/{task}/{score}" for task, score in main.items()}
    told = [f"    {task}  {found[key]}" for task, key in keys.items() if key in found]
    if told:
        yield "## Signatures of the main scores"
        yield "\n".join(told)
