"""Cards guessed from files: formats, columns, labels, splits, and what is told of them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mtlspec.data.guess.card import GuessedCard, corpus_folder, guess_card, guess_reading
from mtlspec.data.guess.splits import bare_name, split_of, splits_beside
from mtlspec.data.guess.text import card_text, spec_text, task_types
from mtlspec.errors import DataError, MtlspecError
from mtlspec.spec.cards import DataCard
from mtlspec.spec.yaml import parse_yaml
from tests.unit.data.malformed import line12, row

SENTENCES = [f"this is the sentence number {number} of them" for number in range(40)]


def guessed(path: Path) -> GuessedCard:
    return guess_card(path, "x", "r", corpus_folder(path))


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def reader(path: Path, content: str) -> dict[str, Any]:
    return guess_reading(write(path, content), "mine").reader


def rows(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def test_tables_with_and_without_a_header(tmp_path: Path) -> None:
    body = [f"{number}\t{text}\t{'yes' if number % 3 else 'no'}" for number, text in enumerate(SENTENCES)]
    assert reader(tmp_path / "a", rows("id\ttext\tlabel", *body)) == {
        "type": "table",
        "text": ["text"],
        "label": {"label": "label"},
        "id": "id",
    }
    assert reader(tmp_path / "b", rows(*body)) == {"type": "table", "header": False, "text": [1], "label": {"label": 2}}


def test_csv_with_quotes_semicolons_and_labels_before_texts(tmp_path: Path) -> None:
    body = [f'"{number % 2}","{text}, and a ""quote"""' for number, text in enumerate(SENTENCES)]
    found = reader(tmp_path / "a.csv", rows(*body))
    assert (found["delimiter"], found["quotes"], found["text"], found["label"]) == ("comma", "csv", [1], {"label": 0})
    body = [f"{text};{number / 7:.2f}" for number, text in enumerate(SENTENCES)]
    found = reader(tmp_path / "b.csv", rows("sentence;score", *body))
    assert (found["delimiter"], found["text"], found["value"]) == ("semicolon", ["sentence"], {"score": "score"})
    body = [f"{number % 2} {text}" for number, text in enumerate(SENTENCES)]
    found = reader(tmp_path / "c.txt", rows(*body))
    assert (found["delimiter"], found["cuts"], found["text"], found["label"]) == ("space", 1, [1], {"label": 0})


def test_labels_that_mean_none_are_missing(tmp_path: Path) -> None:
    body = [f"{text}\t{('yes', 'no', '-')[number % 3]}" for number, text in enumerate(SENTENCES)]
    found = guessed(write(tmp_path / "all.tsv", rows("sentence\tgold_label", *body)))
    assert found.reading.reader["missing"] == ["", "_", "-"] and found.classes == {"gold_label": ["no", "yes"]}
    assert any("- in 'gold_label' is taken as: no label" in note for note in found.notes)
    body = [f"{text}\t{('yes', 'no', '_')[number % 3]}" for number, text in enumerate(SENTENCES)]
    found = guessed(write(tmp_path / "all.tsv", rows("sentence\tgold_label", *body)))
    assert "missing" not in found.reading.reader and found.classes == {"gold_label": ["no", "yes"]}
    assert any("_ in 'gold_label' is taken as: no label" in note for note in found.notes)


def test_json_in_lines_lists_and_fields(tmp_path: Path) -> None:
    objects = [{"in": {"text": text}, "label": number % 2 == 0, "idx": number} for number, text in enumerate(SENTENCES)]
    options = {"text": ["in.text"], "label": {"label": "label"}, "id": "idx"}
    assert reader(tmp_path / "a", rows(*map(json.dumps, objects))) == {"type": "jsonl"} | options
    assert reader(tmp_path / "b", json.dumps(objects)) == {"type": "json"} | options
    assert (
        reader(tmp_path / "c", json.dumps({"v": 2, "data": objects}, indent=1))
        == {
            "type": "json",
            "under": "data",
        }
        | options
    )


def test_columns_of_tags_with_their_schemes(tmp_path: Path) -> None:
    text = "".join(f"A{n} NN B-PER\nb{n} VBD I-PER\nc{n} IN O\nd{n} NN B-LOC\n\n" for n in range(30))
    found = reader(tmp_path / "a.conll", text)
    assert found == {"type": "columns", "column": {"xpos": 1, "ner": 2}, "spans": {"ner": "iob2"}}
    spans = reader(tmp_path / "b", "".join(f"w{n}\tS-PER\nv{n}\tB-LOC\nu{n}\tE-LOC\n.\tO\n\n" for n in range(30)))
    assert spans["spans"] == {"ner": "iobes"} and spans["delimiter"] == "tab"
    older = reader(tmp_path / "c", "".join(f"w{n} I-PER\nv{n} O\nu{n} I-LOC\nt{n} I-LOC\n. O\n\n" for n in range(30)))
    assert older["spans"] == {"ner": "iob1"}
    plain = reader(tmp_path / "d", "".join(f"w{n}\tKEEP\nv{n}\tDEL\n\n" for n in range(30)))
    assert plain == {"type": "columns", "column": {"mine": 1}, "delimiter": "tab"}


