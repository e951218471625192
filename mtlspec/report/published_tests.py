"""The tests behind a comparison with published figures: of the very score that is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mtlspec.results.comparisons import ToldTest, ToldTests, difference_of
from mtlspec.results.evaluations import Evaluations
from mtlspec.results.findings import Findings
from mtlspec.results.inference import corrected
from mtlspec.results.variants import Variant
from mtlspec.spec.packs import Pack

Tests = Mapping[tuple[str, str, str], ToldTest]
"""(model's label, task, label of the model that it is compared with) -> what was found"""


def compared_scores(
    pack: Pack, tasks: Sequence[str], models: Sequence[Variant], evaluations: Evaluations
) -> dict[str, str]:
    """Task -> the published score if our models have it on test, else their main score."""
    found: dict[str, str] = {}
    for variant in models:
        for task in variant.tasks:
            if task in tasks:
                own, wanted = evaluations[variant.runs[0].evaluate], pack.metrics[task]
                there = own.is_scored(task) and wanted in own.scores[task]["test"]
                found.setdefault(task, wanted if there else own.main(task))
    return found


def told_tests(
    found: Sequence[Findings], models: Sequence[Variant], evaluations: Evaluations, scores: Mapping[str, str]
) -> tuple[Tests, float]:
    """What score matrices found of runs, by the scores that are compared; and the first matrix's level.

    The first matrix that has a comparison speaks for it. Tests of given models speak of no way of training.
    """
    matrices = [ToldTests.restored(findings.numbers) for findings in found if findings.type == "score_matrix"]
    by_label = {variant.label: variant for variant in models}
    tests: dict[tuple[str, str, str], ToldTest] = {}
    for matrix in matrices:
        retold = [_by_score(test, by_label, evaluations, scores.get(test.task)) for test in matrix.tests]
        for test in _corrected(retold):
            if test.p_holm is not None and test.found.unit == "runs":
                tests.setdefault((test.model, test.task, test.baseline), test)
    return tests, matrices[0].alpha if matrices else 0.05


def _by_score(test: ToldTest, by_label: Mapping[str, Variant], evaluations: Evaluations, score: str | None) -> ToldTest:
    """The test as it is, or that of another score of the same models."""
    model, base = by_label.get(test.model), by_label.get(test.baseline)
    if model is None or base is None or score is None or test.found.unit != "runs":
        return test
    if score == evaluations[model.runs[0].evaluate].main(test.task):
        return test
    return replace(test, found=difference_of(model, base, test.task, evaluations, score=score))


def _corrected(tests: Sequence[ToldTest]) -> list[ToldTest]:
    """Holm's correction anew, in the families that the matrix has."""
    made: list[ToldTest] = []
    for family in dict.fromkeys(test.family for test in tests):
        own = [test for test in tests if test.family == family]
        anew, adjusted = corrected(family.name, [test.found.p for test in own], family.alpha)
        made += [replace(test, family=anew, p_holm=p) for test, p in zip(own, adjusted, strict=True)]
    return made
