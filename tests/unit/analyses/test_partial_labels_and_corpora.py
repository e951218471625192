"""All analyses on models whose examples lack labels, and on models of tasks with corpora of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from mtlspec import kinds
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepare import write_prepared
from mtlspec.data.prepared import Prepared
from mtlspec.data.sentence import Sentence
from mtlspec.data.text_tokenizer import TextTokenizer
from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.io.write import write_json
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import build_model
from mtlspec.plan.rows import ModelRow
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob, Measurement
from mtlspec.spec.demands import OneCorpus
from mtlspec.spec.families import ANALYSES, SHARING, TASKS, AnalysisOptions, MeasuringOptions
from tests import toy
from tests.model_rows import model_row
from tests.trainings import write_training
from tests.unit.analyses.gated_models import CLOSED, OPEN

GATES = [[OPEN, 0.5, CLOSED, CLOSED], [CLOSED, OPEN, -0.5, CLOSED]]
SIZES = {"train": 24, "dev": 12, "test": 12}
METHODS = ["gradient", "token_abs", "ablation", "gate"]
PROBES: dict[str, dict[str, Any]] = {
    "attention": {"type": "attention_probe", "dep": "dep", "srl": "srl", "min_count": 1},
    "values": {"type": "attended_value_probe", "pos": "pos", "ner": "ner", "con": "con", "min_count": 1},
}
OTHERS: dict[str, dict[str, Any]] = {
    "scores": {"type": "score_matrix", "rounds": 100},
    "pruning": {"type": "pruning_table", "rounds": 1, "sentences": 4},
    "utilisation": {"type": "head_utilisation", "models": ["l0", "joint"]},
    "sparsity": {"type": "sparsity_curve"},
    "importance": {"type": "head_importance", "methods": METHODS, "sentences": 6},
    "importance_of_test": {"type": "head_importance", "methods": METHODS, "sentences": 6, "split": "test"},
    "importance_in_points": {"type": "head_importance", "methods": ["ablation"], "ablation": "score"},
}


@dataclass(frozen=True)
class Models:
    """Trained and evaluated models: single-task ones with and without gates, and a joint one with gates."""

    rows: tuple[ModelRow, ...]
    inputs: Mapping[str, Path]  # artifacts of train and evaluate stages
    corpora: Mapping[str, Path]
    probed: str  # the corpus of words
    encoder: Path

    def analyse(self, options: AnalysisOptions, out: Path, read: Mapping[str, Path] | None = None) -> Findings:
        rows = tuple(row for row in self.rows if not options.models or row.group in options.models)
        inputs = {**self.inputs, **(read or {})}
        if isinstance(options, MeasuringOptions):
            one = isinstance(options, OneCorpus)
            names = [self.probed] if one else list(self.corpora)
            prepared = {f"prepare-{name}": self.corpora[name] for name in names}
            asked: list[tuple[str, ModelRow | None]] = [(str(row.measure), row) for row in rows]
            for stage, row in [*asked, *([("measure-encoder", None)] if options.measures_encoder else [])]:
                found = inputs[stage] = out / stage
                found.mkdir(parents=True)
                model = {"encoder": self.encoder} if row is None else {"train": self.inputs[row.train]}
                options.measure(Measurement(row, {**prepared, **model}, found))
        options.run(AnalysisJob(rows, inputs, out))
        return Findings.read(out)


def _options(raw: Mapping[str, Any]) -> AnalysisOptions:
    return kinds.parse(ANALYSES, AnalysisOptions, dict(raw))


def _words(seed: int, size: int) -> list[Sentence]:
    """Every second sentence lacks most layers; of the others, some words lack a tag."""
    made = []
    for number, sentence in enumerate(toy.corpus(seed, size)):
        kept: Sequence[str] = ("ner",) if number % 2 else ("pos", "ner", "dep", "con", "srl")
        layers: dict[str, Any] = {name: sentence.layers[name] for name in kept}
        if "pos" in layers:
            layers["pos"] = (None, *layers["pos"][1:])
        made.append(replace(sentence, layers=layers))
    return made


def _texts(seed: int, size: int, test: bool) -> list[Sentence]:
    """Half of them have a topic; a size is everywhere but in test."""
    made = []
    for number, sentence in enumerate(toy.corpus(seed, size)):
        layers: dict[str, Any] = {} if number % 2 else {"topic": sentence.layers["topic"]}
        layers |= {} if test else {"size": sentence.layers["size"]}
        made.append(replace(sentence, words=(), texts=(" ".join(sentence.words), "the cat"), layers=layers))
    return made


def _prepare(directory: Path, encoder: Path, splits: Mapping[str, list[Sentence]]) -> Path:
    directory.mkdir(parents=True)
    texts = partial(TextTokenizer.load, encoder)
    write_prepared(splits, WordTokenizer.load(encoder), directory, None, texts)
    return directory


def _models(root: Path, encoder: Path, corpora: dict[str, Path], tasks: dict[str, dict[str, Any]]) -> Models:
    data = Corpora({name: Prepared.load(path) for name, path in corpora.items()})
    chosen: Any = {name: kinds.options_class(TASKS, raw["type"]).model_validate(raw) for name, raw in tasks.items()}
    sets = [("stl", [task], "hard") for task in tasks] + [("l0", [task], "l0") for task in tasks]
    rows, inputs = [], {}
    for group, own, kind in [*sets, ("joint", list(tasks), "l0")]:
        row = model_row(group, own)
        torch.manual_seed(1)
        sharing: Any = kinds.options_class(SHARING, kind).model_validate({"type": kind})
        options = {name: chosen[name] for name in own}
        model = build_model(Encoder.load(encoder), sharing, options, data.labels(options))
        if kind == "l0":
            with torch.no_grad():
                model.sharing.module["gates"].copy_(torch.as_tensor(GATES))  # type: ignore[index, operator]
        inputs[row.train] = root / row.train
        inputs[row.train].mkdir()
        model.save(inputs[row.train], tokenizer=encoder)
        write_json(inputs[row.train] / "epochs.json", [{"best": True, "scores": {}}])
        write_training(inputs[row.train], own)
        toy.run_evaluate(root / row.evaluate, inputs[row.train], corpora)
        inputs[row.evaluate] = root / row.evaluate / "out"
        rows.append(row)
    return Models(tuple(rows), inputs, corpora, next(iter(corpora)), encoder)


@pytest.fixture(scope="module", params=["one corpus", "two corpora"])
def models(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Models:
    root = tmp_path_factory.mktemp("models")
    several = request.param == "two corpora"
    tasks: dict[str, dict[str, Any]] = {name: dict(toy.TASKS[name]) for name in ("pos", "ner")}
    words = {split: _words(number, size) for number, (split, size) in enumerate(SIZES.items())}
    corpora = {"words": _prepare(root / "words", toy_encoder, words)}
    if several:
        texts = {split: _texts(number, size, split == "test") for number, (split, size) in enumerate(SIZES.items())}
        corpora["texts"] = _prepare(root / "texts", toy_encoder, texts)
        tasks = {name: {**raw, "data": "words"} for name, raw in tasks.items()}
        tasks["topic"] = {"type": "classification", "layer": "topic", "data": "texts"}
        tasks["size"] = {"type": "regression", "layer": "size", "data": "texts"}
    return _models(root, toy_encoder, corpora, tasks)


def test_every_analysis_that_names_layers_says_its_corpus() -> None:
    for name in kinds.names(ANALYSES):
        cls = kinds.options_class(ANALYSES, name)
        assert issubclass(cls, AnalysisOptions)
        assert issubclass(cls, OneCorpus) or not cls.layer_kinds


@pytest.mark.parametrize("name", OTHERS)
def test_analyses_cope_with_missing_labels(models: Models, name: str, tmp_path: Path) -> None:
    found = models.analyse(_options(OTHERS[name]), tmp_path)
    assert found.summary
    assert found.tables
    texts = [*found.summary, *(table.caption for table in found.tables)]
    assert not any("nan" in cell.text for table in found.tables for row in table.rows for cell in row)
    if len(models.corpora) > 1 and name in ("scores", "pruning", "sparsity"):
        assert sum("est has no labels of size" in text for text in texts) >= 1
    if len(models.corpora) > 1 and name == "importance_of_test":
        assert "Nothing is measured of size: the sentences of the sample have no such labels." in found.summary


@pytest.fixture(scope="module")
def of_one_size(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Models:
    """Sizes of texts that are learnt, and all the same on dev and test."""
    root, splits = tmp_path_factory.mktemp("models"), {}
    for number, (split, size) in enumerate(SIZES.items()):
        texts = _texts(number, size, test=False)
        if split != "train":
            texts = [replace(text, layers={**text.layers, "size": 3.0}) for text in texts]
        splits[split] = texts
    corpora = {"texts": _prepare(root / "texts", toy_encoder, splits)}
    tasks = {"topic": {"type": "classification", "layer": "topic"}, "size": {"type": "regression", "layer": "size"}}
    return _models(root, toy_encoder, corpora, tasks)


@pytest.mark.parametrize("name", ["scores", "pruning", "sparsity"])
def test_constant_gold_has_no_score_in_any_analysis(of_one_size: Models, name: str, tmp_path: Path) -> None:
    found = of_one_size.analyse(_options(OTHERS[name]), tmp_path)
    texts = [*found.summary, *(table.caption for table in found.tables)]
    assert sum("ize is not defined on test (constant gold)" in text for text in texts) >= 2
    assert not any("no labels" in text for text in texts)
    for table in found.tables:
        for heading, rows in table.sections:
            assert heading != "size" or all(row[1].text == row[2].text == row[3].text == "–" for row in rows)


def test_heads_are_worth_no_points_where_dev_has_constant_gold(of_one_size: Models, tmp_path: Path) -> None:
    found = of_one_size.analyse(_options(OTHERS["importance_in_points"]), tmp_path)
    told = "What heads are worth to size in points is not defined: dev has constant gold."
    assert told in found.summary
    assert not any("no such labels" in text for text in found.summary)
    assert [heading for table in found.tables for heading, _ in table.sections] == ["topic"] * 2
    by_loss = of_one_size.analyse(_options(OTHERS["importance"]), tmp_path / "loss")
    assert told not in by_loss.summary  # a loss needs no score
    assert {heading for table in by_loss.tables for heading, _ in table.sections} == {"topic", "size"}


def test_probes_and_stem_cells_cope_with_missing_labels(models: Models, tmp_path: Path) -> None:
    probes = {name: models.analyse(_options(raw), tmp_path / name) for name, raw in PROBES.items()}
    assert all("no label has enough items" not in text for found in probes.values() for text in found.summary)
    labels = {table.name: table for found in probes.values() for table in found.tables}
    tagged = sum(tag is not None for s in _words(2, SIZES["test"]) for tag in s.layers.get("pos", ()))  # type: ignore[union-attr, misc]
    assert labels["labels_pos"].rows[0][1].value == tagged  # words without a tag are no items
    assert labels["labels_ner"].columns[2] == "stl"
    stem = _options(
        {"type": "stem_cells", "models": ["l0"], "probes": list(PROBES), "joint": "joint", "tasks_at_least": 2}
    )
    read = {f"analyse-{name}": tmp_path / name for name in PROBES}
    assert models.analyse(stem, tmp_path / "stem", read).summary


def test_a_task_is_known_by_its_own_corpus(models: Models, tmp_path: Path) -> None:
    """Layers of other corpora are not those that are probed, whatever they are called."""
    from mtlspec.analyses._probes.subjects import subjects

    joint = models.rows[-1]
    (subject,) = subjects(Measurement(joint, {"train": models.inputs[joint.train]}, tmp_path), "words", 1)
    known = {"pos": "pos", "ner": "ner"}
    assert subject.layers == (known | {"topic": "texts/topic", "size": "texts/size"} if len(joint.tasks) > 2 else known)
