"""Head importance: how much a task's loss depends on each attention head.

Two measures. The gradient measure is the mean over sentences of |dL/dxi|, where xi multiplies a head's context and L is
the sentence's own loss: what the task's loss is for a batch of that sentence alone. The ablation measure is the growth
of the loss when a head is switched off. Neither touches parameters, their gradients or the model's mode.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mtlspec.data.batching import Batch, Specials, collate, sequential
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import PreparedSplit
from mtlspec.data.streams import seed_stream
from mtlspec.errors import EncoderError
from mtlspec.model.encoder.states import Ends, States
from mtlspec.model.sharing import Sharing
from mtlspec.model.task import Task
from mtlspec.spec.models import BatchLimits

Annotated = tuple[Batch, Sequence[Any]]
"""Sentences with the encoded gold of every task, None where they lack a task's annotation."""


def head_importance(
    sharing: Sharing, tasks: Sequence[Task], batches: Iterable[Annotated], *, token_abs: bool = False
) -> Tensor:
    """Float64 [T, L, H]: per task and head the mean over sentences of |dL/dxi|.

    All tasks of a batch share one forward pass where the encoder's output does not depend on the task; each has its
    own backward pass, which stops at the gates and so costs no gradients of weights. With `token_abs`, absolute values
    are taken per sub-token and summed, instead of being taken of the sum. Not a number for a task without annotation.
    """
    sums = torch.zeros(len(tasks), *sharing.encoder.heads.shape, dtype=torch.float64)
    sentences = torch.zeros(len(tasks), 1, 1, dtype=torch.float64)
    # By token, the contexts themselves are differentiated: those of the first layer depend on nothing but parameters.
    with _at_rest(sharing, tasks, into_parameters=token_abs), torch.enable_grad():
        for batch, golds in batches:
            present = [number for number, gold in enumerate(golds) if gold is not None]
            groups = [present] if sharing.task_free else [[number] for number in present]
            for group in groups:
                for number, found in _sensitivities(sharing, tasks, batch, golds, group, token_abs):
                    sums[number] += found.double().sum(0).cpu()
                    sentences[number] += len(batch.rows)
    return sums / sentences


def ablation_importance(sharing: Sharing, tasks: Sequence[Task], batches: Sequence[Annotated]) -> Tensor:
    """Float64 [T, L, H]: how much larger the mean loss is when one head's gate is 0; idle places stay 0.

    Not a number for a task without annotation.
    """
    heads = sharing.encoder.heads
    found = torch.zeros(len(tasks), *heads.shape, dtype=torch.float64)
    open_ = torch.ones(heads.shape, device=next(sharing.encoder.parameters()).device)
    whole = mean_losses(sharing, tasks, batches, open_)
    for layer, count in enumerate(heads.counts):
        for head in range(count):
            gates = open_.clone()
            gates[layer, head] = 0
            found[:, layer, head] = mean_losses(sharing, tasks, batches, gates) - whole
    return found


@torch.no_grad()
def mean_losses(sharing: Sharing, tasks: Sequence[Task], batches: Iterable[Annotated], gates: Tensor) -> Tensor:
    """Float64 [T]: mean of the tasks' losses of batches, weighted by sentences, with heads gated by [L, H]."""
    sums = torch.zeros(len(tasks), dtype=torch.float64)
    sentences = torch.zeros(len(tasks), dtype=torch.float64)
    with _at_rest(sharing, tasks), sharing.encoder.heads.gated(gates):
        for batch, golds in batches:
            states: States | None = None
            for number, gold in enumerate(golds):
                if gold is None:
                    continue
                if states is None or not sharing.task_free:
                    states = sharing.encode(batch.for_task(number))
                sums[number] += tasks[number].loss(states, batch, gold).item() * len(batch.rows)
                sentences[number] += len(batch.rows)
    return sums / sentences


def sentence_losses(task: Task, states: States, batch: Batch, gold: Any) -> Tensor:
    """[B]: the loss of every sentence as if it were alone in its batch."""
    parts = (states.words, states.cls, states.sep, states.pieces, *(states.windows or ()))
    split = zip(*(part.unbind(0) for part in parts), strict=True)
    losses = []
    for (words, cls, sep, pieces, *ends), alone in zip(split, _each_alone(batch), strict=True):
        own_words, own_pieces = words[: alone.word_mask.shape[1]], pieces[: alone.pieces.shape[1]]
        one = [part.unsqueeze(0) for part in (own_words, cls, sep, own_pieces, *ends)]
        own = States(one[0], one[1], one[2], one[3], states.causal, Ends(*one[4:]) if ends else None)
        losses.append(task.loss(own, alone, gold))
    return torch.stack(losses)


def annotated_batches(
    tasks: Sequence[Task], split: PreparedSplit, specials: Specials, limits: BatchLimits, rows: Tensor | None = None
) -> Iterator[Annotated]:
    """Sentences of a split (all, or those of `rows` int64 [n]), with the gold of the tasks that annotate them.

    Sentences with the same set of annotations share batches.
    """
    golds = [task.encode(split) for task in tasks]
    chosen = np.arange(len(split)) if rows is None else rows.numpy()
    has = np.stack([np.isin(chosen, task.rows(split).numpy()) for task in tasks], axis=1)  # bool [n, T]
    for signature in np.unique(has, axis=0)[::-1]:
        if signature.any():
            members = torch.from_numpy(chosen[(has == signature).all(1)])
            present = [gold if there else None for gold, there in zip(golds, signature.tolist(), strict=True)]
            for places in sequential(split.lengths[members], limits.sentences, limits.tokens):
                yield collate(split, members[places], specials), present


