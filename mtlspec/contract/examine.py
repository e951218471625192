"""`mtlspec doctor --kinds`: a project's own kinds, tried on what ours are tried on."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mtlspec import kinds
from mtlspec.contract import data, drawing, general, toy, toy_questions, training
from mtlspec.contract.analyses import ToyRun, check_analysis, make_toy_run
from mtlspec.contract.decoders import LAYERS as TOY_LAYERS
from mtlspec.contract.decoders import check_task, check_uncertainty
from mtlspec.contract.promise import BrokenPromiseError, promise
from mtlspec.contract.strategies import check_strategy
from mtlspec.contract.toy_language import corpus
from mtlspec.contract.toy_questions import questions
from mtlspec.data.prepared import Prepared
from mtlspec.errors import MtlspecError
from mtlspec.io.project import Project
from mtlspec.spec import card_families, families
from mtlspec.spec.own_kinds import own_kinds

Promises = Iterator[tuple[str, Callable[[], object]]]
_TRAINS = "trains beside another task, resumes to the bit, comes back from disk"


@dataclass(frozen=True)
class Tried:
    """What became of one promise of one kind."""

    kind: str  # `sharing/mine`
    promise: str
    holds: bool
    detail: str = ""


def examine(project: Project, scratch: Path) -> Iterator[Tried]:
    """Every promise of every kind of the project; the first that is broken ends a kind's examination."""
    folders = {family: folder for folder, family in families.FOLDERS.items()}
    bench = _Bench(project, scratch)
    for family, name in own_kinds(project):
        for told, attempt in bench.promises(family, name):
            fault = _fault(attempt, project)
            yield Tried(f"{folders[family]}/{name}", told, fault is None, fault or "")
            if fault is not None:
                break


def _fault(attempt: Callable[[], object], project: Project) -> str | None:
    """What is wrong, or None; an error of the kind's own code says where in it."""
    try:
        attempt()
    except BrokenPromiseError as error:
        return str(error)
    except MtlspecError as error:
        return str(error)
    except Exception as error:  # a doctor reports every failure instead of stopping at one
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename).is_relative_to(project.own_kinds)]
        where = f"{project.relative(Path(own[-1].filename))}:{own[-1].lineno}: " if own else ""
        return " ".join(f"{where}{type(error).__name__}: {error}".split())
    return None


@dataclass(frozen=True)
class _Bench:
    """What kinds are tried on, made when the first of them needs it."""

    project: Project
    scratch: Path

    @cached_property
    def encoder(self) -> Path:
        return toy.write_encoder(self.scratch / "encoder")

    @cached_property
    def prepared(self) -> Path:
        splits = {"train": corpus(1, 120), "dev": corpus(2, 30), "test": corpus(3, 30)}
        return toy.write_prepared(self.scratch / "prepared", self.encoder, splits)

    @cached_property
    def questions(self) -> Path:
        splits = {"train": questions(1, 120), "dev": questions(2, 30), "test": questions(3, 30)}
        return toy.write_prepared(self.scratch / "questions", self.encoder, splits)

    @cached_property
    def run(self) -> ToyRun:
        return make_toy_run(self.scratch / "run", self.encoder, self.prepared)

    def promises(self, family: str, name: str) -> Promises:
        own = kinds.own_source(f"{family}.{name}")
        assert own is not None
        yield "can be imported", partial(kinds.load, family, name)
        yield "imports nothing that no fingerprint sees", partial(general.check_imports, own.file, self.project.root)
        if family in families.FAMILIES:
            yield "has options under its name, with descriptions", partial(general.check_named, family, name)
            yield "is light at import", partial(general.check_light, [(family, name)])
            yield (
                "has options that are frozen and come back from JSON",
                lambda: general.check_options(self._options(family, name)),
            )
        folder = self.scratch / family / name
        folder.mkdir(parents=True)
        yield from _OF_FAMILY.get(family, _nothing_more)(self, family, name, folder)

    def data(self, task: Mapping[str, Any] | None = None) -> Prepared:
        """The toy data that have a task's layer; by default those of words."""
        return Prepared.load(self.questions if _points(task) else self.prepared)

    def example(self, family: str, name: str) -> dict[str, Any]:
        """The options with which a kind is tried: its defaults, and what its file calls EXAMPLE."""
        said = getattr(kinds.load(family, name), "EXAMPLE", {})
        if family == families.TASKS:
            options = kinds.options_class(family, name)
            assert issubclass(options, families.TaskOptions)
            reads = sorted(options.reads)
            said = {"layer": next((TOY_LAYERS[kind] for kind in reads if kind in TOY_LAYERS), "ner"), **said}
        if family == families.ENCODERS:
            said = {"card": "toy", "max_pieces": None, **said}
        return {"type": name, **said}

    def _options(self, family: str, name: str) -> kinds.Options:
        try:
            return kinds.options_class(family, name).model_validate(self.example(family, name))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise BrokenPromiseError(
                f"its defaults are not enough to try it ({where}: {first['msg']}): say `EXAMPLE = {{...}}` in its file"
            ) from None

    def trains(self, folder: Path, **parts: Any) -> Callable[[], object]:
        corpora = {"toy": self.prepared}
        if _points(parts.get("task")):
            parts["task"] = {**parts["task"], "data": "questions"}
            corpora["questions"] = self.questions
        return lambda: training.check(training.params(**parts), folder / "training", self.encoder, corpora)


