"""Answers as parts of a text: best spans against all of them, long texts learnt by heart, files of predictions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.contract.decoders import model_of
from mtlspec.data.answers import Answered
from mtlspec.data.batching import collate
from mtlspec.data.prepare import write_prepared
from mtlspec.data.prepared import Prepared
from mtlspec.data.sentence import Sentence
from mtlspec.data.text_tokenizer import TextTokenizer
from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.errors import StageError
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.predict import predict
from mtlspec.model.tasks._span_places import best_spans
from mtlspec.model.tasks.qa_span import Options, QaSpan
from mtlspec.spec.models import BatchLimits
from tests import toy

TASK: dict[str, Any] = {"type": "qa_span", "layer": "reply", "no_answer": True, "dropout": 0.0}
SCORES = st.floats(-4, 4).map(lambda score: round(score, 3))


@given(
    st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=9),
    st.integers(1, 5),
    st.integers(0, 9),
    st.none() | st.floats(-2, 2),
)
def test_the_best_span_is_the_best_of_all(
    places: list[tuple[float, float]], longest: int, first: int, margin: float | None
) -> None:
    """Place 0 stands for no answer; of the others, those from `first` on belong to the text."""
    scores = torch.tensor(places, dtype=torch.float64)
    scores[1:first] = -torch.inf
    if margin is None:
        scores[0] = -torch.inf
    text = range(max(first, 1), len(places))
    spans = {(s, e): scores[s, 0] + scores[e, 1] for s in text for e in text if s <= e < s + longest}
    ((start, end),) = best_spans(scores.unsqueeze(0), longest, margin).tolist()
    best = max(spans.values(), default=torch.tensor(-math.inf))
    if spans and (margin is None or best > scores[0].sum() + margin):
        assert spans[start, end] == best
    else:
        assert (start, end) == (0, 0)


def built(encoder: Path, data: Prepared, **options: Any) -> tuple[Any, QaSpan]:
    model = model_of(encoder, data, {**TASK, **options})
    (task,) = model.tasks
    assert isinstance(task, QaSpan)
    return model, task


def test_gold_places_are_the_sub_tokens_that_share_a_character(toy_encoder: Path, toy_questions: Path) -> None:
    data = Prepared.load(toy_questions)
    _, task = built(toy_encoder, data)
    gold = task.encode(data.train)
    starts, ends = data.train.characters
    answered = 0
    for row, value in enumerate(data.train.values("reply")):
        first, last = int(gold.first[row]), int(gold.last[row])
        if not value.spans:
            assert (first, last) == (0, 0)
            continue
        own = int(data.train.piece_offsets[row])
        assert (int(starts[own + first]), int(ends[own + last])) == value.spans[0]
        answered += 1
    assert answered == 90


def test_the_loss_is_the_mean_of_two_cross_entropies_over_the_text_and_no_answer(
    toy_encoder: Path, toy_questions: Path
) -> None:
    data = Prepared.load(toy_questions)
    model, task = built(toy_encoder, data)
    model.module.eval()
    batch = collate(data.train, torch.tensor([3, 0, 6]), data.specials)
    with torch.no_grad():
        states = model.states(batch, 0)
    gold = task.encode(data.train)
    total = 0.0
    for row, place in enumerate(batch.rows.tolist()):
        allowed = [0, *(batch.word_of_piece[row] == 1).nonzero().squeeze(1).tolist()]
        vectors = states.pieces[row, allowed]
        scores = (vectors @ task.module.scores.weight.T + task.module.scores.bias).detach().double()  # type: ignore[union-attr, operator]
        for side, right in enumerate((int(gold.first[place]), int(gold.last[place]))):
            total += float(scores[:, side].logsumexp(0) - scores[allowed.index(right), side])
    assert task.loss(states, batch, gold).item() == pytest.approx(total / 6, abs=1e-5)


def test_uncertainty_is_a_share_whatever_the_padding(toy_encoder: Path, toy_questions: Path) -> None:
    data = Prepared.load(toy_questions)
    model, task = built(toy_encoder, data)
    model.module.eval()
    batch = collate(data.train, torch.arange(9), data.specials)
    states = model.states(batch, 0)
    with torch.no_grad():
        even = task.uncertainty(states, batch)
        task.module.scores.weight.mul_(1e4)  # type: ignore[union-attr, operator]
        sure = task.uncertainty(states, batch)
        task.module.scores.weight.zero_()  # type: ignore[union-attr, operator]
        unsure = task.uncertainty(states, batch)
    assert bool((sure < 0.3).all()) and bool((even > sure).all())
    torch.testing.assert_close(unsure, torch.ones(9))
    for row in range(9):
        own = batch.select(torch.tensor([row]))
        alone = states.select(torch.tensor([row]), 0, own.pieces.shape[1])
        torch.testing.assert_close(task.uncertainty(alone, own), unsure[row : row + 1])


def long(number: int, words: int) -> Sentence:
    """A question whose text is many windows long; the only name in it is the answer."""
    rng = np.random.default_rng(number)
    filler = [str(word) for word in rng.choice(toy.NOUNS, words)]
    at = int(rng.integers(words))
    filler[at] = ("anna", "boris", "chen", "dana")[number % 4]
    text, start = " ".join(filler), len(" ".join([*filler[:at], ""]))
    value: dict[str, Any] = {"reply": Answered((filler[at],), ((start, start + len(filler[at])),))}
    return Sentence(f"q{number}", (), value, ("toy", number), texts=("a name sees", text))


def test_long_texts_are_learnt_by_heart_wherever_their_answers_stand(toy_encoder: Path, tmp_path: Path) -> None:
    """Texts of many windows of 20 sub-tokens: after some updates every answer is found, to the character."""
    questions = [long(number, 20 + 9 * number) for number in range(8)]
    splits = {"train": questions, "dev": questions, "test": [replace(one, layers={}) for one in questions]}
    texts = lambda: TextTokenizer.load(toy_encoder, 20, "longest_first")  # noqa: E731  # QA texts are never cut
    write_prepared(splits, WordTokenizer.load(toy_encoder), tmp_path, {"reply": "answer"}, texts)
    data = Prepared.load(tmp_path)
    assert data.train.values("reply") == [one.layers["reply"] for one in questions]
    assert int(data.train.piece_counts.max()) > 80
    model, task = built(toy_encoder, data, no_answer=False)
    model.encoder.max_pieces = 20
    gold, batch = task.encode(data.train), collate(data.train, torch.arange(8), data.specials)
    optimiser = torch.optim.Adam(model.module.parameters(), lr=3e-3)
    model.module.eval()  # no dropout: what is asked is whether it can be learnt
    for _ in range(60):
        loss = task.loss(model.states(batch, 0), batch, gold)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if loss.item() < 0.05:
            break
    for split in (data.dev, data.test):
        (found,) = predict(model, split, BatchLimits(sentences=3, tokens=300)).values()
        assert found == [one.layers["reply"] for one in questions]
    rows = task.metric.counts(data.dev.values("reply"), found)
    assert task.metric.score_rows(rows) == {"em": 100.0, "f1": 100.0}


def test_predictions_are_written_with_their_places(toy_encoder: Path, toy_questions: Path, tmp_path: Path) -> None:
    data = Prepared.load(toy_questions)
    _, task = built(toy_encoder, data)
    given_answers: list[Answered | None] = [None] * len(data.dev)
    given_answers[1], given_answers[4] = Answered(("dog",), ((4, 7),)), Answered()
    task.write_predictions(data.dev, given_answers, tmp_path / "x.jsonl")
    one, two = (json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines())
    asked = data.dev.texts(1)[0]
    gold = list(data.dev.values("reply")[1].texts)
    wanted = {"index": 1, "id": "q1", "question": asked, "gold": gold, "prediction": "dog", "start": 4, "end": 7}
    assert one == wanted
    assert (two["gold"], two["prediction"], two["start"]) == ([], "", None)


def test_questions_without_an_answer_must_be_allowed() -> None:
    options = Options.model_validate({"type": "qa_span", "layer": "reply"})
    with pytest.raises(
        StageError, match="E923: task 'x': the training data of 'reply' have questions without an answer"
    ):
        options.build("x", {"answered": 3, "unanswerable": 1}, 8)
    assert options.label_problem(["answered"]) is None


def test_without_no_answer_every_question_gets_one(toy_encoder: Path, toy_questions: Path) -> None:
    data = Prepared.load(toy_questions)
    model = model_of(toy_encoder, replace(data, labels={"reply": {"answered": 90}}), {**TASK, "no_answer": False})
    (found,) = predict(model, data.dev, BatchLimits()).values()
    assert all(len(one.texts) == 1 for one in found)
    for row, one in enumerate(found):
        ((start, end),) = one.spans
        assert data.dev.texts(row)[1][start:end] == one.texts[0]
    assert Encoder.load(toy_encoder).max_pieces == 64
