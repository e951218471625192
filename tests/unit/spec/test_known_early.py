"""Options about labels and layers are checked before anything runs, where cards say what there is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtlspec.io.project import Project
from mtlspec.spec.load import LoadedSpec
from tests.unit.spec.small_project import SPEC

Complaints = Callable[..., list[str]]
Load = Callable[..., LoadedSpec]

TOPICS = """\
card: data
name: topics
licence: CC0-1.0
source: made for the tests
root: corpora/topics
files:
  - reader: {type: table, text: [text], label: {topic: topic, free: free}, classes: {topic: CLASSES}}
    paths: {train: a.tsv, dev: b.tsv, test: c.tsv}
    layers: {topic: topic, free: free}
"""


def spec(task: str) -> str:
    tasks = f"  pos: {{type: classification, {task}}}\n  lem: {{type: classification, layer: free, positive: x}}\n"
    start, end = SPEC.index("  pos:"), SPEC.index("train:\n")
    return (SPEC[:start] + tasks + SPEC[end:]).replace("data: corpus", "data: topics")


@pytest.mark.parametrize(
    ("classes", "options", "told"),
    [
        (
            "[no, yes]",
            "positive: yess",
            "6:55: error E811: `positive` names 'yess', which is no label of 'topic'; did you mean 'yes'?",
        ),
        (
            "{0: no, 1: yes}",
            'class_weights: {"1": 2}',
            "6:60: error E811: `class_weights` names '1', which is no label of 'topic'; known: no, yes",
        ),
        (
            "[no, yes]",
            "class_weights: {no: 0, yes: 0}",
            "6:60: error E811: `class_weights` are 0 for all labels, so nothing would be learnt",
        ),
        (
            "[a, b, c]",
            "metric: f1",
            "6:53: error E811: `f1` is about one of 3 labels; which one?; name it with `positive`, or use `f1_macro`",
        ),
        ("[no, yes]", "positive: 1", "6:55: error E135: 'positive' must be a text, not 1; put it in quotes"),
        ("{0: no, 1: yes}", "positive: yes, class_weights: {no: 0}, metric: f1", None),
        ("[a, b, c]", "positive: a, metric: f1_accuracy", None),
    ],
)
def test_labels_that_the_card_names_are_known_to_check(
    classes: str, options: str, told: str | None, project: Project, complaints: Complaints, load: Load
) -> None:
    (project.root / "registry/data/topics.yaml").write_text(TOPICS.replace("CLASSES", classes))
    text = spec(f"layer: topic, {options}")
    if told is None:
        assert load(text)
    else:
        assert complaints(text) == [f"specs/study.yaml:{told}"]


NONE = (
    "`freeze: 0.1` is a share of 4 layers that rounds to none; name more; `freeze: {layers: 0}` freezes the embeddings"
)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("  epochs: 5", "  freeze: 0.1", f"9:11: error E812: {NONE} alone"),
        (
            "{epochs: 8}",
            "{freeze: {layers: 5}}",
            "15:61: error E812: `freeze` names 5 layers, but the encoder has 4; name fewer, or a share of them such "
            "as 0.5",
        ),
        (
            "{epochs: 8}",
            "{freeze: {layers: 0, embeddings: false}}",
            "15:61: error E812: `freeze` names neither layers nor embeddings; leave it out; `freeze: {layers: 0}` "
            "freezes the embeddings alone",
        ),
        ("analyses:", "sweep: {train.freeze: [0.5, 0.1]}\nanalyses:", f"16:29: error E812: {NONE} alone"),
        ("{epochs: 8}", "{freeze: {layers: 0}}", None),
        ("{epochs: 8}", "{freeze: 0.125001}", None),
    ],
)
def test_layers_to_freeze_are_counted_where_the_encoder_is_made_here(
    old: str, new: str, told: str | None, complaints: Complaints, load: Load
) -> None:
    text = SPEC.replace(old, new)
    if told is None:
        assert load(text)
    else:
        assert complaints(text) == [f"specs/study.yaml:{told}"]
