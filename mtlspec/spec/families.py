"""The families of kinds: what every task type, sharing strategy, sampler, analysis ... has in common.

A kind's file derives its `Options` from one of these; those that cards name are in `card_families`. Building
and running come in the kind's own file, in a higher layer.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias

from pydantic import Field

from mtlspec.kinds import Options, Sequence_

if TYPE_CHECKING:
    from mtlspec.metrics.schemes import Scheme
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.sharing import Sharing
    from mtlspec.model.tagger import Tagger
    from mtlspec.model.task import Task
    from mtlspec.results.jobs import AnalysisJob, Measured, Measurement
    from mtlspec.train.balancing import Balance
    from mtlspec.train.sampling import Sampler, TaskSizes

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
LayerKind = str
"""The name of a file in `mtlspec/data/layers`: tags, dep, con ..."""

Layout = Literal["tsv", "jsonl"]
"""How predictions for whole examples are written, and the extension of their files."""

Needed = Literal["prepare", "encoder", "train", "evaluate"]
"""What an analysis may read: stages that all models share, and those of each model."""

Keep = Literal["weights", "gates", "scores"]
"""How much of a trained model: all; of its weights only what the strategy added; none of them."""

TASKS = "mtlspec.model.tasks"
TAGGERS = "mtlspec.model.taggers"
SHARING = "mtlspec.sharing"
SAMPLERS = "mtlspec.train.samplers"
BALANCE = "mtlspec.train.balance"
ANALYSES = "mtlspec.analyses"
READERS = "mtlspec.data.readers"
GENERATORS = "mtlspec.data.generators"
SOURCES = "mtlspec.model.encoder.sources"
LAYERS = "mtlspec.data.layers"
TASK_SETS = "mtlspec.spec.task_sets"
ENCODERS = "mtlspec.model.encoder.kinds"
METRICS = "mtlspec.metrics.own"

FAMILIES: dict[str, str] = {
    TASKS: "task type",
    TAGGERS: "tagger",
    SHARING: "sharing strategy",
    SAMPLERS: "sampler",
    BALANCE: "loss balancing",
    ANALYSES: "analysis",
    READERS: "reader",
    GENERATORS: "generator",
    SOURCES: "encoder source",
    TASK_SETS: "task set",
    ENCODERS: "encoder",
}
"""Every family's package, and what messages call one of its kinds."""

FOLDERS: dict[str, str] = {
    "tasks": TASKS,
    "taggers": TAGGERS,
    "sharing": SHARING,
    "samplers": SAMPLERS,
    "balance": BALANCE,
    "analyses": ANALYSES,
    "readers": READERS,
    "generators": GENERATORS,
    "sources": SOURCES,
    "task_sets": TASK_SETS,
    "encoders": ENCODERS,
    "layers": LAYERS,
    "metrics": METRICS,
}
"""What the folders of a project's `kinds/` extend; those of the last two hold no options."""


class LabelProblem(NamedTuple):
    """An option of a task that does not fit its labels."""

    option: str
    message: str
    hint: str | None = None


class Unreadable(NamedTuple):
    """Labels of a layer that a task can make nothing of."""

    labels: tuple[str, ...]
    why: str  # said of one of them: `spells no span`
    hint: str


class TaskOptions(Options):
    """A task type: decoder, loss, decoding, metric and the writer of predictions."""

    reads: ClassVar[frozenset[LayerKind]] = frozenset()
    has_classes: ClassVar[bool] = False  # True: an example has one class, of which training can draw equally many
    distils: ClassVar[bool] = False  # True: it can learn the predictions of a teacher
    layer: str = Field(description="The annotation layer to learn; the data card names the layers.")
    data: str | None = Field(
        default=None, description="The corpus of the layer. Default: the one of the task's own name, or the only one."
    )

    @abstractmethod
    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task:
        """`labels` are the training labels of the task's layer with their counts; `width` that of the word vectors."""

    def label_problem(self, labels: Sequence[str]) -> LabelProblem | None:
        """What of these options does not fit the training labels, or None; asked as soon as they are known."""
        del labels
        return None

    def unreadable(self, labels: Sequence[str]) -> Unreadable | None:
        """Labels of the layer, in any split, that this task cannot read; a run tells where they stand and stops."""
        del labels
        return None


