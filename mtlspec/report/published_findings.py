"""Published findings as questions to this run: what the paper's figures say, what ours say, and by which test.

A statement about most tasks needs more than half of the paper's tasks, one about all of them needs all, each by a test:
that nothing is significant shows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mtlspec.report.published import Ours, Side
from mtlspec.report.wording import of_all
from mtlspec.results.estimates import blocked_interval
from mtlspec.results.inference import MARGIN
from mtlspec.results.lengths import but_unequal
from mtlspec.results.tables import signed

Verdict = Literal["holds", "does not hold", "undecided", "not in this run"]
_NEAR = 10.0  # percent of all heads: a share within this of the published one is about the same


@dataclass(frozen=True)
class Finding:
    statement: str
    published: str
    here: str
    test: str
    verdict: Verdict


def published_findings(side: Side) -> list[Finding]:
    """Every finding that the pack's figures allow, also where this run cannot answer."""
    made = [_joint(side, "mtl", "All tasks together")]
    made.append(_win_win(side))
    made += _partners(side)
    if "stl_dp" in side.pack.scores:
        made.append(_keeps(side, "stl_dp", "Pruning while training keeps the scores of single-task learning"))
    if "mtl_dp" in side.pack.scores:
        made.append(_joint(side, "mtl_dp", "All tasks together, pruned,"))
    made += [_kept(side, role) for role in side.pack.heads_kept]
    return made


def _compared(side: Side, role: str) -> list[tuple[float, Ours]]:
    """(difference to single-task learning, ours) for every task that both have."""
    found = [side.ours.get((role, task)) for task in side.tasks if side.published_delta(role, task) is not None]
    return [(ours.delta, ours) for ours in found if ours is not None and ours.delta is not None]


def _sure(side: Side, compared: Sequence[tuple[float, Ours]]) -> tuple[int, int]:
    """How many differences are significantly above zero, and how many below."""
    sure = [delta for delta, ours in compared if side.significant(ours)]
    up = sum(delta > 0 for delta in sure)
    return up, len(sure) - up


def mostly(agree: int, oppose: int, total: int) -> Verdict:
    """More than half of `total` must agree; once half of them oppose, that is out of reach."""
    return "holds" if 2 * agree > total else ("does not hold" if 2 * oppose >= total else "undecided")


def _below(deltas: Sequence[float]) -> str:
    below = of_all(sum(delta < 0 for delta in deltas), len(deltas), "task")
    return f"below in {below}, {signed(sum(deltas) / len(deltas))} points on average"


def _printed(side: Side, role: str) -> list[float]:
    return [delta for task in side.pack.metrics if (delta := side.published_delta(role, task)) is not None]


def _but(compared: Sequence[tuple[float, Ours]]) -> str:
    """Whether our models were trained for longer or shorter than those that they are compared with."""
    return but_unequal("our models", "single-task ones", [ours.times for _, ours in compared])


def _test(side: Side) -> str:
    return "; ".join(("t test over seeds and sentences", *(family.words for family in side.families)))


def _tested(side: Side, compared: Sequence[tuple[float, Ours]]) -> str:
    tested = sum(ours.p is not None for _, ours in compared)
    if not tested:
        return "not tested: no score matrix compares these models"
    up, down = _sure(side, compared)
    return f"{_test(side)}: {down} significantly below, {up} above, of {tested}"


def _joint(side: Side, role: str, who: str) -> Finding:
    printed = _printed(side, role)
    below = 2 * sum(delta < 0 for delta in printed) > len(printed)
    statement = f"{who} are mostly {'below' if below else 'above'} single-task learning"
    compared = _compared(side, role)
    if not compared:
        return Finding(statement, _below(printed), "–", "–", "not in this run")
    up, down = _sure(side, compared)
    verdict = mostly(down, up, len(printed)) if below else mostly(up, down, len(printed))
    here = _below([delta for delta, _ in compared]) + _but(compared)
    return Finding(statement, _below(printed), here, _tested(side, compared), verdict)


def _keeps(side: Side, role: str, statement: str) -> Finding:
    """Scores are kept if the interval of every difference excludes a loss of more than `MARGIN`."""
    printed, compared = _printed(side, role), _compared(side, role)
    if not compared:
        return Finding(statement, _below(printed), "–", "–", "not in this run")
    judged = [ours.found.not_worse(MARGIN) for _, ours in compared if ours.found is not None]
    safe, lost = judged.count("not worse"), judged.count("worse")
    known = any(ours.found is not None and ours.found.interval is not None for _, ours in compared)
    _, down = _sure(side, compared)
    verdict: Verdict = "undecided"
    if safe == len(printed):
        verdict = "holds"
    elif lost or 2 * down > len(printed):
        verdict = "does not hold"
    limit = f"a loss of more than {MARGIN:g} point"
    tasks = of_all(safe, len(compared), "task")
    over_seeds = f"95 % intervals over seeds and sentences exclude {limit} in {tasks}, show it in {lost}"
    test = f"{over_seeds if known else 'one seed: no interval'}; {_tested(side, compared)}"
    here = _below([delta for delta, _ in compared]) + _but(compared)
    return Finding(statement, _below(printed), here, test, verdict)


