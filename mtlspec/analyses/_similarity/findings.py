"""What an analysis of task similarity says, in sentences, tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mtlspec.analyses._similarity import shown
from mtlspec.analyses._similarity.against import Relation, read_dissociated, relate
from mtlspec.analyses._similarity.shown import WORDS
from mtlspec.analyses._similarity.tasks import Compared, compare
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob

if TYPE_CHECKING:
    from mtlspec.analyses.task_similarity import Options


def find(options: Options, job: AnalysisJob) -> dict[str, Any]:
    """Write everything; facts for the stage's record."""
    compared = compare(options, job)
    dissociated = read_dissociated(options, job, compared.tasks)
    relations = relate(options, compared, dissociated)
    findings = Findings(
        type=options.type,
        title="Task similarity",
        summary=summary(compared, relations),
        tables=(shown.relation_table(relations), shown.similarity_table(compared, dissociated)),
        figures=shown.draw(relations, job.out / "figures"),
        numbers={
            "tasks": list(compared.tasks),
            "seeds": list(compared.seeds),
            "similarities": [one.stored() for one in compared.similarities],
            "relations": [one.stored() for one in relations],
        },
    )
    findings.write(job.out)
    negative = sum(one.significant and one.line.r < 0 for one in relations)
    return {"tasks": len(compared.tasks), "relations": len(relations), "negative": negative}


def summary(compared: Compared, relations: Sequence[Relation]) -> tuple[str, ...]:
    return (
        _main(relations),
        *(_group(relations, name) for name in _groups(relations)),
        *_most_alike(compared),
        *compared.left_out,
    )


def _groups(relations: Sequence[Relation]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.dissociated for one in relations))


def _main(relations: Sequence[Relation]) -> str:
    below, above = (sum(one.significant and one.line.r * sign > 0 for one in relations) for sign in (-1, 1))
    negative = sum(one.line.r < 0 for one in relations)
    tested = sum(one.adjusted is not None for one in relations)
    family = relations[0].family
    words = f" ({family.words})" if family is not None and family.size else ""
    return (
        f"Tasks that are more alike dissociate less in {negative} of {len(relations)} relations of similarity and "
        f"dissociation, significantly in {below}, and significantly more in {above}, of {tested} that could be tested"
        f"{words}."
    )


def _group(relations: Sequence[Relation], name: str) -> str:
    own = [one for one in relations if one.dissociated == name]
    told = ", ".join(f"{WORDS[one.measure]} {shown.number(one.line.r)}" for one in own)
    return f"{name}: correlation over {len(own[0].pairs)} pairs of tasks of dissociation with {told}."


def _most_alike(compared: Compared) -> list[str]:
    sentences = []
    for one in compared.similarities:
        means = one.means
        (a, b), (c, d) = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
        sentences.append(
            f"By {WORDS[one.measure]}, {a} and {b} are most alike ({means[a, b]:.2f}), {c} and {d} least "
            f"({means[c, d]:.2f})."
        )
    return sentences
