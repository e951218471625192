"""Labels that do not fit their tasks: known when data are prepared, refused before any model is trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtlspec.execute.label_check import problems_of_prepared, warnings_of_prepared
from mtlspec.execute.materialise import Materialised, materialise
from mtlspec.execute.scheduler import Outcome, Scheduler
from mtlspec.io.project import Project
from mtlspec.io.write import write_json, write_text

NAMES = """\
card: data
name: names
licence: x
source: x
root: corpus
files:
  - reader: {type: columns, column: {ner: 1, pos: 2}}
    paths: {train: train.txt, dev: dev.txt, test: test.txt}
    layers: {ner: ner, pos: pos}
"""
SPEC = """\
mtlspec: 1
name: odd
data: names
encoder: {card: small}
tasks:
  ner: {type: biaffine_ner, layer: ner}
  pos: {type: tagging, layer: pos}
seeds: [1]
models:
  stl: {tasks: each, sharing: hard}
  mtl: {tasks: all, sharing: hard}
"""
TRAINED = ["train-stl-ner-s1", "train-stl-pos-s1", "train-mtl-all-s1"]


@pytest.fixture
def planned(tmp_path: Path) -> Materialised:
    """A plan whose data are prepared, with a tag of dev that spells no span."""
    for folder in ("specs", "registry/data", "registry/encoders", "corpus"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "registry/data/names.yaml").write_text(NAMES)
    (tmp_path / "registry/encoders/small.yaml").write_text("card: encoder\nname: small\nlicence: x\nsource: pretrain\n")
    (tmp_path / "specs/odd.yaml").write_text(SPEC)
    planned = materialise(Project(tmp_path), tmp_path / "specs/odd.yaml")
    for split in ("train", "dev", "test"):
        text = "Ann B-PER N\nran O V\n\nEve " + ("X" if split == "dev" else "B-PER") + " N\n"
        write_text(planned.places.artifact("data-names") / f"{split}.txt", text)
    labels = {"train": {"ner": {"O": 1, "B-PER": 2}, "pos": {"N": 2}}, "unseen": {"ner": ["X"], "pos": []}}
    write_json(planned.places.artifact("prepare-names-small") / "labels.json", labels)
    return planned


class _Watcher:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def finished(self, stage: str, outcome: Outcome) -> None:
        pass

    def told(self, line: str) -> None:
        self.lines.append(line)


def ready(planned: Materialised, keep_going: bool = False) -> Scheduler:
    """All that comes before training is done."""
    scheduler = Scheduler(planned, 4, _Watcher(), keep_going)  # type: ignore[arg-type]
    stages = {stage.name: stage for stage in planned.plan.stages}
    scheduler.outcomes = dict.fromkeys(("data-names", "pretrain-small", "prepare-names-small"), "ran")
    scheduler._queue = [stages[name] for name in TRAINED]
    return scheduler


def test_labels_of_all_splits_are_looked_at_under_the_names_of_the_user(planned: Materialised) -> None:
    (error,) = problems_of_prepared(planned).values()
    place = planned.project.root / "corpus/dev.txt"
    assert str(error).startswith(
        f"{place}:4: error E285: 'X' of layer 'ner' spells no part of a span, which task 'ner'"
    )


def test_nothing_is_trained_if_a_task_cannot_read_its_labels(planned: Materialised) -> None:
    scheduler = ready(planned)
    assert scheduler._next([]) == [] and [error.code for error in scheduler.failures] == ["E285"]
    scheduler._next([])
    assert len(scheduler.failures) == 1  # told once


def test_with_keep_going_the_other_tasks_are_trained(planned: Materialised) -> None:
    scheduler = ready(planned, keep_going=True)
    assert [stage.name for stage in scheduler._next([])] == ["train-stl-pos-s1"]
    assert {name for name, outcome in scheduler.outcomes.items() if outcome == "skipped"} == {TRAINED[0], TRAINED[2]}


def test_no_model_is_trained_before_all_data_are_prepared(planned: Materialised) -> None:
    scheduler = ready(planned)
    del scheduler.outcomes["prepare-names-small"]
    assert scheduler._next([]) == [] and not scheduler.failures and len(scheduler._queue) == 3


def test_sound_labels_let_all_models_be_trained(planned: Materialised) -> None:
    labels = {"train": {"ner": {"O": 1, "B-PER": 2}, "pos": {"N": 2, "V": 1}}, "unseen": {"ner": [], "pos": []}}
    write_json(planned.places.artifact("prepare-names-small") / "labels.json", labels)
    scheduler = ready(planned)
    assert [stage.name for stage in scheduler._next([])] == TRAINED
    assert scheduler.watcher.lines == []  # type: ignore[attr-defined]


def test_a_task_with_one_label_is_trained_and_warned_of_once(planned: Materialised) -> None:
    labels = {"train": {"ner": {"O": 1, "B-PER": 2}, "pos": {"N": 2}}, "unseen": {"ner": [], "pos": ["V"]}}
    write_json(planned.places.artifact("prepare-names-small") / "labels.json", labels)
    scheduler = ready(planned)
    assert [stage.name for stage in scheduler._next([])] == TRAINED
    scheduler._queue = [stage for stage in planned.plan.stages if stage.name in TRAINED]
    scheduler._next([])
    assert scheduler.watcher.lines == [  # type: ignore[attr-defined]
        "warning: task 'pos' has nothing to learn: all that layer 'pos' of 'names' holds in training is 'N'"
    ]


QUESTIONS = """\
card: data
name: questions
licence: x
source: x
root: corpus
files:
  - reader: mrqa
    paths: {train: train.jsonl, dev: dev.jsonl, test: test.jsonl}
    layers: {answer: answer}
"""


def test_questions_that_all_have_an_answer_are_to_be_learnt(planned: Materialised, tmp_path: Path) -> None:
    """Their one label is that there is an answer; where it stands is the task. A tag of all words says nothing."""
    (tmp_path / "registry/data/questions.yaml").write_text(QUESTIONS)
    spec = SPEC.replace("name: odd", "name: asked").replace("data: names", "data: {names: names, questions: questions}")
    spec = spec.replace("layer: ner}", "layer: ner, data: names}").replace("layer: pos}", "layer: pos, data: names}")
    spec = spec.replace("{card: small}", "{card: small, data: names}").replace(
        "seeds:", "  qa: {type: qa_span, layer: answer, data: questions}\nseeds:"
    )
    (tmp_path / "specs/asked.yaml").write_text(spec)
    for split in ("train", "dev", "test"):
        write_text(tmp_path / f"corpus/{split}.jsonl", "")
    asked = materialise(Project(tmp_path), tmp_path / "specs/asked.yaml")
    for name, labels in (
        ("names", {"ner": {"O": 1, "B-PER": 2}, "pos": {"N": 2}}),
        ("questions", {"answer": {"answered": 3}}),
    ):
        found = {"train": labels, "unseen": {layer: [] for layer in labels}}
        write_json(asked.places.artifact(f"prepare-{name}-small") / "labels.json", found)
    assert warnings_of_prepared(asked) == [
        "warning: task 'pos' has nothing to learn: all that layer 'pos' of 'names' holds in training is 'N'"
    ]
