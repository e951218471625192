"""What a record answers of the checklists of ACL and NeurIPS; what it does not know is said to be unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mtlspec.use.package.known import Known

ACL, NEURIPS = "ACL: Responsible NLP Research", "NeurIPS Paper Checklist"
_Row = tuple[str, str, str] | tuple[str, str]  # number, what it is about, and what the record says of it


@dataclass(frozen=True)
class Answer:
    checklist: str
    item: str  # its number there
    about: str
    known: Literal["yes", "in part", "unknown"]
    answer: str


def answers(known: Known) -> list[Answer]:
    """Of all items of both checklists, in their order."""
    rows = [(ACL, row) for row in _acl(known)] + [(NEURIPS, row) for row in _neurips(known)]
    return [_answer(checklist, *row) for checklist, row in rows]


def as_markdown(found: Sequence[Answer], name: str) -> str:
    """One chapter a checklist."""
    parts = [
        f"# Checklists: {name}",
        "What the record of the run answers. *unknown* means that the record does not say it, and the authors must. "
        "Items have the numbers of the checklists and are named in our words; venues change them from year to year.",
    ]
    for checklist in dict.fromkeys(one.checklist for one in found):
        lines = [_line(one) for one in found if one.checklist == checklist]
        parts += [f"## {checklist}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _line(one: Answer) -> str:
    return f"- **{one.item}** {one.about}: *{one.known}*" + (f". {one.answer}" if one.answer else "")


def _answer(checklist: str, item: str, about: str, answer: str = "") -> Answer:
    """An answer that itself says that something is unknown is one in part."""
    if not answer:
        return Answer(checklist, item, about, "unknown", "")
    return Answer(checklist, item, about, "in part" if "unknown" in answer else "yes", answer)


def _acl(known: Known) -> Iterator[_Row]:
    yield "A1", "limitations"
    yield "A2", "risks"
    yield "B1", "creators of what was used", f"{_list(known.sources())} Who must be cited is unknown."
    yield "B2", "licences", _list(known.licences())
    yield "B3", "use as intended"
    yield "B4", "personal or offensive content"
    yield "B5", "documentation of the data", f"Languages: {_list(known.languages())} Domains are unknown."
    yield "B6", "splits and their sizes", f"Examples: {_list(known.splits())}"
    yield "C1", "parameters, budget, infrastructure", _compute(known)
    yield "C2", "set-up and hyper-parameters", _settings(known)
    yield "C3", "statistics of results", known.variance()
    yield "C4", "packages and their settings", f"{known.packages()}. Signatures of scores say how metrics are set."
    yield "D", "annotators and participants"
    yield "E", "assistants that write or code"


def _neurips(known: Known) -> Iterator[_Row]:
    name = known.record["spec"]["name"]
    yield "1", "claims"
    yield "2", "limitations"
    yield "3", "theory"
    yield (
        "4",
        "how results can be had again",
        (
            f"`mtlspec run {name}` computes everything, `mtlspec verify {name} --rerun` compares bits. The package has "
            "the spec, the cards, and the digests of data, code, packages and artifacts."
        ),
    )
    yield "5", "open access to data and code", f"Data: {_list(known.sources())} Whether they are open is unknown."
    yield "6", "settings and details", f"{_settings(known)} Splits: {_list(known.splits())}"
    yield "7", "statistical significance", known.variance()
    yield "8", "compute", _compute(known)
    yield "9", "code of ethics"
    yield "10", "broader impact"
    yield "11", "safeguards"
    yield "12", "licences of what was used", _list(known.licences())
    yield "13", "new assets"
    yield "14", "crowdsourcing and human subjects"
    yield "15", "approval by a review board"
    yield "16", "use of language models"


def _compute(known: Known) -> str:
    parts = {"Parameters": known.parameters(), "Budget": known.budget(), "Machine": "; ".join(known.machines())}
    told = ". ".join(f"{name}: {text or 'unknown'}" for name, text in parts.items())
    return f"{told}. Hours and energy are unknown: records have no times."


def _settings(known: Known) -> str:
    return f"Training: {known.training()}. How values that were not swept were found is unknown."


def _list(items: Sequence[str]) -> str:
    return "; ".join(items) + "."
