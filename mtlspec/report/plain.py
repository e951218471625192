"""Plain words before any table: what the groups of models are, and what came out, in one sentence for each analysis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mtlspec.report.wording import noun
from mtlspec.results.comparisons import ToldTests
from mtlspec.results.findings import Findings

_TASK_SETS = {
    "each": "each task on its own",
    "pairs": "every two tasks together",
    "all": "all {} tasks together",
    "all_but_one": "all tasks but one together",
    "helpful": "each task with those that were found to help it",
}


def group_words(spec: Mapping[str, Any], order: Iterable[str]) -> list[tuple[str, str]]:
    """(name, words) of groups, in the given order, which stored specs have lost: `stl`, `each task on its own`."""
    return [(name, _words(spec["models"][name], len(spec["tasks"]))) for name in dict.fromkeys(order)]


def _words(group: Mapping[str, Any], tasks: int) -> str:
    said = group["tasks"]
    kind = said.get("type", "") if isinstance(said, Mapping) else said
    if isinstance(kind, str):
        words = [_TASK_SETS.get(kind, f"tasks by {kind.replace('_', ' ')}").format(tasks)]
    else:
        words = [f"{' + '.join(map(str, kind))} together" if len(kind) > 1 else f"{kind[0]} on its own"]
    sharing = group["sharing"]
    if sharing["type"] == "l0":
        static = sharing.get("mode") == "static"
        words.append("heads pruned after training" if static else "heads pruned while training")
    elif sharing["type"] != "hard":
        words.append(f"sharing by {sharing['type'].replace('_', ' ')}")
    if start := group.get("start"):
        words.append(f"starting from trained models of {start['group'] if isinstance(start, Mapping) else start}")
    if group.get("sweep"):
        words.append(f"for several values of {' and '.join(group['sweep'])}")
    return ", ".join(words)


def answers(found: Sequence[Findings]) -> tuple[str, ...]:
    """One for every analysis that has something to say."""
    return tuple(_answer(findings) for findings in found if findings.summary)


def _answer(findings: Findings) -> str:
    """An analysis says the most important thing first; of score matrices it is how many differences are no luck."""
    told = ToldTests.restored(findings.numbers) if findings.type == "score_matrix" and findings.numbers else None
    if told is None or not told.tests:
        return f"{findings.title}: {findings.summary[0]}"
    sure = [test.found.difference for test in told.tests if test.significant]
    up = sum(difference > 0 for difference in sure)
    number, against = len(told.tests), f"{noun(len(told.tests), 'comparison')} with {told.baseline}"
    if all(test.found.p is None for test in told.tests):
        return f"{findings.title}: none of {number} {against} could be tested ({told.tests[0].found.why})."
    beyond = "more than luck" if told.tests[0].found.unit == "runs" else "sure for these trained models alone"
    show = noun(len(sure), "shows a difference", "show differences")
    rest = number - len(sure)
    others = f"; of the other {rest} it is not known whether there is any" if rest else ""
    return (
        f"{findings.title}: of {number} {against}, {len(sure)} {show}"
        f" that {noun(len(sure), 'is', 'are')} {beyond} ({up} above, {len(sure) - up} below){others}."
    )
