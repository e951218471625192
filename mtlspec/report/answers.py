"""Plain words before any table: what each analysis asks, what came out, and how sure that is.

The page, its Markdown and the last screen of a run all say these words. They are made of the numbers that an analysis
leaves; one that leaves none, or an own kind, says its first sentence under its title.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mtlspec.metrics.student import detectable_shift
from mtlspec.report.wording import noun, of_all
from mtlspec.results.comparisons import ToldTest, ToldTests
from mtlspec.results.detectable import typical
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.findings import Findings
from mtlspec.results.inference import LEVEL, MARGIN, Difference
from mtlspec.results.tables import signed

_NAMED = 3  # differences that are told one by one


@dataclass(frozen=True)
class Answer:
    asked: str  # a question, or a title
    found: str
    sure: str = ""  # how sure it is, and what could have been found at all

    @property
    def text(self) -> str:
        told = self.asked if self.asked.endswith("?") else f"{self.asked}:"
        return " ".join(part for part in (told, self.found, self.sure) if part)


def answers(found: Sequence[Findings]) -> tuple[Answer, ...]:
    """One for every analysis that has something to say; those that judge what the study is about come first."""
    told = sorted((one for one in found if one.summary), key=lambda one: "verdict" not in one.numbers)
    return tuple(_answer(findings) for findings in told)


def _answer(findings: Findings) -> Answer:
    made = _MAKERS.get(findings.type)
    if made is not None and findings.numbers and (answer := made(findings.numbers)) is not None:
        return answer
    asked, sentences = _ASKED.get(findings.type, (findings.title, 1))
    return Answer(asked, " ".join(findings.summary[:sentences]))


_ASKED = {
    "head_utilisation": ("How many heads do models use, and do other seeds use the same ones?", 2),
    "head_importance": ("Which heads matter, and can that be trusted?", 2),
    "sparsity_curve": ("How few heads are enough?", 1),
    "sweep_curve": ("Which value of the swept setting scores best, on average over tasks?", 3),
    "pruning_table": ("What does it cost to remove heads?", 1),
    "few_shot": ("Which models learn a new task better from a few examples?", 2),
    "task_heads": ("Which heads do tasks choose for themselves?", 2),
    "iap": ("Does each task have heads of its own?", 2),
    "ablation_table": ("What does each part of the model add, on average over tasks?", 2),
    "freezing_table": ("Which models have the best average, and does it rest on one task?", 2),
    "task_count_curve": ("Do models gain or lose as they learn more tasks?", 3),
    "parameter_table": ("How many parameters does it take, and how many are trained?", 1),
    "sampling_composition": ("What were batches made of?", 2),
    "sampling_curves": ("Which models learn faster, on average over tasks?", 2),
    "entropy_curves": ("Which tasks lose what they have learnt, and which is the model unsure of?", 2),
    "covsim": ("Do tasks look more alike in joint models, and score higher?", 2),
    "embedding_transfer": ("Does it matter which embedding a new task begins with?", 2),
    "task_embedding_map": ("Which tasks have similar embeddings?", 2),
    "transfer_table": ("Which tasks help each other?", 3),
    "benefit_graph": ("Who helps and who harms whom?", 1),
    "relative_improvement": ("How much do tasks gain with one other task, with all, and with those that help?", 1),
    "pair_predicts_all": ("Do pairs of tasks tell what all tasks together will do?", 1),
    "task_statistics": ("What do the tasks have to learn from?", 1),
    "task_affinity": ("Can one short training tell who will help whom?", 1),
    "task_similarity": ("Do tasks that are more alike need more of the same heads?", 1),
}


def _of_scores(numbers: Mapping[str, Any]) -> Answer | None:
    """How many differences are more than luck, the largest of them by name, and what could have been found."""
    told = ToldTests.restored(numbers)
    if not told.tests:
        return None
    number, asked = len(told.tests), f"Do other ways of training score differently from {told.baseline}?"
    if all(test.found.p is None for test in told.tests):
        return Answer(asked, f"That could not be tested: {told.tests[0].found.why}.")
    known = sorted((test for test in told.tests if test.significant), key=lambda test: -abs(test.found.difference))
    rest = number - len(known)
    models = told.tests[0].found.unit == "sentences"
    luck = "sure for these trained models" if models else "more than luck"
    if known:
        named = "; ".join(_named(test) for test in known[:_NAMED])
        more = f"; and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
        said = f"{of_all(len(known), number, 'difference')} {noun(len(known), 'is', 'are')} {luck}: {named}{more}."
        said += f" Of the other {rest} nobody can tell." if rest else ""
    else:
        said = f"None of {number} {noun(number, 'difference')} is {luck}; that does not make them equal."
    return Answer(asked, said, "Another seed may turn this around." if models else _power(told.tests))


def _named(test: ToldTest) -> str:
    return f"{test.task} in {test.model} {signed(test.found.difference)} points{test.unequal}"


def _power(tests: Sequence[ToldTest]) -> str:
    """What is found alone, and as the first of its family: comparisons differ in it, so their range is told."""
    alone = [test.found.detectable for test in tests if test.found.detectable is not None]
    if not alone:
        return ""
    first = [size for test in tests if (size := test.found.detectable_at(test.family.first_level)) is not None]
    family = max(test.family.size for test in tests)
    among = f", and at least {typical(first)} to stand out among {family}" if family > 1 else ""
    said = f"With {_seeds([test.found for test in tests])} a difference must be at least {typical(alone)}"
    return f"{said} to be found in four of five cases{among}; smaller ones may be there, unseen."


def _seeds(found: Sequence[Difference]) -> str:
    fewest, most = min(min(one.seeds) for one in found), max(max(one.seeds) for one in found)
    return f"{most} seeds" if fewest == most else f"{fewest} to {most} seeds"


def _of_pruning(numbers: Mapping[str, Any]) -> Answer | None:
    asked, said, losses = "What does it cost to remove heads?", [], []
    for group in numbers["groups"]:
        own = [Difference.restored(loss) for loss in group["losses"]]
        price = f" and scores {_less(own)} than {group['against']}{group['unequal']}" if own else ""
        said.append(f"{group['group']} works with {group['kept']:.0f} % of its heads{price}")
        losses += own
    if not said:
        return None
    return Answer(asked, f"{'; '.join(said)} (on average over models and tasks).", _judged(losses))


def _less(losses: Sequence[Difference]) -> str:
    mean = statistics.fmean(loss.difference for loss in losses)
    return f"{abs(mean):.1f} points {'less' if mean < 0 else 'more'}"


def _judged(losses: Sequence[Difference]) -> str:
    judged, sizes = [loss.not_worse(MARGIN) for loss in losses], [one.detectable for one in losses if one.detectable]
    if not sizes:
        return "How sure this is cannot be told." if losses else ""
    kept, lost = judged.count("not worse"), judged.count("worse")
    return (
        f"A loss of more than {MARGIN:g} point is ruled out in {of_all(kept, len(judged), 'comparison')} and certain in"
        f" {lost}; in {len(judged) - kept - lost} nobody can tell. With {_seeds(losses)} a difference must be at least"
        f" {typical(sizes)} to be found in four of five cases."
    )


def _of_probes(asked: str, numbers: Mapping[str, Any]) -> Answer | None:
    said, tests, sure = [], [], []
    for task in numbers["tasks"]:
        control = max(task["controls"], key=lambda name: task["controls"][name])
        before = (
            f"{task['task']}: {task['pretrained']:.0f} % before training ({control} {task['controls'][control]:.0f} %)"
        )
        after = task["single"]
        said.append(before if after is None else f"{before}, {after['score']:.0f} % after that of {after['model']}")
        tests += [Difference.restored(change["found"]) for change in task["changes"]]
        sure += [one for one in task["changes"] if one["p_holm"] is not None and one["p_holm"] < LEVEL]
    if not said:
        return None
    sizes = [one.detectable for one in tests if one.detectable]
    found = f"{'; '.join(said)} (means of labels)."
    if not sizes:
        return Answer(asked, found)
    compared = f"Joint models differ from single-task ones by more than luck in {of_all(len(sure), len(tests), 'mean')}"
    power = f"with {_seeds(tests)} a difference must be at least {typical(sizes)} to be found"
    unequal = next((change["unequal"] for change in sure if change["unequal"]), "")
    return Answer(asked, found, f"{compared}{unequal}; {power} in four of five cases.")


_SHOWN = {
    "shown": "shown",
    "contradicted": "the opposite is seen",
    "too small": "if at all, then by too little to matter",
    "open": "not shown",
}
_VERDICTS = {
    "supported": "Yes, by all three tests of it",
    "not supported": "No",
    "not enough evidence": "It cannot be told, neither yes nor no",
}


def _of_stem_cells(numbers: Mapping[str, Any]) -> Answer:
    """The verdict, its claims one by one, and the smallest change over seeds that could have been seen."""
    asked = "Do several tasks need the same heads, and do these heads suffer when all tasks are trained together?"
    claims = "; ".join(f"{_lower(claim['statement'])}: {_SHOWN[claim['shown']]}" for claim in numbers["claims"])
    sizes, seeds = [], 0
    for test in (test for claim in numbers["claims"][1:] for test in claim["tests"]):
        values = test["numbers"].get("seeds", [])
        if len(values) > 1:
            seeds = len(values)
            sizes.append(detectable_mean(values))
    power = (
        f"With {seeds} seeds what these heads know must change by at least {typical(sizes)} to be found in four of"
        " five cases."
        if sizes
        else "One seed shows no scatter, so nothing is sure."
    )
    return Answer(asked, f"{_VERDICTS[numbers['verdict']]}: {claims}.", power)


def detectable_mean(values: Sequence[float]) -> float:
    """The smallest mean over seeds that a test against zero finds at 5 % in four of five cases, at this scatter."""
    _, std = mean_and_std(values)
    return (std or 0.0) / math.sqrt(len(values)) * detectable_shift(len(values) - 1, LEVEL)


def _lower(statement: str) -> str:
    return statement[0].lower() + statement[1:]


_MAKERS: dict[str, Callable[[Mapping[str, Any]], Answer | None]] = {
    "score_matrix": _of_scores,
    "pruning_table": _of_pruning,
    "attention_probe": partial(_of_probes, "How often does the best head find a relation, before training and after?"),
    "attended_value_probe": partial(
        _of_probes, "How often does the best head know a label, before training and after?"
    ),
    "stem_cells": _of_stem_cells,
}
