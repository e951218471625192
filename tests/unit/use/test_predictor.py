"""Predictions on new text are those of the evaluation stage: for every task type, batch size, window and input form."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mtlspec.data.prepared import Prepared
from mtlspec.data.sentence import Sentence
from mtlspec.data.writers import conllu
from mtlspec.errors import DataError, StageError
from mtlspec.kinds import names
from mtlspec.spec.families import TASKS
from mtlspec.spec.models import BatchLimits
from mtlspec.use.files import task_files
from mtlspec.use.inputs import Form, Input, plain
from mtlspec.use.loaded import load_trained
from mtlspec.use.shown import objects
from mtlspec.use.shown import plain as as_json
from tests.unit.use.conftest import PAIRS, QUESTIONS, WORDS, Trained


def given(test: Sequence[Sentence], prepared: Path) -> Input:
    """Examples with the layers of their corpus, as a card reads them."""
    return Input(iter(test), Prepared.load(prepared).layers)


def lines(text: str, form: Form) -> Input:
    return plain(["-"], form, io.BytesIO(text.encode()))


def shown(trained: Trained, source: Input, **asking: Any) -> list[dict[str, Any]]:
    predictor = load_trained(trained.train).predictor
    return [one for window in predictor.stream(source, predictor.asking(**asking)) for one in objects(window)]


def same(found: list[dict[str, Any]], trained: Trained) -> None:
    """Labels and structures are equal; numbers as near as batches of other shapes let them be."""
    expected = trained.predictions()
    assert len(found) == len(trained.test)
    for task, predictions in expected.items():
        got = [one["tasks"][task] for one in found]
        wanted = [as_json(prediction) for prediction in predictions]
        if isinstance(wanted[0], dict) and "score" in wanted[0]:
            got, wanted = ([one["score"] for one in side] for side in (got, wanted))
        assert got == (pytest.approx(wanted, abs=1e-5) if isinstance(wanted[0], float) else wanted), task


def test_all_task_types_are_tried_here() -> None:
    assert {task["type"] for task in (*WORDS.values(), *PAIRS.values(), *QUESTIONS.values())} == set(names(TASKS))


@pytest.mark.parametrize(("batch", "window"), [(32, 4096), (1, 4096), (5, 7), (32, 1)])
def test_words_are_predicted_as_in_evaluation(words: Trained, batch: int, window: int) -> None:
    limits = BatchLimits(sentences=batch, tokens=3200)
    same(shown(words, given(words.test, words.prepared), limits=limits, window=window), words)


@pytest.mark.parametrize("form", ["words", "text"])
def test_lines_of_words_and_of_text_are_predicted_as_in_evaluation(words: Trained, form: Form) -> None:
    """No gold is there; text is cut into the same words here, where they are plain ones."""
    text = "".join(" ".join(sentence.words) + "\n" for sentence in words.test)
    found = shown(words, lines(text, form))
    same(found, words)
    assert found[2]["place"] == "standard input:3" and found[2]["words"] == [*words.test[2].words]
    assert ("text" in found[2]) == (form == "text")


@pytest.mark.parametrize("window", [4096, 6])
def test_raw_texts_are_predicted_as_in_evaluation(texts: Trained, window: int) -> None:
    text = "".join(sentence.texts[0] + "\n" for sentence in texts.test)
    same(shown(texts, lines(text, "text"), window=window), texts)


def test_pairs_are_predicted_as_in_evaluation(pairs: Trained) -> None:
    text = "".join("\t".join(sentence.texts) + "\n" for sentence in pairs.test)
    found = shown(pairs, lines(text, "pairs"))
    same(found, pairs)
    assert found[0]["texts"] == [*pairs.test[0].texts]


def test_questions_and_marked_words_are_predicted_as_in_evaluation(questions: Trained) -> None:
    same(shown(questions, given(questions.test, questions.prepared), window=6), questions)
    text = "".join("\t".join(sentence.texts) + "\n" for sentence in questions.test)
    found = shown(questions, lines(text, "pairs"), tasks=["reply"])
    assert [one["tasks"]["reply"] for one in found] == [as_json(one) for one in questions.predictions()["reply"]]
    assert set(found[0]["tasks"]["reply"]) == {"texts", "spans"}


def test_long_texts_are_read_whole_for_questions_only(questions: Trained) -> None:
    """The encoder reads 64 sub-tokens at once, and texts that are longer are an error for other tasks."""
    long = "who sees\t" + "the old cat sees a dog with anna " * 20 + "\n"
    (found,) = shown(questions, lines(long, "pairs"), tasks=["reply"])
    spans = found["tasks"]["reply"]["spans"]
    assert [found["texts"][1][start:end] for start, end in spans] == found["tasks"]["reply"]["texts"]
    with pytest.raises(DataError, match="E279"):
        shown(questions, lines(long, "pairs"))
    with pytest.raises(DataError, match=r"E920: the first text has .*; cut it into shorter texts"):
        shown(questions, lines("dog " * 50 + long, "pairs"), tasks=["reply"])


def test_a_question_needs_its_text_and_marked_words_a_format_that_has_them(questions: Trained) -> None:
    told = "standard input:1: error E928: task 'reply' reads a question and a text, and this is one text; give both"
    with pytest.raises(DataError, match=told):
        shown(questions, lines("the cat\n", "text"), tasks=["reply"])
    with pytest.raises(StageError, match="E927: task 'alike' reads 2 marked places"):
        shown(questions, lines("the cat\ta dog\n", "pairs"), tasks=["alike"])


@pytest.mark.parametrize("window", [4096, 6])
@pytest.mark.parametrize("which", ["words", "texts", "pairs"])
def test_files_are_those_of_the_evaluation_to_the_byte(
    which: str, window: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Of numbers, whose last bits follow the batches, only where the window holds all."""
    trained: Trained = request.getfixturevalue(which)
    predictor = load_trained(trained.train).predictor
    source = given(trained.test, trained.prepared)
    limits = BatchLimits(sentences=32, tokens=3200)
    with task_files(tmp_path / "out", predictor.model.tasks) as files:
        for part in predictor.stream(source, predictor.asking(limits=limits, window=window)):
            files.add(part)
    written = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    expected = {path.name: path.read_text() for path in trained.evaluate.iterdir()}
    assert written.keys() == expected.keys() and len(written) == len(predictor.tasks)
    for name in expected.keys() - ({"size.tsv", "odd.jsonl"} if window == 6 else set()):
        assert written[name] == expected[name], name
    assert [line.split("\t")[0] for line in written["size.tsv"].splitlines()[1:]] == [*map(str, range(23))]


