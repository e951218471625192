"""What every reader and every generator promises, for all files in their folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mtlspec import kinds
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError
from mtlspec.spec.families import GENERATORS, LAYERS, READERS, GeneratorOptions, ReaderOptions
from tests.unit.data.hub_cache import REVISION, fill_cache

# The least that a reader needs beside its type, and a file of one sentence in its format.
NEEDED: dict[str, dict[str, Any]] = {
    "columns": {"column": {"tag": 1}},
    "table": {"header": False, "words": 0, "label": {"tag": 1}},
    "jsonl": {"words": "word", "label": {"tag": "tag"}},
    "json": {"words": "word", "label": {"tag": "tag"}},
    "arrow": {"words": "word", "label": {"tag": "tag"}},
    "hub": {"id": "someone/some", "revision": REVISION, "fetch": ["*.txt"]},
}
FILES = {
    "conllu": "1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n",
    "brackets": "(TOP (INTJ (UH Hi)))\n",
    "conll2012": "d 0 0 Hi UH (TOP*) - - - - * -\n",
    "columns": "Hi UH\n",
    "table": "Hi\tUH\n",
    "jsonl": '{"word": "Hi", "tag": "UH"}\n',
    "json": '[{"word": "Hi", "tag": "UH"}]',
}


@pytest.mark.parametrize("name", kinds.names(READERS))
def test_a_reader_gives_the_columns_that_it_names(name: str, tmp_path: Path) -> None:
    module = kinds.load(READERS, name)
    options = module.Options(type=name, **NEEDED.get(name, {}))
    assert isinstance(options, ReaderOptions)
    file = tmp_path / "one"
    if name == "arrow":
        pq.write_table(pa.table({"word": ["Hi"], "tag": ["UH"]}), file)
    else:
        file.write_text(FILES[name])
    (sentence,) = options.read(file)
    assert isinstance(sentence, Sentence) and sentence.words == ("Hi",) and sentence.place == (str(file), 1)
    assert set(sentence.layers) == set(options.column_names())
    assert all(options.layer_kind(column) in kinds.names(LAYERS) for column in options.column_names())
    assert options.layer_kind("no such column") is None
    (block,) = options.blocks(file)
    assert options.parse(block) == sentence


@pytest.mark.parametrize("name", kinds.names(READERS))
def test_a_reader_streams_and_names_a_missing_file(name: str, tmp_path: Path) -> None:
    module = kinds.load(READERS, name)
    options = module.Options(type=name, **NEEDED.get(name, {}))
    stream = options.read(tmp_path / "none")  # nothing is opened before the first sentence is asked for
    with pytest.raises(DataError, match="none: error E200"):
        next(stream)


@pytest.mark.parametrize("name", kinds.names(GENERATORS))
def test_a_generator_writes_the_same_files_twice(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = kinds.load(GENERATORS, name)
    if name == "hub":
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
        fill_cache(tmp_path / "cache", "someone/some", {"a.txt": b"a"})
    options = module.Options(type=name, **NEEDED.get(name, {}))
    assert isinstance(options, GeneratorOptions)
    small = options.model_copy(update={split: 5 for split in ("train", "dev", "test") if hasattr(options, split)})
    contents = []
    for number in range(2):
        out = tmp_path / str(number)
        small.generate(out)
        contents.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
    assert contents[0] == contents[1] and contents[0]
