"""Arrow and Parquet files, and data sets in the hub's layout: read as `datasets` reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Dataset, Features, Sequence, Value, load_dataset
from pydantic import ValidationError

from mtlspec.data.card_folder import card_folder
from mtlspec.data.corpus import read_split
from mtlspec.data.generators import hub
from mtlspec.data.readers import arrow
from mtlspec.errors import DataError
from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard
from tests.unit.data.hub_cache import REVISION, fill_cache

NAMES = ["entailment", "not_entailment"]
ROWS = {
    "premise": ["It rains.", 'He said "so".', "é\n\u2028x"],
    "hypothesis": ["a", "b", "c"],
    "label": [0, 1, -1],
    "score": [1.5, float("nan"), None],
    "idx": [7, 8, 9],
}
FEATURES = Features(
    {
        "premise": Value("string"),
        "hypothesis": Value("string"),
        "label": ClassLabel(names=NAMES),
        "score": Value("float64"),
        "idx": Value("int32"),
    }
)


def options(**more: Any) -> arrow.Options:
    said = {"text": ["premise", "hypothesis"], "label": {"l": "label"}, "value": {"v": "score"}, "id": "idx", **more}
    return arrow.Options.model_validate({"type": "arrow", **said})


def write(form: str, file: Path) -> None:
    made = Dataset.from_dict(ROWS, features=FEATURES)
    if form == "parquet":
        made.to_parquet(file)
    elif form == "stream":
        with pa.ipc.new_stream(file, made.data.table.schema) as stream:
            stream.write_table(made.data.table)
    else:
        with pa.ipc.new_file(file, made.data.table.schema) as stream:
            stream.write_table(made.data.table)


@pytest.mark.parametrize("form", ["parquet", "stream", "file"])
def test_rows_come_with_the_names_of_their_classes(form: str, tmp_path: Path) -> None:
    file = tmp_path / "x"
    write(form, file)
    found = list(options().read(file))
    assert [s.texts for s in found] == list(zip(ROWS["premise"], ROWS["hypothesis"], strict=True))
    assert [dict(s.layers) for s in found] == [{"l": "entailment", "v": 1.5}, {"l": "not_entailment"}, {}]
    assert [s.id for s in found] == ["7", "8", "9"] and [s.place for s in found] == [(str(file), n) for n in (1, 2, 3)]


def test_a_bare_minus_one_is_not_guessed_at(tmp_path: Path) -> None:
    file = tmp_path / "x"
    pq.write_table(pa.table({"t": ["a", "b", "c"], "y": [1, 0, -1]}), file)
    bare: dict[str, Any] = {"type": "arrow", "text": ["t"], "label": {"l": "y"}}
    with pytest.raises(DataError, match=r"x:3: error E737: -1 in 'y' is a class, or the hub's sign for none; for"):
        list(arrow.Options.model_validate(bare).read(file))
    found = arrow.Options.model_validate({**bare, "missing": ["", "_", "-1"]}).read(file)
    assert [s.layers.get("l") for s in found] == ["1", "0", None]
    found = arrow.Options.model_validate({**bare, "classes": {"l": ["-1", "0", "1"]}}).read(file)
    assert [s.layers.get("l") for s in found] == ["1", "0", "-1"]


def test_words_with_tags_that_are_classes(tmp_path: Path) -> None:
    features = Features(
        {
            "tokens": Sequence(Value("string")),
            "ner_tags": Sequence(ClassLabel(names=["O", "B-X"])),
            "n": {"l": Value("string")},
        }
    )
    rows = {"tokens": [["a", "b"], ["c"]], "ner_tags": [[0, 1], [-1]], "n": [{"l": "x"}, {"l": "y"}]}
    Dataset.from_dict(rows, features=features).to_parquet(tmp_path / "x")
    reader = options(text=[], words="tokens", label={"n": "n.l"}, value={}, tags={"ner": "ner_tags"}, id=None)
    first, second = reader.read(tmp_path / "x")
    assert first.words == ("a", "b") and first.layers == {"n": "x", "ner": ("O", "B-X")}
    assert second.words == ("c",) and second.layers == {"n": "y"}


def test_a_folder_that_datasets_saved_and_one_in_the_hubs_layout(tmp_path: Path) -> None:
    made = Dataset.from_dict(ROWS, features=FEATURES)
    made.save_to_disk(tmp_path / "saved/train")
    made.to_parquet(tmp_path / "hub/rte/train-00000-of-00001.parquet")
    entries = {"train": "saved/train/*.arrow", "dev": "hub/rte/train-*.parquet"}
    group = {"reader": options().model_dump(), "paths": entries, "layers": {"label": "l", "score": "v"}}
    about = {"card": "data", "name": "x", "licence": "x", "source": "x", "root": "."}
    card = DataCard.model_validate({**about, "files": [group]})
    one, other = (list(read_split(card, tmp_path, split)) for split in ("train", "dev"))
    assert [(s.texts, s.layers) for s in one] == [(s.texts, s.layers) for s in other] and len(one) == 3
    theirs = load_dataset("parquet", data_files=str(tmp_path / "hub/rte/*.parquet"), cache_dir=str(tmp_path / "cache"))
    assert [s.texts[0] for s in other] == theirs["train"]["premise"][:]


def test_what_is_wrong_with_a_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "x.parquet"
    file.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(DataError) as caught:
        list(options().read(file))
    assert str(caught.value).startswith(f"{file}:1: error E730: not an Arrow file: ")
    assert str(caught.value).endswith("; Arrow or Parquet; tables and JSON lines have the readers `table` and `jsonl`")
    pq.write_table(pa.table({"premise": ["a"], "hypothesis": ["b"], "lable": [1]}), file)
    with pytest.raises(DataError) as caught:
        list(options(value={}, id=None).read(file))
    assert str(caught.value) == f"{file}: error E731: the file has no column 'label'; did you mean 'lable'?"
    pq.write_table(pa.table({"premise": ["a", None], "hypothesis": ["b", "c"]}), file)
    with pytest.raises(DataError, match=r"x.parquet:2: error E713: the text 'premise' is empty"):
        list(options(label={}, value={}, id=None).read(file))
    assert options(skip=1).problem() == "`skip` is for files of lines"
    assert options(text=[0]).problem() == "a column has a name, not the number 0"


def hub_options(**changes: Any) -> hub.Options:
    said = {"type": "hub", "id": "someone/rte", "revision": REVISION, "fetch": ["data/*.parquet"], **changes}
    return hub.Options.model_validate(said)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's hub cache, and a hub that nobody answers for (port 9 on this machine)."""
    folder = tmp_path / "user"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    return folder


