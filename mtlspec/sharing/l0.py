"""L0 head gates: hard sharing that learns which attention heads it can do without.

Every head's context is multiplied by a hard-concrete gate, and the expected share of open gates is a penalty.
`mode: dynamic` trains encoder, decoders and gates together from the pre-trained encoder; `mode: static` starts from
trained models (`start: <group>`), freezes their decoders and trains encoder and gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, create_model

from mtlspec.errors import EncoderError
from mtlspec.model.sharing import Balancing, HeadMeasure, ParameterGroup, Sharing, TaskLoss
from mtlspec.spec.families import SharingOptions

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.encoder.states import States
    from mtlspec.model.hard_concrete import HardConcrete
    from mtlspec.model.task import Task

    _WithLambda = SharingOptions
else:
    # Adam steps by a gradient's direction, so that more than enough is as good as enough; but from about 1e19 on its
    # squares overflow, and no gate closes. A penalty may be multiplied by losses: the bound stays far away from that.
    _LARGEST = 1e6
    # `lambda` is a word of Python's own: a field of that name cannot be written in a class body
    _LAMBDA = Field(
        default=0.1,
        description="Weight of the penalty, the mean over all heads of the probability that their gate is open; the "
        "bound is far above what closes every gate.",
    )
    _WithLambda = create_model(
        "_WithLambda", __base__=SharingOptions, **{"lambda": (Annotated[float, Field(ge=0, le=_LARGEST)], _LAMBDA)}
    )


class Options(_WithLambda):
    gates_heads: ClassVar[bool] = True

    type: Literal["l0"]
    mode: Literal["dynamic", "static"] = Field(
        default="dynamic",
        description="`dynamic`: everything trains from the pre-trained encoder; `static`: encoder and gates train from "
        "the models of the group that `start` names, with frozen decoders.",
    )
    gate_lr: Annotated[float, Field(gt=0)] | Literal["auto"] = Field(
        default="auto",
        description="Learning rate of the gates, without schedule; `auto` lets a gate close within half of the run, "
        "whatever its number of updates (9.8 / updates for `open`, 4.8 / updates for `half_open`).",
    )
    init: Literal["open", "half_open"] = Field(
        default="open",
        description="`open`: start as the pre-trained model (parameter 2.5); `half_open`: random parameters around 0.",
    )
    penalty_form: Literal["mean", "released"] = Field(
        default="mean",
        description="`mean` over all heads, so that `lambda` depends on neither depth nor width; `released`: sum over "
        "heads, mean over layers, as the paper's code has it.",
    )
    relative: bool = Field(
        default=False,
        description="Multiply the penalty by the present value of the trained loss, a constant: one `lambda` then asks "
        "the same of tasks whose losses have different scales, and of several tasks together.",
    )
    order: Literal["balance_then_penalty", "penalty_then_balance"] = Field(
        default="balance_then_penalty",
        description="Whether the penalty is added to the balanced loss, once per update, or to every task's loss "
        "before that is balanced (as the paper's code does).",
    )
    beta: Annotated[float, Field(gt=0)] = Field(default=0.33, description="Temperature of the gates.")
    stretch: Annotated[float, Field(gt=0)] = Field(
        default=0.1, description="Gates are stretched to (-stretch, 1 + stretch) before they are clipped to [0, 1]."
    )
    eps: Annotated[float, Field(gt=0, lt=0.5)] = Field(
        default=1e-6, description="The random numbers behind the gates are drawn from (eps, 1 - eps)."
    )
    kept: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=1e-3, description="A head is kept if its gate in evaluation is above this; other gates count as 0."
    )

    @property
    def weight(self) -> float:
        """`lambda`."""
        value: float = getattr(self, "lambda")
        return value

    def shape(self) -> HardConcrete:
        from mtlspec.model.hard_concrete import HardConcrete

        return HardConcrete(self.beta, -self.stretch, 1 + self.stretch, self.eps)

    def problem(self, started: bool) -> str | None:
        """Why this strategy does not fit a group with or without `start`, or None."""
        if self.mode == "static" and not started:
            return "`mode: static` prunes models that are trained already: name their group with `start`"
        if self.relative and self.order == "penalty_then_balance":
            return "a `relative` penalty is added to the balanced loss: leave out `order: penalty_then_balance`"
        return None

    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing:
        return L0(encoder, tasks, self)


class L0(Sharing):
    """The gates at work: drawn in every forward pass of training, fixed in evaluation.

    `module.gates` [L, H] are their parameters; where a layer has fewer heads than H, the rest is idle.
    """

    def __init__(self, encoder: Encoder, tasks: Sequence[str], options: Options) -> None:
        import torch
        from torch import nn

        from mtlspec.model.hard_concrete import OPEN, half_open

        super().__init__(encoder, tasks)
        self._options = options
        self._shape = options.shape()
        layers, heads = encoder.heads.shape
        counts = torch.tensor(encoder.heads.counts)
        self._counts = tuple(encoder.heads.counts)
        start = torch.full((layers, heads), OPEN) if options.init == "open" else half_open(layers, heads)
        self._gates = nn.Parameter(start)
        self.module = nn.ParameterDict({"gates": self._gates})
        self.module.register_buffer("counts", counts)  # saved with the gates: those of other heads mean nothing
        self.module.register_load_state_dict_post_hook(self._loaded)  # type: ignore[no-untyped-call]
        real = torch.arange(heads) < counts.unsqueeze(1)  # bool [L, H]
        self.module.register_buffer("real", real, persistent=False)

    def attach(self, tasks: Sequence[Task]) -> None:
        if self._options.mode == "static":
            for task in tasks:
                task.module.requires_grad_(False)

    def groups(self, updates: int) -> list[ParameterGroup]:
        """Plain Adam outside the clipping of gradients.

        A gate's gradient is a sum over the batch and has another scale than a weight's. In the global norm it would
        slow the encoder down whenever gates move, and be slowed down with it; Adam bounds a gate's step by itself.
        """
        rate = self._auto_rate(updates) if self._options.gate_lr == "auto" else self._options.gate_lr
        return [ParameterGroup("gates", (self._gates,), rate, scheduled=False, clipped=False, decayed=False)]

    def encode(self, batch: Batch) -> States:
        """One gate a head and forward pass, the same for all sentences of the batch."""
        if self._counts != tuple(self.encoder.heads.counts):
            raise EncoderError(
                "E376",
                "heads were removed from a model that has gates for them",
                hint="`mtlspec.prune(model)` makes a pruned copy with its gates folded in",
            )
        gates = self._shape.draw(self._gates) if self.module.training else self.head_gates("gate")
        with self.encoder.heads.gated(gates):
            return super().encode(batch)

    def objective(self, losses: Sequence[TaskLoss], balance: Balancing) -> Tensor:
        """The penalty is added to every task's loss before that is balanced, or once to their mean."""
        if self._options.order == "penalty_then_balance":
            return super().objective([part._replace(loss=part.loss + self.penalty()) for part in losses], balance)
        total = super().objective(losses, balance)
        return total + (self.penalty() * total.detach() if self._options.relative else self.penalty())

    def penalty(self) -> Tensor:
        """`lambda` times the mean over heads of the probability that their gate is open []."""
        open_ = self._shape.p_open(self._gates) * self._mask
        divisor = len(open_) if self._options.penalty_form == "released" else self._real.sum()
        return self._options.weight * open_.sum() / divisor

    def head_gates(self, measure: HeadMeasure = "gate") -> Tensor:
        gates = self._gates.detach()
        if measure == "p_open":
            return self._shape.p_open(gates) * self._mask
        if measure == "expected_z":
            return self._shape.expected(gates) * self._mask
        found = self._shape.evaluation(gates)
        return found * (found > self._options.kept) * self._mask

    def logs(self) -> dict[str, Tensor]:
        """Expected number of open heads, share of heads that evaluation keeps, penalty."""
        return {
            "gates_open": self.head_gates("p_open").sum(),
            "gates_kept": (self.head_gates("gate") > 0).sum() / self._real.sum(),
            "gates_penalty": self.penalty().detach(),
        }

    def _loaded(self, *_: object) -> None:
        """Counts are read once, because a GPU would be waited for in every pass."""
        self._counts = tuple(self.module.get_buffer("counts").tolist())

    @property
    def _real(self) -> Tensor:
        """Which places of the gates are heads, bool [L, H]."""
        return self.module.get_buffer("real")

    @property
    def _mask(self) -> Tensor:
        return self._real.to(self._gates)

    def _auto_rate(self, updates: int) -> float:
        """Adam moves a gate by at most about its rate per update; it must get from its start to where it is closed."""
        from mtlspec.model.hard_concrete import OPEN

        start = OPEN if self._options.init == "open" else 0.0
        return 2 * (start - self._shape.boundary(0.0)) / max(updates, 1)
