"""SuperGLUE's, MRQA's and WNUT 2017's files in small, in the layouts in which they are downloaded; and WNLI of GLUE."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.unit.data.tokenizers_of import WORDS

Object = dict[str, Any]
SETS = ("SQuAD", "NewsQA", "TriviaQA-web", "SearchQA", "HotpotQA", "NaturalQuestionsShort")
_SIZES = {"train": (0, 32), "val": (500, 24)}


def _text(number: int) -> str:
    """A sentence of nine words, of which no two of a file are alike."""
    front = f"{WORDS[number % 10]} {WORDS[number // 10 % 10]} {WORDS[number // 100 % 10]}"
    return f"{front} the cat saw a dog ."


def _lines(objects: Iterable[Object]) -> str:
    return "".join(json.dumps(one) + "\n" for one in objects)


def write_superglue(root: Path) -> None:
    """All that the cards of eight tasks name, below `root`."""
    makers: dict[str, Callable[[int], Object]] = {
        "BoolQ": lambda n: {"question": f"is it {_text(n)}", "passage": _text(n + 7), "label": n % 2 == 0, "idx": n},
        "CB": _commitment,
        "COPA": _choices,
        "MultiRC": _questions,
        "ReCoRD": _entities,
        "RTE": lambda n: {
            **{"premise": _text(n), "hypothesis": _text(n + 7)},
            **{"label": ("entailment", "not_entailment")[n % 2], "idx": n},
        },
        "WiC": _same_word,
        "WSC": _pronoun,
    }
    for folder, make in makers.items():
        for split, (start, size) in _SIZES.items():
            path = root / folder / f"{split}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_lines(make(start + number) for number in range(size)))


def _commitment(n: int) -> Object:
    label = ("entailment", "contradiction", "neutral")[n % 3]
    return {"premise": _text(n), "hypothesis": _text(n + 7), "label": label, "idx": n}


def _choices(n: int) -> Object:
    told = {"premise": _text(n), "choice1": "a dog is old .", "choice2": "a cat is good ."}
    return {**told, "question": ("cause", "effect")[n % 2], "label": n // 2 % 2, "idx": n}


def _questions(n: int) -> Object:
    answers = [{"text": WORDS[(n + k) % 10], "label": (n + k) % 2, "idx": 3 * n + k} for k in range(3)]
    question = {"question": "is it the cat ?", "sentences_used": [0], "idx": n, "answers": answers}
    return {"idx": n, "version": 1.1, "passage": {"text": _text(n), "questions": [question]}}


def _entities(n: int) -> Object:
    text = f"{_text(n)}\n@highlight\nthe dog is old"
    cat, dog = text.index("cat"), text.index("dog")
    named = [{"start": at, "end": at + 2} for at in (cat, dog)]
    at = (cat, dog)[n % 2]
    answers = [{"start": at, "end": at + 2, "text": text[at : at + 3]}]
    asked = {"query": "it saw the @placeholder .", "answers": answers, "idx": n}
    return {"source": "Daily mail", "passage": {"text": text, "entities": named}, "qas": [asked], "idx": n}


def _same_word(n: int) -> Object:
    """Halves of the file have words of their own, so words differ."""
    word = WORDS[n % 10]
    places = {"start1": 0, "end1": len(word), "start2": 3, "end2": 3 + len(word)}
    told = {"word": word, "sentence1": f"{word} {_text(n)}", "sentence2": f"is {word} {_text(n + 7)}"}
    return {**told, **places, "idx": n, "label": n % 2 == 0, "version": 1.1}


def _pronoun(n: int) -> Object:
    words = f"{_text(n)} it is old .".split()
    target = {"span1_index": 4, "span1_text": "cat", "span2_index": words.index("it", 8), "span2_text": "it"}
    return {"text": " ".join(words), "target": target, "idx": n, "label": n % 2 == 0}


def write_mrqa(root: Path) -> None:
    """A header and texts with their questions; the first text of a file is longer than a window of 256 sub-tokens."""
    for name in SETS:
        for folder, (start, size) in (("train", _SIZES["train"]), ("dev", _SIZES["val"])):
            path = root / folder / f"{name}.jsonl.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            header = {"header": {"dataset": name, "split": folder}}
            text = _lines([header, *(_asked(start + number, 12 if number == 0 else 1) for number in range(size))])
            path.write_bytes(gzip.compress(text.encode(), mtime=0))


def _asked(n: int, sentences: int) -> Object:
    context = " ".join(_text(n + 10 * number) for number in range(sentences))
    word = ("cat", "dog")[n % 2]
    at = context.rindex(word)
    found = {"text": word, "char_spans": [[at, at + 2]], "token_spans": [[0, 0]]}
    asked = {"qid": f"q{n}", "id": f"q{n}", "question": "is it old ?", "question_tokens": [["is", 0]]}
    return {"id": "", "context": context, "qas": [{**asked, "detected_answers": [found], "answers": [word]}]}


def write_wnut(root: Path) -> None:
    """A word and its tag a line, and an empty line behind every sentence."""
    root.mkdir(parents=True, exist_ok=True)
    names = ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
    for number, name in enumerate(names):
        sentences = []
        for row in range(24):
            words = _text(300 * number + row).split()
            tags = ["O"] * len(words)
            tags[4], tags[7] = ("B-person", "B-group") if row % 2 else ("B-product", "O")
            sentences.append("".join(f"{word}\t{tag}\n" for word, tag in zip(words, tags, strict=True)))
        (root / name).write_text("\n".join(sentences) + "\n")


def write_wnli(root: Path) -> None:
    for number, (split, size) in enumerate((("train", 48), ("dev", 16), ("test", 16))):
        header = "index\tsentence1\tsentence2" + ("" if split == "test" else "\tlabel")
        rows = [f"{n}\t{_text(300 * number + n)}\t{_text(300 * number + n + 7)}" for n in range(size)]
        told = [row if split == "test" else f"{row}\t{n % 2}" for n, row in enumerate(rows)]
        root.mkdir(parents=True, exist_ok=True)
        (root / f"{split}.tsv").write_text("\n".join([header, *told]) + "\n")
