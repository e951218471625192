"""Places: where modules can be put into an encoder, by the same names for every family.

A strategy that scales norms, adds adapters or aligns embeddings asks for a place and gives a function; which module of
transformers it hangs on, and whether several layers share that module, is the family's business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from mtlspec.errors import EncoderError
from mtlspec.model.encoder.families import family_of

Function = Callable[[Tensor], Tensor]
"""The output of a place [R, S, D] -> what goes on instead of it; rows are examples, or windows of long ones."""

Transform = Callable[[Tensor, Tensor], Tensor]
"""(what the module of a place read, its output) [R, S, D] -> what goes on instead of the output"""


@dataclass(frozen=True)
class Place:
    """The output of one module, when it runs for one layer."""

    name: str  # such as `feed_forward 3`
    path: str  # of the module, from the model
    module: nn.Module
    turn: int = 0  # which run of the module in a forward pass it is: several layers may share it
    turns: int = 1


class Attached:
    """A function at a place: until `remove`, or as a context."""

    def __init__(self, model: nn.Module, place: Place, function: Callable[..., Tensor], reads: bool) -> None:
        """`reads`: the function is called with what the module read, too."""
        self._place, self._function, self._reads, self._run = place, function, reads, 0
        self._handles: list[RemovableHandle] = [
            model.register_forward_pre_hook(self._begin),
            place.module.register_forward_hook(self._after),
        ]

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def __enter__(self) -> Attached:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _begin(self, *_: Any) -> None:
        self._run = 0

    def _after(self, _: nn.Module, inputs: tuple[Any, ...], output: Any) -> Any:
        """Modules of transformers return a tensor, or a tuple or list that begins with it."""
        turn, self._run = self._run, self._run + 1
        if turn % self._place.turns != self._place.turn:
            return output
        read = inputs[:1] if self._reads else ()
        if isinstance(output, Tensor):
            return self._function(*read, output)
        return type(output)([self._function(*read, output[0]), *output[1:]])


class Places:
    """The places of a transformers model."""

    def __init__(self, model: nn.Module, config: Any) -> None:
        """An error if the family is not supported."""
        self._model = model
        family = family_of(config)
        self._family = family
        self._paths = family.layers(config)
        self.pre_norm = family.pre_norm  # True: norms stand before attention and feed-forward, not behind the addition
        self.shared = len(set(self._paths)) < len(self._paths)  # True: several layers have the same parameters
        self.layers = tuple(self._at("layer", i, "") for i in range(len(self._paths)))
        made = [path for path in family.embeddings if _find(model, path) is not None]
        self.embeddings = Place("embeddings", made[-1], model.get_submodule(made[-1]))
        self.embedding_modules = tuple(map(model.get_submodule, made))  # all that come before the first layer

    def norms(self, layer: int) -> tuple[Place, Place]:
        """The norms of attention and of the feed-forward block; where one is missing, what stands in its place."""
        attention, output = self._family.norms
        return self._at("attention norm", layer, attention), self._at("output norm", layer, output)

    def attention_output(self, layer: int) -> Place:
        """The attention's output projection, before dropout and addition."""
        return self._at("attention output", layer, f"{self._family.attention}.{self._family.output}")

    def feed_forward(self, layer: int) -> Place:
        """The last projection of the feed-forward block, before dropout and addition."""
        return self._at("feed-forward output", layer, self._family.feed_forward)

    def after(self, place: Place, function: Function) -> Attached:
        """Let a function change what comes out of a place, from now on or within a `with`.

        Functions at one place are called in the order in which they were put there. Their parameters are the caller's:
        a strategy holds them in its `module`, and they train and are saved with it.
        """
        return Attached(self._model, place, function, reads=False)

    def around(self, place: Place, function: Transform) -> Attached:
        """The same for a function that sees what the module read, too: of a norm or a projection, not of a layer."""
        return Attached(self._model, place, function, reads=True)

    def _at(self, name: str, layer: int, below: str) -> Place:
        if not 0 <= layer < len(self._paths):
            raise EncoderError("E368", f"there is no layer {layer}: the encoder has {len(self._paths)}, from 0")
        own = self._paths[layer]
        sharing = [number for number, path in enumerate(self._paths) if path == own]
        path = f"{own}.{below}".rstrip(".")
        return Place(f"{name} {layer}", path, self._model.get_submodule(path), sharing.index(layer), len(sharing))


def _find(model: nn.Module, path: str) -> nn.Module | None:
    try:
        return model.get_submodule(path)
    except AttributeError:
        return None
