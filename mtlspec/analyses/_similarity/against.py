"""Every measure of similarity against the dissociation of the same pairs of tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from mtlspec.analyses._similarity.relation import Line, Pair, line_through, mantel
from mtlspec.analyses._similarity.representations import Floats
from mtlspec.analyses._similarity.tasks import Compared, Measure, Similarity, nothing_to_relate
from mtlspec.results.findings import Findings
from mtlspec.results.inference import Family, corrected
from mtlspec.results.jobs import AnalysisJob

if TYPE_CHECKING:
    from mtlspec.analyses.task_similarity import Options


@dataclass(frozen=True)
class Dissociated:
    """Pairs of tasks, each with its dissociation in the models of one group: [runs], both directions averaged."""

    name: str  # the group, its point of a sweep, and the analysis if several are read
    pairs: Mapping[Pair, Floats]


@dataclass(frozen=True)
class Relation:
    """One measure against one group's dissociation, over the pairs that both have."""

    measure: Measure
    dissociated: str
    pairs: tuple[Pair, ...]
    x: Floats  # similarity
    y: Floats  # dissociation, in points
    line: Line
    exchanged: float | None  # p if tasks exchange names; None where pairs are missing or nothing varies
    family: Family | None = None
    adjusted: float | None = None  # that p after Holm's correction

    @property
    def significant(self) -> bool:
        return self.adjusted is not None and self.family is not None and self.adjusted < self.family.alpha

    def stored(self) -> dict[str, Any]:
        points = [
            {"tasks": list(p), "x": float(x), "y": float(y)} for p, x, y in zip(self.pairs, self.x, self.y, strict=True)
        ]
        return {
            "measure": self.measure,
            "dissociation": self.dissociated,
            "points": points,
            **self.line.stored(),
            "p_exchanged": self.exchanged,
            "p_holm": self.adjusted,
        }


def read_dissociated(options: Options, job: AnalysisJob, tasks: Sequence[str]) -> list[Dissociated]:
    """From the numbers of `iap`: models of one group and point of a sweep belong together."""
    gathered: dict[str, dict[Pair, list[Floats]]] = {}
    for analysis in options.dissociation:
        for model in Findings.read(job.inputs[f"analyse-{analysis}"]).numbers["models"]:
            label, own = str(model["model"]), list(model["tasks"])
            point = label[label.rindex(" [") :] if label.endswith("]") else ""
            name = f"{model['group']}{point}" + (f" ({analysis})" if len(options.dissociation) > 1 else "")
            pairs = np.array(model["pairs"])  # [R, a, b]
            for a, b in combinations([task for task in tasks if task in own], 2):
                i, j = own.index(a), own.index(b)
                gathered.setdefault(name, {}).setdefault((a, b), []).append((pairs[:, i, j] + pairs[:, j, i]) / 2)
    return [
        Dissociated(name, {pair: np.concatenate(values) for pair, values in found.items()})
        for name, found in gathered.items()
    ]


def relate(options: Options, compared: Compared, dissociated: Sequence[Dissociated]) -> tuple[Relation, ...]:
    """All of them, corrected together; a group with fewer than three pairs says nothing."""
    found = [
        _relation(options, similarity, one, compared.tasks)
        for one in dissociated
        for similarity in compared.similarities
        if len(similarity.pairs.keys() & one.pairs.keys()) > 2
    ]
    if not found:
        tasks = ", ".join(compared.tasks)
        message = f"no group of models has dissociations of three pairs of {tasks}"
        raise nothing_to_relate(message, "let `dissociation` name an analysis of models of these tasks")
    name = "measures of similarity with the dissociation of task pairs"
    family, adjusted = corrected(name, [one.exchanged for one in found], options.test_alpha)
    return tuple(replace(one, family=family, adjusted=p) for one, p in zip(found, adjusted, strict=True))


def _relation(options: Options, similarity: Similarity, one: Dissociated, tasks: Sequence[str]) -> Relation:
    means = similarity.means
    pairs = tuple(pair for pair in means if pair in one.pairs)
    alike = {pair: means[pair] for pair in pairs}
    apart = {pair: float(one.pairs[pair].mean()) for pair in pairs}
    x, y = np.array(list(alike.values())), np.array(list(apart.values()))
    met = [task for task in tasks if any(task in pair for pair in pairs)]
    whole = len(pairs) == len(met) * (len(met) - 1) // 2
    exchanged = mantel(alike, apart, met, options.draws, options.seed) if whole else None
    return Relation(similarity.measure, one.name, pairs, x, y, line_through(x, y), exchanged)
