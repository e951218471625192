"""The spec language: what a YAML file may say, as strict and frozen models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from mtlspec.kinds import Frozen, OneOf, Sequence_, parse
from mtlspec.spec.cards import DataCard, Name
from mtlspec.spec.encoders import AnEncoder
from mtlspec.spec.families import (
    ANALYSES,
    BALANCE,
    SAMPLERS,
    SHARING,
    TASK_SETS,
    TASKS,
    AnalysisOptions,
    BalanceOptions,
    Keep,
    SamplerOptions,
    SharingOptions,
    TaskOptions,
    TaskSetOptions,
)
from mtlspec.spec.train_parts import Distil, EvaluateEvery, PositiveFloat, PositiveInt, Seed

Fraction = Annotated[float, Field(ge=0, le=1)]
Take = Literal["all", "encoder", "shared"]


def _whole(value: Any) -> Any:
    """`Literal[1]` alone would take `true` and `1.0` for 1."""
    return value if type(value) is int else None


class BatchLimits(Frozen):
    """Batches are bucketed by sub-token length; a batch ends at whichever limit comes first."""

    sentences: PositiveInt = Field(default=32, description="Sentences in a batch.")
    tokens: PositiveInt = Field(default=3200, description="Padded sub-tokens in a batch.")


class LearningRates(Frozen):
    """Peak learning rates of AdamW."""

    encoder: PositiveFloat = Field(default=5e-5, description="For the encoder's weights.")
    decoder: PositiveFloat = Field(default=1e-3, description="For all other weights.")


class Plateau(Frozen):
    """Multiply the learning rates by `factor` after `patience` epochs without a better dev score."""

    factor: Annotated[float, Field(gt=0, lt=1)] = Field(default=0.5, description="What the rates are multiplied by.")
    patience: PositiveInt = Field(default=2, description="Epochs without a better dev score.")


class FrozenPart(Frozen):
    """The part of the encoder that does not learn."""

    layers: Annotated[int, Field(ge=0)] = Field(description="So many layers from the bottom.")
    embeddings: bool = Field(default=True, description="The embeddings as well.")


class TrainOptions(Frozen):
    """How a model is trained; any key may be overridden per model under `models.<name>.train`."""

    epochs: PositiveInt = Field(default=5, description="Passes over the data, at most.")
    examples: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="Train on at most so many examples, drawn at random by the model's seed. Each task has so many of "
        "those that carry its layer; tasks with the same examples get the same ones. With joint batches each corpus "
        "has so many of those that carry the layer of any task of the model. 0: nothing is trained, and the model is "
        "evaluated as it starts. Default: all.",
    )
    draw: Literal["random", "balanced"] = Field(
        default="random",
        exclude_if=lambda draw: draw == "random",
        description="How these `examples` are drawn. `balanced`: as many of every label of a task about whole examples "
        "(of every quarter of its numbers, where they are numbers); a rare one leaves its share to the others. A "
        "smaller draw of the same seed is part of a larger one.",
    )
    batch: BatchLimits = Field(default=BatchLimits(), description="Limits of a batch.")
    batching: Literal["sampled", "joint"] = Field(
        default="sampled",
        description="`sampled`: a batch belongs to the task that the sampler draws. `joint`: every batch carries the "
        "labels of all tasks, is encoded once and trains all decoders; the sampler has nothing to draw.",
    )
    updates: Literal["per_task", "total"] = Field(
        default="per_task",
        description="How long an epoch of a model of several tasks is, beside its tasks' single models with the same "
        "settings. `per_task`: drawn batches are as many as theirs together. A task then reads as many examples as "
        "alone (in expectation, on average over tasks), and the encoder takes the updates of all. `total`: as many "
        "updates as they take on average, shared by the tasks. Joint batches train all tasks at once; on one corpus "
        "with all labels both are the same.",
    )
    accumulate: PositiveInt = Field(default=1, description="Batches per optimiser update.")
    lr: LearningRates = Field(default=LearningRates(), description="Peak learning rates.")
    weight_decay: Annotated[float, Field(ge=0)] = Field(default=0.0, description="AdamW's decoupled weight decay.")
    eps: PositiveFloat = Field(default=1e-8, description="AdamW's epsilon.")
    schedule: Literal["linear", "constant"] = Field(
        default="linear", description="After warm-up: linear decay to zero, or constant."
    )
    warmup: Fraction = Field(default=0.1, description="Share of the updates over which the rates rise from zero.")
    freeze: Annotated[float, Field(gt=0, le=1)] | FrozenPart | None = Field(
        default=None,
        description="A share of the encoder's layers, from the bottom, that does not learn, nor do the embeddings; or "
        "`{layers: 5}`. Frozen layers have no dropout. What they compute is kept where nothing below is random.",
    )
    distil: Distil | None = Field(
        default=None,
        exclude_if=lambda distil: distil is None,
        description="Learn from a teacher. Two steps, such as layers first and predictions then, are two groups, the "
        "second with a `start`.",
    )
    plateau: Plateau | None = Field(default=None, description="Lower the rates when the dev score stops rising.")
    clip: PositiveFloat | None = Field(default=1.0, description="Largest global gradient norm; null does not clip.")
    sampler: Annotated[SamplerOptions, OneOf(SAMPLERS)] = Field(
        default_factory=lambda: parse(SAMPLERS, SamplerOptions, {"type": "power"}),
        description="Which task gives the next batch.",
    )
    balance: Annotated[BalanceOptions, OneOf(BALANCE)] = Field(
        default_factory=lambda: parse(BALANCE, BalanceOptions, {"type": "running_mean"}),
        description="The weight of each task's loss.",
    )
    patience: Fraction = Field(
        default=0.5,
        description="Stop after this share of the epochs without a better mean dev score; 1 never stops early.",
    )
    keep: Literal["best", "last"] = Field(
        default="best",
        description="The weights that are kept: of the epoch with the best mean dev score, or of the last one. Gates "
        "close slowly, so that an early epoch has the better score and the denser model.",
    )
    dev: Literal["every", "last"] = Field(
        default="every",
        exclude_if=lambda dev: dev == "every",
        description="After which epochs dev is scored. `last` takes `keep: last`, and nothing stops early: of a model "
        "that learns from a handful of examples, scoring would be nearly all of the work.",
    )
    evaluate_every: PositiveInt | EvaluateEvery | None = Field(
        default=None,
        exclude_if=lambda every: every is None,
        description="Updates between dev scores that are only looked at (`curve.json`; analyses draw them): weights, "
        "epochs and early stopping are the same without them. `{updates: 50, entropy: true}` asks for more.",
    )
    checkpoint_every: PositiveInt | None = Field(
        default=None,
        description="Updates between resume points; each epoch then ends with one, too. Default: by the clock alone, "
        "at most one in half a minute, a fiftieth of the time and about 11 GB an hour. No result depends on it.",
    )

    @property
    def watched(self) -> EvaluateEvery | None:
        """`evaluate_every`, a bare number as the mapping that it is short for."""
        every = self.evaluate_every
        return EvaluateEvery(updates=every) if isinstance(every, int) else every


class RunOptions(Frozen):
    """The machine side of a run; part of its identity, because it changes bits."""

    threads: PositiveInt = Field(default=1, description="Threads of each training; other numbers give other bits.")
    device: Annotated[str, Field(pattern=r"^(cpu|cuda(:\d+)?)$")] = Field(
        default="cpu", description="Where tensors live. Apple's GPUs (`mps`) lack the double precision that is needed."
    )
    precision: Literal["fp32", "bf16", "fp16"] = Field(
        default="fp32", description="Mixed precision; on a CPU only fp32."
    )


class TrackingOptions(Frozen):
    """What is mirrored to MLflow."""

    checkpoint_limit_mb: Annotated[float, Field(ge=0)] = Field(
        default=8.0, description="Larger checkpoints are logged to MLflow as a pointer with their digest."
    )


class Start(Frozen):
    """Which trained model a model starts from, and what it takes over."""

    group: Name = Field(description="A group defined above.")
    take: Take = Field(
        default="all",
        description="`all`: encoder and decoders, of a model of the same tasks. `encoder`: the decoders are fresh, and "
        "the tasks may be others. What the strategy adds is fresh with both. `shared`: the encoder and what the same "
        "strategy added to it, such as the modules of `ca_mtl`; the decoders are fresh, and the tasks may be others.",
    )
    seed: Literal["same"] | Seed = Field(
        default="same", description="`same`: seed by seed. A number: all seeds start from the model of this seed."
    )
    tasks: Sequence_[Name] | None = Field(
        default=None,
        description="The tasks of the model to start from. Default: the same tasks; with `take: encoder` or `shared`, "
        "and if the group has no such model, its only task set.",
    )


class ByTasks(Frozen):
    """Settings of a group's models of some tasks, laid on those of the group."""

    train: dict[str, Any] = Field(default_factory=dict, description="Overrides of the group's `train`.")
    sharing: dict[str, Any] = Field(default_factory=dict, description="Overrides of options of the group's `sharing`.")

    @property
    def settings(self) -> tuple[tuple[str, Any], ...]:
        """Dotted key below the group -> value."""
        return (*_dotted("train", self.train), *_dotted("sharing", self.sharing))


