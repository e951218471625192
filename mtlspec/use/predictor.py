"""Predictions on new text: examples in windows, each prepared, batched and decoded as an evaluation does it.

A window holds so many examples that batches of like lengths can be made of it, and is all that is held at a time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from mtlspec.data.layer_kinds import layer_kind
from mtlspec.data.prepare import write_split
from mtlspec.data.prepared import PreparedSplit
from mtlspec.data.sentence import Sentence
from mtlspec.data.text_tokenizer import TextTokenizer
from mtlspec.data.tokenizer import WordTokenizer, read_tokenizer
from mtlspec.errors import DataError, Place, SpecError, did_you_mean
from mtlspec.kinds import options_class
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.predict import predict
from mtlspec.model.task import Task
from mtlspec.spec.families import TASKS, LayerKind, Layout, TaskOptions
from mtlspec.spec.models import BatchLimits
from mtlspec.use.asked import Answer, asked, require_probabilities
from mtlspec.use.documents import Extract, Sentences
from mtlspec.use.given import Given, examples_of
from mtlspec.use.inputs import Example, Input, limited
from mtlspec.use.models import Found
from mtlspec.use.words import Tokens, words_of

WINDOW = 4096  # examples
_WINDOW_CHARACTERS = 2**22  # of all examples of a window: long ones make it shorter
LONGEST_WORD = 5_000  # characters
LONGEST = {False: 1_000, True: 10_000}  # words of a sentence; of a raw text, which no task reads word by word


@dataclass(frozen=True)
class Asking:
    """What is asked of a model, and how plain text is cut for it."""

    tasks: tuple[int, ...]  # indices
    limits: BatchLimits
    probabilities: bool = False
    tokens: Tokens = "rules"
    window: int = WINDOW
    keep_going: bool = False  # past malformed examples
    longest: int | None = None  # words of an example; None: as tasks of words and of raw texts allow


@dataclass(frozen=True)
class Part:
    """The examples of a window as some tasks read them, and what these answer: a list an example for each task."""

    split: PreparedSplit
    answers: Mapping[str, Sequence[Answer]]


@dataclass(frozen=True)
class Window:
    """Examples with their answers, and the malformed ones among them."""

    first: int  # number of examples before it
    examples: Sequence[Sentence]  # in their order; those for tasks of words have words beside their texts
    parts: Sequence[Part]
    defects: Sequence[DataError] = ()

    def answers(self, task: str) -> Sequence[Answer]:
        return next(part.answers[task] for part in self.parts if task in part.answers)


class Predictor:
    """A trained model that reads new text."""

    def __init__(self, found: Found, model: MultiTaskModel) -> None:
        self.name = found.name
        self.model = model
        self.found = found
        self._reading = found.folder / found.encoder
        self._tokenizer = read_tokenizer(self._reading)
        self._texts: TextTokenizer | None = None
        # Whether each task reads raw text; None: nobody recorded it
        self._raw = [False if _about_words(task) else found.reads_raw(task.corpus) for task in model.tasks]

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(task.name for task in self.model.tasks)

    def asking(self, tasks: Sequence[str] = (), probabilities: bool = False, **more: Any) -> Asking:
        """What is asked; `tasks` by their names (none: all)."""
        for name in tasks:
            if name not in self.tasks:
                hint = did_you_mean(name, self.tasks) or f"known: {', '.join(self.tasks)}"
                raise SpecError("E547", f"the model '{self.name}' has no task '{name}'", None, hint)
        numbers = tuple(number for number, name in enumerate(self.tasks) if not tasks or name in tasks)
        if probabilities:
            require_probabilities([self.model.tasks[number] for number in numbers], named=bool(tasks))
        return Asking(numbers, more.pop("limits", self.found.limits), probabilities, **more)

    def predict(
        self,
        inputs: Iterable[Given],
        tasks: Sequence[str] = (),
        probabilities: bool = False,
        tokens: Tokens = "rules",
        sentences: Sentences | None = None,
    ) -> list[dict[str, Any]]:
        """What `mtlspec predict` would print for each input: a text, a list of words, or a tuple of two texts.

        With `sentences`, a text is a document and gives an object for each of its sentences.
        """
        from mtlspec.use.shown import objects

        examples = examples_of(inputs, sentences)
        asking = self.asking(tasks, probabilities, tokens=tokens)
        return [one for window in self.stream(Input(iter(examples), {}), asking) for one in objects(window)]

    def stream(self, given: Input, asking: Asking) -> Iterator[Window]:
        """Answers window by window, in the order of the examples."""
        self._require_predicates(given, asking)
        model = asked(self.model, asking.probabilities)
        first = 0
        for examples, defects in _windows(limited(given.examples, partial(self._limit, asking)), asking):
            window = self._window(model, examples, given, asking, first)
            yield replace(window, defects=[*defects, *window.defects])
            first += len(window.examples)

    def _window(
        self, model: MultiTaskModel, examples: Sequence[Sentence], given: Input, asking: Asking, first: int
    ) -> Window:
        """The answers; examples that the encoder cannot read are found only if there are any."""
        try:
            return self._answered(model, examples, given, asking, first)
        except DataError as error:
            readable, unreadable = self._readable(examples, asking)
            if not unreadable:
                raise
            if not asking.keep_going:
                raise unreadable[0] from error
            return replace(self._answered(model, readable, given, asking, first), defects=unreadable)

    def _answered(
        self, model: MultiTaskModel, examples: Sequence[Sentence], given: Input, asking: Asking, first: int
    ) -> Window:
        raw, words = self._forms(examples, asking)
        if words:
            examples = [_with_words(example, asking.tokens) for example in examples]
        parts = []
        for tasks, is_raw in (*((some, True) for some in self._by_length(raw)), (words, False)):
            if tasks and examples:
                split = self._split(examples, is_raw, self._kinds(tasks, is_raw, given.kinds), given.layout)
                parts.append(Part(split, predict(model, split, asking.limits, tasks)))
        return Window(first, examples, parts)

    def _forms(self, examples: Sequence[Sentence], asking: Asking) -> tuple[list[int], list[int]]:
        """The tasks that read raw text, and those that read words; where nobody recorded it, as the input has it."""
        given_raw = bool(examples) and bool(examples[0].texts)
        raw = [number for number in asking.tasks if (given_raw if self._raw[number] is None else self._raw[number])]
        return raw, [number for number in asking.tasks if number not in raw]

    def _by_length(self, tasks: Sequence[int]) -> list[list[int]]:
        """Tasks of raw text apart: those that read a pair whole, however long it is, and the others."""
        whole = [number for number in tasks if _reads_whole(self.model.tasks[number])]
        return [[number for number in tasks if number not in whole], whole]

    def _limit(self, asking: Asking, example: Sentence) -> DataError | None:
        """What no model should be given: it is rather a file of another sort than a sentence, and could take hours."""
        raw, words = self._forms([example], asking)
        cut = example.words or tuple(word for text in example.texts for word in text.split())
        most = asking.longest or LONGEST[not words]
        if len(cut) > most:
            message = f"{len(cut):,} words in one example, at most {most:,} are read"
            return DataError("E537", message, Place(*example.place), _cut_hint(example))
        widest = max(map(len, cut), default=0)
        if widest > LONGEST_WORD:
            message = f"a word of {widest:,} characters, at most {LONGEST_WORD:,} are read"
            return DataError("E538", message, Place(*example.place), "is this text?")
        if words and len(example.texts) > 1:
            name = self.model.tasks[words[0]].name
            message = f"task '{name}' reads the words of one text, and this is a pair"
            return DataError("E539", message, Place(*example.place), "choose tasks with `--task`")
        pairs = self._by_length(raw)[1]
        if pairs and len(example.texts) != 2:
            message = f"task '{self.model.tasks[pairs[0]].name}' reads a question and a text, and this is one text"
            return DataError("E928", message, Place(*example.place), "give both: `--input pairs`, or a `--reader`")
        return None

    def _readable(self, examples: Sequence[Sentence], asking: Asking) -> tuple[list[Sentence], list[DataError]]:
        """The examples that the encoder can read, and why not the others: raw text may be too long for it."""
        cut, whole = self._by_length(self._forms(examples, asking)[0])
        good, bad = [], []
        for example in examples:
            try:
                for is_whole in (False,) * bool(cut) + (True,) * bool(whole):
                    self._text_tokenizer().encode([_as_raw(example)], is_whole)
                good.append(example)
            except DataError as error:
                bad.append(DataError(error.code, error.message, error.place, "cut it into shorter texts"))
        return good, bad

    def _split(
        self, examples: Sequence[Sentence], raw: bool, kinds: Mapping[str, LayerKind], layout: Layout
    ) -> PreparedSplit:
        """The examples as a prepared split, through the very code that prepares a corpus."""
        read = [_as_raw(example) if raw else replace(example, texts=()) for example in examples]
        # A tokenizer remembers every word that it has met: one a window keeps it from growing with the file.
        words = WordTokenizer(self._tokenizer, self.model.encoder.specials, self._reading)
        with tempfile.TemporaryDirectory(prefix="mtlspec-") as folder:
            path = Path(folder) / "window.arrow"
            write_split(read, words, path, kinds, self._text_tokenizer)
            with pa.OSFile(str(path)) as source:
                return PreparedSplit(pa.ipc.open_stream(source).read_all(), kinds, layout)

    def _kinds(self, tasks: Sequence[int], raw: bool, given: Mapping[str, LayerKind]) -> dict[str, LayerKind]:
        """The layers of a split: what the input carries, and those of the tasks, which may be missing throughout."""
        own = {self.model.tasks[number].layer: sorted(_reads(self.model.tasks[number])) for number in tasks}
        kinds = {layer: kind for layer, kind in given.items() if kind in own.get(layer, [kind])}
        kinds |= {layer: reads[0] for layer, reads in own.items() if layer not in kinds}
        return {layer: kind for layer, kind in kinds.items() if not (raw and layer_kind(kind).about_words)}

    def _text_tokenizer(self) -> TextTokenizer:
        if self._texts is None:
            policy: Any = self.found.long_text
            self._texts = TextTokenizer.load(self._reading, self.model.encoder.max_pieces, policy)
        return self._texts

    def _require_predicates(self, given: Input, asking: Asking) -> None:
        """A task may be of those that are told where predicates are."""
        for number in asking.tasks:
            task = self.model.tasks[number]
            if task.describe()["options"].get("predicates") == "gold" and task.layer not in given.kinds:
                message = f"task '{task.name}' was trained with given predicates, and this input has no '{task.layer}'"
                raise SpecError("E548", message, None, "read a format that has them, or choose other tasks: `--task`")


def _cut_hint(example: Sentence) -> str:
    if isinstance(example, Extract):
        return "name another way to find sentences (`--sentences`), or raise `--longest`"
    whole = "" if example.words or len(example.texts) > 1 else " (`--input documents` does)"
    return f"cut it into sentences{whole}, or raise `--longest`"


def _windows(examples: Iterator[Example], asking: Asking) -> Iterator[tuple[list[Sentence], list[DataError]]]:
    """Examples and the defects among them; one defect ends everything, unless it shall go on."""
    held: list[Sentence] = []
    defects: list[DataError] = []
    characters = 0
    for example in examples:
        if not isinstance(example, DataError):
            held.append(example)
            characters += sum(map(len, example.words)) + sum(map(len, example.texts))
        elif asking.keep_going:
            defects.append(example)
        else:
            raise example
        if len(held) + len(defects) == asking.window or characters > _WINDOW_CHARACTERS:
            yield held, defects
            held, defects, characters = [], [], 0
    if held or defects:
        yield held, defects


def _reads(task: Task) -> frozenset[LayerKind]:
    """The kinds of layers that a task's type learns."""
    options = options_class(TASKS, task.describe()["options"]["type"])
    assert issubclass(options, TaskOptions)
    return options.reads


def _about_words(task: Task) -> bool:
    return any(layer_kind(kind).about_words for kind in _reads(task))


def _reads_whole(task: Task) -> bool:
    return any(layer_kind(kind).whole_text for kind in _reads(task))


def _with_words(example: Sentence, tokens: Tokens) -> Sentence:
    return example if example.words else replace(example, words=words_of(example.texts[0], tokens))


def _as_raw(example: Sentence) -> Sentence:
    """For tasks of raw text; words become one with blanks between them."""
    return replace(example, words=(), texts=example.texts or (" ".join(example.words),))
