"""What `mtlspec registry diff` shows: what changed, the scores of models that both runs have, and artifacts."""

from __future__ import annotations

from collections.abc import Sequence

from mtlspec.cli import console
from mtlspec.io.words import counted
from mtlspec.track.compare import RecordDiff, told
from mtlspec.track.score_rows import ScoreRow

Cells = list[tuple[str, ...]]
_FORMS = ((True, True, False), (True, True, True), (False, True, True), (False, False, True))
"""Whether deviations and intervals are shown, and whether models stand in lines of their own; the fullest first."""


def show_differences(found: RecordDiff, a: str, b: str) -> None:
    for phrase in told(found.changes):
        console.say(phrase)
    shown = [row for row in found.scores if not row.score.startswith("dev/")]
    if shown:  # scores of test bear their own names, those of further splits the split's, too
        _show_scores(shown, a, b)
    for names, noun, where in (
        (found.different, "artifact", "with other bytes"),
        (found.only_a, "stage", f"only in {a}"),
        (found.only_b, "stage", f"only in {b}"),
    ):
        if names:
            listed = f"{', '.join(names[:8])}{' ...' if len(names) > 8 else ''}"
            console.say(f"{counted(len(names), noun)} {where}: {listed}")
    console.say(f"{counted(len(found.equal), 'artifact')} with the same bytes")


def _show_scores(rows: Sequence[ScoreRow], a: str, b: str) -> None:
    """There is nothing to compare in scores that are the same, nor in those of one run alone: they are counted."""
    equal = [row for row in rows if _is_equal(row)]
    both = [row for row in rows if (row.a is None) == (row.b is None) and row not in equal]
    if equal:
        models = counted(len({row.model for row in equal}), "model")
        further = " besides those below" if both else ""
        console.say(f"equal: {counted(len(equal), 'score')} of {models}{further}")
    if both:
        first, second = _names(a, b)
        for deviations, intervals, grouped in _FORMS:
            columns, cells = _table(both, first, second, deviations, intervals, grouped)
            if sum(console.column_widths(columns, cells)) <= console.output().width + console.GAP:
                break
        console.say_table(columns, cells)
        console.say(_about_tests(both, deviations, intervals))
    shared = {row.model for row in rows if row.a is not None} & {row.model for row in rows if row.b is not None}
    for name, alone in (
        (a, [row.model for row in rows if row.b is None and row.a is not None]),
        (b, [row.model for row in rows if row.a is None and row.b is not None]),
    ):
        models = counted(len(set(alone) - shared), "model") if set(alone) - shared else ""
        scores = sum(model in shared for model in alone)
        further = f"{counted(scores, 'score')} of models that both have" if scores else ""
        if alone:
            console.say(f"only in {name}: {', '.join(filter(None, (models, further)))}")


def _is_equal(row: ScoreRow) -> bool:
    """All seeds have the same score in either run: there was nothing to test."""
    same = (row.a, row.a_std, row.seeds[0]) == (row.b, row.b_std, row.seeds[1])
    return same and row.a is not None and row.p is None and not row.why


def _names(a: str, b: str) -> tuple[str, str]:
    """Names of specs stand above their scores; paths would push the numbers apart and are told before."""
    if "/" not in a and "/" not in b:
        return a, b
    console.say(f"first   {a}")
    console.say(f"second  {b}")
    return "first", "second"


def _table(
    rows: Sequence[ScoreRow], first: str, second: str, deviations: bool, intervals: bool, grouped: bool
) -> tuple[tuple[str, ...], Cells]:
    columns = ("score", first, second, "difference", "p")
    cells: Cells = []
    model = None
    for row in rows:
        numbers = (
            _mean(row.a, row.a_std if deviations else None),
            _mean(row.b, row.b_std if deviations else None),
            _difference(row, intervals),
            "" if row.p_holm is None else f"{row.p_holm:.3f}" if row.p_holm >= 0.001 else "< 0.001",
        )
        name = row.score.removeprefix("test/")
        if grouped and row.model != model:
            cells.append((row.model, "", "", "", ""))
        cells.append((f"  {name}", *numbers) if grouped else (row.model, name, *numbers))
        model = row.model
    return columns if grouped else ("model", *columns), cells


def _difference(row: ScoreRow, intervals: bool) -> str:
    difference = "" if row.difference is None else f"{row.difference:+.2f}"
    if row.interval is None or not intervals:
        return difference
    return f"{difference} ({row.interval[0]:+.2f} to {row.interval[1]:+.2f})"


def _mean(mean: float | None, std: float | None) -> str:
    return "" if mean is None else f"{mean:.2f}" + ("" if std is None else f" ± {std:.2f}")


def _about_tests(rows: Sequence[ScoreRow], deviations: bool, intervals: bool) -> str:
    """What the columns of the table rest on."""
    numbers = sorted({number for row in rows for number in row.seeds if number})
    seeds = f"{' or '.join(map(str, numbers))} {'seed' if numbers == [1] else 'seeds'}"
    mean = f"mean{' ± deviation' if deviations else ''} over {seeds}"
    untested = dict.fromkeys(row.why for row in rows if row.why)
    why = "".join(f"; no test of {', '.join(_models(rows, reason))}: {reason}" for reason in untested)
    more = "" if deviations and intervals else "; a wider terminal and --json have more"
    if not any(row.p is not None for row in rows):
        return f"{mean}{why or '; no test: it needs two seeds of either run, and scores that differ'}{more}"
    test = "p of Welch's test over seeds, Holm's correction over each split"
    return f"{mean}{'; difference with its 95 % interval' if intervals else ''}; {test}{why}{more}"


def _models(rows: Sequence[ScoreRow], why: str) -> list[str]:
    return list(dict.fromkeys(row.model for row in rows if row.why == why))
