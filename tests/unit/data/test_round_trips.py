"""What a writer writes, its reader reads back."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.data import writers
from mtlspec.data.escapes import unescape
from mtlspec.data.readers import brackets, columns, conll2012, conllu
from mtlspec.data.sentence import Sentence
from tests.unit.data.strategies import sentences

CONLLU = conllu.Options(type="conllu")
BRACKETS = brackets.Options(type="brackets")
CONLL2012 = conll2012.Options(type="conll2012")
COLUMNS = columns.Options(type="columns", column={"upos": 1, "ner": -1}, spans={"ner": "iob2"}, delimiter="tab")


def layers(found: list[Sentence], *names: str) -> list[tuple[object, ...]]:
    return [tuple(sentence.layers[name] for name in names) for sentence in found]


@settings(max_examples=60)
@given(st.lists(sentences(), min_size=1, max_size=4))
def test_every_format_gives_back_what_was_written(given_: list[Sentence]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x"
        for options, text, names in (
            (CONLLU, writers.conllu(given_), ("lemma", "upos", "xpos", "dep")),
            (BRACKETS, writers.brackets(given_), ("con", "pos")),
            (CONLL2012, writers.conll2012(given_, "doc"), ("pos", "con", "ner", "srl")),
            (COLUMNS, writers.columns(given_, ("upos", "ner")), ("upos", "ner")),
        ):
            file.write_text(text, "utf-8")
            found = list(options.read(file))
            assert layers(found, *names) == layers(given_, *names)
            assert [s.words for s in found] == [s.words for s in given_]


def test_the_embedded_corpus_survives_all_its_formats(mini: dict[str, list[Sentence]], mini_files: Path) -> None:
    for split, given_ in mini.items():
        found = list(CONLLU.read(mini_files / f"{split}.conllu"))
        assert layers(found, "lemma", "upos", "xpos", "dep") == layers(given_, "lemma", "upos", "xpos", "dep")
        assert [s.id for s in found] == [s.id for s in given_]
        assert [s.words for s in found] == [tuple(map(unescape, s.words)) for s in given_]
        trees = list(BRACKETS.read(mini_files / f"{split}.trees"))
        assert layers(trees, "con", "pos") == layers(given_, "con", "pos")
        rows = list(CONLL2012.read(mini_files / f"{split}.conll12"))
        assert layers(rows, "pos", "con", "ner", "srl") == layers(given_, "pos", "con", "ner", "srl")
        assert [s.words for s in rows] == [s.words for s in given_] == [s.words for s in trees]


def test_gzip_files_read_like_plain_ones(mini_files: Path, tmp_path: Path) -> None:
    plain = mini_files / "dev.conllu"
    packed = tmp_path / "dev.conllu.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    one, other = list(CONLLU.read(plain)), list(CONLLU.read(packed))
    assert layers(one, "xpos", "dep") == layers(other, "xpos", "dep")
    assert [s.place[1] for s in one] == [s.place[1] for s in other]


def test_comments_and_places_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.conllu"
    row = "1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n"
    file.write_text(f"# newdoc\n# sent_id = x-1\n{row}\n\n# text = Hi\n{row}")
    first, second = CONLLU.read(file)
    assert (first.id, first.comments, first.place) == ("x-1", ("# newdoc", "# sent_id = x-1"), (str(file), 3))
    assert (second.id, second.comments, second.place) == ("2", ("# text = Hi",), (str(file), 7))


def test_penn_treebank_files_are_read_without_traces_and_functions(tmp_path: Path) -> None:
    file = tmp_path / "wsj.mrg"
    file.write_text(
        "( (S \n    (NP-SBJ-1 (NNP Ann) )\n    (VP (VBD tried) \n"
        "      (S (NP-SBJ (-NONE- *-1) ) (VP (TO to) (VP (VB run) ))))\n"
        "    (-RRB- -RRB-) ))\n\n( (NP (NN x) ))\n"
    )
    first, second = BRACKETS.read(file)
    assert writers.brackets([first, second]) == (
        "(TOP (S (NP (NNP Ann)) (VP (VBD tried) (S (VP (TO to) (VP (VB run))))) (-RRB- -RRB-)))\n(TOP (NP (NN x)))\n"
    )
    kept = brackets.Options(type="brackets", functions=True, traces=True)
    full, _ = kept.read(file)
    assert full.words == ("Ann", "tried", "*-1", "to", "run", "-RRB-")
    assert (0, 1, "NP-SBJ-1") in full.layers["con"].spans  # type: ignore[union-attr]


def test_iob1_becomes_iob2_and_documents_are_skipped(tmp_path: Path) -> None:
    file = tmp_path / "a.conll"
    file.write_text(
        "-DOCSTART- -X- O O\n\nAnn NNP x I-PER\nLee NNP x I-PER\nParis NNP x B-PER\nBob NNP x I-LOC\n. . x O\n"
    )
    options = columns.Options(type="columns", column={"ner": 3}, spans={"ner": "iob1"})
    (sentence,) = options.read(file)
    assert sentence.layers["ner"] == ("B-PER", "I-PER", "B-PER", "B-LOC", "O")
