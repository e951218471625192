"""Constituency parsing: binarised gold trees, fence-posts, losses by hand, decoding, and it learns trees by heart."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.data.batching import collate
from mtlspec.data.blocks import Block
from mtlspec.data.layers import con
from mtlspec.data.prepared import Prepared
from mtlspec.data.readers import brackets as reader
from mtlspec.data.sentence import ConTree, Sentence
from mtlspec.errors import DataError, StageError
from mtlspec.kinds import options_class
from mtlspec.model.encoder.states import States
from mtlspec.model.task import rebuild_task
from mtlspec.model.tasks._fencepost_scorer import fenceposts
from mtlspec.model.tasks._phrase_labels import UNKNOWN, PhraseLabels
from mtlspec.model.tasks.crf_con import CrfConstituency
from mtlspec.spec.families import TASKS, TaskOptions
from mtlspec.structs.binarise import left_binarised
from tests import toy
from tests.unit.data.strategies import con_trees

WIDTH = 8


def read(text: str) -> Sentence:
    parsed = reader.Options(type="brackets").parse(Block("x", 1, 1, (text,)))
    return Sentence("x", parsed.words, {"con": parsed.layers["con"]}, ("x.trees", 7))


def prepare(directory: Path, encoder: Path, train: list[Sentence], dev: list[Sentence] | None = None) -> Prepared:
    splits: dict[str, Sequence[Sentence]] = {
        "train": train,
        "dev": dev if dev is not None else train,
        "test": train[:1],
    }
    return Prepared.load(toy.write_prepared(directory, encoder, splits))


def parser(labels: Any, **options: Any) -> CrfConstituency:
    given_ = {"type": "crf_con", "layer": "con", "span_size": 6, "label_size": 5, **options}
    torch.manual_seed(1)
    options = cast(TaskOptions, options_class(TASKS, "crf_con").model_validate(given_))
    task = options.build("con", dict(labels), WIDTH)
    assert isinstance(task, CrfConstituency)
    for parameter in task.module.parameters():
        torch.nn.init.normal_(parameter)
    task.module.eval()
    return task


def states_of(prepared: Prepared, split: str, rows: list[int]) -> tuple[Any, States]:
    batch = collate(getattr(prepared, split), torch.tensor(rows), prepared.specials)
    torch.manual_seed(5)
    states = torch.randn(len(rows), batch.word_mask.shape[1] + 2, WIDTH)
    return batch, States(states[:, 2:], states[:, 0], states[:, 1], states)


TRAIN = [
    read("(TOP (S (NP (D the) (A old) (N cat)) (VP (V sees) (NP (N dog))) (. .)))"),
    read("(TOP (S (VP (V finds))))"),
    read("(TOP (N tree))"),
    read("(TOP (NP (N cat)) (. .) (NP (N dog)))"),
]
ODD = [read("(TOP (S (ODD (D the) (A old) (N cat)) (NP (VP (V sees)))))"), TRAIN[0]]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Prepared:
    return prepare(tmp_path_factory.mktemp("trees"), toy_encoder, TRAIN, ODD)


def test_the_labels_of_trees_are_unary_chains(data: Prepared) -> None:
    assert data.labels["con"] == {"NP": 4, "TOP": 2, "TOP S": 1, "TOP S VP": 1, "VP": 1}
    assert data.unseen["con"] == ["NP VP", "ODD"]
    phrases = PhraseLabels(data.labels["con"])
    assert phrases.root == "TOP"
    assert phrases.written == [("NP",), ("S",), ("S", "VP"), ("VP",), (), (), (), ()]  # parts of NP, S, TOP, VP


def test_gold_trees_are_left_binarised_with_chains_joined(data: Prepared) -> None:
    task = parser(data.labels["con"])
    gold = task.encode(data.train)
    shown = ["NP", "S", "S VP", "VP", "NP+", "S+", "TOP+", "VP+"]
    named = [(i, j, shown[label]) for (i, j), label in zip(gold.spans.tolist(), gold.labels.tolist(), strict=True)]
    by_row = [named[low:high] for low, high in itertools.pairwise(gold.offsets.tolist())]
    assert sorted(by_row[0]) == [
        (0, 1, "NP+"),
        (0, 2, "NP+"),
        (0, 3, "NP"),
        (0, 5, "S+"),
        (0, 6, "S"),
        (1, 2, "NP+"),
        (2, 3, "NP+"),
        (3, 4, "VP+"),
        (3, 5, "VP"),
        (4, 5, "NP"),
        (5, 6, "S+"),
    ]
    assert by_row[1] == [(0, 1, "S VP")]
    assert by_row[2] == [(0, 1, "TOP+")]
    assert sorted(by_row[3]) == [(0, 1, "NP"), (0, 2, "TOP+"), (0, 3, "TOP+"), (1, 2, "TOP+"), (2, 3, "NP")]


def test_labels_that_training_never_saw_are_marked(data: Prepared) -> None:
    gold = parser(data.labels["con"]).encode(data.dev)
    found = {tuple(span): label for span, label in zip(gold.spans[:7].tolist(), gold.labels[:7].tolist(), strict=True)}
    assert [found[span] for span in ((0, 3), (0, 2), (0, 1), (3, 4))] == [UNKNOWN] * 4
    assert found[0, 4] >= 0


@given(st.lists(st.integers(1, 9).flatmap(con_trees), min_size=1, max_size=3))
@settings(max_examples=60)
def test_binarised_trees_give_the_phrases_back(trees: list[ConTree]) -> None:
    """Outer and left first, the spans of a binary tree with their chains are the tree that was given."""
    phrases: list[list[tuple[int, int]]] = []
    for tree in trees:
        phrases.append(list(dict.fromkeys((start, end) for start, end, _ in tree.spans)))
    flat = [span for spans in phrases for span in spans]
    starts, ends = torch.tensor(flat).T
    offsets = torch.tensor([0, *(len(spans) for spans in phrases)]).cumsum(0)
    own = torch.arange(len(flat))
    words = torch.tensor([len(tree.pos) for tree in trees])
    spans, labels = left_binarised(starts, ends, own, own + 1000, offsets, words, 5000)
    at = 0
    for spans_, n in zip(phrases, words.tolist(), strict=True):
        mine = [(*span, label) for span, label in zip(spans.tolist(), labels.tolist(), strict=True)][
            at : at + 2 * n - 1
        ]
        at += 2 * n - 1
        cells = {(i, j) for i, j, _ in mine}
        assert len(cells) == 2 * n - 1 and cells >= set(spans_) and {(i, i + 1) for i in range(n)} <= cells
        for i, j in cells:  # binary: every longer span has exactly one split
            assert j == i + 1 or sum((i, k) in cells and (k, j) in cells for k in range(i + 1, j)) == 1
        assert sorted(flat[label] for _, _, label in mine if label < 1000) == sorted(spans_)


@pytest.mark.parametrize("spans", [((0, 3, "S"), (0, 2, "A"), (1, 3, "B")), ((0, 3, "S"), (1, 2, "A"), (0, 1, "B"))])
def test_phrases_that_are_no_tree_are_refused(spans: Any, toy_encoder: Path, tmp_path: Path) -> None:
    broken = Sentence("x", ("cat", "sees", "dog"), {"con": ConTree(spans, ("N", "V", "N"))}, ("x.trees", 7))
    prepared = prepare(tmp_path, toy_encoder, [broken])
    with pytest.raises(DataError, match=r"x\.trees:7: error E281: the phrases of layer 'con' are no tree"):
        parser(prepared.labels["con"]).encode(prepared.train)


def test_an_empty_split_is_encoded(toy_encoder: Path, tmp_path: Path) -> None:
    gold = parser({"TOP S": 1}).encode(prepare(tmp_path, toy_encoder, TRAIN, []).dev)
    assert (gold.spans.shape, gold.labels.tolist(), gold.offsets.tolist()) == ((0, 2), [], [0])


def test_a_corpus_without_phrases_is_refused() -> None:
    with pytest.raises(StageError, match="E440"):
        parser({})


def test_fenceposts_join_the_halves_of_their_neighbours() -> None:
    words = torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [0.0, 0.0]]])
    cls, sep = torch.tensor([[-1.0, -2.0], [-3.0, -4.0]]), torch.tensor([[7.0, 8.0], [9.0, 10.0]])
    found = fenceposts(words, cls, sep, torch.tensor([2, 1]))
    assert found[0].tolist() == [[-1, 2], [1, 4], [3, 8]]
    assert found[1, :2].tolist() == [[-3, 6], [5, 10]]


def test_the_loss_is_that_of_the_tree_per_word_and_of_its_labels(data: Prepared) -> None:
    task = parser(data.labels["con"])
    batch, states = states_of(data, "train", [3, 1])  # three words: two binary trees; one word
    gold = task.encode(data.train)
    posts = fenceposts(states.words, states.cls, states.sep, torch.tensor([3, 1]))
    scores = task.module.spans(posts)
    left, right = scores[0, 0, 2], scores[0, 1, 3]  # the gold tree branches left
    log_probabilities = task.module.label(task.module.label_left(posts), task.module.label_right(posts)).log_softmax(-1)
    part, np_, chain = 6, 0, 2
    named = [(0, 0, 3, part), (0, 0, 2, part), (0, 0, 1, np_), (0, 1, 2, part), (0, 2, 3, np_), (1, 0, 1, chain)]
    expected = (torch.logaddexp(left, right) - left) / 4 - sum(log_probabilities[cell] for cell in named) / 6
    torch.testing.assert_close(task.loss(states, batch, gold), expected)


def test_unseen_labels_cost_nothing_and_count_as_errors(data: Prepared) -> None:
    task = parser(data.labels["con"])
    batch, states = states_of(data, "dev", [0])
    assert task.loss(states, batch, task.encode(data.dev)).isfinite()
    counts = task.metric.counts(task.gold_values(data.dev)[:1], task.decode(states, batch))
    assert counts[0, 2] == 4


@pytest.mark.parametrize("decode", ["mbr", "best"])
def test_planted_scores_bring_the_gold_trees_back(data: Prepared, decode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task = parser(data.labels["con"], decode=decode)
    batch, states = states_of(data, "train", [0, 1, 2, 3])
    gold = task.encode(data.train)
    lengths = batch.word_mask.sum(1)
    posts = int(lengths.max()) + 1
    sentence = torch.arange(4).repeat_interleave(2 * lengths - 1)
    cells = (sentence * posts + gold.spans[:, 0]) * posts + gold.spans[:, 1]
    spans, labels = torch.zeros(4 * posts * posts), torch.zeros(4 * posts * posts, len(task.phrases))
    spans[cells] = 5.0
    labels[cells, gold.labels] = 1.0
    monkeypatch.setattr(task.module, "spans", lambda _: spans.view(4, posts, posts))
    monkeypatch.setattr(task.module, "labels", lambda _, at: labels[at])
    assert [tree.spans for tree in task.decode(states, batch)] == [tree.spans for tree in task.gold_values(data.train)]


def test_trees_without_a_root_stay_whole(toy_encoder: Path, tmp_path: Path) -> None:
    rootless = [read("(S (NP (N cat)) (VP (V sees) (NP (N dog)) (ADVP (A old))))"), read("(NP (N dog))")]
    prepared = prepare(tmp_path, toy_encoder, rootless)
    task = parser(prepared.labels["con"])
    assert task.phrases.root is None
    torch.nn.init.zeros_(task.module.label.weight)
    with torch.no_grad():
        task.module.label.weight[task.phrases.chains :, -1, -1] = 9.0  # nothing but parts
    batch, states = states_of(prepared, "train", [0, 1])
    trees = task.decode(states, batch)
    assert [tree.spans[0][:2] for tree in trees] == [(0, 4), (0, 1)]
    assert all(tree.spans[0][2] for tree in trees)


def test_predictions_are_written_as_trees_that_can_be_read(data: Prepared, tmp_path: Path) -> None:
    task = parser(data.labels["con"])
    batch, states = states_of(data, "train", [0, 1, 2, 3])
    trees = task.decode(states, batch)
    file = tmp_path / f"con.{task.extension}"
    task.write_predictions(data.train, trees, file)
    again = list(reader.Options(type="brackets").read(file))
    assert [sentence.words for sentence in again] == [sentence.words for sentence in TRAIN]
    assert [cast(ConTree, sentence.layers["con"]).spans for sentence in again] == [tree.spans for tree in trees]
    task.write_predictions(data.train, task.gold_values(data.train), file)
    assert file.read_text().splitlines()[1] == "(TOP (S (VP (V finds))))"


def test_a_described_parser_is_rebuilt_the_same(data: Prepared) -> None:
    task = parser(data.labels["con"], dropout=0.2, decode="best")
    again = rebuild_task("con", task.describe(), WIDTH)
    assert again.describe() == task.describe()
    assert str(again.module) == str(task.module)


def learn(directory: Path, encoder: Path, sentences: list[Sentence], **train: Any) -> float:
    prepared = toy.write_prepared(directory / "data", encoder, dict.fromkeys(("train", "dev", "test"), sentences))
    params = toy.train_params(["pos"], dropout=0.0, patience=1.0, batch={"sentences": 10, "tokens": 2000}, **train)
    params["tasks"] = {"con": {"type": "crf_con", "layer": "con", "span_size": 64, "label_size": 48, "dropout": 0.0}}
    return float(toy.run_train(directory, encoder, prepared, params).scores["dev/con/f1"])


def test_it_learns_thirty_sentences_by_heart(tmp_path: Path) -> None:
    encoder = toy.write_encoder(tmp_path / "encoder", dropout=0.0)
    assert learn(tmp_path, encoder, toy.corpus(11, 30), epochs=15) >= 99


@pytest.mark.realdata
@pytest.mark.slow
def test_it_learns_fifty_real_sentences_by_heart(tmp_path: Path) -> None:
    root = os.environ.get("MTLSPEC_DATA")
    if not root:
        pytest.fail("set MTLSPEC_DATA to the folder that has ewt5/")
    file = Path(root) / "ewt5" / "small" / "ewt5-small.train.trees"
    fifty = list(reader.Options(type="brackets").read(file))[:50]
    assert all(list(con.KIND.targets(sentence.layers["con"])) for sentence in fifty)
    encoder = toy.write_encoder(tmp_path / "encoder", width=128, layers=4, heads=8, dropout=0.0, known=fifty)
    assert learn(tmp_path, encoder, fifty, epochs=60, lr={"encoder": 5e-4, "decoder": 2e-3}) >= 99
