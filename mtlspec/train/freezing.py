"""Freezing: embeddings and bottom layers that do not learn, and what they compute kept instead of computed again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from mtlspec.data.batching import Batch, collate, sequential
from mtlspec.data.prepared import PreparedSplit
from mtlspec.errors import StageError
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.sharing import Sharing
from mtlspec.spec.freezing import freeze_problem, frozen_part
from mtlspec.spec.models import BatchLimits, FrozenPart

LIMIT = 2**31  # bytes of activations that are kept at most; a constant, because it decides what is computed in batches


class Frozen:
    """The frozen part of a model's encoder.

    It computes as in evaluation, without dropout. Parameters that a strategy holds inside of it learn like all others.
    """

    def __init__(self, model: MultiTaskModel, part: FrozenPart | float | None) -> None:
        self._model = model
        self.layers = 0
        self._modules: list[nn.Module] = []
        if part is None:
            return
        places = model.encoder.places
        problem = freeze_problem(part, len(places.layers))
        if problem is not None:
            raise StageError("E435", problem[0], hint=problem[1])
        wanted = frozen_part(part, len(places.layers))
        if wanted.layers and places.shared:
            hint = "leave `freeze` out, or freeze the embeddings alone: `{layers: 0}`"
            raise StageError(
                "E436", "the encoder's layers share their parameters: freezing some freezes all", hint=hint
            )
        self.layers = wanted.layers
        self._modules = [place.module for place in places.layers[: wanted.layers]]
        if wanted.embeddings:
            inside = {id(module) for place in places.layers for module in place.module.modules()}
            tables = (m for m in model.encoder.modules() if isinstance(m, nn.Embedding) and id(m) not in inside)
            self._modules += [*places.embedding_modules, *tables]
        own = {id(parameter) for parameter in model.sharing.module.parameters()}
        for parameter in (p for module in self._modules for p in module.parameters()):
            if id(parameter) not in own:
                parameter.requires_grad_(False)

    def train(self) -> None:
        """Put the model into training mode, except for what is frozen."""
        self._model.module.train()
        own = {id(module) for module in self._model.sharing.module.modules()}
        for module in (m for frozen in self._modules for m in frozen.modules()):
            if id(module) not in own:
                module.training = False


class KeptStates:
    """What the frozen bottom layers make of training examples, computed once.

    An example's states are computed in a batch that depends on nothing but the data, so that a run that was interrupted
    goes on with the same ones. Where something below is random or learns, or where there is too much to keep, nothing
    is kept and `active` is False.
    """

    def __init__(
        self, model: MultiTaskModel, layers: int, rows: Mapping[PreparedSplit, Tensor], limits: BatchLimits
    ) -> None:
        self._encoder, self._specials = model.encoder, model.encoder.specials
        self._rows, self._limits = rows, limits
        self._kept: dict[tuple[int, int], Tensor] = {}
        self._batches: dict[tuple[int, int], tuple[PreparedSplit, Tensor]] = {}
        self._now: Tensor | None = None  # [B, S, D] of the batch that is being encoded
        self._layers = [place.module for place in model.encoder.places.layers[:layers]] if layers else []
        self._handles: list[Any] = []
        self._capturing = False
        self.active = bool(layers) and self._fits(model.sharing)
        if self.active:
            self._attach()
            self.active = not self._learns_below()
            if not self.active:
                self.close()

    def close(self) -> None:
        """Let the encoder compute everything again."""
        for handle in self._handles:
            handle.remove()
        for layer in self._layers:
            vars(layer).pop("forward", None)
        self._handles, self._kept = [], {}

    def _fits(self, sharing: Sharing) -> bool:
        encoder = self._encoder
        hooked = any(m._forward_hooks or m._forward_pre_hooks for layer in self._layers for m in layer.modules())
        if encoder.subword_dropout or hooked or not sharing.plain:
            return False
        lengths = [split.lengths[rows] + 2 for split, rows in self._rows.items()]
        longest = max(int(found.max()) for found in lengths)
        if encoder.max_pieces is not None and longest > encoder.max_pieces:
            return False
        return sum(int(found.sum()) for found in lengths) * encoder.width * 4 <= LIMIT

    def _attach(self) -> None:
        for split, rows in self._rows.items():
            for part in sequential(split.lengths[rows], self._limits.sentences, self._limits.tokens):
                members = rows[part]
                self._batches |= {(id(split), row): (split, members) for row in members.tolist()}
        self._handles = [
            self._encoder.register_forward_pre_hook(self._begin),
            self._encoder.register_forward_hook(self._end, always_call=True),
        ]
        for number, layer in enumerate(self._layers):
            vars(layer)["forward"] = _Shortcut(self, layer.forward, number == len(self._layers) - 1)

    def _learns_below(self) -> bool:
        split, rows = next(iter(self._batches.values()))
        return self._compute(split, rows).requires_grad

    def _begin(self, _: nn.Module, inputs: tuple[Batch, ...]) -> None:
        batch = inputs[0]
        sources = batch.sources()
        if not sources or self._capturing:
            return
        keys = [(id(split), row) for split, row in zip(sources, batch.rows.tolist(), strict=True)]
        if all(key in self._batches for key in keys):
            for key in keys:
                if key not in self._kept:
                    self._keep(*self._batches[key])
            states = nn.utils.rnn.pad_sequence([self._kept[key] for key in keys], batch_first=True)
            self._now = states.to(batch.pieces.device)

    def _end(self, *_: Any) -> None:
        self._now = None

    @torch.no_grad()
    def _keep(self, split: PreparedSplit, rows: Tensor) -> None:
        states = self._compute(split, rows).cpu()
        lengths = collate(split, rows, self._specials).piece_mask.sum(1).tolist()
        for row, own, length in zip(rows.tolist(), states, lengths, strict=True):
            self._kept[id(split), row] = own[:length].clone()

    def _compute(self, split: PreparedSplit, rows: Tensor) -> Tensor:
        """The states of rows int64 [n] above the last frozen layer: [n, S, D]."""
        batch = collate(split, rows, self._specials).to(next(self._encoder.parameters()).device)
        self._capturing = True
        try:
            self._encoder.hidden(batch.pieces, batch.piece_mask, batch.types)
        except _ReachedError as reached:
            return reached.states
        finally:
            self._capturing = False
        raise AssertionError("the encoder did not run its frozen layers")


class _Shortcut:
    """The forward pass of a frozen layer: nothing, where its result is known."""

    def __init__(self, kept: KeptStates, forward: Any, last: bool) -> None:
        self._kept, self._forward, self._last = kept, forward, last
        self._others: tuple[Any, ...] | None = None  # what the layer returns beside states, if it returns a tuple

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        kept = self._kept
        if kept._now is None:
            found = self._forward(*arguments, **named)
            self._others = tuple(None for _ in found[1:]) if isinstance(found, tuple) else None
            if kept._capturing and self._last:
                raise _ReachedError(found[0] if isinstance(found, tuple) else found)
            return found
        states = kept._now if self._last else (arguments[0] if arguments else named["hidden_states"])
        return states if self._others is None else (states, *self._others)


class _ReachedError(Exception):
    """Not an error: the last frozen layer has computed, and the layers above need not."""

    def __init__(self, states: Tensor) -> None:
        super().__init__()
        self.states = states
