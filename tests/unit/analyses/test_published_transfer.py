"""Tables 3 to 6 of the sequence-tagging paper, computed again as far as means without standard deviations allow."""

from __future__ import annotations

import pytest

from mtlspec.analyses._transfer.graph import edges
from mtlspec.analyses._transfer.improvement import gains
from mtlspec.analyses._transfer.prediction import predict
from mtlspec.results.transfer import Transfer, arrows, published_transfer
from mtlspec.spec.published import load_published
from mtlspec.spec.tagging_pack import TaggingPack

NAMES = ("multi_dec", "te_dec", "te_enc")


def pack(name: str) -> TaggingPack:
    found = load_published(f"sequence_tagging/{name}")
    assert isinstance(found, TaggingPack)
    return found


PACKS = {name: pack(name) for name in NAMES}
FOUND = {name: published_transfer(one) for name, one in PACKS.items()}


def row_counts(found: Transfer, name: str) -> dict[str, tuple[tuple[int, int], tuple[int | None, int | None]]]:
    """Of every row the arrows that stand in it, and those that the paper counts."""
    printed = PACKS[name]
    rows = {f"+{task}": (found.pairs[task], printed.pairs[task]) for task in found.tasks}
    rows |= {"all": (found.all, printed.all), "oracle": (found.oracle, printed.oracle)}
    rows |= {f"all-{task}": (found.without[task], text) for task, text in printed.without.items()}
    return {key: (arrows(cells.values()), printed.row(text)[1:]) for key, (cells, text) in rows.items()}


def contradictions() -> list[str]:
    """Every printed count and average that the printed cells do not give."""
    told = []
    for name, found in FOUND.items():
        told += [
            f"{name} {row}: {own}, not {said}" for row, (own, said) in row_counts(found, name).items() if own != said
        ]
        for task in found.tasks:
            own = arrows(found.column(task).values())
            said = tuple(int(PACKS[name].numbers(text)[task]) for text in (PACKS[name].up, PACKS[name].down))
            told += [f"{name} column {task}: {own}, not {said}"] if own != said else []
            average, printed = found.average(task), PACKS[name].numbers(PACKS[name].average)[task]
            if average is None or abs(average - printed) > 0.0101:  # ten rounded means, rounded again
                told.append(f"{name} average {task}: {average:.3f}, not {printed}")
    return told


def test_the_printed_counts_and_averages_are_those_of_the_printed_cells() -> None:
    assert contradictions() == []


def test_arrows_never_point_against_their_means() -> None:
    """More of the rule cannot be computed again: the paper prints no standard deviations."""
    for found in FOUND.values():
        compared = [(score, found.alone[task]) for row in found.pairs.values() for task, score in row.items()]
        compared += [(score, found.alone[task]) for row in (found.all, found.oracle) for task, score in row.items()]
        compared += [(score, found.all[task]) for row in found.without.values() for task, score in row.items()]
        assert all(score.mean > other.mean for score, other in compared if score.arrow == "up")
        assert all(score.mean < other.mean for score, other in compared if score.arrow == "down")


def test_oracles_are_made_of_the_arrows() -> None:
    sets = {(name, task): found.helpers(task) for name, found in FOUND.items() for task in found.tasks}
    for (name, task), helpers in sets.items():
        found = FOUND[name]
        if not helpers:
            assert found.oracle[task] == found.alone[task]  # single-task learning
        elif len(helpers) == 1:
            assert found.oracle[task] == found.pairs[helpers[0]][task]  # that pair
    assert sum(not helpers for helpers in sets.values()) == 13
    assert {key: helpers for key, helpers in sets.items() if len(helpers) == 1} == {
        ("te_dec", "upos"): ("chunk",),
        ("te_dec", "xpos"): ("chunk",),
        ("te_enc", "hyp"): ("xpos",),
    }
    better = [FOUND[name].oracle[task].mean > FOUND[name].all[task].mean for (name, task), own in sets.items() if own]
    assert (len(better), sum(better)) == (20, 16)  # section 4.3


def test_models_that_stand_in_several_tables_have_one_score() -> None:
    assert FOUND["multi_dec"].alone == FOUND["te_dec"].alone == FOUND["te_enc"].alone
    assert {"upos", "com"} < set(FOUND["multi_dec"].without) and not FOUND["te_dec"].without
    assert len({text for one in PACKS.values() for text in one.statistics.values()}) == 11
    assert PACKS["te_enc"].printed_statistics("sem").labels == 75


def helped(task: str) -> tuple[int, int]:
    """How often a task helps and harms another, in the three tables."""
    counts = [arrows(found.pairs[task].values()) for found in FOUND.values()]
    return sum(up for up, _ in counts), sum(down for _, down in counts)


def test_what_the_text_says_of_the_tables() -> None:
    assert [helped(task) for task in ("upos", "xpos", "chunk")] == [(16, 1), (17, 3), (14, 0)]
    assert [helped(task)[1] for task in ("com", "frame", "hyp")] == [22, 10, 12]
    above = sum(arrows(found.all.values())[0] for found in FOUND.values())
    assert above == 14  # of 33: the "about 50 %" of the abstract


def test_where_the_text_and_the_tables_contradict_each_other() -> None:
    assert [helped(task)[0] for task in ("com", "frame", "hyp")] == [0, 1, 0]  # "all useful in 0 cases"
    assert FOUND["te_enc"].pairs["frame"]["semtr"].arrow == "up"
    gained = {(name, one.task): one.worst > 0 for name, found in FOUND.items() for one in gains(found)}
    assert gained["multi_dec", "mwe"] and gained["multi_dec", "hyp"]
    assert not any(gained[name, task] for name in ("te_dec", "te_enc") for task in ("mwe", "hyp"))  # "in all cases"
    assert arrows(FOUND["multi_dec"].column("mwe").values()) == (7, 0)  # "any of the 10 tasks"


def test_pairs_predict_all_to_some_degree() -> None:
    """Section 4.3 as a number: the exception that it names is the only one in Table 3."""
    found = predict(FOUND["multi_dec"], 300, 1)
    assert found.rho == pytest.approx(0.709, abs=1e-3) and found.same_direction == 10
    wrong = [t for t, a, b in zip(found.tasks, found.pairs, found.all, strict=True) if (a > 0) != (b > 0)]
    assert wrong == ["com"]
    assert found.interval is None and found.p is None  # without seeds nobody knows how much of it is luck


def test_the_graph_has_the_edges_of_figure_3() -> None:
    made = {(edge.source, edge.target): edge.kind for edge in edges(FOUND["multi_dec"])}
    assert made["upos", "chunk"] == "helps" and made["xpos", "ner"] == "harms"
    assert made["mwe", "semtr"] == "help each other" and made["com", "upos"] == "harms"
    assert ("upos", "xpos") not in made and ("com", "mwe") not in made
    assert made["xpos", "mwe"] == "helps but is harmed"
