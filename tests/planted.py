"""Encoders built by hand, in which known heads carry a known task.

Sentences are random symbols. Task `previous` asks for the symbol before each word, task `next` for the one after it.
One head looks one position back and copies what it sees, another looks ahead; all other heads are random. The decoders
read the copies. So there is one right answer to the question which heads a task needs. A back-up head does the work of
the first one, but only where there is no copy yet: as long as the first one is there, nothing depends on it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from mtlspec.data.corpora import Corpora
from mtlspec.data.sentence import Sentence
from tests import toy

SYMBOLS = toy.NOUNS[:4]  # the first words of the toy vocabulary, after five special tokens
NONE = "none"  # at the edge of a sentence
POSITIONS, LAYERS, HEADS, HEAD_WIDTH = 12, 2, 4, 12
WIDTH = HEADS * HEAD_WIDTH
SYMBOL_AT, COPY_AT = POSITIONS, {"previous": POSITIONS + 4, "next": POSITIONS + 8}  # the rest of the width is noise
NOISE_AT = POSITIONS + 12
STEP = {"previous": -1, "next": 1}
Place = tuple[int, int]


@dataclass(frozen=True)
class Planted:
    """A model, and the (layer, head) that each task needs."""

    model: Any
    places: dict[str, Place]
    backup: Place | None = None


def corpus(seed: int, size: int) -> list[Sentence]:
    rng = random.Random(seed)
    sentences = []
    for number in range(size):
        words = tuple(rng.choice(SYMBOLS) for _ in range(rng.randint(4, 8)))
        layers: dict[str, Any] = {"previous": (NONE, *words[:-1]), "next": (*words[1:], NONE)}
        sentences.append(Sentence(f"s{number}", words, layers, ("planted", number + 1)))
    return sentences


def write_data(root: Path) -> Path:
    """A prepared directory of 128, 16 and 16 sentences; the encoder beside it lends its tokenizer."""
    encoder = toy.write_encoder(root / "encoder")
    splits = {"train": corpus(1, 128), "dev": corpus(2, 16), "test": corpus(3, 16)}
    return toy.write_prepared(root / "prepared", encoder, splits)


def plant(
    data: Any,
    seed: int,
    sharing: dict[str, Any],
    *,
    empty: bool = False,
    asks: dict[str, str] | None = None,
    backup: bool = False,
) -> Planted:
    """Two heads at places that the seed chooses; `empty` leaves random heads there.

    `asks`: tasks and what they ask for, `previous` or `next`, if not one of each. `backup`: the first head is in the
    first layer, and one of the second layer stands in for it.
    """
    from transformers import BertConfig, BertModel

    from mtlspec.kinds import options_class
    from mtlspec.model.encoder.kinds.transformer import Options as Reading
    from mtlspec.model.encoder.transformer import Transformer
    from mtlspec.model.multitask import build_model
    from mtlspec.spec.families import SHARING, TASKS

    torch.manual_seed(seed)
    first, second = random.Random(seed).sample(range(LAYERS * HEADS), 2)
    places = {"previous": divmod(first, HEADS), "next": divmod(second, HEADS)}
    spare = (1, (first + 1) % HEADS) if backup else None
    if backup:
        places = {"previous": (0, first % HEADS), "next": (0, (first + 1) % HEADS)}
    config = BertConfig(
        vocab_size=5 + len(SYMBOLS),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=8,
        max_position_embeddings=POSITIONS,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    bert = BertModel(config, add_pooling_layer=False)
    with torch.no_grad():
        _set_embeddings(bert)
        for layer in bert.encoder.layer:
            _set_random_heads(layer)
        if not empty:
            for task, place in places.items():
                _set_copying_head(bert, task, place)
        if spare is not None:
            _set_backup_head(bert, "previous", places["previous"], spare)
    asked = asks or {name: name for name in places}
    tasks = {name: {"type": "tagging", "layer": layer, "dropout": 0.0} for name, layer in asked.items()}
    built: Any = {name: options_class(TASKS, "tagging").model_validate(options) for name, options in tasks.items()}
    strategy: Any = options_class(SHARING, sharing["type"]).model_validate(sharing)
    encoder = Transformer(bert, Reading(card="planted", subword_dropout=0.0), data.specials)
    model = build_model(encoder, strategy, built, Corpora.single(data).labels(built))
    with torch.no_grad():
        for task in model.tasks:
            _set_decoder(task)
    model.module.eval()
    return Planted(model, places, spare)


def _set_embeddings(bert: Any) -> None:
    """Position and symbol as one-hot vectors, noise beside them, nothing where the copies will be."""
    words, positions = bert.embeddings.word_embeddings.weight, bert.embeddings.position_embeddings.weight
    bert.embeddings.token_type_embeddings.weight.zero_()
    words.zero_()
    words[:, NOISE_AT:].normal_()
    for number in range(len(SYMBOLS)):
        words[5 + number, SYMBOL_AT + number] = 3.0
    positions.zero_()
    positions[:, :POSITIONS] = 3 * torch.eye(POSITIONS)


def _set_random_heads(layer: Any) -> None:
    attention = layer.attention.self
    for projection in (attention.query, attention.key, attention.value, layer.attention.output.dense):
        projection.weight.normal_(0, 0.1)
        projection.bias.zero_()
    layer.output.dense.weight.zero_()  # no feed-forward block


def _set_copying_head(bert: Any, task: str, place: Place) -> None:
    """Attention from position p to p - 1 or p + 1, and the symbol there into the dimensions of the task's copy."""
    layer = bert.encoder.layer[place[0]].attention
    rows = slice(place[1] * HEAD_WIDTH, (place[1] + 1) * HEAD_WIDTH)
    for projection in (layer.self.query, layer.self.key, layer.self.value):
        projection.weight[rows] = 0
    for position in range(POSITIONS):
        target = position + STEP[task]
        layer.self.key.weight[rows.start + position, position] = 3.0
        if 0 <= target < POSITIONS:
            layer.self.query.weight[rows.start + target, position] = 3.0
    layer.output.dense.weight[:, rows] = 0
    for number in range(len(SYMBOLS)):
        layer.self.value.weight[rows.start + number, SYMBOL_AT + number] = 1.0
        layer.output.dense.weight[COPY_AT[task] + number, rows.start + number] = 1.0


