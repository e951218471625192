"""Biaffine parsing: the loss by hand, trees with one root, unknown relations, and it learns real sentences by heart."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from mtlspec.data.batching import collate
from mtlspec.data.prepared import Prepared
from mtlspec.data.readers import conllu
from mtlspec.data.sentence import DepTree, Sentence
from mtlspec.errors import DataError
from mtlspec.kinds import options_class
from mtlspec.model.encoder.states import States
from mtlspec.model.task import rebuild_task
from mtlspec.model.tasks.biaffine_dep import UNKNOWN, BiaffineDep
from mtlspec.spec.families import TASKS, TaskOptions
from tests import real_sentences, toy
from tests.unit.structs.trees import all_trees, crosses, projective_trees

SMALL = {"arc_size": 6, "rel_size": 5}


def parser(labels: dict[str, int], width: int = 8, **values: Any) -> BiaffineDep:
    options = options_class(TASKS, "biaffine_dep").model_validate({"type": "biaffine_dep", "layer": "dep", **values})
    task = cast(TaskOptions, options).build("dep", labels, width)
    assert isinstance(task, BiaffineDep)
    torch.manual_seed(9)
    for parameter in task.module.parameters():
        torch.nn.init.normal_(parameter)
    task.module.eval()
    return task


@pytest.fixture(scope="module")
def odd_data(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Prepared:
    """Dev has a relation that train has not; upos has no layer, xpos has one."""

    def made(heads: tuple[int, ...], rels: str) -> Sentence:
        size = len(heads)
        words, tags = ("cat", "sees", "dog", "tree", "old")[:size], ("N", "V", ",", "N", "J")[:size]
        return Sentence("x", words, {"xpos": tags, "dep": DepTree(heads, tuple(rels.split()))})

    splits = {
        "train": [
            made((2, 0, 2), "nsubj root obj"),
            made((0,), "root"),
            made((2, 0, 2, 5, 3), "nsubj root obj mod mod"),
        ],
        "dev": [made((0, 1), "root odd"), made((3, 3, 0), "nsubj mod root")],
        "test": [made((0,), "odd")],
    }
    return Prepared.load(toy.write_prepared(tmp_path_factory.mktemp("odd"), toy_encoder, splits))


def states_of(prepared: Prepared, split: str, rows: list[int], width: int = 8) -> tuple[Any, States]:
    batch = collate(getattr(prepared, split), torch.tensor(rows), prepared.specials)
    torch.manual_seed(5)
    words = torch.randn(*batch.word_mask.shape, width)
    return batch, States(words, torch.randn(len(rows), width), words[:, 0], words)


def by_hand(task: BiaffineDep, states: States, row: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Arc scores [W, W + 1] and relation scores [W, W + 1, R] of one sentence, from the definition."""
    scorer = cast(Any, task.module)
    words = states.words[row, :length]
    nodes = torch.cat([states.cls[row : row + 1], words])

    def mlp(layer: Any, values: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.leaky_relu(values @ layer.linear.weight.T + layer.linear.bias, 0.1)

    def biased(values: torch.Tensor) -> torch.Tensor:
        return torch.cat([values, torch.ones(len(values), 1)], 1)

    dependent, head = biased(mlp(scorer.arc_dependent, words)), mlp(scorer.arc_head, nodes)
    arcs = dependent @ scorer.arc.weight[0] @ head.T
    left, right = biased(mlp(scorer.rel_dependent, words)), biased(mlp(scorer.rel_head, nodes))
    return arcs, torch.einsum("di,rij,hj->dhr", left, scorer.rel.weight, right)


def test_gold_is_encoded_with_unknown_relations_marked(odd_data: Prepared) -> None:
    task = parser(dict(odd_data.labels["dep"]), **SMALL)
    assert task.rels == ["mod", "nsubj", "obj", "root"]
    gold = task.encode(odd_data.dev)
    assert gold.heads.tolist() == [0, 1, 3, 3, 0]
    assert gold.rels.tolist() == [3, UNKNOWN, 1, 0, 3]
    assert gold.offsets.tolist() == [0, 2, 5]


def test_the_loss_is_that_of_heads_plus_that_of_known_relations_at_gold_heads(odd_data: Prepared) -> None:
    task = parser(dict(odd_data.labels["dep"]), **SMALL)
    batch, states = states_of(odd_data, "dev", [1, 0])
    heads, rels = [], []
    for row, (gold_heads, gold_rels) in enumerate([((3, 3, 0), (1, 0, 3)), ((0, 1), (3, None))]):
        arcs, relations = by_hand(task, states, row, len(gold_heads))
        for word, (head, rel) in enumerate(zip(gold_heads, gold_rels, strict=True)):
            heads.append(-arcs[word].log_softmax(0)[head])
            if rel is not None:
                rels.append(-relations[word, head].log_softmax(0)[rel])
    expected = torch.stack(heads).mean() + torch.stack(rels).mean()
    torch.testing.assert_close(task.loss(states, batch, task.encode(odd_data.dev)), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("tree", ["projective", "nonprojective"])
def test_every_prediction_is_the_best_tree_with_the_best_relations(tree: str, toy_prepared: Path) -> None:
    data = Prepared.load(toy_prepared)
    task = parser(dict(data.labels["dep"]), tree=tree, **SMALL)
    rows = [row for row in range(len(data.train)) if data.train.word_counts[row] <= 5]
    batch, states = states_of(data, "train", rows)
    searched = 0
    for row, found in enumerate(task.decode(states, batch)):
        size = len(found.heads)
        arcs, relations = by_hand(task, states, row, size)
        greedy = tuple(arcs.argmax(1).tolist())
        trees = projective_trees(size) if tree == "projective" else all_trees(size)
        best = max(trees, key=lambda heads: sum(arcs[word, head].item() for word, head in enumerate(heads)))
        assert found.heads == (greedy if greedy in all_trees(size) else best)
        searched += greedy not in all_trees(size)
        assert found.rels == tuple(task.rels[relations[w, h].argmax()] for w, h in enumerate(found.heads))
    assert searched > 5


def test_a_projective_search_never_crosses_arcs(toy_prepared: Path) -> None:
    data = Prepared.load(toy_prepared)
    task = parser(dict(data.labels["dep"]), **SMALL)
    batch, _ = states_of(data, "train", list(range(60)))
    arcs = torch.randn(*batch.word_mask.shape, batch.word_mask.shape[1] + 1)
    arcs[:, :, 0] = 0.0
    arcs[:, 0, 1] = 99.0  # the first word wants to be its own head: never a tree
    arcs = arcs.masked_fill(~torch.nn.functional.pad(batch.word_mask, (1, 0), value=True).unsqueeze(1), float("-inf"))
    for heads, size in zip(task._trees(arcs, batch.word_mask).tolist(), batch.word_mask.sum(1).tolist(), strict=True):
        assert not crosses(heads[:size])
        assert heads[:size].count(0) == 1


def test_an_unseen_relation_counts_as_an_error(odd_data: Prepared) -> None:
    task = parser(dict(odd_data.labels["dep"]), punctuation="none", **SMALL)
    batch, states = states_of(odd_data, "test", [0])
    assert task.metric.counts(task.gold_values(odd_data.test), task.decode(states, batch)).tolist() == [[0, 1, 1]]
    assert torch.isfinite(task.loss(states, batch, task.encode(odd_data.test)))


def test_punctuation_comes_from_the_named_tag_layer(odd_data: Prepared) -> None:
    task = parser(dict(odd_data.labels["dep"]), punctuation="ptb", **SMALL)
    assert [tree.punctuation for tree in task.gold_values(odd_data.dev)] == [(False, False), (False, False, True)]
    with pytest.raises(DataError, match="rule 'upos' reads a tag layer 'upos'; there is none") as caught:
        parser(dict(odd_data.labels["dep"]), punctuation="upos", **SMALL).encode(odd_data.train)
    assert caught.value.code == "E286"
    named = parser(dict(odd_data.labels["dep"]), punctuation="upos", punctuation_layer="xpos", **SMALL)
    assert not any(itertools.chain.from_iterable(tree.punctuation for tree in named.gold_values(odd_data.dev)))


def test_predictions_are_written_as_conllu_that_our_reader_reads(odd_data: Prepared, tmp_path: Path) -> None:
    task = parser(dict(odd_data.labels["dep"]), **SMALL)
    batch, states = states_of(odd_data, "dev", [0, 1])
    found = task.decode(states, batch)
    path = tmp_path / "dep.conllu"
    task.write_predictions(odd_data.dev, found, path)
    again = list(conllu.Options(type="conllu").read(path))
    assert [sentence.layers["dep"] for sentence in again] == found
    assert [list(sentence.words) for sentence in again] == [odd_data.dev.words(row) for row in range(2)]
    assert again[1].layers["xpos"] == ("N", "V", ",")


def test_a_described_task_is_rebuilt_the_same() -> None:
    task = parser({"root": 2, "obj": 1}, tree="nonprojective", dropout=0.1, subtypes=False, **SMALL)
    again = rebuild_task("dep", task.describe(), 8)
    assert again.describe() == task.describe()
    assert str(again.module) == str(task.module)


def test_defaults_are_those_of_the_paper() -> None:
    options: Any = options_class(TASKS, "biaffine_dep").model_validate({"type": "biaffine_dep", "layer": "dep"})
    assert (options.arc_size, options.rel_size, options.dropout) == (500, 100, 0.33)


def test_it_learns_fifty_toy_sentences_by_heart(tmp_path: Path) -> None:
    encoder = toy.write_encoder(tmp_path / "encoder", dropout=0.0)
    fifty = toy.corpus(11, 50)
    prepared = toy.write_prepared(tmp_path / "data", encoder, {"train": fifty, "dev": fifty, "test": fifty})
    params = toy.train_params([], dropout=0.0, epochs=15, patience=1.0, batch={"sentences": 10, "tokens": 400})
    params["tasks"] = {"dep": {"type": "biaffine_dep", "layer": "dep", "arc_size": 64, "rel_size": 32, "dropout": 0.0}}
    assert toy.run_train(tmp_path, encoder, prepared, params).scores["dev/dep/las"] >= 99


@pytest.mark.slow
@pytest.mark.realdata
def test_it_learns_fifty_real_sentences_by_heart(tmp_path: Path) -> None:
    kept = real_sentences.fifty("dep")
    encoder = toy.write_encoder(tmp_path / "encoder", 128, 4, 8, dropout=0.0, known=kept)
    prepared = toy.write_prepared(tmp_path / "data", encoder, {"train": kept, "dev": kept, "test": kept})
    rates = {"encoder": 5e-4, "decoder": 2e-3}
    params = toy.train_params(
        [], dropout=0.0, epochs=60, patience=1.0, batch={"sentences": 10, "tokens": 800}, lr=rates
    )
    params["tasks"] = {"dep": {"type": "biaffine_dep", "layer": "dep"}}
    assert toy.run_train(tmp_path, encoder, prepared, params).scores["dev/dep/las"] >= 99
