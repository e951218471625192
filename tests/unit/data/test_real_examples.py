"""GLUE, SuperGLUE and others as they are published, read as the standard libraries read them (MTLSPEC_DATA)."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

from mtlspec.data.corpus import read_split
from mtlspec.data.pins import check_pins, resolve_root
from mtlspec.data.readers import jsonl, table
from mtlspec.data.sentence import Sentence
from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard
from mtlspec.spec.load import load_data_card

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif("MTLSPEC_DATA" not in os.environ, reason="MTLSPEC_DATA names no folder of real data"),
]
SIZES = {
    "cola": {"train": 8551, "test": 1043},
    "rte": {"train": 2490, "test": 277},
    "stsb": {"train": 5749, "test": 1500},
    "mrpc": {"train": 3667, "dev": 408, "test": 1725},
    "sst2": {"train": 6920, "dev": 872, "test": 1821},
    "agnews": {"train": 7600},
}


def data() -> Path:
    return Path(os.environ["MTLSPEC_DATA"])


def card(name: str) -> tuple[DataCard, Path]:
    loaded = load_data_card(name, Project(ROOT))
    return loaded, resolve_root(loaded, Project(ROOT))


@pytest.mark.parametrize("name", SIZES)
def test_the_cards_of_glue_read_their_files(name: str) -> None:
    loaded, root = card(name)
    check_pins(loaded, root, ROOT / f"registry/data/{name}.yaml")
    splits = {split: list(read_split(loaded, root, split)) for split in loaded.splits}
    held = sum(len(found) for split, found in splits.items() if split not in SIZES[name])
    assert len(splits["train"]) + held == SIZES[name]["train"]
    assert all(len(splits[split]) == size for split, size in SIZES[name].items() if split != "train")
    layer = "score" if name == "stsb" else "label"
    assert all(layer in sentence.layers for found in splits.values() for sentence in found)
    if loaded.hold_out is not None:
        texts = {split: {sentence.texts for sentence in found} for split, found in splits.items()}
        assert not texts["train"] & texts["dev"]
        assert abs(len(splits["dev"]) / SIZES[name]["train"] - 0.1) < 0.02


def theirs(file: Path, **options: Any) -> list[list[str]]:
    with file.open(encoding="utf-8-sig", newline="") as stream:
        return [row for row in csv.reader(stream, **options) if row]


PLAIN: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}


@pytest.mark.parametrize("name", ["cola", "rte", "stsb", "mrpc", "agnews"])
def test_tables_are_read_as_the_csv_module_reads_them(name: str) -> None:
    loaded, root = card(name)
    (group,) = loaded.files
    reader = group.reader
    assert isinstance(reader, table.Options)
    for split in group.paths:
        (path,) = group.entries(split)
        rows = theirs(root / path, **({} if name == "agnews" else PLAIN))
        names = rows.pop(0) if reader.header else list(range(len(rows[0])))
        found = list(reader.read(root / path))
        places = [names.index(place) for place in reader.text]
        assert [s.texts for s in found] == [tuple(row[at] for at in places) for row in rows]
        if reader.value:
            assert [s.layers["score"] for s in found] == [float(row[names.index("score")]) for row in rows]
        else:
            known = reader.classes["label"]
            at = names.index(reader.label["label"])
            assert [s.layers["label"] for s in found] == [
                known[row[at]] if isinstance(known, dict) else row[at] for row in rows
            ]


JSON: dict[str, tuple[list[str], dict[str, str], dict[str, str]]] = {
    "superglue/CB/train.jsonl": (["premise", "hypothesis"], {"l": "label"}, {}),
    "superglue/BoolQ/val.first1000.jsonl": (["question", "passage"], {"l": "label"}, {}),
    "superglue/COPA/train.jsonl": (["premise", "choice1"], {"l": "label"}, {}),
    "superglue/WSC/train.jsonl": (["text"], {"l": "label", "span": "target.span1_text"}, {"at": "target.span1_index"}),
    "superglue/WiC/val.jsonl": (["sentence1", "sentence2"], {"l": "label"}, {"version": "version"}),
    "nli/mnli/dev_matched.first3000.jsonl": (["premise", "hypothesis"], {"l": "label"}, {}),
    "nli/snli/snli_1.0_dev.jsonl": (["sentence1", "sentence2"], {"l": "gold_label"}, {}),
    "nli/scitail/test.jsonl": (["premise", "hypothesis"], {"l": "label"}, {}),
}


@pytest.mark.parametrize("path", JSON)
def test_json_lines_are_read_as_the_json_module_reads_them(path: str) -> None:
    texts, labels, values = JSON[path]
    reader = jsonl.Options(type="jsonl", text=tuple(texts), label=dict(labels), value=dict(values))
    rows = [json.loads(line) for line in (data() / path).read_text("utf-8").split("\n") if line]
    found = list(reader.read(data() / path))

    def at(row: Any, place: str) -> Any:
        for part in place.split("."):
            row = row.get(part)
        return row

    assert [s.texts for s in found] == [tuple(at(row, place) for place in texts) for row in rows]
    for layers, cast in ((labels, str), (values, float)):
        for name, place in layers.items():
            expected = [at(row, place) for row in rows]
            plain = [str(value).lower() if isinstance(value, bool) else value for value in expected]
            assert [s.layers[name] for s in found] == [cast(value) for value in plain]


TABLES: dict[str, tuple[dict[str, Any], int | None]] = {
    "nli/sick/SICK_test_annotated.txt": (
        {
            "text": ["sentence_A", "sentence_B"],
            "label": {"l": "entailment_judgment"},
            "value": {"v": "relatedness_score"},
        },
        4927,
    ),
    "nli/scitail/dev.re2.txt": ({"header": False, "text": [0, 1], "label": {"l": 2}}, 1304),
    "nli/snli/snli_1.0_dev.txt": ({"text": ["sentence1", "sentence2"], "label": {"l": "gold_label"}}, None),
    "sentiment/uci/imdb_labelled.txt": ({"header": False, "text": [0], "label": {"l": 1}}, 1000),
    "multiple_choice/swag/swag.allennlp-fixture.csv": (
        {"delimiter": "comma", "quotes": "csv", "text": ["sent1", "sent2"], "label": {"l": "label"}},
        None,
    ),
}


@pytest.mark.parametrize("path", TABLES)
def test_other_tables_are_read_whole(path: str) -> None:
    options, size = TABLES[path]
    file = data() / path
    found = list(table.Options.model_validate({"type": "table", **options}).read(file))
    quoted = options.get("quotes") == "csv"
    rows = [line for line in file.read_bytes().split(b"\n") if line.strip()]
    expected = len(theirs(file)) if quoted else len(rows)
    assert len(found) == expected - options.get("header", True) and (size is None or len(found) == size)
    assert all(set(s.layers) == {*options.get("label", ()), *options.get("value", ())} for s in found)


@pytest.mark.parametrize("name", ["cola_glue", "mnli", "qnli", "qqp", "sst2_glue", "rte", "mrpc", "stsb"])
def test_glues_own_layout_is_read_as_it_is(name: str) -> None:
    """Every split of the tiny files with headers that exists, labels where the card says that there are some."""
    loaded = load_data_card(name, Project(ROOT))
    folder = Path(loaded.root or "").name
    root = data() / "glue_tiny" / (folder if folder != "glue" else "")
    (group,) = loaded.files
    seen = 0
    for split in group.paths:
        (path,) = group.entries(split)
        if not (root / path).is_file():
            continue
        found: list[Sentence] = list(group.reader_of(split).read(root / path))
        lines = [line for line in (root / path).read_bytes().split(b"\n") if line.strip()]
        header = getattr(group.readers.get(split, group.reader), "header", True)
        assert len(found) == len(lines) - header and found
        labelled = split not in group.unlabelled
        assert all(bool(s.layers) == labelled and all(s.texts) for s in found)
        seen += 1
    assert seen


def test_the_diagnostic_set_is_a_split_of_mnli(tmp_path: Path) -> None:
    """GLUE's AX.tsv has pairs without labels, in a layout of its own."""
    file = tmp_path / "diagnostic" / "diagnostic.tsv"
    file.parent.mkdir()
    file.write_text('index\tsentence1\tsentence2\n0\tA cat sat.\tA cat "sat".\n1\tB.\tC.\n')
    found = list(read_split(load_data_card("mnli", Project(ROOT)), tmp_path, "glue_ax"))
    assert [(s.id, s.texts, s.layers) for s in found] == [
        ("0", ("A cat sat.", 'A cat "sat".'), {}),
        ("1", ("B.", "C."), {}),
    ]


@pytest.mark.parametrize("path", sorted((ROOT / "registry/data").glob("tagging_*.yaml")), ids=lambda path: path.stem)
def test_the_cards_of_tagging_read_their_files(path: Path) -> None:
    loaded, root = card(path.stem)
    check_pins(loaded, root, path)
    for split in loaded.splits:
        found = list(read_split(loaded, root, split))
        (layer,) = loaded.layer_kinds
        assert 100 < len(found) <= 2000 and all(None not in s.layers[layer] for s in found)  # type: ignore[operator]
