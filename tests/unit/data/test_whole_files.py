"""Files come back whole: byte for byte where the format allows it, with any layer missing, at any depth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mtlspec.data import samples, writers
from mtlspec.data.layers import con
from mtlspec.data.readers import brackets, columns, conll2012, conllu
from mtlspec.data.sentence import ConTree, Frame, Sentence
from mtlspec.data.statistics import corpus_statistics
from tests.unit.data.strategies import LABELS, dep_trees, iob2, sentences

CONLLU = conllu.Options(type="conllu")
BRACKETS = brackets.Options(type="brackets")
CONLL2012 = conll2012.Options(type="conll2012")
DEPTH = 100_000
FORMS = st.text(alphabet="abé漢9'(- \u00a0", min_size=1, max_size=5).filter(lambda form: form.strip())
same_folder = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def conllu_texts(draw: st.DrawFn) -> str:
    """One sentence with everything the format knows."""
    size = draw(st.integers(1, 6))
    tree = draw(dep_trees(size))
    lines = [f"# {draw(LABELS)} = {draw(LABELS)}" for _ in range(draw(st.integers(1, 3)))]
    nodes = [str(number) for number in range(size + 1)]
    covered = 0
    for word in range(1, size + 1):
        if word > covered and draw(st.booleans()):
            covered = draw(st.integers(word, size))
            lines.append("\t".join([f"{word}-{covered}", draw(FORMS), *"_" * 7, draw(LABELS)]))
        cells = [draw(st.one_of(st.just("_"), LABELS)) for _ in range(4)]
        others = st.sampled_from([node for node in nodes if node != str(word)])
        arcs = "|".join(f"{draw(others)}:{draw(LABELS)}" for _ in range(draw(st.integers(0, 2)))) or "_"
        head, rel = str(tree.heads[word - 1]), tree.rels[word - 1]
        lines.append("\t".join([str(word), draw(FORMS), *cells, head, rel, arcs, draw(LABELS)]))
        for number in range(1, draw(st.integers(1, 3))):
            nodes.append(f"{word}.{number}")
            lines.append("\t".join([nodes[-1], draw(FORMS), *"_" * 6, f"0:{draw(LABELS)}", "_"]))
    return "\n".join(lines) + "\n\n"


@same_folder
@given(texts=st.lists(conllu_texts(), min_size=1, max_size=3))
def test_conllu_comes_back_byte_for_byte(texts: list[str], tmp_path: Path) -> None:
    file = tmp_path / "x.conllu"
    file.write_text("".join(texts), "utf-8")
    assert writers.conllu(CONLLU.read(file)) == "".join(texts)


@same_folder
@given(sentence=sentences(), kept=st.sets(st.sampled_from(["con", "pos", "ner", "srl"])))
def test_conll2012_may_lack_any_layer(sentence: Sentence, kept: set[str], tmp_path: Path) -> None:
    given_ = {name: layer for name, layer in sentence.layers.items() if name in kept}
    file = tmp_path / "x.conll12"
    file.write_text(writers.conll2012([Sentence("1", sentence.words, given_)], "doc"), "utf-8")
    (found,) = CONLL2012.read(file)
    expected = {**given_, "srl": given_.get("srl", ())} | ({"pos": sentence.layers["pos"]} if "con" in kept else {})
    assert found.layers == expected and found.words == sentence.words


def test_documents_and_parts_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "x.gold_conll"
    rows = "{0}\t{1}\t0\tHi\tUH\t(TOP*)\t-\t-\t-\t-\t*\t-\n\n"
    parts = [("bc/a_0", 0, 2), ("bc/a_0", 1, 1), ("nw/b", 12, 1)]
    text = "".join(
        f"#begin document ({name}); part {part:03d}\n" + rows.format(name, part) * size + "#end document\n"
        for name, part, size in parts
    )
    file.write_text(text)
    found = list(CONLL2012.read(file))
    assert [s.id for s in found] == ["bc/a_0-0-1", "bc/a_0-0-2", "bc/a_0-1-3", "nw/b-12-4"]
    assert writers.conll2012(found, "unused") == text


def test_entities_of_one_word_without_a_star_are_read(tmp_path: Path) -> None:
    file = tmp_path / "x.v4_gold_conll"
    roles = ("(ARG1*)", "*", "(V*)")
    cells = ("(TOP(S* - - - - (GPE)", "* be - 1 Ann (DATE*", "*)) see 01 - Ann *)")
    lines = [f"d   0  {n}   w   X  {cell}  {role}  -" for n, (cell, role) in enumerate(zip(cells, roles, strict=True))]
    file.write_text("\n".join(lines) + "\n")
    (sentence,) = CONLL2012.read(file)
    assert sentence.layers["ner"] == ("B-GPE", "B-DATE", "I-DATE")
    assert sentence.layers["srl"] == (Frame(2, "see.01", ((0, 1, "ARG1"), (2, 3, "V"))),)


def test_predictions_without_senses_verbs_or_proper_tags_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "x"
    frames = (Frame(2, "", ((0, 2, "ARG0"),)), Frame(0, "", ()))
    given_ = Sentence("1", ("a", "b", "c"), {"srl": frames, "ner": ("I-X", "I-Y", "I-Y")})
    file.write_text(writers.conll2012([given_], "doc"))
    (found,) = CONLL2012.read(file)
    assert found.layers["ner"] == ("B-X", "B-Y", "I-Y")
    roles = [(frame.predicate, frame.roles) for frame in found.layers["srl"]]  # type: ignore[union-attr]
    assert roles == [(0, ((0, 1, "V"),)), (2, ((0, 2, "ARG0"), (2, 3, "V")))]


def test_blanks_and_brackets_in_words_do_not_break_a_format(tmp_path: Path) -> None:
    words = ("10 000", "(", "a\u00a0b", "x\u3000")
    tree = ConTree(((0, 4, "TOP"),), ("CD", "(", "X", "Y"))
    given_ = Sentence("1", words, {"con": tree, "pos": tree.pos, "tag": ("A", "B", "C", "D")})
    file = tmp_path / "x"
    shown = ("10\u00a0000", "(", "a\u00a0b", "x\u3000")
    file.write_text(writers.conll2012([given_], "doc"), "utf-8")
    assert next(CONLL2012.read(file)).words == shown
    file.write_text(writers.columns([given_], ("tag",), " "), "utf-8")
    options = columns.Options(type="columns", column={"tag": 1}, delimiter="space")
    assert next(options.read(file)).words == shown
    file.write_text(writers.brackets([given_]), "utf-8")
    assert next(BRACKETS.read(file)).words == ("10\u00a0000", "-LRB-", "a\u00a0b", "x\u3000")


@same_folder
@given(tags=st.integers(1, 8).flatmap(iob2))
def test_span_schemes_turn_into_one_another(tags: tuple[str, ...], tmp_path: Path) -> None:
    def read(text: tuple[str, ...], scheme: str, convert: str | None) -> Any:
        file = tmp_path / "x"
        file.write_text("".join(f"w,{tag}\n" for tag in text))
        options: dict[str, Any] = {"column": {"t": 1}, "spans": {"t": scheme}, "convert": convert, "delimiter": ","}
        return next(columns.Options(type="columns", **options).read(file)).layers["t"]

    iobes = read(tags, "iob2", "iobes")
    assert read(iobes, "iobes", None) == iobes and read(iobes, "iobes", "iobes") == iobes
    assert read(iobes, "iobes", "iob2") == tags == read(tags, "iob2", None)
    after = zip(tags, ("O", *tags), strict=False)
    iob1 = tuple("I" + t[1:] if t[0] == "B" and before[2:] != t[2:] else t for t, before in after)
    assert read(iob1, "iob1", None) == tags and read(iob1, "iob1", "iobes") == iobes


@pytest.mark.parametrize(
    "text",
    ["(X " * DEPTH + "(NN dog)" + ")" * DEPTH, "(X (NN a) " * DEPTH + "(NN dog)" + ")" * DEPTH],
    ids=["unary", "branching"],
)
def test_a_tree_may_be_nested_a_hundred_thousand_deep(text: str, tmp_path: Path) -> None:
    file = tmp_path / "deep"
    file.write_text(text + "\n")
    (sentence,) = BRACKETS.read(file)
    tree = sentence.layers["con"]
    assert isinstance(tree, ConTree) and len(tree.spans) == DEPTH
    assert con.KIND.value(con.KIND.cells(tree)) == tree
    assert writers.brackets([sentence]) == text + "\n"
    assert samples.lines(sentence)[1].strip() == "con    " + text
    counted = corpus_statistics({"train": [sentence]})
    assert counted["labels"]["con"] == {"X": {"train": DEPTH}}
    file.write_text(writers.conll2012([sentence], "doc"))
    (again,) = CONLL2012.read(file)
    assert again.layers["con"] == tree
