"""Task embeddings: one decoder for all tagging tasks, which is told the task by a vector.

`at: decoder` puts the task's vector behind every word vector (TE-Dec of Changpinyo et al. 2018); `at: encoder` puts it
in front of the sentence, as a token that no task reads (TE-Enc). Projection and CRF are over the tags of all tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.model.sharing import Sharing
from mtlspec.model.tasks.tagging import Options as TaggingOptions
from mtlspec.model.tasks.tagging import Tagging
from mtlspec.spec.families import SharingOptions, TaskOptions

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.encoder.states import States
    from mtlspec.model.task import Task


class Options(SharingOptions):
    type: Literal["task_embedding"]
    at: Literal["decoder", "encoder"] = Field(
        default="decoder",
        description="`decoder`: the task's vector behind every word vector; `encoder`: in front of the sentence, where "
        "the encoder reads it first; on a transformer it is added to the special token that stands there.",
    )
    size: Annotated[int, Field(ge=1)] = Field(
        default=25, description="Of a task's vector `at: decoder`; `at: encoder` it is as wide as a word's."
    )
    mask: Literal["own", "released"] = Field(
        default="own",
        description="`own`: a task chooses among its own tags only; `released`: among the tags of all tasks, as the "
        "paper's code does.",
    )
    same_names: Literal["shared", "apart"] = Field(
        default="shared",
        description="Tags of one name in several tasks: `shared` are one tag of the decoder; `apart` each task has its "
        "own.",
    )

    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing:
        return TaskEmbedding(encoder, tasks, self)

    def task_problem(self, tasks: Mapping[str, TaskOptions]) -> str | None:
        first: TaggingOptions | None = None
        for name, task in tasks.items():
            if not isinstance(task, TaggingOptions):
                return f"it has one tagger for all tasks, and '{name}' is of type '{task.type}'"
            first = first or task
            if task.decoder != first.decoder:
                return f"it has one tagger for all tasks, and '{name}' and '{next(iter(tasks))}' have other decoders"
        return None


class TaskEmbedding(Sharing):
    """`module` holds the tasks' vectors and, when the tasks are known, the tagger that they have in common."""

    task_free = False

    def __init__(self, encoder: Encoder, tasks: Sequence[str], options: Options) -> None:
        from torch import nn

        super().__init__(encoder, tasks)
        self._options = options
        at_decoder = options.at == "decoder"
        size = options.size if at_decoder else encoder.front_width
        self.width = encoder.width + size if at_decoder else encoder.width
        self._vectors = nn.Embedding(len(tasks), size)
        bound = (3 / size) ** 0.5
        nn.init.uniform_(self._vectors.weight, -bound, bound)
        self._parts = nn.ModuleDict({"vectors": self._vectors})
        self.module = self._parts

    def attach(self, tasks: Sequence[Task]) -> None:
        """One tagger over all tags; each task's own becomes a view of it."""
        import torch

        tagging = [task for task in tasks if isinstance(task, Tagging)]
        if len(tagging) < len(tasks) or any(task.decoder != tagging[0].decoder for task in tagging):
            message = (
                "`sharing: task_embedding` has one tagger for all tasks: they must be tagging with the same decoder"
            )
            raise StageError("E970", message)
        apart = self._options.same_names == "apart"
        spaces = [[f"{task.name}:{tag}" if apart else tag for tag in task.tags] for task in tagging]
        union = sorted({tag for space in spaces for tag in space})
        column = {tag: number for number, tag in enumerate(union)}
        whole = tagging[0].tagger_of(union)
        for task, space in zip(tagging, spaces, strict=True):
            others = [tag for tag in union if tag not in set(space)] if self._options.mask == "released" else []
            columns = torch.tensor([column[tag] for tag in (*space, *others)], dtype=torch.int64)
            task.borrow(whole, [*task.tags, *others], columns)
        self._parts["tagger"] = whole.module

    def encode(self, batch: Batch) -> States:
        assert batch.tasks is not None, "who encodes for tasks says for which"
        vectors: Tensor = self._vectors(batch.tasks)
        if self._options.at == "encoder":
            with self.encoder.fronted(vectors):
                return super().encode(batch)
        return _extended(super().encode(batch), vectors, batch.word_mask)

    def task_vectors(self) -> Tensor:
        """What was learnt of the tasks, in their order: [T, size]."""
        return self._vectors.weight.detach()


def _extended(states: States, vectors: Tensor, word_mask: Tensor) -> States:
    """Each row's vector [B, E] behind all its states; padding of words stays zero."""
    import torch

    from mtlspec.model.encoder.states import Ends, States

    def behind(found: Tensor) -> Tensor:
        own = vectors.to(found.dtype)
        own = own if found.dim() == 2 else own.unsqueeze(1).expand(-1, found.shape[1], -1)
        return torch.cat([found, own], -1)

    words = behind(states.words) * word_mask.unsqueeze(2)
    windows = None if states.windows is None else Ends(*map(behind, states.windows))
    return States(words, behind(states.cls), behind(states.sep), behind(states.pieces), states.causal, windows)
