"""Probes against a slow and obvious reference, sentence by sentence and head by head."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import load_file, save_file

from mtlspec.analyses import attended_value_probe, attention_probe
from mtlspec.analyses._probes.best import best_heads
from mtlspec.analyses._probes.hits import read_hits
from mtlspec.data.batching import collate
from mtlspec.data.prepared import Prepared, PreparedSplit
from mtlspec.data.sentence import DepTree, Sentence
from mtlspec.errors import StageError
from mtlspec.io.digest import digest_tree
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.results.jobs import Measurement
from tests import toy

Hits = dict[tuple[str, int, int], list[bool]]
"""(label, layer, head) -> one answer an item"""


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("probes")
    encoder = toy.write_encoder(root / "encoder", width=24, layers=2, heads=3)
    splits = {"train": toy.corpus(1, 5), "dev": toy.corpus(2, 24), "test": toy.corpus(3, 16)}
    return {"encoder": encoder, "prepare-toy": toy.write_prepared(root / "prepare", encoder, splits)}


def _sentences(split: str) -> list[Sentence]:
    return toy.corpus({"dev": 2, "test": 3}[split], {"dev": 24, "test": 16}[split])


def _alone(encoder: Encoder, split: PreparedSplit, row: int) -> Any:
    """What the heads do when a sentence is read alone, without padding."""
    batch = collate(split, torch.tensor([row]), encoder.specials)
    with torch.no_grad(), encoder.heads.captured() as seen:
        encoder(batch)
    pieces = [int(word) for word in batch.word_of_piece[0]]
    of_word = defaultdict(list)
    for place, word in enumerate(pieces):
        if word >= 0:
            of_word[word + 1].append(place)
    return seen, {0: [0], **of_word}


def _argmax_rows(attention: torch.Tensor, places: dict[int, list[int]], cls: bool, itself: bool) -> dict[int, int]:
    """Attention [S, S] -> position -> the position it looks at most."""
    best = {}
    for query, rows in places.items():
        weights = {}
        for key, columns in places.items():
            if (key == 0 and not cls) or (key == query and not itself):
                continue
            weights[key] = sum(float(attention[row, column]) for row in rows for column in columns) / len(rows)
        best[query] = max(weights, key=lambda key: (weights[key], -key))
    return best


def _reference_attention(encoder: Encoder, split: PreparedSplit, name: str, task: str, itself: bool) -> Hits:
    hits: Hits = defaultdict(list)
    for row, sentence in enumerate(_sentences(name)):
        seen, places = _alone(encoder, split, row)
        for layer, attention in enumerate(seen.attention):
            for head in range(attention.shape[1]):
                best = _argmax_rows(attention[0, head], places, cls=task == "dep", itself=itself)
                if task == "dep":
                    tree: Any = sentence.layers["dep"]
                    for d, (h, rel) in enumerate(zip(tree.heads, tree.rels, strict=True), start=1):
                        hits[rel, layer, head].append(best[d] == h or best[h] == d)
                else:
                    frames: Any = sentence.layers["srl"]
                    for frame in frames:
                        p = frame.predicate + 1
                        for start, end, role in frame.roles:
                            if role != "V":
                                span = range(start + 1, end + 1)
                                hits[role, layer, head].append(best[p] in span or any(best[t] == p for t in span))
    return hits


def _spans(sentence: Sentence, task: str) -> list[tuple[int, int, str]]:
    layers: Any = sentence.layers
    if task == "pos":
        return [(i, i + 1, tag) for i, tag in enumerate(layers["pos"])]
    if task == "con":
        spans = layers["con"].spans
        inside = lambda a, b: a is not b and b[0] <= a[0] and a[1] <= b[1] and spans.index(a) > spans.index(b)  # noqa: E731
        return [span for span in spans if not any(inside(other, span) for other in spans)]
    found = []
    tags = [*layers["ner"], "O"]
    start = None
    for i, tag in enumerate(tags):
        if start is not None and not tag.startswith("I-"):
            found.append((start, i, tags[start][2:]))
            start = None
        if tag.startswith("B-"):
            start = i
    return found


def _reference_values(encoder: Encoder, splits: dict[str, PreparedSplit], task: str) -> dict[str, Hits]:
    vectors: dict[str, list[tuple[str, Any]]] = {}
    for name, split in splits.items():
        vectors[name] = []
        for row, sentence in enumerate(_sentences(name)):
            seen, places = _alone(encoder, split, row)
            for start, end, label in _spans(sentence, task):
                words = [
                    torch.stack([layer[0, places[i + 1]].mean(0) for layer in seen.contexts]) for i in range(start, end)
                ]
                vectors[name].append((label, torch.stack(words).mean(0)))  # [layers, heads, D]
    labels = sorted({label for label, _ in vectors["dev"]})
    centroids = torch.stack(
        [torch.stack([v for name, v in vectors["dev"] if name == label]).mean(0) for label in labels]
    )
    found: dict[str, Hits] = {}
    for name in splits:
        hits: Hits = defaultdict(list)
        for gold, vector in vectors[name]:
            cosine = torch.nn.functional.cosine_similarity(vector.unsqueeze(0), centroids, dim=3)
            for layer in range(cosine.shape[1]):
                for head in range(cosine.shape[2]):
                    hits[gold, layer, head].append(labels[int(cosine[:, layer, head].argmax())] == gold)
        found[name] = hits
    return found


def _same(measured: Any, split: str, expected: Hits) -> None:
    names = {label for label, _, _ in expected}
    assert names
    for (label, layer, head), answers in expected.items():
        index = measured.names.index(label)
        assert measured.counts[split][index] == len(answers)
        accuracy = measured.values[split, "gold"][index, layer, head]
        assert round(accuracy * len(answers) / 100) == sum(answers), (label, layer, head)
        assert accuracy == pytest.approx(100 * sum(answers) / len(answers))


def _measure(module: Any, inputs: dict[str, Path], out: Path, **options: Any) -> Any:
    parsed = module.Options(type=module.__name__.rsplit(".", 1)[-1], **options)
    out.mkdir()
    return parsed.measure(Measurement(None, inputs, out))


@pytest.mark.parametrize("itself", [True, False])
def test_attention_probes_agree_with_the_reference_to_the_last_hit(artifacts, tmp_path: Path, itself: bool) -> None:
    _measure(attention_probe, artifacts, tmp_path / "out", dep="dep", srl="srl", with_self=itself)
    found = read_hits(tmp_path / "out")
    encoder = Encoder.load(artifacts["encoder"])
    data = Prepared.load(artifacts["prepare-toy"])
    for task in ("dep", "srl"):
        for split in ("dev", "test"):
            expected = _reference_attention(encoder, data.split(split), split, task, itself)
            _same(found["pretrained", 0, task], split, expected)


def test_value_probes_agree_with_the_reference_to_the_last_hit(artifacts, tmp_path: Path) -> None:
    _measure(attended_value_probe, artifacts, tmp_path / "out", pos="pos", ner="ner", con="con")
    found = read_hits(tmp_path / "out")
    encoder = Encoder.load(artifacts["encoder"])
    data = Prepared.load(artifacts["prepare-toy"])
    splits = {"dev": data.dev, "test": data.test}
    for task in ("pos", "ner", "con"):
        for split, expected in _reference_values(encoder, splits, task).items():
            _same(found["pretrained", 0, task], split, expected)


def test_the_control_is_another_encoder_of_the_same_shape_at_chance(artifacts, tmp_path: Path) -> None:
    _measure(attended_value_probe, artifacts, tmp_path / "out", pos="pos")
    found = read_hits(tmp_path / "out")
    assert {key[:2] for key in found} == {("pretrained", 0), ("random", 1)}
    assert found["random", 1, "pos"].values["test", "gold"].shape == (6, 2, 3)
    shuffled = found["pretrained", 0, "pos"].values["test", "shuffled"]
    chance = 100 / 6
    assert abs(found["random", 1, "pos"].values["test", "gold"].mean() - chance) < 10
    assert abs(shuffled.mean() - chance) < 10


def test_shuffled_labels_are_the_same_items_with_other_names(artifacts) -> None:
    from mtlspec.analyses._probes.gold import read_gold

    data = Prepared.load(artifacts["prepare-toy"])
    (gold,) = read_gold([data.test], "dep", "dep")
    control = gold.shuffled(3)
    assert torch.equal(control.counts(), gold.counts())
    assert torch.equal(control.start, gold.start)
    assert not torch.equal(control.label, gold.label)
    assert torch.equal(control.label, gold.shuffled(3).label)


def test_items_of_any_rows_are_found_in_their_order(artifacts) -> None:
    from mtlspec.analyses._probes.gold import read_gold

    data = Prepared.load(artifacts["prepare-toy"])
    (gold,) = read_gold([data.test], "srl", "srl")
    rows = torch.tensor([7, 0, 7, 3])
    items, place = gold.of(rows)
    expected = [(i, p) for p, row in enumerate(rows.tolist()) for i in range(gold.offsets[row], gold.offsets[row + 1])]
    assert list(zip(items.tolist(), place.tolist(), strict=True)) == expected
    assert gold.names == ("ARG0", "ARG1", "ARGM-MNR")  # the predicate itself is no argument


def test_the_same_bytes_every_time(artifacts, tmp_path: Path) -> None:
    for name in ("a", "b"):
        _measure(attention_probe, artifacts, tmp_path / name, dep="dep", srl="srl")
    assert digest_tree(tmp_path / "a") == digest_tree(tmp_path / "b")
    table = pq.read_table(tmp_path / "a" / "probe.parquet")
    assert {"model", "seed", "task", "label", "layer", "head", "accuracy", "count"} <= set(table.column_names)
    assert json.loads((tmp_path / "a" / "probe.json").read_text())["heads"] == [3, 3]


def test_a_layer_that_is_not_there_is_named(artifacts, tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"E460.*no layer 'deps' to probe; known: con, dep"):
        _measure(attention_probe, artifacts, tmp_path / "out", dep="deps")


def test_the_released_protocol_sees_only_test(artifacts, tmp_path: Path) -> None:
    _measure(attended_value_probe, artifacts, tmp_path / "out", ner="ner", protocol="released")
    found = read_hits(tmp_path / "out")["pretrained", 0, "ner"]
    assert set(found.counts) == {"test"}


def _chain(number: int, length: int) -> Sentence:
    """Every word depends on the one before it and the first on the root; the last depends on the first: `far`."""
    words = tuple(toy.NOUNS[(number + i) % len(toy.NOUNS)] for i in range(length))
    heads = (*range(length - 1), 1)
    return Sentence(f"c{number}", words, {"dep": DepTree(heads, ("root", *["next"] * (length - 2), "far"))}, ("c", 1))


def _plant_previous_position(directory: Path, layer: int, head: int) -> None:
    """Weights by which one head attends to the position before, and the words themselves mean nothing."""
    path = directory / "model.safetensors"
    weights = load_file(path)
    size = 64
    for name in ("word", "token_type"):
        weights[f"embeddings.{name}_embeddings.weight"].zero_()
    positions = weights["embeddings.position_embeddings.weight"]
    positions.copy_(torch.eye(len(positions), size))
    for part, shift in (("query", 1), ("key", 0)):
        rows = slice(32 * head, 32 * head + 32)
        weights[f"encoder.layer.{layer}.attention.self.{part}.weight"][rows] = 5 * torch.eye(size).roll(shift, 1)[:32]
    save_file(weights, path, metadata={"format": "pt"})


def test_a_planted_head_is_found_with_its_labels_and_a_random_encoder_is_not(tmp_path: Path) -> None:
    encoder = toy.write_encoder(tmp_path / "encoder", width=64, layers=2, heads=2)
    _plant_previous_position(encoder, layer=0, head=1)
    splits = {name: [_chain(i, 6 + i % 9) for i in range(40)] for name in ("train", "dev", "test")}
    inputs = {"encoder": encoder, "prepare-toy": toy.write_prepared(tmp_path / "prepare", encoder, splits)}
    _measure(attention_probe, inputs, tmp_path / "out", dep="dep")
    found = read_hits(tmp_path / "out")
    best = best_heads(found["pretrained", 0, "dep"], "dev")
    accuracy = dict(zip(best.names, best.score, strict=True))
    assert accuracy["root"] == accuracy["next"] == 100
    planted = found["pretrained", 0, "dep"].values["test", "gold"][:, 0, 1]
    assert dict(zip(best.names, planted, strict=True)) == {"far": 0, "next": 100, "root": 100}
    where = best.names.index("next")
    assert (best.layer[where], best.head[where]) == (0, 1)
    control = best_heads(found["random", 1, "dep"], "dev")
    assert control.score[where] < 40


@pytest.mark.parametrize("itself", [True, False])
@pytest.mark.parametrize("task", ["dep", "srl"])
def test_baselines_are_what_heads_without_a_model_would_find(
    artifacts, tmp_path: Path, task: str, itself: bool
) -> None:
    """By the probe's own rule: heads that look a fixed distance away or at one place, and heads that look anywhere."""
    from mtlspec.analyses._probes.attention import found as finds
    from mtlspec.analyses._probes.gold import read_gold

    _measure(attention_probe, artifacts, tmp_path / "out", **{task: task}, with_self=itself)
    written = json.loads((tmp_path / "out" / "baselines.json").read_text())[task]
    data = Prepared.load(artifacts["prepare-toy"])
    splits = {"dev": data.dev, "test": data.test}
    golds = dict(zip(splits, read_gold(list(splits.values()), task, task), strict=True))  # type: ignore[arg-type]
    longest = max(len(split.words(row)) for split in splits.values() for row in range(len(split)))
    random = torch.Generator().manual_seed(1)
    rules = [*range(0 if itself else 1, longest + 1), "first", "last", *(["cls"] if task == "dep" else [])]
    draws, first = 3000, 0 if task == "dep" else 1
    scores: dict[str, torch.Tensor] = {}
    for name, split in splits.items():
        gold = golds[name]
        hits = []
        for row in range(len(split)):
            words = len(split.words(row))
            best = torch.full((1, words + 1, len(rules) + draws), -1)
            for number, rule in enumerate(rules):
                for query in range(words + 1):
                    place = {"first": 1, "last": words, "cls": 0}.get(str(rule))
                    best[0, query, number] = query + int(rule) if place is None else place
            for query in range(words + 1):
                open_ = torch.tensor([key for key in range(first, words + 1) if itself or key != query])
                best[0, query, len(rules) :] = open_[torch.randint(len(open_), (draws,), generator=random)]
            items, place_of = gold.of(torch.tensor([row]))
            hits.append(finds(best, place_of, gold.anchor[items], gold.start[items], gold.end[items]))
        hit = torch.cat(hits).double()
        scores[name] = torch.stack([100 * hit[gold.label == i].mean(0) for i in range(len(gold.names))])
    for i, label in enumerate(golds["test"].names):
        chosen = int(scores["dev"][i, : len(rules)].argmax())
        assert written[label]["position"] == pytest.approx(float(scores["test"][i, chosen]))
        assert written[label]["chance"] == pytest.approx(float(scores["test"][i, len(rules) :].mean()), abs=1.5)