def test_a_data_set_of_the_hub_is_a_card(cache: Path, tmp_path: Path) -> None:
    Dataset.from_dict(ROWS, features=FEATURES).to_parquet(tmp_path / "x")
    part = (tmp_path / "x").read_bytes()
    fill_cache(cache, "someone/rte", {"README.md": b"", "data/train-0.parquet": part, "data/test-0.parquet": part})
    group = {"reader": options().model_dump(), "paths": {"train": "data/train-*.parquet"}, "layers": {"label": "l"}}
    about = {"card": "data", "name": "x", "licence": "x", "source": "x", "generator": hub_options().model_dump()}
    card = DataCard.model_validate({**about, "files": [group]})
    with card_folder(card, Project(tmp_path)) as root:
        assert sorted(path.name for path in root.rglob("*.*")) == ["test-0.parquet", "train-0.parquet"]
        assert [s.layers.get("label") for s in read_split(card, root, "train")] == [*NAMES, None]


@pytest.mark.parametrize("held", [{}, {"README.md": b""}], ids=["nothing", "other files"])
def test_a_hub_that_cannot_be_reached_is_one_clear_line(held: dict[str, bytes], cache: Path, tmp_path: Path) -> None:
    if held:
        fill_cache(cache, "someone/rte", held)
    with pytest.raises(DataError) as caught:
        hub_options().generate(tmp_path / "out")
    assert "error E732: 'someone/rte' is in no local hub cache and cannot be downloaded: " in str(caught.value)
    assert f"`hf download someone/rte --repo-type dataset --revision {REVISION}`" in str(caught.value)


@pytest.mark.parametrize("change", [{"revision": "main"}, {"revision": REVISION[:7]}, {"id": "../x"}, {"fetch": []}])
def test_a_hub_id_needs_a_whole_revision(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        hub_options(**change)