class TaggerOptions(Options):
    """From word vectors to tag scores, with their loss and decoding."""

    @abstractmethod
    def build(self, width: int, tags: Sequence[str], scheme: Scheme) -> Tagger:
        """`width` is that of the word vectors; `tags` are those that it chooses from, `scheme` how they spell spans."""


class SharingOptions(Options):
    """What of the encoder the tasks share, and how."""

    gates_heads: ClassVar[bool] = False  # True: its models have a gate for every head, which analyses can read
    heads_by_task: ClassVar[bool] = False  # True: every task of its models has a set of heads, which analyses can read

    @abstractmethod
    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing:
        """The strategy for the tasks of these names; an encoder of the model's own comes with it."""

    def problem(self, started: bool) -> str | None:
        """Why a model cannot be shared like this, or None; `started`: it starts from another group's models."""
        del started
        return None

    def start_problem(self, known: Sequence[str] | None) -> str | None:
        """Why its weights cannot begin with those of a trained model of the tasks `known` (`take: shared`), or None.

        `known` is None where nothing of the strategy's own is taken over.
        """
        return None if known is None else "what it adds belongs to tasks, and these may be others: `take: shared`"

    def task_problem(self, tasks: Mapping[str, TaskOptions]) -> str | None:
        """Why a model of these tasks cannot be shared like this, or None."""
        del tasks
        return None


TaskSet: TypeAlias = tuple[str, tuple[str, ...]]  # a label for names, and the tasks


class TaskSetOptions(Options):
    """Which tasks the models of a group learn together."""

    least: ClassVar[int] = 1  # tasks that the spec must have

    @abstractmethod
    def sets(self, tasks: Sequence[str]) -> list[TaskSet]:
        """The task sets of a group, a model for each; `tasks` are those of the spec, in its order."""

    @abstractmethod
    def count(self, tasks: Sequence[str]) -> int:
        """The number of task sets, without making them."""

    def problem(self, tasks: Sequence[str]) -> str | None:
        """Why these tasks cannot form such sets, or None."""
        if len(tasks) < self.least:
            number = {2: "two"}.get(self.least, str(self.least))
            return f"'{self.type}' needs at least {number} tasks, and the spec has {len(tasks)}"
        return None


class SamplerOptions(Options):
    """Which task gives the next batch."""

    @abstractmethod
    def build(self, sizes: TaskSizes, sentences: int, epochs: int, seed: int) -> Sampler:
        """`sizes`: of each task; `sentences`: those of a batch; `epochs` and `seed`: of the run."""

    def problem(self, tasks: Sequence[str]) -> str | None:
        """Why this sampler does not fit these tasks, or None."""
        del tasks
        return None


class BalanceOptions(Options):
    """The weight of a task's loss."""

    @abstractmethod
    def build(self, tasks: Sequence[str]) -> Balance:
        """The balancing of the tasks of these names."""

    def problem(self, tasks: Sequence[str]) -> str | None:
        """Why this balancing does not fit these tasks, or None."""
        del tasks
        return None


class AnalysisOptions(Options):
    """Reads artifacts of models, writes tables and figures."""

    needs: ClassVar[tuple[Needed, ...]] = ("evaluate",)
    reads_of_models: ClassVar[Keep] = "weights"  # of trained models, where it needs them
    reads_heads: ClassVar[bool] = False  # True: it looks at attention heads, which not every encoder has
    layer_kinds: ClassVar[Mapping[str, LayerKind]] = {}  # options that name a layer of the data -> its kind
    models: Sequence_[str] = Field(default=(), description="Names of model groups; empty means all of them.")

    def reads(self) -> tuple[str, ...]:
        """Names of other analyses of the spec whose results are read."""
        return ()

    @abstractmethod
    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `job.out`; returns facts for the stage's record."""


class MeasuringOptions(AnalysisOptions):
    """An analysis that computes with models, each of them in a stage of its own.

    Measurements run side by side and stay when a model is added. `needs` are what `measure` reads of a model; `run`
    reads the measurements.
    """

    measures_encoder: ClassVar[bool] = False  # True: the pre-trained encoder is measured too

    @abstractmethod
    def measure(self, job: Measurement) -> Measured:
        """Writes what it measures of one model below `job.out`."""
