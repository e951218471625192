"""The stem cell hypothesis: planted answers are found, and a verdict needs all of its claims."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mtlspec.analyses._stem_claims import Changes, Claim, Evidence, Shown, changes_of_sets, claims, contrasted, verdict
from mtlspec.analyses._stem_probes import Known, Probed, read_probed
from mtlspec.analyses._stem_tables import changes, changes_table, claims_table, summary
from mtlspec.io.write import write_json
from mtlspec.results.contrast import same_counts
from tests.unit.analyses.planted_stem_cells import HEADS, LAYERS, planted_heads, write_planted_hits

MATTERS = 2.0  # points


def _judge(directory: Path, seed: int = 0, matters: float = MATTERS) -> tuple[Claim, ...]:
    return claims(planted_heads(seed), list(read_probed(directory, "stl", "mtl")), 0.05, matters, 199, 1)


def test_a_planted_effect_is_found_in_twenty_of_twenty_seeds(tmp_path: Path) -> None:
    """The whole verdict, of other gates and of other probes each time."""
    found = []
    for seed in range(20):
        directory = write_planted_hits(tmp_path / str(seed), seed, rise=(0.4, 0.05), loss=(0.25, 0.0))
        found.append(verdict(_judge(directory, seed)))
    assert found == ["supported"] * 20


@pytest.mark.parametrize(("rise", "loss"), [((0.1, 0.1), (0.05, 0.05)), ((0.4, 0.05), (0.25, 0.0))])
def test_random_sets_of_heads_are_supported_in_at_most_five_percent_of_draws(
    tmp_path: Path, rise: tuple[float, float], loss: tuple[float, float]
) -> None:
    """Whether all heads rise and fall alike, each by an amount of its own, or some stand out that nobody looked for."""
    probed = list(read_probed(write_planted_hits(tmp_path / "probe", 0, rise=rise, loss=loss), "stl", "mtl"))
    there = np.ones((LAYERS, HEADS), bool)
    shape = np.zeros((LAYERS, HEADS), bool)
    for layer, number in enumerate((2, 4, 0, 3)):
        shape[layer, :number] = True
    number, shown = 300, {"rise": 0, "loss": 0, "supported": 0, "alone": 0}
    planted = planted_heads()
    for seed, heads in enumerate(same_counts(shape, there)(number, 77)):
        chosen = replace(planted, used=np.broadcast_to(heads, planted.used.shape))  # heads in common, beyond chance
        common, up, down = made = claims(chosen, probed, 0.05, MATTERS, 99, seed)
        assert common.shown == "shown"
        shown["rise"] += up.shown == "shown"
        shown["loss"] += down.shown == "shown"
        shown["supported"] += verdict(made) == "supported"
        shown["alone"] += up.tests[0].shown == down.tests[0].shown == "shown"
    assert max(shown["rise"], shown["loss"], shown["supported"]) <= 0.05 * number, shown
    assert shown["alone"] > 0.5 * number  # without a contrast, most sets would pass


@pytest.mark.parametrize(
    ("rise", "loss", "expected"),
    [
        ((0.1, 0.1), (0.05, 0.05), "not supported"),  # all heads alike
        ((0.05, 0.3), (0.05, 0.05), "not supported"),  # others rise more
        ((-0.15, 0.0), (0.05, 0.05), "not supported"),  # stem cells fall
        ((0.3, 0.05), (-0.15, 0.0), "not supported"),  # joint training adds to them
        ((0.3, 0.05), (0.0, 0.0), "not supported"),  # joint training takes nothing away
    ],
)
def test_the_verdict_follows_the_contrast(
    tmp_path: Path, rise: tuple[float, float], loss: tuple[float, float], expected: str
) -> None:
    directory = write_planted_hits(tmp_path / "probe", 3, rise=rise, loss=loss)
    made = _judge(directory)
    assert verdict(made) == expected
    said = summary(verdict(made), made, list(read_probed(directory, "stl", "mtl")), MATTERS)
    assert expected in said[0]
    assert len(said) == 4
    assert all("random sets with as many heads in each layer" in sentence for sentence in said[2:])


@pytest.mark.parametrize(("rise", "loss"), [((0.1, 0.1), (0.05, 0.05)), ((0.3, 0.05), (0.0, 0.0))])
def test_if_any_difference_matters_equal_heads_decide_nothing(
    tmp_path: Path, rise: tuple[float, float], loss: tuple[float, float]
) -> None:
    directory = write_planted_hits(tmp_path / "probe", 3, rise=rise, loss=loss)
    assert verdict(_judge(directory, matters=0.0)) == "not enough evidence"


def test_a_loss_by_joint_training_says_if_that_was_longer(tmp_path: Path) -> None:
    directory = write_planted_hits(tmp_path / "probe", 3, rise=(0.3, 0.05), loss=(0.2, 0.02))
    made, probed = _judge(directory), list(read_probed(directory, "stl", "mtl"))
    assert not any("but" in sentence for sentence in summary(verdict(made), made, probed, MATTERS))
    about = json.loads((directory / "probe.json").read_text())
    about["models"]["mtl-all"]["length"]["planned"] = 200
    write_json(directory / "probe.json", about)
    said = summary(verdict(made), made, list(read_probed(directory, "stl", "mtl")), MATTERS)
    told = ", but joint models had 2.0 times the updates of single-task ones, with as many examples of a task."
    assert [sentence.endswith(told) for sentence in said] == [False, False, False, True]


def test_the_best_head_of_a_set_is_chosen_on_dev_and_scored_on_test() -> None:
    random = np.random.default_rng(5)
    chosen, scored = random.integers(0, 4, (2, 3, 12)) / 4.0  # with ties: the first of equals
    known = Known(scored, np.argsort(-chosen, axis=1, kind="stable"), (3, 4))
    sets = same_counts(np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]], bool))(50, 1)
    for heads, found in zip(sets, known.best_of(sets), strict=True):
        members = np.flatnonzero(heads)
        best = [max(members, key=lambda head: (row[head], -head)) for row in chosen]
        assert found == pytest.approx(np.mean([scored[label, head] for label, head in enumerate(best)]))


def test_sets_of_unequal_size_meet_in_equal_numbers() -> None:
    """With values that mean nothing, the best of 28 heads beats the best of 4; the difference must not show."""
    random = np.random.default_rng(2)
    stem = np.zeros((LAYERS, HEADS), bool)
    stem[:, 0] = True

    def known(spread: float) -> Known:
        values = random.uniform(0, spread, (80, LAYERS * HEADS))
        return Known(values, np.argsort(-values, axis=1), (LAYERS, HEADS))

    seeds = tuple(range(1, 9))
    probed = Probed("pos", 80, seeds, known(10), tuple(known(60) for _ in seeds), tuple(known(60) for _ in seeds))
    rise, _ = changes_of_sets(stem, np.ones_like(stem), [probed], draws=200, seed=1)
    whole = probed.scores(np.stack([stem, ~stem])).rise.mean(0)
    assert whole[1] - whole[0] > 5
    assert abs(rise.beyond_others.mean()) < 1.5
    assert contrasted(rise, 0.05, 0.0, "points")[1].shown == "open"


def test_layers_with_stem_cells_only_leave_the_comparison_with_others_open(tmp_path: Path) -> None:
    probed = list(
        read_probed(write_planted_hits(tmp_path / "probe", 0, rise=(0.3, 0.0), loss=(0.1, 0.0)), "stl", "mtl")
    )
    stem = np.zeros((LAYERS, HEADS), bool)
    stem[1] = True
    rise, _ = changes_of_sets(stem, np.ones_like(stem), probed, draws=50, seed=1)
    _, others, random = contrasted(rise, 0.05, MATTERS, "points")
    assert (others.shown, others.uncertainty) == ("open", "no layer has both stem cells and others")
    assert random.shown == "open"  # only one set has this shape


def test_one_seed_decides_nothing() -> None:
    one = Changes(np.array([5.0]), np.array([4.0]), 3.0, np.linspace(-1, 1, 99))
    tests = contrasted(one, 0.05, MATTERS, "points")
    assert [test.shown for test in tests] == ["open", "open", "shown"]
    assert Claim("", tests).shown == "open"


def test_tables_have_others_beside_stem_cells(tmp_path: Path) -> None:
    directory = write_planted_hits(tmp_path / "probe", 1, rise=(0.3, 0.05), loss=(0.2, 0.02))
    table = changes_table(changes(list(read_probed(directory, "stl", "mtl")), planted_heads()))
    assert table.columns[2:] == (
        "pre-trained", "single-task", "joint", "rise", "joint − single",
        "others, pre-trained", "others, single-task", "others, joint", "others, rise", "others, joint − single",
    )  # fmt: skip
    values = {name: float(cell.value) for name, cell in zip(table.columns[1:], table.rows[0][1:], strict=True)}  # type: ignore[arg-type]
    assert values["rise"] == pytest.approx(values["single-task"] - values["pre-trained"])
    assert values["rise"] > values["others, rise"] + 10
    assert "np." not in table.csv()
    claimed = claims_table(_judge(directory), 0.05, MATTERS)
    assert [len(rows) for _, rows in claimed.sections] == [2, 3, 3]


def test_probes_that_choose_heads_on_the_scored_data_are_told(tmp_path: Path) -> None:
    directory = write_planted_hits(tmp_path / "probe", 1, rise=(0.3, 0.05), loss=(0.2, 0.02))
    said = "Heads for ner, pos were chosen and scored on the same test data"
    held_out = list(read_probed(directory, "stl", "mtl"))
    about = json.loads((directory / "probe.json").read_text())
    write_json(directory / "probe.json", about | {"choosing": "test"})
    reused = list(read_probed(directory, "stl", "mtl"))
    for probed, expected in ((held_out, False), (reused, True)):
        assert (said in changes_table(changes(probed, planted_heads())).caption) == expected
        assert (said in summary("supported", [], probed, MATTERS)[-1]) == expected


def _claim(*shown: Shown) -> Claim:
    """A change alone, beyond other heads, and beside random sets."""
    return Claim("", tuple(Evidence("", "", "", one, over_seeds=number < 2) for number, one in enumerate(shown)))


def test_one_open_claim_is_not_enough() -> None:
    shown = _claim("shown", "shown", "shown")
    assert verdict([shown, shown, shown]) == "supported"
    assert verdict([shown, _claim("shown", "shown", "open"), shown]) == "not enough evidence"
    assert verdict([shown, _claim("shown", "open", "contradicted"), shown]) == "not enough evidence"
    assert verdict([shown, _claim("shown", "contradicted", "open"), shown]) == "not supported"
    assert verdict([_claim("open"), _claim("contradicted", "shown", "shown")]) == "not supported"
    assert verdict([shown, _claim("shown", "too small", "open"), _claim("open")]) == "not supported"


@pytest.mark.parametrize(
    ("beyond", "expected"),
    [
        ([0.9, 1.0, 1.1], "too small"),  # above zero without doubt, and below two points without doubt
        ([-0.1, 0.0, 0.1], "too small"),
        ([-1.1, -1.0, -0.9], "contradicted"),
        ([1.0, 2.0, 3.0], "open"),
        ([1.9, 2.0, 2.1], "shown"),
    ],
)
def test_a_difference_that_is_certainly_small_refutes(beyond: list[float], expected: Shown) -> None:
    one = Changes(np.array([5.0, 5.1, 4.9]), np.array(beyond), 3.0, np.linspace(-1, 1, 99))
    tests = contrasted(one, 0.05, MATTERS, "points")
    assert [test.shown for test in tests] == ["shown", expected, "shown"]
    claim = Claim("These heads gain", tests)
    assert claim.shown == expected
    if expected == "too small":
        said = summary(verdict([claim]), [claim], [], MATTERS)[0]
        assert said.endswith("is not supported here: this holds by less than 2 points, if at all: these heads gain.")


@pytest.mark.parametrize("seeds", [2, 3, 5, 10])
def test_an_effect_that_matters_is_called_too_small_in_at_most_five_percent(seeds: int) -> None:
    """Just as large as what matters, the hardest case."""
    random = np.random.default_rng(seeds)
    alone, null, number = np.full(seeds, 9.0) + np.arange(seeds), np.linspace(-1, 1, 99), 2000
    called = sum(
        contrasted(Changes(alone, MATTERS + random.normal(0, 1.5, seeds), 3.0, null), 0.05, MATTERS, "")[1].shown
        == "too small"
        for _ in range(number)
    )
    assert 0.035 * number < called <= 0.065 * number, called  # 5 % are expected


def test_a_joint_model_of_other_layers_is_no_comparison(tmp_path: Path) -> None:
    directory = write_planted_hits(tmp_path / "probe", 1, rise=(0.3, 0.05), loss=(0.2, 0.02))
    about = json.loads((directory / "probe.json").read_text())
    about["models"]["mtl-all"]["layers"] = {"srl": "srl"}
    write_json(directory / "probe.json", about)
    assert list(read_probed(directory, "stl", "mtl")) == []
    made = claims(planted_heads(), [], 0.05, MATTERS, 99, 1)
    assert [claim.shown for claim in made] == ["shown", "open", "open"]