@pytest.mark.parametrize(
    ("type_", "content"),
    [
        ("conllu", "# c\n" + row(1) + row(2, 1) + "\n" + row(1)),
        ("brackets", "(S (A a) (B (C b)))\n(S (A a))\n"),
        ("conll2012", "#begin document (doc); part 000\n" + line12(0, parse="(A*)") + "\n#end document\n"),
        ("conll2012", line12(0, parse="(A*)") + "\n"),
    ],
)
def test_formats_of_treebanks(tmp_path: Path, type_: str, content: str) -> None:
    found = guess_reading(write(tmp_path / "x", content), "mine")
    assert found.reader == {"type": type_} and found.distinctive


@pytest.mark.parametrize(
    ("given_", "files", "expected"),
    [
        (
            "train.tsv",
            "train.tsv dev.tsv test.tsv notes.tsv",
            {"train": "train.tsv", "dev": "dev.tsv", "test": "test.tsv"},
        ),
        ("a.train.conll", "a.train.conll a.dev.conll b.dev.conll", {"train": "a.train.conll", "dev": "a.dev.conll"}),
        ("eng.testa", "eng.train eng.testa eng.testb", {"train": "eng.train", "dev": "eng.testa", "test": "eng.testb"}),
        ("train/x.txt", "train/x.txt dev/x.txt dev/y.txt", {"train": "train/x.txt", "dev": "dev/x.txt"}),
        ("Train.csv", "Train.csv Valid.csv trainer.csv", {"train": "Train.csv", "dev": "Valid.csv"}),
        ("train.tsv", "train.tsv dev_a.tsv dev_b.tsv", {"train": "train.tsv"}),
        ("all.tsv", "all.tsv train.tsv", {"train": "all.tsv"}),
        (
            "train-00000-of-00002.parquet",
            "train-00000-of-00002.parquet train-00001-of-00002.parquet test-00000-of-00001.parquet",
            {
                "train": "train-00000-of-00002.parquet train-00001-of-00002.parquet",
                "test": "test-00000-of-00001.parquet",
            },
        ),
    ],
)
def test_splits_are_found_by_their_names(tmp_path: Path, given_: str, files: str, expected: dict[str, str]) -> None:
    for name in files.split():
        write(tmp_path / name, "x")
    found = splits_beside(tmp_path / given_)
    shown = {split: " ".join(str(path.relative_to(tmp_path)) for path in paths) for split, paths in found.items()}
    assert shown == expected


def test_names_of_cards_come_from_names_of_files() -> None:
    assert bare_name(Path("ewt5-small.train.conllu.gz")) == "ewt5_small"
    assert bare_name(Path("stsa.binary.train")) == "stsa_binary" and bare_name(Path("train.tsv")) == ""
    assert split_of(Path("x/constraint.tsv")) is None and split_of(Path("x/SICK_trial.txt")) == "dev"


def test_files_without_labels_or_of_another_layout_are_told(tmp_path: Path) -> None:
    body = [f"{text}\t{number % 2}" for number, text in enumerate(SENTENCES)]
    write(tmp_path / "train.tsv", rows("sentence\tlabel", *body))
    write(tmp_path / "test.tsv", rows("index\tsentence", *(f"{n}\t{text}" for n, text in enumerate(SENTENCES))))
    write(tmp_path / "dev.tsv", "something else entirely\n")
    found = guessed(tmp_path / "train.tsv")
    group = found.values["files"][0]
    assert group["paths"] == {"train": "train.tsv", "test": "test.tsv"} and group["unlabelled"] == ["test"]
    assert found.values["hold_out"] == {"dev": 0.1, "seed": 1} and found.sizes["dev"] > 0
    assert "dev.tsv is left out: it does not read like the training file" in found.notes
    assert "test.tsv seems to have no labels: it is predicted, not scored" in found.notes


def test_how_sure_a_guess_is(tmp_path: Path) -> None:
    body = [f"{text}\t{number % 2}" for number, text in enumerate(SENTENCES)]
    assert guessed(write(tmp_path / "a.tsv", rows("sentence\tlabel", *body))).sure == "sure"
    assert guessed(write(tmp_path / "b.tsv", rows("sentence\tlabel", *body, "broken"))).sure == "likely"
    assert guessed(write(tmp_path / "c.tsv", rows(*body))).sure == "a guess"