def test_examples_without_gold_among_others_are_predicted_too(words: Trained) -> None:
    """An evaluation predicts what is annotated; new text is predicted whatever it carries."""
    bare = [replace(s, layers={} if number % 2 else s.layers) for number, s in enumerate(words.test)]
    same(shown(words, given(bare, words.prepared)), words)


def test_probabilities_are_distributions_whose_best_is_the_prediction(words: Trained) -> None:
    text = "".join(" ".join(sentence.words) + "\n" for sentence in words.test)
    found = shown(words, lines(text, "words"), probabilities=True)
    for one in found:
        assert one["probabilities"].keys() == {"pos", "f1", "ner", "topic"}
        assert next(iter(one["probabilities"]["topic"])) == one["tasks"]["topic"]
        tags = one["probabilities"]["pos"]
        assert [next(iter(tag)) for tag in tags] == one["tasks"]["pos"]
        assert all(sum(tag.values()) == pytest.approx(1, abs=1e-3) for tag in [*tags, *one["probabilities"]["ner"]])


def test_a_reader_s_format_without_gold(words: Trained, tmp_path: Path) -> None:
    from mtlspec.data.readers.conllu import Options
    from mtlspec.use.inputs import read_files

    bare = [replace(sentence, layers={}) for sentence in words.test]
    (tmp_path / "new.conllu").write_text(conllu(bare))
    source = read_files([str(tmp_path / "new.conllu")], Options(type="conllu"), None, io.BytesIO())
    found = shown(words, source, tasks=["pos", "dep"])
    expected = words.predictions()
    assert [one["tasks"]["pos"] for one in found] == expected["pos"]
    assert [one["tasks"]["dep"]["heads"] for one in found] == [[*tree.heads] for tree in expected["dep"]]
    assert found[3]["id"] == words.test[3].id


def test_from_python(words: Trained, pairs: Trained) -> None:
    model = load_trained(words.train)
    sentences = [[*sentence.words] for sentence in words.test]
    found = model.predict(sentences, tasks=["pos", "topic"])
    expected = words.predictions()
    assert [one["tasks"] for one in found] == [
        {"pos": pos, "topic": topic} for pos, topic in zip(expected["pos"], expected["topic"], strict=True)
    ]
    assert model.predict([" ".join(sentences[0])], tasks=["pos"])[0]["tasks"] == {"pos": expected["pos"][0]}
    assert model.predict([]) == []
    same(load_trained(pairs.train).predict([(s.texts[0], s.texts[1]) for s in pairs.test]), pairs)
    with pytest.raises(DataError, match="E552: texts and lists of words are mixed"):
        model.predict(["the cat", ["the", "cat"]])
    for empty in ("", " ", [], ["the", ""]):
        with pytest.raises(DataError, match="input:2: error E553: an empty text, or an empty word; leave it out"):
            model.predict([["the"], empty])