def _named(names: Sequence[str], total: int) -> str:
    return of_all(len(names), total, "pair") + (f" ({', '.join(names)})" if names else "")


def _win_win(side: Side) -> Finding:
    pairs = side.pack.pairs
    printed = [name for name in pairs if all((side.published_delta(name, task) or 0) > 0 for task in pairs[name])]
    statement = "No pair of tasks gains on both sides" if not printed else "Some pairs of tasks gain on both sides"
    published = _named(printed, len(pairs))
    whole = {name: both for name in pairs if len(both := _compared(side, name)) == 2}
    if not whole:
        return Finding(statement, published, "–", "–", "not in this run")
    gaining = [name for name, both in whole.items() if all(delta > 0 for delta, _ in both)]
    sure = sum(_sure(side, both)[0] == 2 for both in whole.values())
    losing = sum(_sure(side, both)[1] > 0 for both in whole.values())
    test = f"{_test(side)}: significantly gaining on both sides {sure}, losing on at least one {losing}"
    verdict: Verdict = "undecided"
    if sure:
        verdict = "holds" if printed else "does not hold"
    elif losing == len(pairs):  # only then can no pair of the paper gain on both
        verdict = "does not hold" if printed else "holds"
    here = _named(gaining, len(whole)) + _but([one for both in whole.values() for one in both])
    return Finding(statement, published, here, test, verdict)


def _partners(side: Side) -> Iterator[Finding]:
    """For each task: do its partners mostly raise or mostly lower it?"""
    for task in side.pack.metrics:
        names = [name for name in side.pack.pairs if task in name.split("+")]
        raised = sum((side.published_delta(name, task) or 0.0) > 0 for name in names)
        if 2 * raised == len(names):
            continue
        gains = 2 * raised > len(names)
        statement = f"{task} mostly {'gains' if gains else 'loses'} when trained with one other task"
        published = f"higher with {of_all(raised, len(names), 'partner')}"
        known = [side.ours.get((name, task)) for name in names]
        found = [(ours.delta, ours) for ours in known if ours is not None and ours.delta is not None]
        if not found:
            yield Finding(statement, published, "–", "–", "not in this run")
            continue
        up, down = _sure(side, found)
        verdict = mostly(up, down, len(names)) if gains else mostly(down, up, len(names))
        here = f"higher with {of_all(sum(delta > 0 for delta, _ in found), len(found), 'partner')}{_but(found)}"
        yield Finding(statement, published, here, _tested(side, found), verdict)


def _kept(side: Side, role: str) -> Finding:
    """The interval of the mean over tasks must lie within `_NEAR` of the published share; a joint run counts once.

    Tasks are blocks: they keep different shares, which is no scatter, and their runs are few each.
    """
    printed = [mean for mean, _ in side.pack.heads_kept[role].values()]
    average = sum(printed) / len(printed)
    statement = f"{role} keeps about {average:.0f} % of the heads"
    published = f"{min(printed):.0f} to {max(printed):.0f} %"
    found = [side.kept[role, task] for task in side.tasks if side.kept.get((role, task))]
    blocks = [list(runs.values()) for number, runs in enumerate(found) if runs not in found[:number]]
    if not blocks:
        return Finding(statement, published, "–", "–", "not in this run")
    means = [sum(shares) / len(shares) for shares in blocks]
    here = f"{sum(means) / len(means):.0f} % on average"
    if len(blocks) > 1:
        here += f", tasks from {min(means):.0f} to {max(means):.0f} %"
    interval = blocked_interval(blocks)
    if interval is None:
        return Finding(statement, published, here, "one run: no interval", "undecided")
    low, high = max(interval[0], 0.0), min(interval[1], 100.0)
    runs = sum(map(len, blocks))
    of_tasks = f" of {len(blocks)} tasks" if len(blocks) > 1 else ""
    test = (
        f"95 % t interval over {runs} runs{of_tasks}: {low:.0f} to {high:.0f} %, against {average:.0f} ± {_NEAR:.0f} %"
    )
    apart = high < average - _NEAR or low > average + _NEAR
    inside = low >= average - _NEAR and high <= average + _NEAR
    return Finding(statement, published, here, test, "holds" if inside else ("does not hold" if apart else "undecided"))
