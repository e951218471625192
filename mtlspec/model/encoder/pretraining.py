"""Masked-language-model pre-training of a small BERT, in a loop of our own.

Fast where it can be: batches bucketed by length, the vocabulary scores computed at masked positions only, fused AdamW.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from mtlspec.data.batching import BatchCursor, Specials, sequential
from mtlspec.model.encoder.request import Point, Points
from mtlspec.model.moments import load_moments, moments

IGNORED = -100
CURVE_POINTS = 20
MEASURED = 0.15  # share of sub-tokens that are masked to measure, whatever the training uses


@dataclass(frozen=True)
class Text:
    """Sentences as sub-tokens end to end: pieces int64 [total], offsets int64 [N + 1]."""

    pieces: Tensor
    offsets: Tensor

    @classmethod
    def of(cls, sentences: Sequence[Sequence[int]], longest: int) -> Text:
        """Sentences over `longest` sub-tokens become several, so that every sub-token is learnt from."""
        parts = [part[i : i + longest] for part in sentences for i in range(0, len(part), longest)]
        lengths = torch.tensor([0, *map(len, parts)])
        return cls(torch.tensor([piece for part in parts for piece in part]), lengths.cumsum(0))

    @property
    def lengths(self) -> Tensor:
        return self.offsets.diff()

    def batch(self, rows: Tensor, specials: Specials) -> tuple[Tensor, Tensor]:
        """[CLS] ... [SEP] and padding: pieces int64 [B, S]; and inner bool [B, S], True on the sub-tokens between."""
        lengths = self.lengths[rows].unsqueeze(1)
        place = torch.arange(int(lengths.max()) + 2)
        inner = (place >= 1) & (place <= lengths)
        pieces = torch.full(inner.shape, specials.pad)
        pieces[inner] = self.pieces[(self.offsets[rows].unsqueeze(1) + place - 1)[inner]]
        pieces[:, 0] = specials.cls
        return pieces.scatter_(1, lengths + 1, specials.sep), inner


@dataclass(frozen=True)
class Schedule:
    """How long and how fast; the rate rises over the first `warmup` of the updates and falls linearly to zero."""

    epochs: int
    sentences: int
    tokens: int
    lr: float
    warmup: float
    weight_decay: float
    clip: float
    mask: float
    seed: int


def mask_pieces(
    pieces: Tensor, inner: Tensor, share: float, specials: Specials, vocabulary: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Hide a share of the inner sub-tokens: (input, target), int64 [B, S]; the target is IGNORED elsewhere.

    Of the chosen ones 80 % become [MASK], 10 % a random sub-token, 10 % stay. At least one is chosen.
    """
    draw = torch.rand(pieces.shape, generator=generator).masked_fill(~inner, 2.0)
    chosen = (draw < share) | (draw == draw.min())
    fate = torch.rand(pieces.shape, generator=generator)
    first_word = 1 + max(specials.cls, specials.sep, specials.pad, specials.mask, specials.unk)
    strange = torch.randint(first_word, vocabulary, pieces.shape, generator=generator)
    hidden = torch.where(chosen & (fate < 0.8), specials.mask, pieces)
    hidden = torch.where(chosen & (fate >= 0.8) & (fate < 0.9), strange, hidden)
    return hidden, torch.where(chosen, pieces, IGNORED)