def test_a_packed_file_is_guessed_like_a_plain_one(tmp_path: Path) -> None:
    file = tmp_path / "x.train.conllu.gz"
    file.write_bytes(gzip.compress((row(1) + "\n").encode() * 30))
    assert guess_reading(file, "mine").reader == {"type": "conllu"}


def test_the_written_card_means_what_was_guessed(tmp_path: Path) -> None:
    names = "#1 String\t#2 String\tyes"
    body = [f"{text}\t{text} too: ok\t{('no', 'on', '~')[number % 3]}" for number, text in enumerate(SENTENCES)]
    found = guessed(write(tmp_path / "a b: c.tsv", rows(names, *body)))
    node = parse_yaml(card_text(found.values).encode(), "x.yaml")
    assert DataCard.model_validate(node.plain()) == found.card


def test_classes_that_no_card_can_hold_are_not_listed(tmp_path: Path) -> None:
    body = [text + "\t" + ("yes", "no\x9b")[number % 2] for number, text in enumerate(SENTENCES)]
    found = guessed(write(tmp_path / "a.tsv", rows("text\tlabel", *body)))
    assert not found.classes and parse_yaml(card_text(found.values).encode(), "x.yaml")


@pytest.mark.parametrize("header", ["text\tlabel", "some\tother", ""])
def test_texts_may_repeat(tmp_path: Path, header: str) -> None:
    texts = ("a good film it was", "a bad film", "the film was long, and boring")
    body = [f"{texts[number % 3]}\t{'pos' if number % 2 else 'neg'}" for number in range(90)]
    found = guessed(write(tmp_path / "a.tsv", rows(*([header] if header else []), *body)))
    text, label = header.split("\t") if header else (0, 1)
    assert found.reading.reader["text"] == [text] and list(found.reading.reader["label"].values()) == [label]
    named = f"'{text}'" if header else "column 0"
    told = f"a guess: {named} is the text, although it has only 3 different ones"
    assert (told in found.notes) == (header != "text\tlabel") and found.sure != "sure"  # a split may be left empty


def test_entities_are_proposed_where_all_tags_spell_spans(tmp_path: Path) -> None:
    def tagged(last: str) -> GuessedCard:
        tags = [*["B-PER", "I-PER", "B-LOC"] * 20, last]
        lines = [f"Word{number} {tag}\nsleeps{number} O\n" for number, tag in enumerate(tags)]
        return guessed(write(tmp_path / last / "ner.txt", rows(*lines)))

    assert task_types(tagged("B-ORG")) == {"ner": "biaffine_ner"}
    odd = tagged("Q-ORG")
    assert task_types(odd) == {"ner": "tagging"} and "ner: {type: tagging, layer: ner}" in spec_text(odd, "tiny", {})
    assert "tags of 'ner' that spell no part of a span, as the others do: Q-ORG" in odd.notes


def test_columns_without_names_are_called_by_their_numbers(tmp_path: Path) -> None:
    body = [f"{number % 4}\t{number % 2}\t{text}" for number, text in enumerate(SENTENCES)]
    found = guessed(write(tmp_path / "a.tsv", rows(*body)))
    assert found.reading.seen == {"text": "column 2", "label": "column 1, classes", "not read": "column 0"}
    assert "a guess: column 1 is the label: it has few different cells" in found.notes
    assert "could be labels, too, and are not read: column 0" in found.notes


def scored(path: Path, cells: dict[int, str], label: bool) -> GuessedCard:
    """A table of texts and scores, of which some lines hold something else; with a label, or without."""
    score = {number + 2: f"{number / 8}" for number in range(len(SENTENCES))} | cells
    body = [f"{text}\t{score[at]}" + f"\t{'no' if at % 2 else 'yes'}" * label for at, text in enumerate(SENTENCES, 2)]
    return guessed(write(path, rows("text\tscore" + "\tlabel" * label, *body)))


def test_a_column_of_numbers_that_is_left_out_is_told(tmp_path: Path) -> None:
    assert scored(tmp_path / "a.tsv", {}, True).reading.layers == {"score": "score", "label": "label"}
    found = scored(tmp_path / "b.tsv", {6: "n/a"}, True)
    assert found.reading.layers == {"label": "label"} and found.reading.seen["not read"] == "score"
    assert "score is not read: 1 of 40 cells is no number (line 6)" in found.notes and found.sure == "likely"
    found = scored(tmp_path / "c.tsv", {6: "foo", 9: "bar", 10: "_"}, True)
    assert "score is not read: 2 of 39 cells are no numbers (the first: line 6)" in found.notes
    alone = scored(tmp_path / "d.tsv", {6: "foo"}, False)
    assert alone.reading.layers == {"score": "score"} and alone.malformed == 1
    (note,) = [note for note in alone.notes if "malformed" in note]
    assert "sentences of train is malformed, the first at " in note and "d.tsv:6" in note and "'foo'" in note


