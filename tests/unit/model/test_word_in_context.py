"""Words in context: the vectors of marked words against a direct computation, and what is learnt from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from mtlspec.contract.decoders import model_of
from mtlspec.data.batching import collate
from mtlspec.data.layer import TextSpan
from mtlspec.data.marks import Marked
from mtlspec.data.prepared import Prepared
from mtlspec.data.sentence import Sentence
from mtlspec.errors import StageError
from mtlspec.model.predict import predict
from mtlspec.model.tasks.word_in_context import WordInContext
from mtlspec.spec.models import BatchLimits
from tests import toy

TASK = {"type": "word_in_context", "layer": "alike", "dropout": 0.0}


@pytest.mark.parametrize("marked", ["mean", "first"])
def test_scores_are_of_the_text_and_of_every_marked_place(marked: str, toy_encoder: Path, toy_questions: Path) -> None:
    data = Prepared.load(toy_questions)
    model = model_of(toy_encoder, data, {**TASK, "marked": marked})
    model.module.eval()
    (task,) = model.tasks
    rows = torch.tensor([5, 2, 9, 40])
    batch = collate(data.train, rows, data.specials)
    states = model.states(batch, 0)
    found: Any = task.module(states, batch)
    starts, ends = data.train.characters
    for place, row in enumerate(rows.tolist()):
        own = slice(int(data.train.piece_offsets[row]), int(data.train.piece_offsets[row + 1]))
        parts = [states.pieces[place, 0]]
        for segment, start, end in data.train.values("alike")[row].spans:
            inside = [
                states.pieces[place, number]
                for number, (of, first, behind) in enumerate(
                    zip(data.train.piece_words[own], starts[own], ends[own], strict=True)
                )
                if of == segment and first < end and behind > start
            ]
            parts.append(torch.stack(inside).mean(0) if marked == "mean" else inside[0])
        direct = task.module.scores(torch.cat(parts))  # type: ignore[operator]
        torch.testing.assert_close(found[place], direct, rtol=0, atol=1e-5)


def twins(number: int) -> Sentence:
    """Of two nouns of a sentence, the marked ones decide: nothing else tells the two classes apart."""
    words = ["cat", "dog", "tree", "house"]
    text = " ".join(words)
    chosen = (words[number % 4], words[(number // 4) % 4])
    spans = tuple(TextSpan(0, text.index(word), text.index(word) + len(word)) for word in chosen)
    animals = {word in ("cat", "dog") for word in chosen}
    return Sentence(str(number), (), {"m": Marked(spans, str(len(animals) == 1))}, ("toy", number), texts=(text,))  # type: ignore[dict-item]


def test_only_the_marked_words_can_tell(toy_encoder: Path, tmp_path: Path) -> None:
    sentences = [twins(number) for number in range(16)]
    directory = toy.write_prepared(tmp_path / "p", toy_encoder, {"train": sentences, "dev": sentences})
    data = Prepared.load(directory)
    model = model_of(toy_encoder, data, {"type": "word_in_context", "layer": "m", "hidden": 16, "dropout": 0.0})
    (task,) = model.tasks
    assert isinstance(task, WordInContext) and task.labels == ["False", "True"] and not task.first_only
    model.module.eval()
    batch, gold = collate(data.train, torch.arange(16), data.specials), task.encode(data.train)
    optimiser = torch.optim.Adam(model.module.parameters(), lr=1e-2)
    for _ in range(120):
        loss = task.loss(model.states(batch, 0), batch, gold)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if loss.item() < 0.05:
            break
    (found,) = predict(model, data.dev, BatchLimits()).values()
    assert found == task.gold_values(data.dev) == [one.layers["m"].label for one in sentences]  # type: ignore[union-attr]


def test_every_example_has_as_many_marks_as_the_task_reads(toy_encoder: Path, toy_questions: Path) -> None:
    data = Prepared.load(toy_questions)
    model = model_of(toy_encoder, data, {**TASK, "marks": 3})
    with pytest.raises(StageError, match="E927: task 'x' reads 3 marked places of every example, and some have others"):
        predict(model, data.dev, BatchLimits())
