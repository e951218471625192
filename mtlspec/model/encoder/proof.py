"""Proof that the head seam works on an encoder: the encoder is run, and its heads must answer.

Nothing is taken on trust from transformers, whose `head_mask` is accepted and ignored. The checks run on a copy in
double precision, where an effect and its absence are many orders of magnitude apart; some on the encoder itself, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from mtlspec.data.batching import Batch
from mtlspec.errors import EncoderError
from mtlspec.model.encoder.compare import difference, evaluating, random_pieces
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.heads import Heads
from mtlspec.model.encoder.proof_attention import attention_is_captured, bias_reaches_scores, implementations_agree
from mtlspec.model.encoder.subject import Subject

SINGLE, DOUBLE = 1e-5, 2e-6  # what rounding may do; some families round to single precision in a double model, too
CONFUSION = 1e-5  # what taking one head for another must change at least
HEARD = 1e-7  # what an absent head must change at least, relative to what it adds
MUTE = 1e-6  # a head that adds less than this has nothing to say
_ROWS = 32  # of one forward pass
_STEPS = (1e-4, 5e-2)  # of finite differences; the wide one for families whose norms round to single


@dataclass(frozen=True)
class HeadCheck:
    name: str
    holds: bool
    detail: str


class _DeliberateError(Exception):
    """Ends a context, to see what it leaves behind."""


Test = Callable[[Subject, Subject], tuple[bool, str]]
"""(the encoder as it is, its copy in double precision) -> (holds, what was seen)"""


def prove_heads(model: nn.Module, config: Any, pieces: Tensor, mask: Tensor, seed: int = 0) -> Iterator[HeadCheck]:
    """Every check, on a batch of at least two sentences: pieces int64 [B, S], mask bool [B, S]."""
    tests: tuple[tuple[str, Test], ...] = (
        ("every head is heard", every_head_is_heard),
        ("gate = removal", gate_equals_removal),
        ("wrong heads differ", wrong_heads_differ),
        ("gradients of gates", gradients_agree),
        ("gates of rows", rows_have_gates_of_their_own),
        ("sdpa = eager", implementations_agree),
        ("capture", attention_is_captured),
        ("attention bias", bias_reaches_scores),
        ("no traces", nothing_is_left),
    )
    yield from _run(tests, Subject(model, config, pieces, mask, seed))


def require_sound_heads(encoder: Encoder, batch: Batch | None = None, seed: int = 0) -> None:
    """An error unless the heads of this encoder can be gated, captured and removed.

    A few checks on two short rows, of the given batch or of random sub-tokens; a copy of the encoder is made.
    """
    if batch is None:
        pieces, mask = random_pieces(encoder, seed)
    else:
        length = min(12, encoder.max_pieces or 12)
        pieces, mask = batch.pieces[:2, :length], batch.piece_mask[:2, :length]
    device = next(encoder.parameters()).device
    tests: tuple[tuple[str, Test], ...] = (
        ("a head of every layer is heard", lambda asked, exact: every_head_is_heard(asked, exact, per_layer=1)),
        ("gate = removal", gate_equals_removal),
        ("wrong heads differ", wrong_heads_differ),
        ("capture", attention_is_captured),
    )
    subject = Subject(encoder.heads.model, encoder.heads.config, pieces.to(device), mask.to(device), seed)
    failed = [check for check in _run(tests, subject) if not check.holds]
    if failed:
        found = "; ".join(f"{check.name}: {check.detail}" for check in failed)
        message = f"the heads of this '{encoder.architecture}' encoder do not answer ({found})"
        raise EncoderError("E355", message, hint="see all checks with `mtlspec doctor --encoder <card or folder>`")


def _run(tests: tuple[tuple[str, Test], ...], subject: Subject) -> Iterator[HeadCheck]:
    with evaluating(subject.model):
        exact = subject.copy(torch.float64)
        for name, test in tests:
            try:
                holds, detail = test(subject, exact)
            except Exception as error:  # a check that cannot run has failed; the others still tell something
                holds, detail = False, f"{type(error).__name__}: {error}"
            yield HeadCheck(name, holds, detail)


def every_head_is_heard(_: Subject, exact: Subject, per_layer: int | None = None) -> tuple[bool, str]:
    """Closing a head alone changes the output, unless what it adds is zero anyway."""
    heads = exact.heads
    asked = [(layer, head) for layer, count in enumerate(heads.counts) for head in range(count)[:per_layer]]
    gates = torch.ones(len(asked) + 1, *heads.shape, dtype=torch.float64, device=exact.pieces.device)
    for row, (layer, head) in enumerate(asked, 1):
        gates[row, layer, head] = 0
    single = exact.row(0)
    with torch.no_grad():
        with heads.captured(attention=False) as seen:
            single.states()
        if not seen.complete:
            return False, "an output projection is never called as a module, so that no gate reaches the heads"
        added = [_contributions(heads, layer, seen.contexts[layer]) for layer in range(heads.shape[0])]
        rows = torch.cat([_gated_row(single, heads, part) for part in torch.split(gates, _ROWS)])
    changes = (rows[1:] - rows[0]).abs().amax((1, 2)).tolist()
    silent = [
        f"{layer}.{head}"
        for (layer, head), change in zip(asked, changes, strict=True)
        if added[layer][head] > MUTE and change < HEARD * min(1.0, added[layer][head])
    ]
    if silent:
        return False, f"{len(silent)} of {len(asked)} heads change nothing when they are closed, first {silent[0]}"
    return True, f"closing any of {len(asked)} heads changes the output, by {min(changes, default=0):.1e} at least"


def gate_equals_removal(asked: Subject, exact: Subject) -> tuple[bool, str]:
    """A model without heads computes what it computed with their gates at 0, and the other gates folded in."""
    differences = [_removal(subject, subject.random_gates(), subject.random_gates()) for subject in (asked, exact)]
    holds = differences[0] <= SINGLE and differences[1] <= DOUBLE
    return holds, f"they differ by {differences[0]:.1e} (single), {differences[1]:.1e} (double precision)"


def wrong_heads_differ(_: Subject, exact: Subject) -> tuple[bool, str]:
    """The control: removing as many other heads is not the same."""
    gates = exact.random_gates()
    counts = exact.heads.counts
    wrong = gates.clone()
    for layer, count in enumerate(counts):
        wrong[layer, :count] = gates[layer, :count].roll(1)
    if torch.equal(wrong, gates):
        return True, "no layer has two heads to confuse"
    found = _removal(exact, gates, wrong)
    return found >= CONFUSION, f"removing other heads of the same layers differs by {found:.1e}"


def gradients_agree(_: Subject, exact: Subject) -> tuple[bool, str]:
    """The gradient with respect to gates, along random directions, against central differences."""
    generator = torch.Generator().manual_seed(exact.seed)
    shape = exact.heads.shape
    gates = (0.5 + torch.rand(shape, generator=generator, dtype=torch.float64)).to(exact.pieces.device)
    gates.requires_grad_(True)
    weights = torch.randn(exact.states().shape, generator=generator, dtype=torch.float64).to(gates.device)

    def loss(value: Tensor) -> Tensor:
        with exact.heads.gated(value):
            return (exact.states() * weights).mean()

    (gradient,) = torch.autograd.grad(loss(gates), gates)
    worst = 0.0
    with torch.no_grad():
        for _direction in range(4):
            way = torch.randn(shape, generator=generator, dtype=torch.float64).to(gates.device)
            scale = (gradient * way).abs().sum().clamp(min=1e-12)
            slopes = [_slope(lambda t, way=way: loss(gates + t * way), step) for step in _STEPS]  # type: ignore[misc]
            worst = max(worst, min(float(((gradient * way).sum() - slope).abs() / scale) for slope in slopes))
    return bool(gradient.abs().max() > 0) and worst <= 1e-3, f"relative error {worst:.1e} against finite differences"


def _slope(function: Callable[[float], Tensor], step: float) -> Tensor:
    """The derivative at 0, by central differences of fourth order."""
    near, far = function(step) - function(-step), function(2 * step) - function(-2 * step)
    return (8 * near - far) / (12 * step)


def rows_have_gates_of_their_own(_: Subject, exact: Subject) -> tuple[bool, str]:
    """Gates [B, L, H] do to a batch what [L, H] does to its rows one by one."""
    gates = torch.stack([exact.random_gates(seed) for seed in range(len(exact.pieces))])
    with torch.no_grad():
        with exact.heads.gated(gates):
            together = exact.states()
        alone = []
        for row in range(len(gates)):
            with exact.heads.gated(gates[row]):
                alone.append(exact.row(row).states())
    found = max(float((a[0] - b[: a.shape[1]]).abs().max()) for a, b in zip(alone, together, strict=True))
    return found <= DOUBLE, f"a batch and its rows one by one differ by {found:.1e}"


def nothing_is_left(asked: Subject, _: Subject) -> tuple[bool, str]:
    """After contexts, also after one that ended in an error, the model has the hooks and the attention it had."""
    before = asked.traces()
    with asked.heads.captured(), asked.heads.gated(torch.ones(asked.heads.shape)):
        asked.states()
    with suppress(_DeliberateError), asked.heads.captured(), asked.heads.gated(torch.ones(asked.heads.shape)):
        raise _DeliberateError
    return asked.traces() == before, "no hook is left, and the attention implementation is restored"


def _gated_row(single: Subject, heads: Heads, gates: Tensor) -> Tensor:
    """States of one sentence under many gates: gates [R, L, H] -> [R, S, D]."""
    with heads.gated(gates):
        return single.repeated(len(gates)).states()


def _contributions(heads: Heads, layer: int, contexts: Tensor) -> list[float]:
    """The largest value that each head adds to the output of its layer's attention: contexts [1, S, H, Dh]."""
    columns = next((found for found in heads.slices(layer) if found.role == "output"), None)
    if columns is None:
        return []
    parts = [columns.part(head) for head in range(len(columns.starts))]  # [D, Dh] or, transposed, [Dh, D]
    weights = [part if columns.axis == 1 else part.T for part in parts]
    return [float((contexts[0, :, head] @ weight.T).abs().max()) for head, weight in enumerate(weights)]


def _removal(subject: Subject, gates: Tensor, removed: Tensor) -> float:
    """How far the model gated by one set is from a copy that lost another, relative where states are above 1."""
    pruned = deepcopy(subject)
    pruned.heads.remove(removed.to(pruned.pieces.device))
    with torch.no_grad():
        with subject.heads.gated(gates):
            expected = subject.states()
        return difference(expected, pruned.states())
