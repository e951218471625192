"""Parts of `train` that are mappings with a subject of their own: learning from a teacher, dev scores on the way."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mtlspec.kinds import Frozen, Sequence_
from mtlspec.spec.cards import Name

PositiveInt = Annotated[int, Field(ge=1)]
PositiveFloat = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]


class Distil(Frozen):
    """Learn what a trained model computes, beside or instead of the labels. The loss is the sum of weighted parts."""

    teacher: Name = Field(
        description="A group defined above. A task's teacher is its model of the same tasks, or else the single-task "
        "model of this task."
    )
    seed: Literal["same"] | Seed = Field(
        default="same", description="`same`: seed by seed. A number: the model of this seed teaches all."
    )
    layers: Sequence_[PositiveInt] | None = Field(
        default=None,
        description="The student has only these layers of the encoder, counted from 1, and learns from the same ones "
        "of the teacher: `[2, 4, 6]`. Default: all.",
    )
    embeddings: Weight = Field(default=0.0, description="Weight of the mean squared difference behind the embeddings.")
    hidden: Weight = Field(default=0.0, description="The same behind every layer of the student, summed over layers.")
    attention: Weight = Field(
        default=0.0, description="The same of attention scores before softmax, of pairs of sub-tokens that are there."
    )
    prediction: Weight = Field(
        default=1.0,
        description="Weight of the cross-entropy of a classification against the teacher's probabilities, or of the "
        "mean squared difference of numbers.",
    )
    labels: Weight = Field(default=0.0, description="Weight of the task's own loss.")
    temperature: PositiveFloat = Field(
        default=1.0, description="Scores are divided by it before softmax; the loss is multiplied by its square."
    )

    @property
    def looks_inside(self) -> bool:
        return bool(self.embeddings or self.hidden or self.attention)


class EvaluateEvery(Frozen):
    """How often dev is scored on the way, and what else is asked then."""

    updates: PositiveInt = Field(description="So many updates, and once more at the end.")
    entropy: bool = Field(
        default=False,
        description="Also the mean entropy of every task's dev predictions, as a share of the largest possible; of the "
        "tasks that say how unsure they are.",
    )
