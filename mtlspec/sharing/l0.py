"""L0 head gates: hard sharing that learns which attention heads it can do without.

Every head's context is multiplied by a hard-concrete gate, and the expected share of open gates is a penalty.
`mode: dynamic` trains encoder, decoders and gates together from the pre-trained encoder; `mode: static` starts from
trained models (`start: <group>`), freezes their decoders and trains encoder and gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, create_model

from mtlspec.spec.families import SharingOptions

if TYPE_CHECKING:
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.hard_concrete import HardConcrete
    from mtlspec.model.sharing import Sharing

    _WithLambda = SharingOptions
else:  # `lambda` is a word of Python's own: a field of that name cannot be written in a class body
    _LAMBDA = Field(
        default=0.1,
        description="Weight of the penalty, the mean over all heads of the probability that their gate is open.",
    )
    _WithLambda = create_model(
        "_WithLambda", __base__=SharingOptions, **{"lambda": (Annotated[float, Field(ge=0)], _LAMBDA)}
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
        from mtlspec.sharing._l0 import L0

        return L0(encoder, tasks, self)
