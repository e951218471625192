"""Several corpora in one spec: who reads which, what is refused, and how they are changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mtlspec.io.project import Project
from mtlspec.spec.load import LoadedSpec
from tests.unit.spec.small_project import DATA_CARD, SPEC

Load = Callable[..., LoadedSpec]
Complaints = Callable[..., list[str]]

TWO = SPEC.replace("data: corpus", "data: {pos: corpus, other: second}").replace(
    "card: small,", "card: small, data: pos,"
)
SOUND = TWO.replace("layer: lemma,", "layer: lemma, data: other,")


@pytest.fixture(autouse=True)
def second(project: Project) -> Path:
    """Another card: it has `lemma` and `ner`, and no `dep`."""
    path = project.data_cards / "second.yaml"
    path.write_text(
        DATA_CARD.replace("name: corpus", "name: second").replace(
            "{xpos: xpos, upos: upos, lemma: lemma, dep: dep}", "{lemma: lemma, upos: upos}"
        )
    )
    return path


def test_a_task_reads_the_corpus_of_its_name_or_the_one_it_names(load: Load) -> None:
    loaded = load(SOUND)
    assert {name: card.name for name, card in loaded.data.items()} == {"pos": "corpus", "other": "second"}
    assert {name: task.data for name, task in loaded.spec.tasks.items()} == {"pos": "pos", "lem": "other"}
    assert loaded.spec.encoder.data == "pos"


@pytest.mark.parametrize("data", ["corpus", "{any: corpus}"])
def test_where_there_is_one_corpus_nobody_says_its_name(load: Load, data: str) -> None:
    name = "any" if "any" in data else "corpus"
    loaded = load(SPEC.replace("data: corpus", f"data: {data}"), f"tasks.pos.data={name}")
    assert [task.data for task in loaded.spec.tasks.values()] == [None, None]
    assert list(loaded.data) == [name]


def test_one_corpus_of_several_is_changed(load: Load) -> None:
    loaded = load(SOUND, "data.other.root=elsewhere", "data.other.title=The other")
    assert (loaded.data["other"].root, loaded.data["other"].title) == ("elsewhere", "The other")
    assert loaded.data["other"].layer_kinds == {"lemma": "tags", "upos": "tags"}
    assert loaded.data["pos"].root == "corpora/corpus"


def test_several_corpora_take_the_place_of_one_that_is_extended(load: Load, project: Project) -> None:
    (project.root / "specs/base.yaml").write_text(SPEC)
    text = "extends: base.yaml\nname: wider\ndata: {pos: corpus, lem: {extends: second, root: there}}\n"
    loaded = load(text + "encoder: {data: lem}\n")
    assert [card.root for card in loaded.data.values()] == ["corpora/corpus", "there"]
    assert loaded.spec.tasks["lem"].data == "lem"


SIMILARITY = (
    "  specialised: {type: iap, models: [mtl]}\n"
    "  alike: {type: task_similarity, models: [stl], dissociation: [specialised]%s}\n"
)
THREE = SOUND.replace("other: second}", "other: second, text: {extends: second, name: third}}")
PROBE = "  heads: {type: attention_probe, models: [stl], dep: dep%s}\n"

BROKEN: dict[str, tuple[str, list[str]]] = {
    "no default": (
        TWO,
        ["7:3: error E851: which corpus does the task 'lem' learn from? None has its name; write `data`: pos or other"],
    ),
    "unknown corpus": (
        SOUND.replace("data: other,", "data: othr,"),
        ["7:44: error E855: the spec has no corpus 'othr'; did you mean 'other'?"],
    ),
    "unused": (
        SOUND.replace("data: other,", "data: pos,"),
        [
            "3:21: error E852: no task, no analysis and no encoder reads the corpus 'other'; leave it out, or "
            "name it in a task's `data`"
        ],
    ),
    "the layer is in the other one": (
        SOUND.replace("layer: xpos}", "layer: xpos, data: other}"),
        ["6:31: error E150: the data card 'second' has no layer 'xpos'; did you mean 'upos'?"],
    ),
    "one card twice": (
        SOUND.replace("other: second", "other: corpus"),
        ["3:28: error E853: the corpora 'pos' and 'other' are the same card; leave one out; tasks may say `data: pos`"],
    ),
    "two cards of one name": (
        SOUND.replace("other: second", "other: {extends: corpus, root: there}"),
        [
            "3:28: error E854: the corpora 'pos' and 'other' are different cards of one name, 'corpus'; give one "
            "of them a `name` of its own"
        ],
    ),
    "an encoder that learns from one of them": (
        SOUND.replace(" data: pos,", ""),
        [
            "4:10: error E858: it is not said on which corpus the encoder 'small' is pre-trained; "
            "write `encoder.data`: pos or other"
        ],
    ),
    "unknown card": (
        SOUND.replace("other: second", "other: {extends: secnd}"),
        ["3:38: error E122: there is no card 'secnd' in registry/data; did you mean 'second'?"],
    ),
    "no corpus": (
        SPEC.replace("data: corpus", "data: {}"),
        ["3:7: error E135: 'data' must be a mapping with at least one entry, not an empty mapping"],
    ),
    "a card without its first key": (
        SPEC.replace("data: corpus", "data: {name: corpus, licence: x, source: y, root: z, files: []}"),
        [
            "3:7: error E131: the key 'card' is missing; it holds 'data'",
            "3:61: error E135: 'files' must be a list with at least one item, not an empty list",
        ],
    ),
    "the key of a corpus": (
        SOUND.replace("other: second", "Other: second"),
        [
            "3:21: error E135: the key must be a name (a small letter, then small letters, digits and `_`, at most "
            "40), not the text 'Other'",
            "7:44: error E855: the spec has no corpus 'other'; did you mean 'Other'?",
        ],
    ),
    "a probe of a layer that no corpus has": (
        SOUND + PROBE.replace("dep: dep", "dep: deb") % "",
        [
            "18:10: error E856: which corpus is meant? none has 'deb' of the right kind; write `data`: pos or other",
        ],
    ),
    "a probe in the wrong corpus": (
        SOUND + PROBE % ", data: other",
        ["18:54: error E173: the data card 'second' has no layer 'dep'; known: lemma, upos"],
    ),
    "a probe in no corpus": (
        SOUND + PROBE % ", data: otter",
        ["18:65: error E855: the spec has no corpus 'otter'; did you mean 'other'?"],
    ),
    "similarity in no corpus": (
        SOUND + SIMILARITY % ", data: otter",
        ["19:84: error E855: the spec has no corpus 'otter'; did you mean 'other'?"],
    ),
    "a corpus that similarity does not read, either": (
        THREE + SIMILARITY % "",
        [
            "3:36: error E852: no task, no analysis and no encoder reads the corpus 'text'; leave it out, or "
            "name it in a task's `data`"
        ],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_wrong_corpora_are_told_to_the_letter(name: str, complaints: Complaints) -> None:
    text, lines = BROKEN[name]
    assert complaints(text) == [f"specs/study.yaml:{line}" for line in lines]


def test_a_probe_reads_the_corpus_that_has_its_layers(load: Load) -> None:
    loaded = load(SOUND + PROBE % "")
    assert loaded.spec.analyses["heads"].data == "pos"  # type: ignore[attr-defined]


def test_an_analysis_without_layers_may_read_a_corpus_of_its_own(load: Load) -> None:
    loaded = load(THREE + SIMILARITY % ", data: text")
    assert loaded.spec.analyses["alike"].data == "text"  # type: ignore[attr-defined]
    assert load(SOUND + SIMILARITY % "").spec.analyses["alike"].data == "pos"  # type: ignore[attr-defined]


def test_an_encoder_that_learns_from_nothing_needs_no_corpus(complaints: Complaints, project: Project) -> None:
    (project.encoder_cards / "small.yaml").write_text(
        "card: encoder\nname: small\nlicence: x\nsource: {type: directory, path: weights}\n"
    )
    line = "specs/study.yaml:4:30: error E857: the encoder 'small' does not learn from data; leave `encoder.data` out"
    assert complaints(SOUND) == [line]