def _dotted(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        yield key, value
        return
    for part, inner in value.items():
        yield from _dotted(f"{key}.{part}", inner)


class ModelGroup(Frozen):
    """One way to build models; expands over task sets, sweep values and seeds."""

    tasks: Annotated[TaskSetOptions, OneOf(TASK_SETS)] | Sequence_[Name] = Field(
        description="Which tasks the models learn together: a kind of task set, or a list of tasks."
    )
    sharing: Annotated[SharingOptions, OneOf(SHARING)] = Field(
        description="What of the encoder the tasks share, and how."
    )
    start: Name | Start | None = Field(
        default=None,
        description="A group defined above: training starts from its model of the same tasks and seed, encoder and "
        "decoders, instead of the pre-trained encoder. A mapping says more.",
    )
    train: TrainOptions = Field(default_factory=TrainOptions, description="Overrides of `train` for this group.")
    seeds: PositiveInt | Annotated[Sequence_[Seed], Field(min_length=1)] | None = Field(
        default=None,
        exclude_if=lambda seeds: seeds is None,
        description="Seeds of this group's models: a list, or a number (`30`: 1 to 30). Default: those of the spec.",
    )
    by_tasks: dict[str, ByTasks] = Field(
        default_factory=dict,
        exclude_if=lambda said: not said,  # a record does not say what a spec leaves unsaid
        description="Tasks of a model (`srl`, `pos-ner`) -> `train` and `sharing` of this model where they differ.",
    )
    keep: Keep = Field(
        default="weights",
        exclude_if=lambda keep: keep == "weights",
        description="What stays on disk of a model when no stage needs more of it. `gates`: of its weights only what "
        "the strategy added, such as gates or sets of heads. `scores`: none of its weights. Scores, predictions and "
        "histories always stay. Weights that a later stage needs are trained again, to the same bytes.",
    )
    sweep: dict[str, Sequence_[Any]] = Field(
        default_factory=dict, description="Dotted key below this group (`train.lr.encoder`, `sharing.x`) -> values."
    )

    @property
    def task_set(self) -> TaskSetOptions:
        """`tasks`, a bare list as the kind that it is short for."""
        if isinstance(self.tasks, TaskSetOptions):
            return self.tasks
        return parse(TASK_SETS, TaskSetOptions, {"type": "listed", "names": self.tasks})

    def seeds_among(self, shared: Sequence[Seed]) -> tuple[Seed, ...]:
        """The seeds of its models; `shared` are those of the spec."""
        if isinstance(self.seeds, int):
            return tuple(range(1, self.seeds + 1))
        return tuple(shared if self.seeds is None else self.seeds)

    @property
    def starts_from(self) -> Start | None:
        """`start`, a bare name as the mapping that it is short for."""
        return Start(group=self.start) if isinstance(self.start, str) else self.start


class ExperimentSpec(Frozen):
    """One experiment."""

    mtlspec: Annotated[Literal[1], BeforeValidator(_whole)] = Field(description="Version of the spec language.")
    name: Name = Field(description="Names the folder of the results, `registry/runs/<name>`.")
    description: str = Field(default="", description="For the report.")
    data: Name | DataCard | Annotated[dict[Name, Name | DataCard], Field(min_length=1)] = Field(
        description="A card in `registry/data`, an inline card, or several, each corpus under a name of its own."
    )
    encoder: AnEncoder = Field(description="Which encoder, and how words are read from it.")
    tasks: dict[Name, Annotated[TaskOptions, OneOf(TASKS)]] = Field(
        min_length=1, description="What is learnt, each task under a name of its own."
    )
    train: TrainOptions = Field(default_factory=TrainOptions, description="How every model is trained.")
    seeds: Sequence_[Seed] = Field(
        default=(1, 2, 3), min_length=1, description="Every model is trained once with each seed."
    )
    models: dict[Name, ModelGroup] = Field(min_length=1, description="Groups of models to train and compare.")
    sweep: dict[str, Sequence_[Any]] = Field(
        default_factory=dict, description="Like a model group's `sweep`, for every group."
    )
    analyses: dict[Name, Annotated[AnalysisOptions, OneOf(ANALYSES)]] = Field(
        default_factory=dict, description="Tables and figures to make of the trained models."
    )
    compare_to: str | None = Field(
        default=None, description="A paper pack (`stem_cell/bert`); the report sets its figures beside ours."
    )
    run: RunOptions = Field(default=RunOptions(), description="The machine side of a run.")
    tracking: TrackingOptions = Field(default=TrackingOptions(), description="What is mirrored to MLflow.")
