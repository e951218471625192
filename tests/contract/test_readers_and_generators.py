"""What every reader and every generator promises, for all files in their folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mtlspec import kinds
from mtlspec.contract.data import check_generator, check_reader
from mtlspec.data.sentence import Sentence
from mtlspec.spec.card_families import GeneratorOptions, ReaderOptions
from mtlspec.spec.families import GENERATORS, READERS
from tests.unit.data.hub_cache import REVISION, fill_cache

# The least that a reader needs beside its type, and a file of one sentence in its format.
NEEDED: dict[str, dict[str, Any]] = {
    "columns": {"column": {"tag": 1}},
    "marked_columns": {"column": {"tag": 1}, "marks": {"tag": "X"}},
    "table": {"header": False, "words": 0, "label": {"tag": 1}},
    "jsonl": {"words": "word", "label": {"tag": "tag"}},
    "json": {"words": "word", "label": {"tag": "tag"}},
    "arrow": {"words": "word", "label": {"tag": "tag"}},
    "superglue": {"task": "rte"},
    "choices": {"question": ["word"], "choices": ["tags"], "right": "right"},
    "hub": {"id": "someone/some", "revision": REVISION, "fetch": ["*.txt"]},
    "pair_of": {
        "layer": "topic",
        "of": {
            "card": "data",
            "name": "topics",
            "licence": "CC0-1.0",
            "source": "a generator",
            "generator": {"type": "english_topic", "train": 8, "dev": 8, "test": 8},
            "files": [
                {
                    "reader": {"type": "table", "text": ["sentence"], "label": {"topic": "topic"}},
                    "paths": {"train": "train.tsv", "dev": "dev.tsv", "test": "test.tsv"},
                    "layers": {"topic": "topic"},
                }
            ],
        },
    },
}
FILES = {
    "conllu": "1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n",
    "brackets": "(TOP (INTJ (UH Hi)))\n",
    "conll2012": "d 0 0 Hi UH (TOP*) - - - - * -\n",
    "columns": "Hi UH\n",
    "marked_columns": "Hi UH\n",
    "table": "Hi\tUH\n",
    "jsonl": '{"word": "Hi", "tag": "UH"}\n',
    "json": '[{"word": "Hi", "tag": "UH"}]',
    "squad": '{"data": [{"paragraphs": [{"context": "Ho", "qas": [{"question": "Hi", "id": "q", "answers": []}]}]}]}',
    "mrqa": '{"context": "Ho", "qas": [{"question": "Hi", "qid": "q", "answers": [], "detected_answers": []}]}\n',
    "superglue": '{"premise": "Hi", "hypothesis": "Hi", "label": "entailment"}\n',
}


@pytest.mark.parametrize("name", sorted({*kinds.names(READERS)} - {"choices"}))  # a question is two sentences or more
def test_a_reader_gives_the_columns_that_it_names_and_names_a_missing_file(name: str, tmp_path: Path) -> None:
    options = kinds.parse(READERS, ReaderOptions, {"type": name, **NEEDED.get(name, {})})
    file = tmp_path / "one"
    if name == "arrow":
        pq.write_table(pa.table({"word": ["Hi"], "tag": ["UH"]}), file)
    else:
        file.write_text(FILES[name])
    check_reader(options, file, tmp_path / "none")
    (sentence,) = options.read(file)
    assert isinstance(sentence, Sentence) and (sentence.words or sentence.texts[:1]) == ("Hi",)


@pytest.mark.parametrize("name", kinds.names(GENERATORS))
def test_a_generator_writes_the_same_files_twice(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "hub":
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
        fill_cache(tmp_path / "cache", "someone/some", {"a.txt": b"a"})
    options = kinds.parse(GENERATORS, GeneratorOptions, {"type": name, **NEEDED.get(name, {})})
    check_generator(options, tmp_path)