def _points(task: Mapping[str, Any] | None) -> bool:
    """Whether a task reads layers that point into raw text."""
    return task is not None and task.get("layer") in toy_questions.LAYERS


def _nothing_more(bench: _Bench, family: str, name: str, folder: Path) -> Promises:
    """A source may have to download: it is not asked to."""
    del bench, family, name, folder
    return iter(())


def _task(bench: _Bench, family: str, name: str, folder: Path) -> Promises:
    task = bench.example(family, name)
    yield from _decoder(bench, task, folder)


def _tagger(bench: _Bench, family: str, name: str, folder: Path) -> Promises:
    yield from _decoder(bench, {"type": "tagging", "layer": "ner", "decoder": bench.example(family, name)}, folder)


def _decoder(bench: _Bench, task: Mapping[str, Any], folder: Path) -> Promises:
    yield (
        "learns, predicts, scores and comes back from disk",
        lambda: check_task(task, bench.encoder, bench.data(task), folder),
    )
    yield "says how unsure it is, or that it does not", lambda: check_uncertainty(task, bench.encoder, bench.data(task))
    yield _TRAINS, bench.trains(folder, task=task)


def _sharing(bench: _Bench, family: str, name: str, folder: Path) -> Promises:
    options = bench.example(family, name)
    yield "gives states, and a state that is JSON", lambda: check_strategy(options, bench.encoder, bench.data())
    yield f"{_TRAINS}, is right about tasks", bench.trains(folder, sharing=options)


def _sampler(bench: _Bench, family: str, name: str, folder: Path) -> Promises:
    options = kinds.parse(family, families.SamplerOptions, bench.example(family, name))
    yield "draws known tasks, goes on from its state", partial(drawing.check_sampler, options)
    yield _TRAINS, bench.trains(folder, sampler=bench.example(family, name))


def _balance(bench: _Bench, family: str, name: str, folder: Path) -> Promises:
    options = kinds.parse(family, families.BalanceOptions, bench.example(family, name))
    yield "passes gradients on, goes on from its state", partial(drawing.check_balance, options)
    yield _TRAINS, bench.trains(folder, balance=bench.example(family, name))


def _task_set(bench: _Bench, family: str, name: str, folder: Path) -> Promises:
    del folder
    options = kinds.parse(family, families.TaskSetOptions, bench.example(family, name))
    yield "makes as many sets as it counts", partial(drawing.check_task_set, options)


def _encoder(bench: _Bench, family: str, name: str, folder: Path) -> Promises:
    yield _TRAINS, bench.trains(folder, encoder=bench.example(family, name))


def _analysis(bench: _Bench, family: str, name: str, folder: Path) -> Promises:
    options = kinds.parse(family, families.AnalysisOptions, bench.example(family, name))
    yield "finds the same in the same models, completely", lambda: check_analysis(options, bench.run, folder)


def _reader(bench: _Bench, family: str, name: str, folder: Path) -> Promises:
    options = kinds.parse(family, card_families.ReaderOptions, bench.example(family, name))

    def attempt() -> None:
        sample = getattr(kinds.load(family, name), "SAMPLE", None)
        promise(isinstance(sample, str), "there is nothing to read: say `SAMPLE = ...` in its file, one sentence")
        (folder / "one").write_text(str(sample), encoding="utf-8")
        data.check_reader(options, folder / "one", folder / "none")

    yield "reads its sample, names what is missing", attempt


def _generator(bench: _Bench, family: str, name: str, folder: Path) -> Promises:
    options = kinds.parse(family, card_families.GeneratorOptions, bench.example(family, name))
    yield "writes the same bytes twice", partial(data.check_generator, options, folder)


def _layer(bench: _Bench, family: str, name: str, folder: Path) -> Promises:
    del bench, folder

    def attempt() -> None:
        values = getattr(kinds.load(family, name), "EXAMPLE", ())
        promise(values, "there are no values: say `EXAMPLE = [...]` in its file, for sentences of three words")
        data.check_layer(name, values)

    yield "is light at import", partial(general.check_light, [(family, name)])
    yield "keeps its values, shows and counts them", attempt


def _metric(bench: _Bench, family: str, name: str, folder: Path) -> Promises:
    del bench, family, folder
    yield "has its own name and can be rebuilt", partial(data.check_metric, name)


_OF_FAMILY: dict[str, Callable[[_Bench, str, str, Path], Promises]] = {
    families.TASKS: _task,
    families.TAGGERS: _tagger,
    families.SHARING: _sharing,
    families.SAMPLERS: _sampler,
    families.BALANCE: _balance,
    families.TASK_SETS: _task_set,
    families.ENCODERS: _encoder,
    families.ANALYSES: _analysis,
    families.READERS: _reader,
    families.GENERATORS: _generator,
    families.LAYERS: _layer,
    families.METRICS: _metric,
}