def sinusoids(positions: int, width: int) -> Tensor:
    """Sines and cosines of falling frequency [positions, width]: a shift is a rotation, the same at every position."""
    column = torch.arange(width)
    angle = torch.arange(positions).unsqueeze(1) * torch.exp(-math.log(10_000.0) * (column // 2 * 2) / width)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


@dataclass
class _Progress:
    """What moves while a model is pre-trained. No dropout is used, so nothing draws from torch's own generator."""

    model: Any
    optimiser: torch.optim.AdamW
    cursor: BatchCursor
    masks: torch.Generator
    sums: Tensor  # float64 [2]: loss, predictions since the last point of the curve
    curve: list[dict[str, float]]
    update: int = 0

    def save(self) -> Point:
        own = {"sums": self.sums, "masks": self.masks.get_state()}
        tensors = {
            **{f"own/{name}": value.cpu() for name, value in own.items()},
            **{f"weight/{name}": value.detach().cpu() for name, value in self.model.named_parameters()},
            **{f"adam/{name}": value for name, value in moments(self.optimiser, self._parameters()).items()},
        }
        return Point(self.update, {"cursor": self.cursor.state(), "curve": self.curve}, tensors)

    def load(self, point: Point) -> None:
        tensors = point.tensors
        self.update, self.curve = point.update, list(point.values["curve"])
        self.cursor.load_state(point.values["cursor"])
        self.masks.set_state(tensors["own/masks"])
        self.sums.copy_(tensors["own/sums"])
        with torch.no_grad():
            for name, weight in self.model.named_parameters():
                weight.copy_(tensors[f"weight/{name}"])
        adam = {name.removeprefix("adam/"): value for name, value in tensors.items() if name.startswith("adam/")}
        load_moments(self.optimiser, self._parameters(), adam)

    def _parameters(self) -> list[nn.Parameter]:
        return [parameter for group in self.optimiser.param_groups for parameter in group["params"]]


def pretrain(
    model: Any,
    text: Text,
    specials: Specials,
    schedule: Schedule,
    progress: Callable[[int, int, str], None],
    points: Points,
) -> list[dict[str, float]]:
    """Train a `BertForMaskedLM` in place, from its newest resume point; returns about twenty points of the curve."""
    device = next(model.parameters()).device
    cursor = BatchCursor(text.lengths, schedule.sentences, schedule.tokens, schedule.seed, "pretrain")
    updates = schedule.epochs * cursor.batches_per_pass
    optimiser = torch.optim.AdamW(_groups(model, schedule.weight_decay), lr=schedule.lr, betas=(0.9, 0.98), fused=True)
    masks = torch.Generator().manual_seed(schedule.seed)
    state = _Progress(model, optimiser, cursor, masks, torch.zeros(2, dtype=torch.float64, device=device), [])
    if (point := points.newest(updates)) is not None:
        state.load(point)
    model.train()
    while state.update < updates:
        state.update += 1
        pieces, inner = text.batch(cursor.next(), specials)
        pieces, target = mask_pieces(pieces, inner, schedule.mask, specials, model.config.vocab_size, masks)
        loss, _ = _losses(model, pieces.to(device), target.to(device), specials.pad)
        loss.mean().backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), schedule.clip)
        for group in optimiser.param_groups:
            group["lr"] = schedule.lr * _rate(state.update, updates, schedule.warmup)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        state.sums += torch.stack([loss.detach().double().sum(), state.sums.new_tensor(loss.numel())])
        if state.update * CURVE_POINTS // updates > (state.update - 1) * CURVE_POINTS // updates:
            state.curve.append({"update": state.update, "loss": round(float(state.sums[0] / state.sums[1]), 4)})
            state.sums.zero_()
        points.offer(state.update, state.save)
        progress(state.update, updates, "pre-training")
    return state.curve


@torch.no_grad()
def masked_scores(model: Any, text: Text, specials: Specials, schedule: Schedule) -> dict[str, float]:
    """Loss and accuracy (percent) on masked sub-tokens of unseen text, with masks that depend on the seed alone."""
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(schedule.seed)
    model.eval()
    loss, correct, count = 0.0, 0, 0
    for rows in sequential(text.lengths, schedule.sentences, schedule.tokens):
        pieces, inner = text.batch(rows, specials)
        pieces, target = mask_pieces(pieces, inner, MEASURED, specials, model.config.vocab_size, generator)
        losses, hits = _losses(model, pieces.to(device), target.to(device), specials.pad)
        loss, correct, count = loss + float(losses.double().sum()), correct + int(hits.sum()), count + hits.numel()
    return {"loss": round(loss / count, 4), "accuracy": round(100 * correct / count, 2), "predictions": count}


def _losses(model: Any, pieces: Tensor, target: Tensor, pad: int) -> tuple[Tensor, Tensor]:
    """Cross-entropy [M] and hits bool [M] at the M masked positions; only these reach the vocabulary."""
    states = model.bert(input_ids=pieces, attention_mask=pieces != pad).last_hidden_state
    flat = target.flatten()
    chosen = (flat != IGNORED).nonzero().squeeze(1)
    logits = model.cls(states.flatten(0, 1).index_select(0, chosen))
    gold = flat.index_select(0, chosen)
    return functional.cross_entropy(logits, gold, reduction="none"), logits.argmax(1) == gold


def _groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Weight decay for matrices only: biases and layer norms are left alone."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    return [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]


def _rate(update: int, updates: int, warmup: float) -> float:
    """Share of the full learning rate at a 1-based update."""
    rise = warmup * updates
    if update <= rise:
        return update / rise
    return (updates - update + 1) / (updates - rise + 1)
