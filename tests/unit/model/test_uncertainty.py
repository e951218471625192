"""How unsure parsers are of a sentence: against sums over all heads, spans, trees and roles, and at both ends."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mtlspec.contract.decoders import model_of
from mtlspec.data.batching import Batch, collate
from mtlspec.data.prepared import Prepared
from mtlspec.model.encoder.states import States
from mtlspec.model.task import Task

TASKS: dict[str, dict[str, Any]] = {
    "dep": {"type": "biaffine_dep", "layer": "dep", "arc_size": 8, "rel_size": 4},
    "ner": {"type": "biaffine_ner", "layer": "ner", "size": 6},
    "con": {"type": "crf_con", "layer": "con", "span_size": 8, "label_size": 4},
    "srl": {"type": "span_srl", "layer": "srl", "size": 6, "label_size": 6, "max_width": 4},
}


def asked(name: str, encoder: Path, prepared: Path, scale: float = 0.5) -> tuple[Any, States, Batch]:
    """A task with random parameters of a size, five short sentences of several lengths, and their states."""
    data = Prepared.load(prepared)
    model = model_of(encoder, data, TASKS[name])
    model.module.eval()
    (task,) = model.tasks
    with torch.no_grad():
        for parameter in task.module.parameters():
            parameter.normal_(std=scale)
        rows = data.train.word_counts.argsort(stable=True)[::8][:5]
        batch = collate(data.train, rows, data.specials)
        return task, model.states(batch, 0), batch


def entropy(weights: np.ndarray[Any, Any]) -> float:
    shares = weights / weights.sum()
    return float(-sum(share * math.log(share) for share in shares if share > 0))


@pytest.mark.parametrize("name", TASKS)
def test_it_is_a_share_without_gradient_and_nothing_is_drawn_by_chance(
    name: str, toy_encoder: Path, toy_prepared: Path
) -> None:
    task, states, batch = asked(name, toy_encoder, toy_prepared)
    found = task.uncertainty(states, batch)
    assert found.shape == (5,) and not found.requires_grad
    assert bool(((found >= 0) & (found <= 1)).all())
    torch.testing.assert_close(task.uncertainty(states, batch), found, rtol=0, atol=0)
    for row in range(5):  # alone, without the padding of longer sentences
        own = batch.select(torch.tensor([row]))
        alone = states.select(torch.tensor([row]), own.word_mask.shape[1], own.pieces.shape[1])
        torch.testing.assert_close(task.uncertainty(alone, own), found[row : row + 1], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("name", "expected"), [("dep", 1.0), ("ner", 1.0), ("srl", 1.0)])
def test_a_decoder_that_knows_nothing_is_as_unsure_as_can_be(
    name: str, expected: float, toy_encoder: Path, toy_prepared: Path
) -> None:
    task, states, batch = asked(name, toy_encoder, toy_prepared, scale=0.0)
    torch.testing.assert_close(task.uncertainty(states, batch), torch.full((5,), expected))


def heads(task: Any, states: States, batch: Batch) -> list[float]:
    scores = task._scorer.arcs(states, batch.word_mask).double().exp().numpy()
    sizes = batch.word_mask.sum(1).tolist()
    return [
        float(np.mean([entropy(scores[row, word, : n + 1]) / math.log(n + 1) for word in range(n)]))
        for row, n in enumerate(sizes)
    ]


def entities(task: Any, states: States, batch: Batch) -> list[float]:
    scores = task._scores(states.words).double().exp().numpy()
    classes = scores.shape[3]
    return [
        float(np.mean([entropy(scores[row, i, j]) / math.log(classes) for i in range(n) for j in range(i, n)]))
        for row, n in enumerate(batch.word_mask.sum(1).tolist())
    ]


def trees(first: int, last: int) -> list[frozenset[tuple[int, int]]]:
    """The spans of every binary tree over the words between two posts."""
    own = frozenset({(first, last)})
    if last - first == 1:
        return [own]
    return [
        own | left | right for at in range(first + 1, last) for left in trees(first, at) for right in trees(at, last)
    ]


def phrases(task: Any, states: States, batch: Batch) -> list[float]:
    lengths = batch.word_mask.sum(1)
    scores = task.module.spans(task._posts(states, lengths)).double().numpy()
    found = []
    for row, n in enumerate(lengths.tolist()):
        every = trees(0, n)
        weights = np.array([math.exp(sum(scores[row, i, j] for i, j in tree)) for tree in every])
        spans = [(i, j) for i in range(n) for j in range(i + 2, n + 1) if j - i < n]
        own = []
        for span in spans:
            share = sum(w for w, tree in zip(weights, every, strict=True) if span in tree) / weights.sum()
            own.append(entropy(np.array([share, 1 - share])) / math.log(2))
        found.append(float(np.mean(own)) if own else 0.0)
    return found


@pytest.mark.parametrize(("name", "direct"), [("dep", heads), ("ner", entities), ("con", phrases)])
def test_it_is_what_a_sum_over_everything_gives(name: str, direct: Any, toy_encoder: Path, toy_prepared: Path) -> None:
    task, states, batch = asked(name, toy_encoder, toy_prepared)
    assert batch.word_mask.sum(1).max() <= 9  # there are 1430 trees of nine words
    with torch.no_grad():
        found = task.uncertainty(states, batch).tolist()
        assert found == pytest.approx(direct(task, states, batch), abs=1e-5)
    assert 0.01 < max(found) - min(found) < 1


def test_roles_of_kept_pairs_are_averaged(toy_encoder: Path, toy_prepared: Path) -> None:
    task, states, batch = asked("srl", toy_encoder, toy_prepared)
    with torch.no_grad():
        ranked = task._rank(states, batch)
        scores = np.concatenate([np.zeros((*ranked.scores.shape[:3], 1)), ranked.scores.double().numpy()], 3)
    expected = []
    for row in range(5):
        kept = [scores[row, k, p] for k, p in ranked.mask[row].nonzero().tolist()]
        expected.append(float(np.mean([entropy(np.exp(one)) / math.log(len(one)) for one in kept])))
    assert task.uncertainty(states, batch).tolist() == pytest.approx(expected, abs=1e-5)


def test_every_type_but_regression_says_it(toy_encoder: Path, toy_prepared: Path) -> None:
    from mtlspec import kinds
    from mtlspec.spec.families import TASKS as FAMILY

    silent = {
        name
        for name in kinds.names(FAMILY)
        if not any("uncertainty" in vars(cls) for cls in _tasks(name) if cls is not Task)
    }
    assert silent == {"regression"}


def _tasks(name: str) -> list[type[Task]]:
    """The classes of tasks in a kind's file."""
    from mtlspec import kinds
    from mtlspec.spec.families import TASKS as FAMILY

    module = kinds.load(FAMILY, name)
    return [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Task)]