def annotated_corpora(
    tasks: Sequence[Task],
    corpora: Corpora,
    split: str,
    specials: Specials,
    limits: BatchLimits,
    sentences: int | None,
    seed: int,
) -> Iterator[Annotated]:
    """Annotated batches of one split of every task's own corpus: at most so many sentences of each, a random sample.

    Only sentences that carry the annotation of some task are drawn; tasks of other corpora have no gold in a batch.
    """
    for name in dict.fromkeys(task.corpus for task in tasks):
        data = corpora.named(name).split(split)
        own = [number for number, task in enumerate(tasks) if task.corpus == name]
        labelled = torch.unique(torch.cat([tasks[number].rows(data) for number in own]))
        sample = sample_rows(len(labelled), sentences, seed)
        rows = labelled if sample is None else labelled[sample]
        for batch, golds in annotated_batches([tasks[number] for number in own], data, specials, limits, rows):
            of_task = dict(zip(own, golds, strict=True))
            yield batch, [of_task.get(number) for number in range(len(tasks))]


def sample_rows(sentences: int, limit: int | None, seed: int) -> Tensor | None:
    """At most `limit` different rows of so many, ascending; None where that is all of them."""
    if limit is None or limit >= sentences:
        return None
    keys = seed_stream(seed).random_raw(sentences)
    return torch.from_numpy(np.sort(np.argsort(keys, kind="stable")[:limit]))


def _sensitivities(
    sharing: Sharing,
    tasks: Sequence[Task],
    batch: Batch,
    golds: Sequence[Any],
    group: Sequence[int],
    token_abs: bool,
) -> Iterator[tuple[int, Tensor]]:
    """(task, |dL/dxi| [B, L, H]) of tasks that see the same states."""
    heads, limit = sharing.encoder.heads, sharing.encoder.max_pieces
    if token_abs and limit is not None and batch.pieces.shape[1] > limit:
        raise EncoderError(
            "E370",
            f"importance by token needs whole sentences, and one has more than the encoder's {limit} sub-tokens",
            hint="use the default importance, which reads windows, too",
        )
    gates = torch.ones(len(batch.rows), *heads.shape, device=batch.pieces.device, requires_grad=True)
    with heads.captured(attention=False, contexts=token_abs) as seen, heads.gated(gates):
        states = sharing.encode(batch.for_task(group[0]))
    for number in group:
        loss = sentence_losses(tasks[number], states, batch, golds[number]).sum()
        more = number != group[-1]
        if not loss.requires_grad:  # nothing to learn in these sentences
            yield number, torch.zeros_like(gates)
        elif token_abs:
            yield number, _by_token(loss, seen.contexts, gates.shape, more)
        else:
            yield number, torch.autograd.grad(loss, gates, retain_graph=more)[0].abs()


def _by_token(loss: Tensor, contexts: Sequence[Tensor], shape: torch.Size, more: bool) -> Tensor:
    """Sum over sub-tokens of |<gradient of the context, context>|: contexts [B, S, H', Dh] per layer -> [B, L, H]."""
    gradients = torch.autograd.grad(loss, contexts, retain_graph=more)
    found = torch.zeros(shape, device=loss.device)
    for layer, (context, gradient) in enumerate(zip(contexts, gradients, strict=True)):
        found[:, layer, : context.shape[2]] = (context.detach() * gradient).sum(3).abs().sum(1)
    return found


def _each_alone(batch: Batch) -> Iterator[Batch]:
    """Batches of one sentence, without padding."""
    lengths = zip(batch.piece_mask.sum(1).tolist(), batch.word_mask.sum(1).tolist(), strict=True)
    for i, (pieces, words) in enumerate(lengths):
        yield replace(
            batch,
            rows=batch.rows[i : i + 1],
            pieces=batch.pieces[i : i + 1, :pieces],
            piece_mask=batch.piece_mask[i : i + 1, :pieces],
            word_of_piece=batch.word_of_piece[i : i + 1, :pieces],
            word_mask=batch.word_mask[i : i + 1, :words],
            types=None if batch.types is None else batch.types[i : i + 1, :pieces],
            tasks=None if batch.tasks is None else batch.tasks[i : i + 1],
        )


@contextmanager
def _at_rest(sharing: Sharing, tasks: Sequence[Task], *, into_parameters: bool = False) -> Iterator[None]:
    """Evaluation mode, with gradients that reach the encoder's parameters or stop before all parameters.

    Afterwards everything is as it was.
    """
    roots = [sharing.encoder, sharing.module, *(task.module for task in tasks)]
    modes = [(module, module.training) for root in roots for module in root.modules()]
    trained = [(parameter, parameter.requires_grad) for root in roots for parameter in root.parameters()]
    try:
        for root in roots:
            root.eval()
            root.requires_grad_(into_parameters and root is sharing.encoder)
        yield
    finally:
        for module, mode in modes:
            module.training = mode
        for parameter, was in trained:
            parameter.requires_grad_(was)
