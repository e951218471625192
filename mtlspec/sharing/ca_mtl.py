"""CA-MTL: one encoder whose attention, norms and bottlenecks depend on an embedding of the task.

Every module has a switch. They start so that the encoder computes what it computes without them, the bottleneck aside.
Freezing is training's own (`train.freeze: 0.5`); what this strategy adds inside frozen layers learns all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from mtlspec.errors import EncoderError, StageError
from mtlspec.model.sharing import ParameterGroup, Sharing
from mtlspec.sharing._by_row import ByRow
from mtlspec.spec.families import SharingOptions

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.encoder.states import States
    from mtlspec.sharing._conditional_attention import BlockAttention
    from mtlspec.sharing._task_norm import Norm

    Module = Callable[..., Tensor]

_DRAWN = ("random", "xavier")  # ways for an embedding to begin that are not names of tasks


class Options(SharingOptions):
    trains_heads: ClassVar[bool] = True

    type: Literal["ca_mtl"]
    attention: bool = Field(
        default=True, description="Conditional attention: a block-diagonal matrix of the task is added to all scores."
    )
    length: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="Sub-tokens that conditional attention covers, L; there are width // L blocks, at least one. "
        "Default: the encoder's length limit (`max_pieces`). Behind them nothing is added.",
    )
    full_block: bool = Field(default=False, description="One block of L x L in place of several (the paper's FBA).")
    attention_film: Literal["released", "paper"] = Field(
        default="released",
        description="gamma and beta of conditional attention: a number for each column of a block (`released`), or for "
        "each of its entries (`paper`).",
    )
    frozen_attention: Literal["trained", "released"] = Field(
        default="trained",
        description="What becomes of the generators of conditional attention in frozen layers: they learn, or they "
        "stay as they start, as in the paper's code.",
    )
    alignment: bool = Field(
        default=True, description="Conditional alignment, between the embeddings and the first layer."
    )
    matrix: bool = Field(
        default=False,
        description="Conditional alignment by a matrix R (1 + gamma) + beta with R from the identity on (the paper's "
        "Eq. 2), in place of (1 + gamma) x + beta (the paper's code).",
    )
    norm: bool = Field(
        default=True, description="Conditional layer norms in the upper half of the layers, from the encoder's own on."
    )
    norm_form: Literal["released", "paper"] = Field(
        default="released",
        description="`released`: the weight is (1 + gamma) w + beta and the bias the encoder's; `paper`: Eq. 3 as "
        "printed, weight w (1 + gamma) + b, bias generated. The latter does not start as the encoder.",
    )
    bottleneck: Literal["none", "base", "large"] = Field(
        default="base",
        description="Conditional bottlenecks: on the top layer (`base`), or a chain beside all layers, whose end is "
        "what the tasks read (`large`).",
    )
    bottleneck_start: Literal["random", "identity"] = Field(
        default="random",
        description="`identity`: bottlenecks fade in, by a learnt share that starts with 0; `random`: they are there "
        "at once, as in the paper's code.",
    )
    top_layer: Literal["kept", "released"] = Field(
        default="kept",
        description="With `bottleneck: base`, the top layer keeps its pre-trained weights, or begins with random "
        "ones, as in the paper's code.",
    )
    start: Literal["identity", "released"] = Field(
        default="identity",
        description="Generators start with factors of exactly 1 and summands of 0, or with small random weights, as in "
        "the paper's code.",
    )
    transform: bool = Field(
        default=False,
        description="Linear layers between task embeddings and generators: one for all layers, and one more for each "
        "bottleneck, as in the paper's code.",
    )

    embedding: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")] = Field(
        default="random",
        description="How the embedding of a task begins: with small random numbers, with larger ones (`xavier`), or, "
        "of a model that starts from another with `take: shared`, as the one of this task there. Tasks that were "
        "learnt there keep their own.",
    )

    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing:
        return CaMtl(encoder, tasks, self)

    def start_problem(self, known: Sequence[str] | None) -> str | None:
        name = self.embedding
        if name in _DRAWN or name in (known or ()):
            return None
        if known is None:
            return f"`embedding: {name}` is that of a task of a model to start from: `start: {{..., take: shared}}`"
        return f"`embedding: {name}`: the model to start from has no such task, but {', '.join(known)}"


class CaMtl(ByRow):
    """The modules at work. `module.embedding` [T, D] are the tasks; the other parts are there if they are switched on.

    Layers that share their parameters (ALBERT) have modules of their own each. Where norms stand before attention and
    feed-forward (GPT-2, ModernBERT), conditional ones stand there, too, and bottlenecks come before the final norm.
    """

    def __init__(self, encoder: Encoder, tasks: Sequence[str], options: Options) -> None:
        import torch
        from torch import nn

        from mtlspec.sharing._film import SPREAD, linear

        super().__init__(encoder, tasks)
        self._options = options
        self._places = encoder.places
        self._layers = len(self._places.layers)
        self._embedding = nn.Parameter(torch.empty(len(tasks), self.width).normal_(std=SPREAD))
        if options.embedding == "xavier":
            for row in self._embedding.data:  # each as a layer from one number to all
                nn.init.xavier_uniform_(row.unsqueeze(0))
        self.module.register_parameter("embedding", self._embedding)
        self._transform = linear(self.width, self.width) if options.transform else None
        self.module.add_module("transform", self._transform)
        self._attention: list[BlockAttention] = []  # of the layers, if it is switched on
        self._z: tuple[Tensor, Tensor] | None = None  # of the rows in flight [R, D]: for the alignment, for layers
        self._between: Tensor | None = None  # [R, S, D] between the blocks of the top layer, in flight
        self._chain: Tensor | None = None  # [R, S, D] of the bottlenecks beside the layers, in flight
        if options.alignment:
            self._align()
        if options.attention:
            self._attend()
        if options.norm:
            self._norm()
        if options.bottleneck == "base":
            self._top()
        if options.bottleneck == "large":
            self._beside()

    def groups(self, updates: int) -> list[ParameterGroup]:
        """None of its own; what must not learn is told here, where it is known which layers are frozen."""
        del updates
        if self._options.frozen_attention == "released":
            for place, attention in zip(self._places.layers, self._attention, strict=False):
                if not any(parameter.requires_grad for parameter in place.module.parameters()):
                    attention.film.requires_grad_(False)
        return []

    def adopted(self, weights: Mapping[str, Tensor], tasks: Sequence[str]) -> Mapping[str, Tensor]:
        """All modules as they are; of the embeddings those of tasks that were learnt, and what new ones begin with."""
        embedding, known = self._embedding.detach().clone(), weights["embedding"]
        for row, name in enumerate(self.names):
            like = name if name in tasks else self._options.embedding
            if like in tasks:
                embedding[row] = known[list(tasks).index(like)]
            elif like not in _DRAWN:
                message = f"the model to start from has no task '{like}' whose embedding a new task could begin with"
                raise StageError("E943", message, hint=f"it has {', '.join(tasks)}")
        return {**weights, "embedding": embedding}

    def run(self, batch: Batch) -> States:
        try:
            if not self._options.attention:
                return super().run(batch)
            with self.encoder.heads.biased(self._bias):
                return super().run(batch)
        finally:
            self._z = self._between = self._chain = None

    def _embedded(self) -> tuple[Tensor, Tensor]:
        """The task embeddings of the rows in flight [R, D], as they are and as layers read them."""
        if self._z is None:
            from torch.nn.functional import embedding

            raw = embedding(self.rows, self._embedding)
            self._z = raw, raw if self._transform is None else self._transform(raw)
        return self._z

    def _align(self) -> None:
        from mtlspec.sharing._film import MatrixModulation, Modulation

        made = (MatrixModulation if self._options.matrix else Modulation)(self.width, self._options.start)
        self.module.add_module("alignment", made)
        self._places.after(self._places.embeddings, partial(self._aligned, made))

    def _aligned(self, alignment: Module, states: Tensor) -> Tensor:
        return alignment(states, self._embedded()[0]) if self.encoding else states

    def _attend(self) -> None:
        from torch import nn

        from mtlspec.sharing._conditional_attention import BlockAttention, block_size

        options = self._options
        length = options.length or self.encoder.max_pieces
        if length is None:
            hint = "say how many with `length`, or set the encoder's `max_pieces`"
            raise EncoderError(
                "E987", "the encoder reads any number of sub-tokens, conditional attention does not", hint=hint
            )
        block = block_size(self.width, length, options.full_block)
        per: Literal["columns", "entries"] = "columns" if options.attention_film == "released" else "entries"
        self._attention = [BlockAttention(self.width, length, block, per, options.start) for _ in range(self._layers)]
        self.module.add_module("attention", nn.ModuleList(self._attention))

    def _bias(self, layer: int, length: int) -> Tensor:
        """What is added to a layer's scores, for the rows in flight: [R, 1, S, S]."""
        bias: Tensor = self._attention[layer](self._embedded()[1], length)
        return bias

    def _norm(self) -> None:
        from torch import nn

        from mtlspec.sharing._task_norm import ConditionalNorm, norm_at

        found = nn.ModuleDict()
        for layer in range((self._layers + 1) // 2, self._layers):
            for name, place in zip(("attention", "output"), self._places.norms(layer), strict=True):
                norm = norm_at(place)
                if norm is not None:
                    conditional = ConditionalNorm(self.width, self._options.norm_form, self._options.start)
                    found[f"{layer}_{name}"] = conditional
                    self._places.around(place, partial(self._conditioned, conditional, norm))
        self.module.add_module("norms", found)

    def _conditioned(self, conditional: Module, norm: Norm, read: Tensor, output: Tensor) -> Tensor:
        if not self.encoding:
            return output
        return conditional(norm, read, self._embedded()[1])

    def _top(self) -> None:
        """On the top layer: a norm of the bottleneck's output plus what stands between the layer's two blocks."""
        from mtlspec.sharing._conditional_bottleneck import Bottleneck, Mixed
        from mtlspec.sharing._fresh import begin_anew
        from mtlspec.sharing._task_norm import FreshConditionalNorm, norm_at

        options, last = self._options, self._places.layers[-1]
        attention, output = self._places.norms(self._layers - 1)
        own = norm_at(output)
        assert own is not None
        bottleneck = Bottleneck(self.width, options.start, options.transform)
        norm = FreshConditionalNorm(self.width, own.eps, options.norm_form, options.start)
        mixed = Mixed(options.bottleneck_start == "identity")
        for name, part in (("bottleneck", bottleneck), ("bottleneck_norm", norm), ("bottleneck_share", mixed)):
            self.module.add_module(name, part)
        if options.top_layer == "released":
            if self._places.shared:
                message = "the encoder's layers share their parameters: a top layer that begins anew is all of them"
                raise EncoderError("E988", message, hint="leave out `top_layer: released`")
            begin_anew(last.module)

        if self._places.pre_norm:  # what the second norm reads is the sum behind attention
            self._places.around(output, partial(self._keep, read=True))
        else:
            self._places.around(attention, partial(self._keep, read=False))
        self._places.after(last, partial(self._topped, bottleneck, norm, mixed))

    def _keep(self, before: Tensor, after: Tensor, read: bool) -> Tensor:
        """Remember what a norm read, or what it made."""
        self._between = (before if read else after) if self.encoding else None
        return after

    def _topped(self, bottleneck: Module, norm: Module, mixed: Module, states: Tensor) -> Tensor:
        if self._between is None:
            return states
        z = self._embedded()[1]
        return mixed(states, norm(bottleneck(states, z) + self._between, z))

    def _beside(self) -> None:
        """Beside all layers: each bottleneck reads the sum of its layer's output and of the one before it."""
        from torch import nn

        from mtlspec.sharing._conditional_bottleneck import Bottleneck, Mixed

        options = self._options
        chain = [Bottleneck(self.width, options.start, options.transform) for _ in range(self._layers)]
        mixed = Mixed(options.bottleneck_start == "identity")
        self.module.add_module("bottlenecks", nn.ModuleList(chain))
        self.module.add_module("bottleneck_share", mixed)
        for place, bottleneck in zip(self._places.layers, chain, strict=True):
            self._places.after(place, partial(self._linked, bottleneck))
        self._places.after(self._places.layers[-1], partial(self._ended, mixed))

    def _linked(self, bottleneck: Module, states: Tensor) -> Tensor:
        """The chain grows by a bottleneck; the layers go on as if there were none."""
        if self.encoding:
            reads = states if self._chain is None else states + self._chain
            self._chain = bottleneck(reads, self._embedded()[1])
        return states

    def _ended(self, mixed: Module, states: Tensor) -> Tensor:
        return states if self._chain is None else mixed(states, self._chain)