def test_lines_are_counted_as_the_file_has_them(tmp_path: Path) -> None:
    body = [f'"{text},\n and more",{number / 8},{number % 2}' for number, text in enumerate(SENTENCES)]
    body[2] = body[2].replace("0.25", "foo")
    notes = guess_reading(write(tmp_path / "a.csv", rows("text,score,label", "", *body)), "x").doubts
    assert notes == ("score is not read: 1 of 40 cells is no number (line 7)",)
    objects = [{"text": text, "score": number / 8, "label": number % 2} for number, text in enumerate(SENTENCES)]
    objects[2]["score"] = "foo"
    for name, content, line in (
        ("b", rows("", *map(json.dumps, objects)), 4),
        ("c", json.dumps(objects, indent=1), 12),
    ):
        notes = guess_reading(write(tmp_path / name, content), "x").doubts
        assert notes == (f"score is not read: 1 of 40 cells is no number (line {line})",)


def test_classes_that_may_be_misspelt_are_told(tmp_path: Path) -> None:
    labels = ["yes", "no"] * 100
    labels[6] = "yess"
    body = [f"text number {number} of them\t{label}" for number, label in enumerate(labels)]
    found = guessed(write(tmp_path / "a.tsv", rows("text\tlabel", *body)))
    assert found.notes[-1] == f"rare classes of 'label', perhaps misspelt: yess (1 of 200, first at {tmp_path}/a.tsv:8)"
    few = guessed(write(tmp_path / "b.tsv", rows("text\tlabel", *body[:4], *body[5:7])))
    assert not any("rare" in note for note in few.notes)


def test_the_defects_of_an_unmistakable_file_are_told(tmp_path: Path) -> None:
    good, wrong, short = row(1) + row(2, 1), row(1) + row(2, 7), row(1) + row(2, 1).replace("\t", " ", 1)
    file = write(tmp_path / "a", "\n".join([good, wrong, short, wrong]))
    with pytest.raises(MtlspecError) as caught:
        guess_reading(file, "x")
    told = [(error.code, str(error.place).rpartition("/")[2]) for error in caught.value.problems]
    assert told == [("E752", "a"), ("E216", "a:5"), ("E210", "a:8"), ("E216", "a:11")]
    several = [row(1, word=f"w{number}") + row(2, 1) for number in range(30)]
    found = guessed(write(tmp_path / "b" / "train", "\n".join([short, *several])))
    assert found.reading.reader == {"type": "conllu"} and found.malformed == 1
    table = [f"{number}\tu\tv\tw\tx\ty\t{number}\tz\t{number % 2}\t{text}" for number, text in enumerate(SENTENCES)]
    assert reader(tmp_path / "c", rows(*table))["type"] == "table"
    columns = "".join(f"w{n}\tKEEP\nv{n}\tDEL\n\n" for n in range(30))
    assert reader(tmp_path / "d.conllu", columns)["type"] == "columns"
    with pytest.raises(MtlspecError, match="E752"):
        guess_reading(write(tmp_path / "e.conllu", good.replace("\t0\t", "\t-\t")), "x")


def test_what_no_reader_can_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="E751: nothing to learn from was found; expected: a table"):
        guess_reading(write(tmp_path / "prose", "This is prose.\nIt has no labels, and no columns.\n"), "x")
    with pytest.raises(DataError, match="E750: there is no such file"):
        guess_reading(tmp_path / "none", "x")
    with pytest.raises(DataError, match="E750: this is a folder"):
        guess_reading(tmp_path, "x")


def test_a_corpus_of_one_text_is_one_clear_line(tmp_path: Path) -> None:
    """Its only text belongs to one split, whichever that is; with files for the others nothing is held out."""
    for text in ("the same again", "never another one", "one more of them"):
        file = write(tmp_path / text / "all.tsv", rows("text\tlabel", *(f"{text}\t{n % 2}" for n in range(40))))
        with pytest.raises(DataError) as caught:
            guessed(file)
        assert str(caught.value) == (
            f"{file}: error E753: all sentences have the same text, so none can be held out for dev or test; "
            "put files of other sentences beside it, or mend this one"
        )
    lines = "".join("the\tO\nsame\tB-X\n\n" for _ in range(30))
    for split in ("train", "dev"):
        file = write(tmp_path / "b" / f"{split}.txt", lines)
    with pytest.raises(DataError, match=r"train.txt: error E753: .* so none can be held out for test;"):
        guessed(file)
