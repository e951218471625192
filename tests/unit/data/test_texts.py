"""Raw text: what each family's own tokenizer makes of it, prepared, cut, counted, and mixed with words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from mtlspec.data.batching import collate, collate_parts
from mtlspec.data.length_limit import length_limit, limit_of
from mtlspec.data.prepare import write_prepared
from mtlspec.data.prepared import Prepared
from mtlspec.data.sentence import Sentence
from mtlspec.data.statistics import Statistics
from mtlspec.data.text_tokenizer import TextTokenizer
from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.errors import DataError
from tests import toy
from tests.unit.data import tokenizers_of

TEXTS = [("the cat saw a dog.",), ("is it good?", "it is very old."), ("a", "a"), ("the old dog saw", "")]
NO_SPECIALS = ("openai-gpt", "gpt2")


@pytest.fixture(scope="module", params=sorted(tokenizers_of.FAMILIES))
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    return request.param, tokenizers_of.write(request.param, tmp_path_factory.mktemp(request.param))


def example(*texts: str, **layers: Any) -> Sentence:
    return Sentence("x", (), layers, ("a.tsv", 7), texts=texts)


def test_pairs_are_what_the_familys_own_tokenizer_gives(family: tuple[str, Path]) -> None:
    name, directory = family
    own, mine = tokenizers_of.own(directory), TextTokenizer.load(directory)
    for texts, found in zip(TEXTS, mine.encode([example(*texts) for texts in TEXTS]), strict=True):
        lists = [[text] for text in texts]  # alone, an empty second text would count as none
        expected = own(*lists, return_special_tokens_mask=True, return_token_type_ids=True)
        assert [found.pieces] == expected["input_ids"]
        assert [found.types] == expected["token_type_ids"]
        special = [segment == -1 for segment in found.segments]
        assert special == [bool(mask) for mask in expected["special_tokens_mask"][0]]
        assert any(special) == (name not in NO_SPECIALS)
        assert {segment for segment in found.segments if segment >= 0} == {
            number for number, text in enumerate(texts) if text
        }


def test_a_directory_without_a_post_processor_gets_that_of_its_family(family: tuple[str, Path], tmp_path: Path) -> None:
    name, directory = family
    if name == "modernbert":
        return  # its class adds nothing: the file is all that there is
    for file in directory.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    values = json.loads((tmp_path / "tokenizer.json").read_text())
    values["post_processor"] = None
    (tmp_path / "tokenizer.json").write_text(json.dumps(values))
    own = tokenizers_of.own(tmp_path)
    (found,) = TextTokenizer.load(tmp_path).encode([example(*TEXTS[1])])
    assert found.pieces == own(*TEXTS[1])["input_ids"] == tokenizers_of.own(directory)(*TEXTS[1])["input_ids"]


@pytest.mark.parametrize("policy", ["longest_first", "only_second"])
def test_long_pairs_are_cut_as_the_familys_own_tokenizer_cuts_them(family: tuple[str, Path], policy: Any) -> None:
    _, directory = family
    texts = ("is it good? " * 2, "the cat saw a dog. " * 9)
    own = tokenizers_of.own(directory)
    (found,) = TextTokenizer.load(directory, 32, policy).encode([example(*texts)])
    assert found.pieces == own(*texts, truncation=policy, max_length=32)["input_ids"]
    assert len(found.pieces) == 32 and found.cut == len(own(*texts)["input_ids"]) - 32


def test_the_limit_is_the_encoders(family: tuple[str, Path]) -> None:
    from mtlspec.model.encoder.loading import build_model, load_config

    _, directory = family
    config = load_config(directory)
    assert limit_of(directory) == length_limit(build_model(config), config)


def test_special_tokens_in_a_text_are_text(family: tuple[str, Path]) -> None:
    _, directory = family
    known = tokenizers_of.own(directory)
    (found,) = TextTokenizer.load(directory).encode([example("a [MASK] <mask> dog")])
    content = [piece for piece, segment in zip(found.pieces, found.segments, strict=True) if segment >= 0]
    assert known.mask_token_id is None or known.mask_token_id not in content


def test_what_is_too_long_is_an_error_that_names_its_place_or_kept_whole_or_cut(toy_encoder: Path) -> None:
    long = example("the cat " * 40)
    with pytest.raises(
        DataError, match=r"a\.tsv:7: error E279: the example has 82 sub-tokens, but the encoder reads 64"
    ):
        TextTokenizer.load(toy_encoder).encode([long])
    (whole,) = TextTokenizer.load(toy_encoder, long_text="window").encode([long])
    assert (len(whole.pieces), whole.cut) == (82, 0)
    (cut,) = TextTokenizer.load(toy_encoder, 10, "only_second").encode([long])  # there is no second one
    assert (len(cut.pieces), cut.cut) == (10, 72)
    with pytest.raises(DataError, match="E280: the example cannot be cut to 10 sub-tokens"):
        TextTokenizer.load(toy_encoder, 10, "only_second").encode([example("the cat " * 40, "a dog")])
    with pytest.raises(DataError, match="E282: 3 texts in one example"):
        TextTokenizer.load(toy_encoder).encode([example("a", "b", "c")])


@pytest.fixture(scope="module")
def texts(toy_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    out = tmp_path_factory.mktemp("texts")
    train = [
        example("the old cat", "a dog", same="no"),
        example("the river", "the quiet river sees a dog", same="yes", near=0.5),
        example("a tree", "a tree"),
    ]
    write_prepared({"train": train, "dev": train[2:]}, WordTokenizer.load(toy_encoder), out)
    return Prepared.load(out)


def test_prepared_texts_have_everything_that_a_batch_needs(texts: Prepared, toy_encoder: Path) -> None:
    own = tokenizers_of.own(toy_encoder)
    batch = collate(texts.train, torch.tensor([2, 1]), texts.specials)
    pairs = [texts.train.texts(row) for row in (2, 1)]
    expected = own(
        *map(list, zip(*pairs, strict=True)), padding=True, return_tensors="pt", return_special_tokens_mask=True
    )
    assert batch.pieces.equal(expected["input_ids"]) and batch.types is not None
    assert batch.types.equal(expected["token_type_ids"])
    assert batch.piece_mask.equal(expected["attention_mask"].bool())
    assert ((batch.word_of_piece < 0) == expected["special_tokens_mask"].bool()).all()
    assert batch.word_mask.shape == (2, 0) and batch.split is texts.train
    assert (texts.train.lengths + 2).tolist() == texts.train.piece_counts.tolist() == [8, 11, 7]
    assert texts.train.values("near") == [None, 0.5, None] and texts.train.labelled("same").tolist() == [0, 1]
    assert texts.dev.words(0) == [] and texts.dev.texts(0) == ["a tree", "a tree"]


def test_words_and_texts_share_a_batch(texts: Prepared, toy_prepared: Path) -> None:
    words = Prepared.load(toy_prepared).dev
    rows = torch.tensor([3, 0, 5]), torch.tensor([1, 0])
    mixed = collate_parts([(words, rows[0]), (texts.train, rows[1])], texts.specials)
    assert mixed.split is None and mixed.types is not None and not mixed.types[:3].any()
    for split, own, index in ((words, rows[0], torch.arange(3)), (texts.train, rows[1], torch.tensor([3, 4]))):
        alone, part = collate(split, own, texts.specials), mixed.select(index, split)
        assert part.split is split
        for name in ("rows", "pieces", "piece_mask", "word_of_piece", "word_mask"):
            assert getattr(part, name).equal(getattr(alone, name)), name
    assert collate(words, rows[0], texts.specials).types is None
    again = collate_parts([(words, rows[0]), (words, rows[0][:1])], texts.specials)
    assert again.split is words and again.types is None


def test_one_split_is_all_words_or_all_texts(toy_encoder: Path, tmp_path: Path) -> None:
    words = Sentence("w", ("a", "dog"), {}, ("b.tsv", 2))
    for mixed in ([example("a dog"), words], [words, example("a dog")]):
        with pytest.raises(DataError, match="E283: words and raw texts are mixed in one split"):
            write_prepared({"train": mixed}, WordTokenizer.load(toy_encoder), tmp_path, {})


def test_what_is_cut_is_counted(toy_encoder: Path, tmp_path: Path) -> None:
    given = [example("the cat sees", "a dog " * 9, same="no"), example("the cat", "a dog", same="no")]
    statistics = Statistics({"same": "label"})
    tokenizer = WordTokenizer.load(toy_encoder)
    splits = {split: statistics.watch(split, given) for split in ("train", "dev")}
    written = write_prepared(
        splits, tokenizer, tmp_path, {"same": "label"}, lambda: TextTokenizer.load(toy_encoder, 16, "longest_first")
    )
    found = statistics.result(tokenizer, None, written.texts)
    assert found["examples cut"] == {"train": 1, "dev": 1} and found["sub-tokens cut"] == {"train": 8, "dev": 8}
    assert found["sub-tokens of the longest sentence"]["train"] == 16
    assert found["tokens"]["train"] == 25 and found["sub-tokens per word"]["train"] == round(17 / 25, 3)
    assert found["labelled examples"] == {"same": {"train": 2, "dev": 2}}
    assert found["shared sentences"] == {"train and dev": 2}


def test_toy_texts_are_those_of_the_words(toy_encoder: Path) -> None:
    sentence = toy.corpus(1, 1)[0]
    (text,) = TextTokenizer.load(toy_encoder).encode([example(" ".join(sentence.words))])
    table = WordTokenizer.load(toy_encoder).pieces(sentence.words)
    assert text.pieces[1:-1] == [piece for word in sentence.words for piece in table[word]]
