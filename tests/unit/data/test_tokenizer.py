"""Words become sub-tokens one by one, with every tokenizer family."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from mtlspec.data.batching import Specials
from mtlspec.data.escapes import unescape
from mtlspec.data.tokenizer import WordTokenizer, read_specials
from mtlspec.errors import EncoderError

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##b", "(", ")", '"', "/", "[", "]", "m"]


def word_piece(directory: Path, config: dict[str, object] | None = None, vocabulary: list[str] = VOCABULARY) -> Path:
    model = models.WordPiece({text: i for i, text in enumerate(vocabulary)}, unk_token="[UNK]")
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens([text for text in vocabulary if text.startswith("[") and len(text) > 1])
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(directory / "tokenizer.json"))
    (directory / "tokenizer_config.json").write_text(json.dumps(config or {}))
    return directory


def test_words_are_encoded_alone_without_limits_or_padding(tmp_path: Path) -> None:
    tokenizer = WordTokenizer.load(word_piece(tmp_path))
    table = tokenizer.pieces(["abbb", "b", "-LRB-", "\u200b", "zzz"])
    assert table["abbb"] == (5, 7, 7, 7)
    assert table["b"] == (6,)
    assert table["-LRB-"] == (8,)
    assert table["\u200b"] == table["zzz"] == (1,)  # nothing left, or nothing known: UNK


def test_special_tokens_in_a_text_are_text(tmp_path: Path) -> None:
    table = WordTokenizer.load(word_piece(tmp_path)).pieces(["[CLS]", "[MASK]"])
    assert not set(table["[CLS]"] + table["[MASK]"]) & {0, 2, 3, 4}


ESCAPES = {
    "-LRB-": "(",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
    "`": "'",
    "1\\/2": "1/2",
    "-RRB--RRB-": "))",
    "-": "-",
    "O'Hara": "O'Hara",
}


@pytest.mark.parametrize(("escaped", "plain"), ESCAPES.items())
def test_escapes_become_plain_characters(escaped: str, plain: str) -> None:
    assert unescape(escaped) == plain


def test_byte_level_tokenizers_see_words_not_tails(tmp_path: Path) -> None:
    vocabulary = {text: i for i, text in enumerate(["<s>", "</s>", "<pad>", "<unk>", "a", "Ġ", "Ġa"])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [("Ġ", "a")], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    loaded = WordTokenizer.load(tmp_path)
    assert loaded.pieces(["a"])["a"] == (6,)
    assert loaded.specials == Specials(cls=0, sep=1, pad=2, mask=3, unk=3)  # no mask token: UNK


def test_specials_come_from_the_configuration_first(tmp_path: Path) -> None:
    config = {"cls_token": {"content": "a"}, "sep_token": "b"}
    assert read_specials(word_piece(tmp_path, config)) == Specials(cls=5, sep=6, pad=0, mask=4, unk=1)


def test_one_special_token_can_have_all_roles_as_in_gpt2(tmp_path: Path) -> None:
    config = {f"{role}_token": "[UNK]" for role in ("bos", "eos", "unk")}
    found = read_specials(word_piece(tmp_path, config, ["a", "[UNK]"]))
    assert found == Specials(cls=1, sep=1, pad=1, mask=1, unk=1)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"tokenizer\.json: error E380"):
        WordTokenizer.load(tmp_path)
    word_piece(tmp_path, vocabulary=["[UNK]", "[CLS]", "[SEP]", "a"])
    with pytest.raises(EncoderError, match="E382: the tokenizer has no pad_token"):
        WordTokenizer.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EncoderError, match="E381"):
        WordTokenizer.load(tmp_path)
