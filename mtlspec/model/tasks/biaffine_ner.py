"""Named entities as labelled spans: every span is scored by a biaffine product of its first and its last word.

Gold spans come from a tag layer, which is flat: `nested` lets predicted spans lie inside each other, but nothing in
the gold data can. The loss is the mean over all spans of a batch, as in the released code of the stem cell study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from mtlspec.data.span_tags import OUTSIDE, split_tag
from mtlspec.errors import StageError
from mtlspec.model.span_labels import unreadable_spans
from mtlspec.model.task import Task
from mtlspec.spec.families import LayerKind, TaskOptions, Unreadable

if TYPE_CHECKING:
    from torch import Tensor, nn

    from mtlspec.data.batching import Batch
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.metrics.entities import GoldSpans
    from mtlspec.metrics.metric import Metric
    from mtlspec.metrics.schemes import Scheme, Span
    from mtlspec.model.encoder.states import States

NULL, UNKNOWN = 0, -1  # classes: no entity; a type that training never saw, or no span at all
_DROPOUT = {"paper": 0.5, "released": 0.0}


class Options(TaskOptions):
    reads: ClassVar[frozenset[LayerKind]] = frozenset({"tags"})
    type: Literal["biaffine_ner"]
    scheme: Literal["auto", "bio", "iobes"] = Field(
        default="auto", description="How the layer's tags spell spans; `auto` looks at the training tags."
    )
    nested: bool = Field(default=False, description="Whether predicted spans may lie inside each other.")
    variant: Literal["paper", "released"] = Field(
        default="paper",
        description="Projections of first and last words: `paper` has a leaky rectifier, `released` is linear.",
    )
    size: Annotated[int, Field(gt=0)] = Field(default=150, description="Width of the two projections.")
    dropout: Annotated[float, Field(ge=0, lt=1)] | None = Field(
        default=None, description="After the projections; by default 0.5 for `paper` and 0 for `released`."
    )

    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task:
        return BiaffineNer(name, self, labels, width)

    def unreadable(self, labels: Sequence[str]) -> Unreadable | None:
        return unreadable_spans(labels)


class EntityGold(NamedTuple):
    """Spans of a split end to end: starts, last words (inclusive), classes, each int64 [M]; offsets int64 [N + 1].

    Words about whose spans the tags say nothing likewise: hidden int64 [H], with offsets int64 [N + 1].
    """

    starts: Tensor
    lasts: Tensor
    classes: Tensor
    offsets: Tensor
    hidden: Tensor
    hidden_offsets: Tensor


class BiaffineNer(Task):
    """Class 0 is no entity; the others are the types of the training data, in their sorted order."""

    extension = "tsv"

    def __init__(self, name: str, options: Options, labels: Mapping[str, int], width: int) -> None:
        from torch import nn

        from mtlspec.metrics.entities import EntityF1
        from mtlspec.metrics.schemes import detect_scheme
        from mtlspec.model.biaffine import Biaffine

        if (strange := options.unreadable(list(labels))) is not None:
            message = f"task '{name}': '{strange.labels[0]}' of layer '{options.layer}' {strange.why}"
            raise StageError("E447", message, hint=f"{strange.hint}; `mtlspec run` names their lines")
        tags = sorted(set(labels) - {OUTSIDE})
        super().__init__(name, options, labels)
        self.metric: Metric = EntityF1()
        detected = detect_scheme(tags)
        self.scheme: Scheme = options.scheme if options.scheme != "auto" else "bio" if detected == "plain" else detected
        self.types = sorted({part[1] for part in map(split_tag, tags) if part})
        self._options = options
        self._biaffine = Biaffine(options.size, options.size, len(self.types) + 1, bias_left=True, bias_right=True)
        self._start, self._end = _projection(options, width), _projection(options, width)
        self.module = nn.ModuleDict({"start": self._start, "end": self._end, "biaffine": self._biaffine})

    def encode(self, split: PreparedSplit) -> EntityGold:
        import torch

        place = {kind: number for number, kind in enumerate(self.types, NULL + 1)}
        sentences = self.gold_values(split)
        spans = [(start, end - 1, place.get(kind, UNKNOWN)) for found in sentences for start, end, kind in found]
        starts, lasts, classes = torch.tensor(spans, dtype=torch.int64).view(-1, 3).T.contiguous()
        hidden = torch.tensor([word for found in sentences for word in sorted(found.hidden)], dtype=torch.int64)
        sizes = [[0, *map(len, sentences)], [0, *(len(found.hidden) for found in sentences)]]
        offsets, hidden_offsets = torch.tensor(sizes, dtype=torch.int64).cumsum(1)
        return EntityGold(starts, lasts, classes, offsets, hidden, hidden_offsets)

    def loss(self, states: States, batch: Batch, gold: EntityGold) -> Tensor:
        """Mean cross-entropy of all spans; those of an unseen type and those that hold a hidden word are left out."""
        import torch
        from torch.nn.functional import cross_entropy

        from mtlspec.data.transfer import to_device
        from mtlspec.model.ragged import members

        scores = self._scores(states.words)  # [B, N, N, C]
        classes = torch.where(_spans(batch.words_there), NULL, UNKNOWN)
        if len(gold.hidden):
            owner, place = members(gold.hidden_offsets, batch.rows)
            hidden = torch.zeros(batch.word_mask.shape, dtype=torch.int64)
            hidden[owner, gold.hidden[place]] = 1
            before = hidden.cumsum(1)
            touched = before.unsqueeze(1) - (before - hidden).unsqueeze(2) > 0  # from word i to word j
            classes.masked_fill_(touched, UNKNOWN)
        owner, place = members(gold.offsets, batch.rows)
        classes[owner, gold.starts[place], gold.lasts[place]] = gold.classes[place]
        flat = to_device(classes.flatten(), scores.device)
        total: Tensor = cross_entropy(scores.flatten(0, 2), flat, ignore_index=UNKNOWN, reduction="sum")
        return total / (flat != UNKNOWN).sum().clamp(min=1)

    def decode(self, states: States, batch: Batch) -> list[list[Span]]:
        """Spans that are rather an entity than none, from the best score down, as far as they fit together."""
        from mtlspec.model.ragged import borders
        from mtlspec.structs.span_packing import greedy

        score, best = self._scores(states.words).max(3)  # [B, N, N]
        owner, start, last = ((best != NULL) & _spans(batch.word_mask)).nonzero(as_tuple=True)
        scores, kinds = score[owner, start, last], best[owner, start, last]
        offsets = borders(owner, len(best))
        kept = greedy(scores, start, last + 1, offsets, nested=self._options.nested)
        found: list[list[Span]] = [[] for _ in range(len(best))]
        columns = (column[kept].tolist() for column in (owner, start, last, kinds))
        for row, first, end, kind in zip(*columns, strict=True):
            found[row].append((first, end + 1, self.types[kind - 1]))
        return found

    def uncertainty(self, states: States, batch: Batch) -> Tensor:
        """Mean over all spans of the entropy of their classes, as a share of the largest one possible."""
        from mtlspec.model.entropy import normalised_entropy

        spans = _spans(batch.word_mask)
        entropy = normalised_entropy(self._scores(states.words).detach().softmax(3))  # [B, N, N]
        return entropy.masked_fill(~spans, 0.0).sum((1, 2)) / spans.sum((1, 2)).clamp(min=1)

    def gold_values(self, split: PreparedSplit) -> Sequence[GoldSpans]:
        from mtlspec.metrics.entities import GoldSpans

        return [GoldSpans(tags, self.scheme) for tags in split.strings(self.layer)]

    def write_predictions(self, split: PreparedSplit, predictions: Sequence[Sequence[Span] | None], path: Path) -> None:
        """Word, gold and predicted tag (IOB2) a line; spans inside n others have their tags n columns further on.

        A gold tag is `_` where the data have none, or only a part of what is needed to know a span.
        """
        from mtlspec.data.sentence import Sentence
        from mtlspec.data.writers import columns
        from mtlspec.io.write import write_text
        from mtlspec.metrics.schemes import tags_of

        gold = self.gold_values(split)
        levels = {row: _levels(spans) for row, spans in enumerate(predictions) if spans is not None}
        depth = max((len(found) for found in levels.values()), default=1)
        names = ["gold", *(f"predicted-{level}" for level in range(depth))]
        unlabelled = set(range(len(split))) - set(self.rows(split).tolist())
        sentences = []
        for row, found in levels.items():
            words = split.words(row)
            sides = [gold[row], *found, *([[]] * (depth - len(found)))]
            tags = [tuple(tags_of(spans, len(words), "bio")) for spans in sides]
            hidden = range(len(words)) if row in unlabelled else gold[row].hidden
            tags[0] = tuple("_" if word in hidden else tag for word, tag in enumerate(tags[0]))
            sentences.append(Sentence(str(row), tuple(words), dict(zip(names, tags, strict=True))))
        write_text(path, columns(sentences, names))

    def _scores(self, words: Tensor) -> Tensor:
        """words [B, N, D] -> score of class c for the span from word i to word j, [B, N, N, C]."""
        start, end = self._start(words), self._end(words)
        scores: Tensor = self._biaffine(start, end)
        return scores.view(*scores.shape[:3], -1).float()  # one output comes without its dimension


def _projection(options: Options, width: int) -> nn.Module:
    from torch import nn

    from mtlspec.model.biaffine import Mlp, SharedDropout

    dropout = _DROPOUT[options.variant] if options.dropout is None else options.dropout
    if options.variant == "paper":
        return Mlp(width, options.size, dropout, slope=0.1)
    return nn.Sequential(nn.Linear(width, options.size), SharedDropout(dropout))


def _spans(mask: Tensor) -> Tensor:
    """mask bool [B, N] -> bool [B, N, N]: which pairs of words (first, last) are spans."""
    return (mask.unsqueeze(1) & mask.unsqueeze(2)).triu()


def _levels(spans: Sequence[Span]) -> list[list[Span]]:
    """Spans by the number of others they lie in, at least one level; spans of a level do not overlap."""
    levels: list[list[Span]] = [[]]
    around: list[Span] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        around = [other for other in around if other[1] > span[0]]
        if len(around) == len(levels):
            levels.append([])
        levels[len(around)].append(span)
        around.append(span)
    return levels
