"""Span ranking and semantic roles: the obvious form gives the same numbers; pruning, decoding, files; it learns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import nn

from bench.span_ranking import Case, gradients, our_ranking, plain_ranking
from mtlspec.data.batching import collate
from mtlspec.data.prepared import Prepared
from mtlspec.data.readers import conll2012
from mtlspec.data.sentence import Frame, Sentence
from mtlspec.errors import StageError
from mtlspec.kinds import options_class
from mtlspec.model.encoder.states import States
from mtlspec.model.role_gold import UNKNOWN, pair_classes
from mtlspec.model.span_ranking import Ranked, Ranker, RankerSizes, all_spans, keep
from mtlspec.model.task import rebuild_task
from mtlspec.model.tasks.span_srl import SpanSrl
from mtlspec.spec.families import TASKS, TaskOptions
from tests import toy

CPU = torch.device("cpu")


def srl(labels: dict[str, int], width: int = 8, **values: Any) -> SpanSrl:
    options = options_class(TASKS, "span_srl").model_validate({"type": "span_srl", "layer": "srl", **values})
    task = cast(TaskOptions, options).build("srl", labels, width)
    assert isinstance(task, SpanSrl)
    task.module.eval()
    return task


def made(size: int, *frames: Frame) -> Sentence:
    return Sentence("x", tuple(f"w{i}" for i in range(size)), {"srl": frames})


@pytest.fixture(scope="module")
def odd_data(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Prepared:
    """One word, no predicate, a predicate without roles, a wide role, two roles on one span; an unseen role in dev."""
    train = [
        made(6, Frame(1, "a.01", ((0, 1, "A0"), (1, 2, "V"), (2, 6, "A1"))), Frame(4, "b.01", ((4, 5, "V"),))),
        made(1),
        made(3, Frame(2, "c.01", ((0, 2, "A1"), (0, 2, "A0"), (2, 3, "V")))),
        made(4),
    ]
    dev = [made(5, Frame(0, "d.01", ((0, 1, "V"), (1, 2, "ODD"), (2, 5, "A1")))), made(1)]
    splits = {"train": train, "dev": dev, "test": [made(2)]}
    return Prepared.load(toy.write_prepared(tmp_path_factory.mktemp("odd"), toy_encoder, splits))


def states_of(data: Prepared, split: str, rows: Sequence[int], width: int = 8) -> tuple[Any, States]:
    batch = collate(data.split(split), torch.tensor(rows), data.specials)  # type: ignore[arg-type]
    torch.manual_seed(5)
    words = torch.randn(*batch.word_mask.shape, width)
    return batch, States(words, words[:, 0], words[:, 0], words)


def ranking_case(lengths: list[int], max_width: int, mean: Any, dtype: torch.dtype = torch.float64) -> Case:
    torch.manual_seed(3)
    sizes = RankerSizes(5, 4, 7, 6, 3, max_width=max_width, span_ratio=0.8, predicate_ratio=0.4)
    ranker = Ranker(sizes, mean, dropout=0.0, given_predicates=False).to(dtype)
    with torch.no_grad():
        for parameter in ranker.parameters():
            parameter.normal_(0, 0.5)
    words = torch.randn(len(lengths), max(lengths), 5, dtype=dtype, requires_grad=True)
    return Case(ranker, words, torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1))


@pytest.mark.parametrize("mean", ["true_width", "max_width"])
@pytest.mark.parametrize(("lengths", "max_width"), [([9, 4, 1], 30), ([9, 4, 1], 3), ([1], 30), ([2, 2], 1)])
def test_scores_and_gradients_are_those_of_built_span_vectors(lengths: list[int], max_width: int, mean: str) -> None:
    case = ranking_case(lengths, max_width, mean)
    ours, plain = our_ranking(case), plain_ranking(case)
    for mine, other in ((ours.mask, plain.mask), (ours.spans[:, :1], plain.spans[:, :1])):
        assert torch.equal(mine, other)
    kept = ours.mask.unsqueeze(3)
    torch.testing.assert_close(ours.scores * kept, plain.scores * kept)
    for mine, other in zip(gradients(our_ranking, case), gradients(plain_ranking, case), strict=True):
        torch.testing.assert_close(mine, other)


def test_single_precision_agrees_to_five_digits() -> None:
    case = ranking_case([20, 17, 3], 30, "true_width", torch.float32)
    for mine, other in zip(gradients(our_ranking, case), gradients(plain_ranking, case), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("words", "max_width"), [(1, 30), (5, 30), (7, 3), (4, 1)])
def test_all_spans_up_to_the_width_are_listed_once(words: int, max_width: int) -> None:
    spans = all_spans(words, max_width, "true_width", CPU)
    expected = [(i, j) for i in range(words) for j in range(i, min(words, i + max_width))]
    assert list(zip(spans.starts.tolist(), spans.lasts.tolist(), strict=True)) == expected
    assert [expected[row][0] for row in spans.rows.tolist()] == list(range(words))


def test_a_floor_of_the_words_is_kept_and_at_least_one() -> None:
    lengths = torch.tensor([1, 2, 5, 10, 15])
    possible = torch.arange(15) < lengths.unsqueeze(1)
    scores = torch.arange(15.0).expand(5, -1)
    for ratio, expected in ((0.8, [1, 1, 4, 8, 12]), (0.4, [1, 1, 2, 4, 6]), (3.0, [1, 2, 5, 10, 15])):
        numbers, mask = keep(scores, possible, lengths, ratio)
        assert mask.sum(1).tolist() == expected
        for row, length in enumerate(lengths.tolist()):
            best = list(range(length))[::-1][: expected[row]]
            assert numbers[row][mask[row]].tolist() == best
    wanted = torch.arange(15) < torch.tensor([[1], [0], [3], [0], [9]])
    numbers, mask = keep(scores, possible, lengths, 0.4, wanted)
    assert [row[there].tolist() for row, there in zip(numbers, mask, strict=True)][2:] == [
        [0, 1, 2],
        [9, 8, 7, 6],
        list(range(9)),
    ]
    assert keep(torch.zeros(1, 4), torch.ones(1, 4, dtype=torch.bool), torch.tensor([4]), 0.5)[0].tolist() == [[0, 1]]


def test_gold_has_neither_verbs_nor_wide_roles_nor_twins(odd_data: Prepared) -> None:
    task = srl(dict(odd_data.labels["srl"]), max_width=3)
    assert task.roles == ["A0", "A1"]
    gold = task.encode(odd_data.train)
    assert gold.predicates.tolist() == [1, 4, 2]
    assert gold.predicate_offsets.tolist() == [0, 2, 2, 3, 3]
    assert list(zip(*(t.tolist() for t in gold[2:6]), strict=True)) == [(1, 0, 0, 1), (2, 0, 1, 2)]
    assert gold.offsets.tolist() == [0, 1, 1, 2, 2]
    assert srl(dict(odd_data.labels["srl"])).encode(odd_data.train).offsets.tolist() == [0, 2, 2, 3, 3]
    assert task.encode(odd_data.dev).classes.tolist() == [UNKNOWN, 2]
    assert task.encode(odd_data.test).classes.tolist() == []


@pytest.mark.parametrize(("split", "rows"), [("train", [2, 0, 3, 1]), ("dev", [1, 0])])
@pytest.mark.parametrize("options", [{}, {"predicates": "gold"}, {"keep_gold": True}], ids=str)
def test_the_loss_is_the_mean_over_kept_pairs(odd_data: Prepared, split: Any, rows: list[int], options: Any) -> None:
    task = srl(dict(odd_data.labels["srl"]), **options)
    batch, states = states_of(odd_data, split, rows)
    data, gold = odd_data.split(split), task.encode(odd_data.split(split))
    ranked = task._rank(states, batch, gold)
    spans = all_spans(states.words.shape[1], 30, "true_width", CPU)
    losses = []
    for b, row in enumerate(rows):
        truth: dict[tuple[int, int, int], str] = {}
        for frame in task.gold_values(data)[row]:
            for start, end, role in frame.roles:
                if role != "V":
                    truth.setdefault((frame.predicate, start, end - 1), role)
        for k, p in ranked.mask[b].nonzero().tolist():
            span = ranked.spans[b, k]
            role = truth.get((int(ranked.predicates[b, p]), int(spans.starts[span]), int(spans.lasts[span])))
            if role != "ODD":
                scores = torch.cat([torch.zeros(1), ranked.scores[b, k, p]])
                losses.append(-scores.log_softmax(0)[0 if role is None else 1 + task.roles.index(role)])
    assert losses
    torch.testing.assert_close(task.loss(states, batch, gold), torch.stack(losses).mean())


def test_gold_pairs_are_kept_in_training_if_wanted_and_never_in_prediction(odd_data: Prepared) -> None:
    batch, states = states_of(odd_data, "train", [0, 2, 3])
    task = srl(dict(odd_data.labels["srl"]), keep_gold=True, argument_ratio=0.1, predicate_ratio=0.1)
    gold = task.encode(odd_data.train)
    ranked = task._rank(states, batch, gold)
    spans = task.module.spans(6, CPU)
    classes = pair_classes(ranked, spans, 6, batch.rows, gold)
    assert sorted(classes[0][ranked.mask[0]].tolist()) == [1, 2]
    assert classes[1][ranked.mask[1]].tolist() == [2]
    assert ranked.mask.sum((1, 2)).tolist() == [2, 1, 1]
    assert task._rank(states, batch).mask.sum((1, 2)).tolist() == [1, 1, 1]


def test_a_pair_that_is_not_kept_has_no_class(odd_data: Prepared) -> None:
    task = srl(dict(odd_data.labels["srl"]))
    gold, spans = task.encode(odd_data.train), all_spans(6, 30, "true_width", CPU)
    wanted = next(i for i in range(len(spans.starts)) if (spans.starts[i], spans.lasts[i]) == (2, 5))
    for kept, mask, expected in ((wanted, True, 2), (wanted, False, UNKNOWN), (0, True, 1), (1, True, 0)):
        ranked = Ranked(torch.zeros(1, 1, 1, 2), torch.tensor([[kept]]), torch.tensor([[1]]), torch.tensor([[[mask]]]))
        assert pair_classes(ranked, spans, 6, torch.tensor([0]), gold).tolist() == [[[expected]]]


def test_training_without_any_predicate_gives_no_loss_and_a_gradient_of_zero(odd_data: Prepared) -> None:
    task = srl(dict(odd_data.labels["srl"]), predicates="gold")
    batch, states = states_of(odd_data, "train", [1, 3])
    loss = task.loss(states, batch, task.encode(odd_data.train))
    loss.backward()
    assert loss.item() == 0.0
    assert all(p.grad is not None and not p.grad.any() for p in task.module.parameters())


class Given(nn.Module):
    """A ranker whose scores are given: sentence -> (predicate, first, last, role number) -> score."""

    def __init__(self, wanted: list[dict[tuple[int, int, int, int], float]]) -> None:
        super().__init__()
        self.wanted = wanted

    def spans(self, words: int, device: torch.device) -> Any:
        return all_spans(words, 30, "true_width", device)

    def forward(self, words: torch.Tensor, mask: torch.Tensor, *_: Any) -> Ranked:
        batch, count, _ = words.shape
        spans = self.spans(count, CPU)
        scores = torch.full((batch, len(spans.starts), count, 2), -1.0)
        for b, table in enumerate(self.wanted):
            for (predicate, first, last, role), score in table.items():
                scores[b, spans.rows[first] + last - first, predicate, role] = score
        numbers, places = torch.arange(len(spans.starts)).expand(batch, -1), torch.arange(count).expand(batch, -1)
        inside = (spans.lasts < mask.sum(1, keepdim=True)).unsqueeze(2) & mask.unsqueeze(1)
        return Ranked(scores, numbers, places, inside)


def test_each_predicate_gets_its_best_roles_without_overlaps(odd_data: Prepared) -> None:
    task = srl(dict(odd_data.labels["srl"]))
    first = {(1, 2, 5, 0): 3.0, (1, 2, 3, 0): 2.0, (1, 4, 5, 1): 2.0, (1, 4, 5, 0): 1.0, (4, 0, 3, 1): 0.5}
    first |= {(1, 1, 1, 0): 9.0, (1, 0, 5, 1): 9.0}  # the predicate itself takes its word
    task.module = Given([first, {(0, 0, 0, 0): 0.0}, {(0, 0, 4, 1): 9.0, (2, 0, 0, 1): 1.0}])  # type: ignore[assignment]
    batch, states = states_of(odd_data, "train", [0, 1, 2])
    assert task.decode(states, batch) == [
        (Frame(1, "", ((2, 4, "A0"), (4, 6, "A1"))), Frame(4, "", ((0, 4, "A1"),))),
        (),
        (Frame(2, "", ((0, 1, "A1"),)),),
    ]


def test_given_predicates_are_predicted_with_or_without_roles(odd_data: Prepared) -> None:
    task = srl(dict(odd_data.labels["srl"]), predicates="gold")
    batch, states = states_of(odd_data, "train", [1, 0, 2, 3])
    assert [[frame.predicate for frame in frames] for frames in task.decode(states, batch)] == [[], [1, 4], [2], []]
    batch, states = states_of(odd_data, "dev", [0])
    assert [frame.predicate for frame in task.decode(states, batch)[0]] == [0]
    nowhere = type(batch)(**{**vars(batch), "split": None})
    with pytest.raises(StageError, match="E449"):
        task.decode(states, nowhere)


def test_roles_that_are_too_wide_or_unseen_count_as_misses(odd_data: Prepared) -> None:
    task = srl(dict(odd_data.labels["srl"]), max_width=2)
    batch, states = states_of(odd_data, "dev", [0, 1])
    counts = task.metric.counts(task.gold_values(odd_data.dev), task.decode(states, batch))
    assert counts[:, 2].tolist() == [2, 0]


def test_predictions_are_written_as_conll_2012_and_read_back(odd_data: Prepared, tmp_path: Path) -> None:
    task = srl(dict(odd_data.labels["srl"]))
    frames = [(Frame(1, "", ((0, 1, "A0"), (2, 6, "A1"))), Frame(3, "", ((0, 1, "A1"),))), (), (), ()]
    task.write_predictions(odd_data.train, frames, tmp_path / "x.conll12")
    read = list(conll2012.Options(type="conll2012").read(tmp_path / "x.conll12"))
    assert [s.words for s in read] == [tuple(odd_data.train.words(row)) for row in range(4)]
    again = [s.layers["srl"] for s in read]
    assert task.metric.counts(frames, again).tolist() == task.metric.counts(frames, frames).tolist()


def test_dropout_is_the_same_for_all_spans_of_a_sentence_and_only_in_training() -> None:
    case = ranking_case([6, 6], 30, "true_width")
    case.ranker.span_scorer.dropout = 0.5
    drawn = case.ranker.span_scorer.draw(2)
    assert drawn is not None and drawn.shape == (2, 2, 1, 7)
    assert set(drawn.unique().tolist()) == {0.0, 2.0}
    assert case.ranker.eval().span_scorer.draw(2) is None


def test_a_layer_without_roles_is_refused() -> None:
    with pytest.raises(StageError, match="E448"):
        srl({"V": 3})


def test_a_described_task_is_rebuilt_the_same() -> None:
    task = srl({"V": 3, "A0": 2}, predicates="gold", mean="max_width", size=9, label_size=5, dropout=0.1)
    again = rebuild_task("srl", task.describe(), 8)
    assert again.describe() == task.describe()
    assert str(again.module) == str(task.module)


def test_equal_seeds_give_equal_gradients_with_deterministic_algorithms(odd_data: Prepared) -> None:
    task = srl(dict(odd_data.labels["srl"]), dropout=0.3)
    task.module.train()
    gold = task.encode(odd_data.train)
    found = []
    torch.use_deterministic_algorithms(True)
    try:
        for _ in range(2):
            batch, states = states_of(odd_data, "train", [0, 2, 3])
            task.module.zero_grad()
            task.loss(states, batch, gold).backward()
            found.append([p.grad.clone() for p in task.module.parameters() if p.grad is not None])
    finally:
        torch.use_deterministic_algorithms(False)
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def overfitted(root: Path, encoder: Path, fifty: Sequence[Sentence], epochs: int, lr: float) -> float:
    prepared = toy.write_prepared(root / "data", encoder, {"train": fifty, "dev": fifty, "test": fifty})
    train = {"epochs": epochs, "patience": 1.0, "batch": {"sentences": 10, "tokens": 800}}
    params = toy.train_params([], dropout=0.0, **train, lr={"encoder": lr, "decoder": 3e-3})
    params["tasks"] = {"srl": {"type": "span_srl", "layer": "srl", "keep_gold": True}}
    return float(toy.run_train(root, encoder, prepared, params).scores["dev/mean"])


def test_fifty_sentences_are_learnt_by_heart(tmp_path: Path) -> None:
    encoder = toy.write_encoder(tmp_path / "encoder", dropout=0.0)
    assert overfitted(tmp_path, encoder, toy.corpus(11, 50), epochs=30, lr=3e-3) >= 99


@pytest.mark.slow
@pytest.mark.realdata
def test_fifty_real_sentences_are_learnt_by_heart(tmp_path: Path) -> None:
    file = Path(os.environ["MTLSPEC_DATA"]) / "ewt5" / "small" / "ewt5-small.train.srl.conll12"
    read = conll2012.Options(type="conll2012").read(file)
    fifty = [s for s in read if 4 < len(s.words) < 30 and s.layers["srl"]][:50]
    encoder = toy.write_encoder(tmp_path / "encoder", width=128, layers=4, heads=8, dropout=0.0, known=fifty)
    assert overfitted(tmp_path, encoder, fifty, epochs=60, lr=1e-3) >= 99
