"""Published findings as questions to this run: what the paper's figures say, what ours say, and by which test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from mtlspec.analyses._tables import mean_and_std, signed
from mtlspec.report.published import Ours, Side

Verdict = Literal["holds", "does not hold", "undecided", "not in this run"]


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


def _deltas(side: Side, role: str) -> list[tuple[float, Ours]]:
    """(published difference, ours) for every task that both have."""
    pairs = []
    for task in side.tasks:
        published, ours = side.published_delta(role, task), side.ours.get((role, task))
        if published is not None and ours is not None and ours.delta is not None:
            pairs.append((published, ours))
    return pairs


@dataclass(frozen=True)
class _Tally:
    """How the tasks of one role stand against single-task learning, here."""

    below: int
    total: int
    average: float
    tested: int
    worse: int  # significantly
    better: int

    @property
    def text(self) -> str:
        return f"below in {self.below} of {self.total} tasks, {signed(self.average)} points on average"

    @property
    def test(self) -> str:
        if not self.tested:
            return "not tested: no score matrix compares these models"
        return f"paired randomisation, Holm: {self.worse} significantly below, {self.better} above, of {self.tested}"


def _tally(side: Side, role: str) -> _Tally | None:
    found = [ours for _, ours in _deltas(side, role)]
    if not found:
        return None
    deltas = [ours.delta or 0.0 for ours in found]
    sure = [ours.delta or 0.0 for ours in found if side.significant(ours)]
    tested = sum(ours.p is not None for ours in found)
    worse = sum(delta < 0 for delta in sure)
    below = sum(delta < 0 for delta in deltas)
    return _Tally(below, len(deltas), sum(deltas) / len(deltas), tested, worse, len(sure) - worse)


def _printed(side: Side, role: str) -> tuple[str, bool]:
    """The published figures in words, and whether most of them are below single-task learning."""
    deltas = [d for task in side.pack.metrics if (d := side.published_delta(role, task)) is not None]
    below = sum(delta < 0 for delta in deltas)
    text = f"below in {below} of {len(deltas)} tasks, {signed(sum(deltas) / len(deltas))} points on average"
    return text, 2 * below > len(deltas)


def _joint(side: Side, role: str, who: str) -> Finding:
    published, below = _printed(side, role)
    statement = f"{who} are mostly {'below' if below else 'above'} single-task learning"
    here = _tally(side, role)
    if here is None:
        return Finding(statement, published, "–", "–", "not in this run")
    agree, oppose = (here.worse, here.better) if below else (here.better, here.worse)
    verdict: Verdict = "holds" if agree > oppose else ("does not hold" if oppose > agree else "undecided")
    return Finding(statement, published, here.text, here.test, verdict)


def _keeps(side: Side, role: str, statement: str) -> Finding:
    published, _ = _printed(side, role)
    here = _tally(side, role)
    if here is None:
        return Finding(statement, published, "–", "–", "not in this run")
    verdict: Verdict = (
        "holds" if here.worse == 0 else ("does not hold" if 2 * here.worse > here.tested else "undecided")
    )
    return Finding(statement, published, here.text, here.test, verdict if here.tested else "undecided")


def _win_win(side: Side) -> Finding:
    names = list(side.pack.pairs)
    printed = [
        name for name in names if all((side.published_delta(name, task) or 0) > 0 for task in side.pack.pairs[name])
    ]
    statement = "No pair of tasks gains on both sides" if not printed else "Some pairs of tasks gain on both sides"
    published = f"{len(printed)} of {len(names)} pairs" + (f" ({', '.join(printed)})" if printed else "")
    here = {name: [side.ours.get((name, task)) for task in side.pack.pairs[name]] for name in names}
    known = {name: [o for o in pair if o is not None and o.delta is not None] for name, pair in here.items()}
    whole = {name: pair for name, pair in known.items() if len(pair) == 2}
    if not whole:
        return Finding(statement, published, "–", "–", "not in this run")
    gaining = [name for name, pair in whole.items() if all((ours.delta or 0) > 0 for ours in pair)]
    sure = [name for name in gaining if all(side.significant(ours) for ours in whole[name])]
    text = f"{len(gaining)} of {len(whole)} pairs" + (f" ({', '.join(gaining)})" if gaining else "")
    test = f"both gains significant (paired randomisation, Holm): {len(sure)}"
    if printed:
        verdict: Verdict = "holds" if sure else ("undecided" if gaining else "does not hold")
    else:
        verdict = "does not hold" if sure else ("undecided" if gaining else "holds")
    return Finding(statement, published, text, test, verdict)


def _partners(side: Side) -> Iterator[Finding]:
    """For each task: do its partners mostly raise or mostly lower it?"""
    for task in side.pack.metrics:
        names = [name for name in side.pack.pairs if task in name.split("+")]
        printed = [side.published_delta(name, task) or 0.0 for name in names]
        raised = sum(delta > 0 for delta in printed)
        if 2 * raised == len(printed):
            continue
        gains = 2 * raised > len(printed)
        statement = f"{task} mostly {'gains' if gains else 'loses'} when trained with one other task"
        published = f"higher with {raised} of {len(printed)} partners"
        found = [ours for name in names if (ours := side.ours.get((name, task))) and ours.delta is not None]
        if not found:
            yield Finding(statement, published, "–", "–", "not in this run")
            continue
        higher = sum((ours.delta or 0) > 0 for ours in found)
        sure = [ours for ours in found if side.significant(ours)]
        up = sum((ours.delta or 0) > 0 for ours in sure)
        down = len(sure) - up
        test = f"paired randomisation, Holm: {up} significantly higher, {down} lower"
        agree, oppose = (up, down) if gains else (down, up)
        verdict: Verdict = "holds" if agree > oppose else ("does not hold" if oppose > agree else "undecided")
        yield Finding(statement, published, f"higher with {higher} of {len(found)} partners", test, verdict)


def _kept(side: Side, role: str) -> Finding:
    """About half of the heads: the interval over models and seeds must meet a third to two thirds."""
    printed = [mean for mean, _ in side.pack.heads_kept[role].values()]
    average = sum(printed) / len(printed)
    statement = f"{role} keeps about {average:.0f} % of the heads"
    published = f"{min(printed):.0f} to {max(printed):.0f} %"
    shares = [share for task in side.tasks for share in side.kept.get((role, task), ())]
    if not shares:
        return Finding(statement, published, "–", "–", "not in this run")
    mean, std = mean_and_std(shares)
    margin = 0.0 if std is None else _t_quantile(len(shares) - 1) * std / len(shares) ** 0.5
    here = f"{mean:.0f} % on average, {min(shares):.0f} to {max(shares):.0f} %"
    test = f"95 % interval of the mean {mean - margin:.0f} to {mean + margin:.0f} %, against {average:.0f} ± 10 %"
    near = mean + margin >= average - 10 and mean - margin <= average + 10
    inside = mean - margin >= average - 10 and mean + margin <= average + 10
    return Finding(statement, published, here, test, "holds" if inside else ("undecided" if near else "does not hold"))


def _t_quantile(freedom: int) -> float:
    from scipy.stats import t

    return float(t.ppf(0.975, freedom))
