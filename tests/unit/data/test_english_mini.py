"""The promises of the embedded corpus, one test each."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from mtlspec.data.generators.english_mini import Options, corpus
from mtlspec.data.layer_kinds import kind_of, layer_kind
from mtlspec.data.layers.dep import crossing_arcs
from mtlspec.data.page import baseline
from mtlspec.data.pins import locked
from mtlspec.data.sentence import ConTree, DepTree, Frame, Layer, Sentence
from mtlspec.io.digest import digest_tree
from mtlspec.io.project import Project
from mtlspec.spec.load import load_data_card

Splits = dict[str, list[Sentence]]
ROOT = Path(__file__).parents[3]


def tags(sentences: list[Sentence], layer: str) -> dict[str, Counter[str]]:
    """word -> tag -> count."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        for word, tag in zip(sentence.words, sentence.layers[layer], strict=True):  # type: ignore[arg-type]
            table[word][str(tag)] += 1
    return table


def everything(mini: Splits) -> list[Sentence]:
    return [sentence for sentences in mini.values() for sentence in sentences]


def names(sentences: list[Sentence]) -> dict[str, Counter[str]]:
    """entity text -> type -> count."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        ner = [str(tag) for tag in sentence.layers["ner"]]  # type: ignore[union-attr]
        for at, tag in enumerate(ner):
            if tag.startswith("B-"):
                end = next((i for i in range(at + 1, len(ner)) if not ner[i].startswith("I-")), len(ner))
                table[" ".join(sentence.words[at:end])][tag[2:]] += 1
    return table


def roles(sentence: Sentence) -> list[tuple[int, int, str]]:
    return [role for frame in sentence.layers["srl"] for role in frame.roles]  # type: ignore[union-attr]


def test_the_files_have_the_digests_that_the_card_pins(mini_files: Path) -> None:
    card = load_data_card("english_mini", Project(ROOT))
    assert locked(card, mini_files) == card.sha256
    assert card.generator == Options(type="english_mini") and card.licence == "CC0-1.0"


def test_the_same_bytes_come_from_another_process(mini_files: Path, tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from mtlspec.data.generators.english_mini import Options;"
        f"Options(type='english_mini').generate(Path({str(tmp_path)!r}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONHASHSEED": "123"})
    assert digest_tree(tmp_path) == digest_tree(mini_files)


def test_another_seed_gives_another_corpus_and_sizes_are_obeyed(tmp_path: Path, mini: Splits) -> None:
    made = dict(corpus(Options(type="english_mini", seed=8, train=40, dev=7, test=3)))
    assert {split: len(sentences) for split, sentences in made.items()} == {"train": 40, "dev": 7, "test": 3}
    assert made["train"][0].words != mini["train"][0].words
    Options(type="english_mini", train=1, dev=1, test=1).generate(tmp_path)
    assert len(list(tmp_path.iterdir())) == 9


def test_sizes_lengths_and_vocabulary(mini: Splits) -> None:
    assert {split: len(sentences) for split, sentences in mini.items()} == {"train": 3000, "dev": 500, "test": 500}
    lengths = [len(sentence.words) for sentence in everything(mini)]
    assert (min(lengths), max(lengths)) == (4, 30)
    assert len(tags(mini["train"], "xpos")) > 2000


def test_no_sentence_comes_twice(mini: Splits) -> None:
    every = [sentence.words for sentence in everything(mini)]
    assert len(set(every)) == len(every) == 4000


def test_dev_and_test_have_words_and_names_that_train_lacks(mini: Splits) -> None:
    words, known_names = tags(mini["train"], "xpos"), names(mini["train"])
    for split in ("dev", "test"):
        tokens = [word for sentence in mini[split] for word in sentence.words]
        assert 0.03 < sum(word not in words for word in tokens) / len(tokens) < 0.08
        found = names(mini[split])
        assert sum(name not in known_names for name in found) > 50
        unseen = [word for name in found for word in name.split() if word not in words and word.isalpha()]
        assert len(unseen) > 20


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("report", {"NN", "VB"}),
        ("plan", {"NN", "VB"}),
        ("bought", {"VBD", "VBN"}),
        ("stolen", {"JJ", "VBN"}),
        ("official", {"NN", "JJ"}),
        ("early", {"JJ", "RB"}),
        ("up", {"RP", "IN"}),
        ("that", {"IN", "DT", "WDT"}),
        ("to", {"IN", "TO"}),
        ("her", {"PRP", "PRP$"}),
        ("'s", {"POS", "VBZ"}),
        ("so", {"CC"}),
    ],
)
def test_words_have_several_tags(word: str, expected: set[str], mini: Splits) -> None:
    assert expected <= tags(mini["train"], "xpos")[word].keys()


def test_context_decides_the_type_of_names(mini: Splits) -> None:
    found = names(mini["train"])
    for name in ("Washington", "Jordan", "Lincoln", "Chelsea"):
        assert {"PER", "LOC", "ORG"} <= found[name].keys()
    assert sum({"PER", "LOC", "ORG"} <= types.keys() for types in found.values()) >= 10


def test_a_table_of_words_does_not_solve_it(mini: Splits) -> None:
    for split in ("dev", "test"):
        assert 90 < baseline(mini, "xpos", split) < 95
        assert 93 < baseline(mini, "upos", split) < 97
        assert 50 < baseline(mini, "ner", split) < 75


def test_words_decide_where_a_phrase_belongs(mini: Splits) -> None:
    """After a verb and its object, `with` goes to the verb for tools and to the noun for traits."""
    goes: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in mini["train"]:
        tree = sentence.layers["dep"]
        assert isinstance(tree, DepTree)
        for at, word in enumerate(sentence.words):
            if word == "with" and tree.rels[at] == "case":
                noun = tree.heads[at] - 1
                goes[sentence.words[noun]][tree.rels[noun]] += 1
    assert goes["telescope"]["obl"] > 0 and not goes["telescope"]["nmod"]
    assert goes["beard"]["nmod"] > 0 and not goes["beard"]["obl"]
    verb = sum(counts["obl"] for counts in goes.values())
    noun = sum(counts["nmod"] for counts in goes.values())
    assert verb > 100 and noun > 100


def labels(value: Layer) -> list[str]:
    return list(layer_kind(kind_of(value)).labels(value))


@pytest.mark.parametrize(
    ("layer", "label", "least"),
    [
        ("dep", "nsubj:pass", 200),  # passives
        ("dep", "acl:relcl", 200),  # relative clauses
        ("dep", "acl", 50),  # reduced ones
        ("dep", "conj", 300),  # coordination
        ("dep", "xcomp", 100),  # control
        ("dep", "ccomp", 150),  # reported speech
        ("dep", "advcl", 150),
        ("dep", "iobj", 40),
        ("dep", "appos", 10),
        ("xpos", "MD", 300),
        ("xpos", "CD", 500),
        ("xpos", "RP", 200),
        ("ner", "B-DATE", 500),
        ("con", "SBARQ", 80),
        ("con", "SINV", 60),
        ("con", "PRN", 10),
        ("srl", "ARGM-NEG", 250),
        ("srl", "ARGM-MOD", 300),
        ("srl", "ARGM-TMP", 500),
        ("srl", "ARGM-LOC", 300),
        ("srl", "ARG2", 300),
        ("srl", "R-ARG1", 50),
    ],
)
def test_train_has_enough_of(layer: str, label: str, least: int, mini: Splits) -> None:
    counts = Counter(found for sentence in mini["train"] for found in labels(sentence.layers[layer]))
    assert counts[label] >= least


def test_every_label_of_dev_and_test_occurs_in_train(mini: Splits) -> None:
    for layer in ("xpos", "upos", "ner", "dep", "con", "srl"):
        known, others = (
            {label for split in splits for s in mini[split] for label in labels(s.layers[layer])}
            for splits in (("train",), ("dev", "test"))
        )
        assert others <= known


def test_trees_are_projective_with_one_root(mini: Splits) -> None:
    for sentence in everything(mini):
        tree = sentence.layers["dep"]
        assert isinstance(tree, DepTree)
        assert tree.heads.count(0) == 1 and tree.rels[tree.heads.index(0)] == "root" and tree.rels.count("root") == 1
        assert not list(crossing_arcs(tree))


def test_the_layers_of_a_sentence_agree(mini: Splits) -> None:
    for sentence in everything(mini):
        con, dep = sentence.layers["con"], sentence.layers["dep"]
        assert isinstance(con, ConTree) and isinstance(dep, DepTree)
        assert con.pos == sentence.layers["xpos"] == sentence.layers["pos"]
        assert con.spans[0] == (0, len(sentence.words), "TOP")
        phrases = {(start, end) for start, end, _ in con.spans}
        phrases |= {(at, at + 1) for at in range(len(sentence.words))}
        for start, end, _ in roles(sentence):
            assert (start, end) in phrases  # arguments are phrases or words
        for start, end in entity_spans(sentence):
            assert (start, end) in phrases
            outside = [h for at, h in enumerate(dep.heads) if start <= at < end and not start < h <= end]
            assert len(outside) == 1  # and hang together in the dependency tree


def entity_spans(sentence: Sentence) -> list[tuple[int, int]]:
    ner = [str(tag) for tag in sentence.layers["ner"]]  # type: ignore[union-attr]
    starts = [at for at, tag in enumerate(ner) if tag.startswith("B-")]
    return [(s, next((i for i in range(s + 1, len(ner)) if ner[i][0] != "I"), len(ner))) for s in starts]


def test_frames_are_well_formed(mini: Splits) -> None:
    for sentence in everything(mini):
        xpos = sentence.layers["xpos"]
        for frame in sentence.layers["srl"]:  # type: ignore[union-attr]
            assert isinstance(frame, Frame)
            assert str(xpos[frame.predicate]).startswith("VB")  # type: ignore[index]
            assert (frame.predicate, frame.predicate + 1, "V") in frame.roles
            covered = [at for start, end, _ in frame.roles for at in range(start, end)]
            assert len(covered) == len(set(covered))  # roles of a frame do not overlap
            core = [role for _, _, role in frame.roles if role.startswith("ARG") and "ARGM" not in role]
            assert len(core) == len(set(core))


def test_every_main_verb_has_a_frame(mini: Splits) -> None:
    for sentence in everything(mini):
        verbs = {at for at, tag in enumerate(sentence.layers["upos"]) if tag == "VERB"}  # type: ignore[arg-type]
        predicates = {frame.predicate for frame in sentence.layers["srl"]}  # type: ignore[union-attr]
        assert verbs <= predicates


def test_passive_subjects_are_what_the_active_verb_would_have_as_object(mini: Splits) -> None:
    found = Counter()
    for sentence in mini["train"]:
        tree = sentence.layers["dep"]
        assert isinstance(tree, DepTree)
        for frame in sentence.layers["srl"]:  # type: ignore[union-attr]
            assert isinstance(frame, Frame)
            for at, (head, rel) in enumerate(zip(tree.heads, tree.rels, strict=True)):
                if rel == "nsubj:pass" and head - 1 == frame.predicate:
                    found.update(role for start, end, role in frame.roles if start <= at < end)
    assert set(found) <= {"ARG1", "ARG2"} and found["ARG1"] > 100
