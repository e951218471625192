"""The spec language: what a YAML file may say, as strict and frozen models."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field

from mtlspec.kinds import Frozen, OneOf, Sequence_, options_class
from mtlspec.spec.cards import DataCard, EncoderCard, Name
from mtlspec.spec.families import (
    ANALYSES,
    BALANCE,
    SAMPLERS,
    SHARING,
    TASKS,
    AnalysisOptions,
    BalanceOptions,
    SamplerOptions,
    SharingOptions,
    TaskOptions,
)

PositiveInt = Annotated[int, Field(ge=1)]
PositiveFloat = Annotated[float, Field(gt=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]


def _whole(value: Any) -> Any:
    """`Literal[1]` alone would take `true` and `1.0` for 1."""
    return value if type(value) is int else None


TaskSets = Literal["each", "pairs", "all", "all_but_one"]


class EncoderUse(Frozen):
    """Which encoder, and how words are read from it."""

    card: Name | EncoderCard = Field(description="A card in `registry/encoders`, or an inline card.")
    subword_dropout: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.2, description="Share of sub-tokens replaced by [MASK] in training; special tokens never are."
    )
    max_pieces: Annotated[int, Field(ge=8)] | None = Field(
        default=None,
        description="Length limit in sub-tokens; longer sentences use a sliding window. Default: the encoder's.",
    )


class BatchLimits(Frozen):
    """Batches are bucketed by sub-token length; a batch ends at whichever limit comes first."""

    sentences: PositiveInt = 32
    tokens: PositiveInt = Field(default=3200, description="Padded sub-tokens.")


class LearningRates(Frozen):
    encoder: PositiveFloat = 5e-5
    decoder: PositiveFloat = 1e-3


class Plateau(Frozen):
    """Multiply the learning rates by `factor` after `patience` epochs without a better dev score."""

    factor: Annotated[float, Field(gt=0, lt=1)] = 0.5
    patience: PositiveInt = 2


class TrainOptions(Frozen):
    """How a model is trained; any key may be overridden per model under `models.<name>.train`."""

    epochs: PositiveInt = 5
    batch: BatchLimits = BatchLimits()
    accumulate: PositiveInt = Field(default=1, description="Batches per optimiser update.")
    lr: LearningRates = LearningRates()
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    eps: PositiveFloat = 1e-8
    schedule: Literal["linear", "constant"] = Field(
        default="linear", description="After warm-up: linear decay to zero, or constant."
    )
    warmup: Fraction = Field(default=0.1, description="Share of the updates over which the rates rise from zero.")
    plateau: Plateau | None = None
    clip: PositiveFloat | None = Field(default=1.0, description="Global gradient norm.")
    sampler: Annotated[SamplerOptions, OneOf(SAMPLERS)] = Field(
        default_factory=lambda: cast(SamplerOptions, options_class(SAMPLERS, "power")(type="power")),
        description="Which task gives the next batch.",
    )
    balance: Annotated[BalanceOptions, OneOf(BALANCE)] = Field(
        default_factory=lambda: cast(BalanceOptions, options_class(BALANCE, "running_mean")(type="running_mean")),
        description="The weight of each task's loss.",
    )
    patience: Fraction = Field(
        default=0.5,
        description="Stop after this share of the epochs without a better mean dev score; 1 never stops early.",
    )
    checkpoint_every: PositiveInt = Field(
        default=200, description="Updates between resume points; also at each epoch's end."
    )


class RunOptions(Frozen):
    """The machine side of a run; part of its identity, because it changes bits."""

    threads: PositiveInt = 1
    device: Annotated[str, Field(pattern=r"^(cpu|cuda(:\d+)?|mps)$")] = "cpu"
    precision: Literal["fp32", "bf16", "fp16"] = Field(
        default="fp32", description="Mixed precision; on a CPU only fp32."
    )


class TrackingOptions(Frozen):
    checkpoint_limit_mb: Annotated[float, Field(ge=0)] = Field(
        default=8.0, description="Larger checkpoints are logged to MLflow as a pointer with their digest."
    )


class ModelGroup(Frozen):
    """One way to build models; expands over task sets, sweep values and seeds."""

    tasks: TaskSets | Sequence_[Name] = Field(description="`each`, `pairs`, `all`, `all_but_one`, or a list of tasks.")
    sharing: Annotated[SharingOptions, OneOf(SHARING)]
    train: TrainOptions = Field(default_factory=TrainOptions, description="Overrides of `train` for this group.")
    sweep: dict[str, Sequence_[Any]] = Field(
        default_factory=dict, description="Dotted key below this group (`train.lr.encoder`, `sharing.x`) -> values."
    )


class ExperimentSpec(Frozen):
    """One experiment."""

    mtlspec: Annotated[Literal[1], BeforeValidator(_whole)] = Field(description="Version of the spec language.")
    name: Name
    description: str = ""
    data: Name | DataCard = Field(description="A card in `registry/data`, or an inline card.")
    encoder: EncoderUse
    tasks: dict[Name, Annotated[TaskOptions, OneOf(TASKS)]] = Field(min_length=1)
    train: TrainOptions = Field(default_factory=TrainOptions)
    seeds: Sequence_[Annotated[int, Field(ge=0, lt=2**31)]] = Field(default=(1, 2, 3), min_length=1)
    models: dict[Name, ModelGroup] = Field(min_length=1)
    sweep: dict[str, Sequence_[Any]] = Field(
        default_factory=dict, description="Like a model group's `sweep`, for every group."
    )
    analyses: dict[Name, Annotated[AnalysisOptions, OneOf(ANALYSES)]] = Field(default_factory=dict)
    run: RunOptions = RunOptions()
    tracking: TrackingOptions = TrackingOptions()
