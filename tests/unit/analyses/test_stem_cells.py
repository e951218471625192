"""The stem cell hypothesis: planted answers are found, and a verdict needs all of its claims."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.analyses._gates import Gated
from mtlspec.analyses._probes.hits import Tally, write_hits
from mtlspec.analyses._stem_cells import Claim, claims, common_heads, most_in_common, probe_changes, verdict
from mtlspec.analyses._stem_tables import changes_table, summary
from mtlspec.errors import StageError
from mtlspec.io.write import write_json
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


def test_planted_stem_cells_are_found_beyond_chance() -> None:
    common = common_heads([_gated(task, STEM, i) for i, task in enumerate(TASKS)], least=4, draws=500, seed=1)
    assert [tuple(place) for place in np.argwhere(common.stem)] == STEM
    assert common.p < 0.01
    assert common.expected < 1


def test_heads_at_random_are_not_beyond_chance() -> None:
    rng = np.random.default_rng(0)
    keep = [[(layer, int(h)) for layer in range(LAYERS) for h in rng.permutation(HEADS)[:3]] for _ in TASKS]
    common = common_heads([_gated(task, keep[i], i) for i, task in enumerate(TASKS)], least=3, draws=500, seed=1)
    assert common.p > 0.05
    assert claims(common, [], 0.05)[0].shown == "open"


def test_tasks_that_keep_everything_prove_nothing() -> None:
    all_heads = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]
    common = common_heads([_gated(task, all_heads, 1) for task in TASKS], least=3, draws=100, seed=1)
    assert common.stem.all()
    assert claims(common, [], 0.05)[0].shown == "open"


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
    claim = claims(common, [], 0.05)[0]
    assert claim.shown == "open"
    assert "no test: so many heads are kept" in claim.test


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


def _probe(directory: Path, single: float, joint: float) -> Path:
    """A probe of one task: stem cells find 60 of 100 items before training and what is given after it; others 20."""
    groups = []
    for name, seed, level in [
        ("pretrained", 0, 60.0),
        *(("stl-pos", s, single + s) for s in (1, 2, 3)),
        *(("mtl-all", s, joint + s) for s in (1, 2, 3)),
    ]:
        tallies = []
        for split in ("dev", "test"):
            for labels in ("gold", "shuffled"):
                tally = Tally.empty("pos", split, labels, ("A", "B"), LAYERS * HEADS)  # type: ignore[arg-type]
                tally.counts += 100
                tally.hits += 20
                for layer, head in STEM:
                    tally.hits[:, layer * HEADS + head] = int(level)
                tallies.append(tally)
        groups.append((name, seed, tallies))
    directory.mkdir()
    write_hits(directory, groups, [HEADS] * LAYERS, {})
    models = {
        "stl-pos": {"group": "stl", "seeds": [1, 2, 3], "layers": {"pos": "xpos"}},
        "mtl-all": {"group": "mtl", "seeds": [1, 2, 3], "layers": {"pos": "xpos", "ner": "ner"}},
    }
    write_json(directory / "probe.json", {"models": models, "probed": {"pos": "xpos"}, "choosing": "dev", "least": 20})
    return directory


@pytest.mark.parametrize(
    ("single", "joint", "expected"),
    [(80, 70, "supported"), (80, 90, "not supported"), (40, 30, "not supported"), (80, 80, "not enough evidence")],
)
def test_the_verdict_follows_the_numbers(tmp_path: Path, single: float, joint: float, expected: str) -> None:
    common = common_heads([_gated(task, STEM, i) for i, task in enumerate(TASKS)], least=4, draws=500, seed=1)
    (change,) = probe_changes(_probe(tmp_path / "probe", single, joint), common.stem, "stl", "mtl")
    assert change.before == pytest.approx(60)
    assert change.single.tolist() == pytest.approx([single + 1, single + 2, single + 3])
    assert change.others == pytest.approx((20, 20, 20))
    made = claims(common, [change], 0.05)
    assert verdict(made) == expected
    first = summary(verdict(made), made, [change])[0]
    assert expected in first


def test_probes_that_choose_heads_on_the_scored_data_are_told(tmp_path: Path) -> None:
    directory = _probe(tmp_path / "probe", 80, 70)
    stem = np.zeros((LAYERS, HEADS), bool)
    stem[1, 2] = True
    said = "Heads for pos were chosen and scored on the same test data"
    (held_out,) = probe_changes(directory, stem, "stl", "mtl")
    about = json.loads((directory / "probe.json").read_text())
    write_json(directory / "probe.json", about | {"choosing": "test"})
    (reused,) = probe_changes(directory, stem, "stl", "mtl")
    for change, expected in ((held_out, False), (reused, True)):
        assert (said in changes_table([change]).caption) == expected
        assert (said in summary("supported", [], [change])[-1]) == expected


def test_one_open_claim_is_not_enough() -> None:
    shown, open_ = Claim("a", "", "", "shown"), Claim("b", "", "", "open")
    assert verdict([shown, shown, shown]) == "supported"
    assert verdict([shown, open_, shown]) == "not enough evidence"
    assert verdict([open_, Claim("c", "", "", "contradicted")]) == "not supported"


def test_a_joint_model_of_other_layers_is_no_comparison(tmp_path: Path) -> None:
    directory = _probe(tmp_path / "probe", 80, 70)
    about = json.loads((directory / "probe.json").read_text())
    about["models"]["mtl-all"]["layers"] = {"ner": "ner"}
    write_json(directory / "probe.json", about)
    stem = np.zeros((LAYERS, HEADS), bool)
    stem[1, 2] = True
    assert list(probe_changes(directory, stem, "stl", "mtl")) == []
