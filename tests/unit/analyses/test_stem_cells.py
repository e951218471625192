"""The stem cell hypothesis: planted answers are found, and a verdict needs all of its claims."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.analyses._gates import Gated
from mtlspec.analyses._probes.hits import Tally, write_hits
from mtlspec.analyses._stem_cells import Common, common_heads, most_in_common
from mtlspec.analyses._stem_claims import Changes, Claim, Evidence, Shown, changes_of_sets, claims, contrasted, verdict
from mtlspec.analyses._stem_probes import Known, Probed, read_probed
from mtlspec.analyses._stem_tables import changes, changes_table, claims_table, summary
from mtlspec.errors import StageError
from mtlspec.io.write import write_json
from mtlspec.results.contrast import same_counts
from mtlspec.results.lengths import Length, Seen
from mtlspec.results.variants import Variant
from tests.model_rows import model_row

LAYERS, HEADS = 4, 8
STEM = [(1, 2), (1, 5), (2, 0), (3, 7)]
TASKS = ("pos", "ner", "dep", "con", "srl")


def _gated(task: str, keep: Sequence[tuple[int, int]], seed: int) -> Gated:
    """Three runs that keep `keep`, and two heads of their own in every layer, one of them in one run only."""
    rng = np.random.default_rng(seed)
    gates = np.zeros((3, LAYERS, HEADS))
    for layer, head in keep:
        gates[:, layer, head] = 0.8
    for layer in range(LAYERS):
        gates[:, layer, rng.integers(HEADS)] = 1.0
        gates[0, layer, rng.integers(HEADS)] = 1.0
    runs = tuple(model_row("dp", (task,), s) for s in (1, 2, 3))
    return Gated(Variant("dp", (task,), (), runs), gates, gates, (HEADS,) * LAYERS)


def _first(common: Common) -> Claim:
    return claims(common, [], 0.05, 99, 1)[0]


def test_planted_stem_cells_are_found_beyond_chance() -> None:
    common = common_heads([_gated(task, STEM, i) for i, task in enumerate(TASKS)], least=4, draws=500, seed=1)
    assert [tuple(place) for place in np.argwhere(common.stem)] == STEM
    assert common.p < 0.01
    assert common.expected < 1
    assert (common.beyond > 2).all()
    assert _first(common).shown == "shown"


def test_what_chance_gives_is_the_mean_over_shuffles() -> None:
    gated = [_gated(task, STEM, i) for i, task in enumerate(TASKS)]
    alone = [
        Gated(Variant("dp", one.variant.tasks, (), one.variant.runs[1:2]), one.gates[1:2], one.use[1:2], one.counts)
        for one in gated
    ]
    common = common_heads(alone, least=2, draws=4000, seed=1)
    assert common.stem.sum() - common.beyond[0] == pytest.approx(common.expected, abs=0.1)


def test_places_without_a_head_are_never_drawn() -> None:
    gated = []
    for task in TASKS:
        gates = np.zeros((2, 2, HEADS))
        gates[:, 0, :2] = gates[:, 1, :4] = 1.0
        runs = tuple(model_row("dp", (task,), seed) for seed in (1, 2))
        gated.append(Gated(Variant("dp", (task,), (), runs), gates, gates, (2, HEADS)))
    common = common_heads(gated, least=5, draws=200, seed=1)
    assert common.most == 6
    assert 2 <= common.expected < 3  # the two heads of the first layer are always in common


def test_heads_at_random_are_not_beyond_chance() -> None:
    rng = np.random.default_rng(0)
    keep = [[(layer, int(h)) for layer in range(LAYERS) for h in rng.permutation(HEADS)[:3]] for _ in TASKS]
    common = common_heads([_gated(task, keep[i], i) for i, task in enumerate(TASKS)], least=3, draws=500, seed=1)
    assert common.p > 0.05
    assert _first(common).shown == "open"


def test_tasks_that_keep_everything_prove_nothing() -> None:
    all_heads = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]
    common = common_heads([_gated(task, all_heads, 1) for task in TASKS], least=3, draws=100, seed=1)
    assert common.stem.all()
    assert _first(common).shown == "open"


def test_tasks_that_close_the_same_few_heads_contradict_nothing() -> None:
    """With few heads closed, agreement makes fewer stem cells, not more, and no agreement could make enough."""
    kept = [(layer, head) for layer in range(LAYERS) for head in range(HEADS) if (layer, head) not in STEM]
    gated = []
    for task in TASKS:
        gates = np.zeros((1, LAYERS, HEADS))
        gates[(0, *np.array(kept).T)] = 1.0
        gated.append(Gated(Variant("dp", (task,), (), (model_row("dp", (task,)),)), gates, gates, (HEADS,) * LAYERS))
    common = common_heads(gated, least=3, draws=500, seed=1)
    assert common.p_fewer < 0.05
    claim = _first(common)
    assert claim.shown == "open"
    assert "no test: so many heads are kept" in claim.tests[0].uncertainty


@given(st.lists(st.integers(0, 3), min_size=2, max_size=3), st.integers(1, 3))
def test_the_most_in_common_is_that_of_the_best_choice_of_heads(kept: list[int], least: int) -> None:
    heads = 3
    choices = [list(combinations(range(heads), own)) for own in kept]
    best = max(
        sum(sum(head in own for own in chosen) >= least for head in range(heads)) for chosen in product(*choices)
    )
    assert most_in_common(kept, heads, least) == best


def test_too_few_tasks_are_refused() -> None:
    with pytest.raises(StageError, match=r"E461: 1 task has gated models"):
        common_heads([_gated("pos", STEM, 1)], least=2, draws=50, seed=1)


def _hits(
    directory: Path, seed: int, *, rise: tuple[float, float], loss: tuple[float, float], scatter: float = 0.02
) -> Path:
    """Probes of two tasks with six labels and 400 items each; rise and loss are of stem cells and of others.

    Every head knows every label to a degree of its own and changes by an amount of its own, each seed differs.
    """
    random = np.random.default_rng(seed)
    stem = np.zeros((LAYERS, HEADS), bool)
    stem[tuple(np.array(STEM).T)] = True
    groups: dict[tuple[str, int], list[Tally]] = {}
    for task in ("pos", "ner"):
        shape = (6, LAYERS * HEADS)
        before = random.uniform(0.2, 0.45, shape)
        flat = stem.reshape(-1)
        own_rise = np.where(flat, *rise) + random.normal(0, 0.03, shape)
        own_loss = np.where(flat, *loss) + random.normal(0, 0.03, shape)
        for model, seeds in (("pretrained", (0,)), (f"stl-{task}", (1, 2, 3)), ("mtl-all", (1, 2, 3))):
            for number in seeds:
                level = before + (model != "pretrained") * (own_rise + random.normal(0, scatter, shape))
                level = np.clip(level - (model == "mtl-all") * own_loss, 0.01, 0.99)
                for split in ("dev", "test"):
                    tally = Tally.empty(task, split, "gold", tuple("ABCDEF"), LAYERS * HEADS)
                    tally.counts += 400
                    tally.hits += torch.from_numpy(random.binomial(400, level))
                    groups.setdefault((model, number), []).append(tally)
    directory.mkdir()
    write_hits(directory, [(*key, tallies) for key, tallies in groups.items()], [HEADS] * LAYERS, {})
    seeds = [1, 2, 3]
    models: dict[str, dict[str, Any]] = {
        "stl-pos": {"group": "stl", "seeds": seeds, "layers": {"pos": "xpos"}},
        "stl-ner": {"group": "stl", "seeds": seeds, "layers": {"ner": "ner"}},
        "mtl-all": {"group": "mtl", "seeds": seeds, "layers": {"pos": "xpos", "ner": "ner"}},
    }
    for model in models.values():
        model["length"] = Length(100, 100, 0, dict.fromkeys(model["layers"], Seen(100, 800, 800))).stored()
    about = {"models": models, "probed": {"pos": "xpos", "ner": "ner"}, "choosing": "dev", "least": 20}
    write_json(directory / "probe.json", about)
    return directory


def _common() -> Common:
    return common_heads([_gated(task, STEM, i) for i, task in enumerate(TASKS)], least=4, draws=500, seed=1)


def _judge(directory: Path, draws: int = 199) -> tuple[Claim, ...]:
    return claims(_common(), list(read_probed(directory, "stl", "mtl")), 0.05, draws, 1)


def test_a_planted_effect_is_found_in_twenty_of_twenty_seeds(tmp_path: Path) -> None:
    found = [
        verdict(_judge(_hits(tmp_path / str(seed), seed, rise=(0.4, 0.05), loss=(0.25, 0.0)))) for seed in range(20)
    ]
    assert found == ["supported"] * 20


@pytest.mark.parametrize(("rise", "loss"), [((0.1, 0.1), (0.05, 0.05)), ((0.4, 0.05), (0.25, 0.0))])
def test_random_sets_of_heads_are_supported_in_at_most_five_percent_of_draws(
    tmp_path: Path, rise: tuple[float, float], loss: tuple[float, float]
) -> None:
    """Whether all heads rise and fall alike, each by an amount of its own, or some stand out that nobody looked for."""
    probed = list(read_probed(_hits(tmp_path / "probe", 0, rise=rise, loss=loss), "stl", "mtl"))
    there = np.ones((LAYERS, HEADS), bool)
    shape = np.zeros((LAYERS, HEADS), bool)
    for layer, number in enumerate((2, 4, 0, 3)):
        shape[layer, :number] = True
    number, shown = 300, {"rise": 0, "loss": 0, "both": 0, "alone": 0}
    for seed, heads in enumerate(same_counts(shape, there)(number, 77)):
        up, down = (
            Claim("", contrasted(change, 0.05, "points"))
            for change in changes_of_sets(heads, there, probed, draws=99, seed=seed)
        )
        shown["rise"] += up.shown == "shown"
        shown["loss"] += down.shown == "shown"
        shown["both"] += up.shown == down.shown == "shown"
        shown["alone"] += up.tests[0].shown == down.tests[0].shown == "shown"
    assert max(shown["rise"], shown["loss"], shown["both"]) <= 0.05 * number, shown
    assert shown["alone"] > 0.5 * number  # without a contrast, most sets would pass


@pytest.mark.parametrize(
    ("rise", "loss", "expected"),
    [
        ((0.1, 0.1), (0.05, 0.05), "not enough evidence"),  # all heads alike
        ((0.05, 0.3), (0.05, 0.05), "not supported"),  # others rise more
        ((-0.15, 0.0), (0.05, 0.05), "not supported"),  # stem cells fall
        ((0.3, 0.05), (-0.15, 0.0), "not supported"),  # joint training adds to them
        ((0.3, 0.05), (0.0, 0.0), "not enough evidence"),  # joint training takes nothing away
    ],
)
def test_the_verdict_follows_the_contrast(
    tmp_path: Path, rise: tuple[float, float], loss: tuple[float, float], expected: str
) -> None:
    directory = _hits(tmp_path / "probe", 3, rise=rise, loss=loss)
    made = _judge(directory)
    assert verdict(made) == expected
    said = summary(verdict(made), made, list(read_probed(directory, "stl", "mtl")))
    assert expected in said[0]
    assert len(said) == 4
    assert all("random sets with as many heads in each layer" in sentence for sentence in said[2:])


def test_a_loss_by_joint_training_says_if_that_was_longer(tmp_path: Path) -> None:
    directory = _hits(tmp_path / "probe", 3, rise=(0.3, 0.05), loss=(0.2, 0.02))
    made, probed = _judge(directory), list(read_probed(directory, "stl", "mtl"))
    assert not any("but" in sentence for sentence in summary(verdict(made), made, probed))
    about = json.loads((directory / "probe.json").read_text())
    about["models"]["mtl-all"]["length"]["planned"] = 200
    write_json(directory / "probe.json", about)
    said = summary(verdict(made), made, list(read_probed(directory, "stl", "mtl")))
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
    assert contrasted(rise, 0.05, "points")[1].shown == "open"


def test_layers_with_stem_cells_only_leave_the_comparison_with_others_open(tmp_path: Path) -> None:
    probed = list(read_probed(_hits(tmp_path / "probe", 0, rise=(0.3, 0.0), loss=(0.1, 0.0)), "stl", "mtl"))
    stem = np.zeros((LAYERS, HEADS), bool)
    stem[1] = True
    rise, _ = changes_of_sets(stem, np.ones_like(stem), probed, draws=50, seed=1)
    _, others, random = contrasted(rise, 0.05, "points")
    assert (others.shown, others.uncertainty) == ("open", "no layer has both stem cells and others")
    assert random.shown == "open"  # only one set has this shape


def test_one_seed_decides_nothing() -> None:
    one = Changes(np.array([5.0]), np.array([4.0]), 3.0, np.linspace(-1, 1, 99))
    tests = contrasted(one, 0.05, "points")
    assert [test.shown for test in tests] == ["open", "open", "shown"]
    assert Claim("", tests).shown == "open"


def test_tables_have_others_beside_stem_cells(tmp_path: Path) -> None:
    directory = _hits(tmp_path / "probe", 1, rise=(0.3, 0.05), loss=(0.2, 0.02))
    table = changes_table(changes(list(read_probed(directory, "stl", "mtl")), _common()))
    assert table.columns[2:] == (
        "pre-trained", "single-task", "joint", "rise", "joint − single",
        "others, pre-trained", "others, single-task", "others, joint", "others, rise", "others, joint − single",
    )  # fmt: skip
    values = {name: float(cell.value) for name, cell in zip(table.columns[1:], table.rows[0][1:], strict=True)}  # type: ignore[arg-type]
    assert values["rise"] == pytest.approx(values["single-task"] - values["pre-trained"])
    assert values["rise"] > values["others, rise"] + 10
    assert "np." not in table.csv()
    claimed = claims_table(_judge(directory), 0.05)
    assert [len(rows) for _, rows in claimed.sections] == [2, 3, 3]


def test_probes_that_choose_heads_on_the_scored_data_are_told(tmp_path: Path) -> None:
    directory = _hits(tmp_path / "probe", 1, rise=(0.3, 0.05), loss=(0.2, 0.02))
    said = "Heads for ner, pos were chosen and scored on the same test data"
    held_out = list(read_probed(directory, "stl", "mtl"))
    about = json.loads((directory / "probe.json").read_text())
    write_json(directory / "probe.json", about | {"choosing": "test"})
    reused = list(read_probed(directory, "stl", "mtl"))
    for probed, expected in ((held_out, False), (reused, True)):
        assert (said in changes_table(changes(probed, _common())).caption) == expected
        assert (said in summary("supported", [], probed)[-1]) == expected


def _claim(*shown: Shown) -> Claim:
    """A change alone, then contrasts."""
    return Claim("", tuple(Evidence("", "", "", one, contrast=number > 0) for number, one in enumerate(shown)))


def test_one_open_claim_is_not_enough() -> None:
    shown = _claim("shown", "shown", "shown")
    assert verdict([shown, shown, shown]) == "supported"
    assert verdict([shown, _claim("shown", "shown", "open"), shown]) == "not enough evidence"
    assert verdict([shown, _claim("shown", "open", "contradicted"), shown]) == "not enough evidence"
    assert verdict([shown, _claim("shown", "contradicted", "contradicted"), shown]) == "not supported"
    assert verdict([_claim("open"), _claim("contradicted", "shown", "shown")]) == "not supported"


def test_a_joint_model_of_other_layers_is_no_comparison(tmp_path: Path) -> None:
    directory = _hits(tmp_path / "probe", 1, rise=(0.3, 0.05), loss=(0.2, 0.02))
    about = json.loads((directory / "probe.json").read_text())
    about["models"]["mtl-all"]["layers"] = {"srl": "srl"}
    write_json(directory / "probe.json", about)
    assert list(read_probed(directory, "stl", "mtl")) == []
    made = claims(_common(), [], 0.05, 99, 1)
    assert [claim.shown for claim in made] == ["shown", "open", "open"]