def _set_backup_head(bert: Any, task: str, first: Place, place: Place) -> None:
    """A copying head whose queries turn to [CLS], where there is nothing to copy, as soon as they find a copy."""
    _set_copying_head(bert, task, place)
    layer, start = bert.encoder.layer[place[0]].attention, place[1] * HEAD_WIDTH
    symbols, copies = (slice(at, at + len(SYMBOLS)) for at in (SYMBOL_AT, COPY_AT[task]))
    layer.self.query.weight[start, copies] = 14.0
    layer.self.query.weight[start, 1] = 30.0  # the first word has nothing but [CLS] before it
    layer.self.value.weight[start : start + len(SYMBOLS), symbols] -= 1 / len(SYMBOLS)  # [CLS] has all alike
    written = bert.encoder.layer[first[0]].attention.output.dense.weight  # random heads must not blur either
    written[symbols] = 0
    written[copies, : first[1] * HEAD_WIDTH] = 0
    written[copies, (first[1] + 1) * HEAD_WIDTH :] = 0


def _set_decoder(task: Any) -> None:
    """Scores that are right but not certain: where the loss is flat, no gradient tells what matters."""
    linear = task.module["tagger"]
    linear.weight.zero_()
    linear.bias.zero_()
    for number, tag in enumerate(task.tags):
        if tag == NONE:
            linear.bias[number] = 2.0
        else:
            linear.weight[number, COPY_AT[task.layer] + SYMBOLS.index(tag)] = 1.5
