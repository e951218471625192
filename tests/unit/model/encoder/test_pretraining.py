"""WordPiece, masking and pre-training: byte-stable, and it learns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from safetensors.torch import load_file
from transformers import AutoTokenizer

import mtlspec
from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.errors import EncoderError
from mtlspec.io.digest import digest_tree
from mtlspec.model.encoder import pretraining
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.pretraining import IGNORED, Text, mask_pieces, sinusoids
from mtlspec.model.encoder.request import Point
from mtlspec.model.encoder.sources import pretrain
from mtlspec.model.encoder.wordpiece import learn_pieces, save_tokenizer, train_wordpiece
from mtlspec.spec.cards import DataCard
from mtlspec.stages import encoder as stage
from mtlspec.stages.context import StageContext, silent
from mtlspec.train.pace import Pace
from mtlspec.train.resuming import RESUMED, points
from tests.unit.model.encoder import small

WORDS = ["low", "lower", "lowest", "new", "newer", "newest", "wide", "wider", "widest"] * 5


def test_merges_follow_frequency_then_the_alphabet():
    letters = ["a", "##a", "b", "##b", "c", "##c", "d", "##d"]
    counts = {"ab": 3, "cd": 3, "abd": 1}
    assert learn_pieces(counts, 99, 2) == [*letters, "ab", "cd"]
    assert learn_pieces(counts, 99, 1) == [*letters, "ab", "cd", "abd"]
    assert learn_pieces(counts, 9, 1) == [*letters, "ab"]


def naive_pieces(counts: dict[str, int], size: int, min_frequency: int) -> list[str]:
    """The same definition, counting all pairs anew for every merge."""
    words = {word: [word[0], *("##" + letter for letter in word[1:])] for word in counts}
    pieces = [form for letter in sorted({c for w in counts for c in w}) for form in (letter, "##" + letter)][:size]
    while len(pieces) < size:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, parts in words.items():
            for pair in pairwise(parts):
                pairs[pair] += counts[word]
        best = min(pairs, key=lambda pair: (-pairs[pair], pair), default=None)
        if best is None or pairs[best] < min_frequency:
            break
        merged = best[0] + best[1].removeprefix("##")
        for word, parts in words.items():
            i, joined = 0, []
            while i < len(parts):
                hit = tuple(parts[i : i + 2]) == best
                joined.append(merged if hit else parts[i])
                i += 2 if hit else 1
            words[word] = joined
        if merged not in pieces:
            pieces.append(merged)
    return pieces


@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=6), st.integers(1, 9), min_size=1, max_size=8),
    st.integers(1, 40),
    st.integers(1, 3),
)
def test_pieces_are_those_of_the_naive_algorithm(counts, size, min_frequency):
    assert learn_pieces(counts, size, min_frequency) == naive_pieces(counts, size, min_frequency)


def test_a_learnt_tokenizer_reads_known_words_whole_and_new_ones_in_pieces(tmp_path):
    save_tokenizer(train_wordpiece(WORDS, 60, 2, lowercase=False), tmp_path, 64, lowercase=False)
    table = WordTokenizer.load(tmp_path).pieces(["lowest", "widow", "Q"])
    assert len(table["lowest"]) < len("lowest")
    assert len(table["widow"]) > 1
    assert table["Q"] == (1,)
    reader = AutoTokenizer.from_pretrained(tmp_path)
    assert reader.convert_ids_to_tokens(reader("lowest").input_ids)[0] == "[CLS]"
    assert (reader.mask_token_id, reader.pad_token_id, reader.model_max_length) == (4, 0, 64)


def test_the_tokenizer_is_the_same_in_every_process(tmp_path):
    code = f"""
import sys
from pathlib import Path
from mtlspec.model.encoder.wordpiece import save_tokenizer, train_wordpiece
save_tokenizer(train_wordpiece({WORDS!r}, 60, 2, False), Path(sys.argv[1]), 64, False)
"""
    found = []
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(mtlspec.__file__).parents[1])}
        subprocess.run([sys.executable, "-c", code, str(tmp_path / seed)], env=environment, check=True)
        found.append(digest_tree(tmp_path / seed))
    assert found[0] == found[1]


def test_masking_follows_80_10_10_and_spares_special_tokens():
    batch = small.batch(*[20] * 400)
    inner = batch.word_of_piece >= 0
    generator = torch.Generator().manual_seed(1)
    hidden, target = mask_pieces(batch.pieces, inner, 0.3, small.SPECIALS, small.VOCABULARY, generator)
    chosen = target != IGNORED
    assert not chosen[~inner].any()
    assert torch.equal(hidden[~chosen], batch.pieces[~chosen])
    assert torch.equal(target[chosen], batch.pieces[chosen])
    assert chosen[inner].float().mean().item() == pytest.approx(0.3, abs=0.02)
    masked = (hidden[chosen] == small.SPECIALS.mask).float().mean().item()
    same = (hidden[chosen] == target[chosen]).float().mean().item()
    assert masked == pytest.approx(0.8, abs=0.03)
    assert same == pytest.approx(0.1, abs=0.03)
    assert (hidden[chosen] >= small.SPECIALS.mask).all()


def test_something_is_always_masked():
    batch = small.batch(1)
    generator = torch.Generator().manual_seed(1)
    _, target = mask_pieces(batch.pieces, batch.word_of_piece >= 0, 1e-9, small.SPECIALS, small.VOCABULARY, generator)
    assert (target != IGNORED).sum().item() == 1


def test_a_text_splits_long_sentences_and_loses_nothing():
    text = Text.of([[5, 6, 7, 8, 9], [10], []], 2)
    assert text.lengths.tolist() == [2, 2, 1, 1]
    pieces, inner = text.batch(torch.tensor([0, 3]), small.SPECIALS)
    assert pieces.tolist() == [[2, 5, 6, 3], [2, 10, 3, 0]]
    assert inner.tolist() == [[False, True, True, False], [False, True, False, False]]


def test_sinusoids_at_equal_distances_have_equal_products():
    table = sinusoids(20, 8)
    products = table @ table.T
    for distance in (1, 5):
        torch.testing.assert_close(products.diagonal(distance), products[0, distance].expand(20 - distance))
    assert products[0, 1] > products[0, 5]


CARD = {
    "card": "data",
    "name": "toy",
    "licence": "none",
    "source": "a test",
    "root": "toy",
    "files": [
        {
            "reader": "conllu",
            "paths": {split: f"{split}.conllu" for split in ("train", "dev", "test")},
            "layers": {"upos": "upos"},
        }
    ],
}
SMALL = {
    "type": "pretrain",
    "layers": 1,
    "heads": 2,
    "width": 16,
    "feed_forward": 32,
    "positions": 16,
    "vocabulary": 80,
    "epochs": 12,
    "lr": 5e-3,
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Sentences in which the first word decides the last."""
    folder = tmp_path_factory.mktemp("corpus")
    for split, count in (("train", 160), ("dev", 40), ("test", 4)):
        lines = []
        for number in range(count):
            words = [
                ("red", "blue")[number % 2],
                ("cat", "dog", "owl")[number % 3],
                "sees",
                ("rose", "sky")[number % 2],
            ]
            lines += [f"{i}\t{word}\t_\tX\t_\t_\t{i - 1}\tdep\t_\t_" for i, word in enumerate(words, 1)] + [""]
        (folder / f"{split}.conllu").write_text("\n".join(lines) + "\n")
    return folder


def run(corpus: Path, out: Path, card=None, progress=silent, **changes):
    out.mkdir()
    params = {
        "encoder": {"card": "toy"},
        "card": {"card": "encoder", "name": "toy", "licence": "none", "source": SMALL | changes},
        "run": {"threads": 1},
        "data_card": DataCard.model_validate(card or CARD).model_dump(mode="json"),
    }
    work = out.parent / ("whole-work" if out.name == "whole" else "work")  # points of one that was cut short
    return stage.run(StageContext("pretrain-toy", params, {"data": corpus}, out, work, "id", out.parent, progress))


@pytest.fixture(autouse=True)
def settings_come_back():
    yield
    torch.use_deterministic_algorithms(False)


def test_pre_training_is_the_same_to_the_bit_and_learns(corpus, tmp_path):
    first, second = run(corpus, tmp_path / "a"), run(corpus, tmp_path / "b")
    assert digest_tree(tmp_path / "a") == digest_tree(tmp_path / "b")
    assert first.facts == second.facts
    assert set(digest_tree(tmp_path / "a")) == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    curve = first.facts["curve"]
    assert curve[-1]["loss"] < 0.6 * curve[0]["loss"]
    assert first.facts["dev"]["accuracy"] > 50.0  # the best guess without context has 25
    json.dumps(first.facts, allow_nan=False)
    other = run(corpus, tmp_path / "c", seed=2)
    assert digest_tree(tmp_path / "c") != digest_tree(tmp_path / "a")
    assert other.facts["vocabulary"] == first.facts["vocabulary"]


def test_pre_training_that_was_cut_short_goes_on_to_the_same_bytes(corpus, tmp_path, monkeypatch):
    whole = run(corpus, tmp_path / "whole")
    assert not (tmp_path / "whole-work").exists()  # half a minute is over before a point is worth its time
    monkeypatch.setattr(stage, "Pace", lambda _: Pace(7))
    seen, kills = [], [52, 90]

    def stop(done, total, what):
        seen.append((done, total, what))
        if kills and done == kills[0]:
            kills.pop(0)
            raise KeyboardInterrupt

    for attempt in ("first", "second"):
        with pytest.raises(KeyboardInterrupt):
            run(corpus, tmp_path / attempt, progress=stop)
    assert [path.name for path in points(tmp_path / "work")] == ["update-000000084", "update-000000077"]
    torch.manual_seed(99)  # whatever another process had drawn
    last = run(corpus, tmp_path / "last", progress=stop)
    assert [line for line in seen if line[2] == RESUMED] == [(49, 120, RESUMED), (84, 120, RESUMED)]
    assert digest_tree(tmp_path / "last") == digest_tree(tmp_path / "whole")
    assert last.facts == whole.facts


@pytest.mark.parametrize("lost", ["weight/", "adam/", "own/masks", "own/sums", "cursor", "curve"])
def test_a_resume_point_of_pre_training_holds_nothing_in_vain(lost, corpus, tmp_path, monkeypatch):
    """A part that stays as a new process has it shows in the result."""
    monkeypatch.setattr(stage, "Pace", lambda _: Pace(7))
    kept = {}
    load = pretraining._Progress.load

    def partly(state, point):
        fresh = state.save()
        values = {**point.values, **{name: value for name, value in fresh.values.items() if name == lost}}
        tensors = {name: value for name, value in point.tensors.items() if not name.startswith(lost)}
        tensors |= {name: value for name, value in fresh.tensors.items() if name.startswith(lost)}
        kept[lost] = True
        load(state, Point(point.update, values, tensors))

    def stop(done, total, what):
        if done == 52 and what != RESUMED:
            raise KeyboardInterrupt

    whole = run(corpus, tmp_path / "whole", epochs=6)
    with pytest.raises(KeyboardInterrupt):
        run(corpus, tmp_path / "first", epochs=6, progress=stop)
    monkeypatch.setattr(pretraining._Progress, "load", partly)
    last = run(corpus, tmp_path / "last", epochs=6)
    assert kept and (last.facts, digest_tree(tmp_path / "last")) != (whole.facts, digest_tree(tmp_path / "whole"))


def test_raw_texts_are_read_word_by_word(corpus, tmp_path):
    """The same sentences as raw text give the same encoder."""
    folder, group = tmp_path / "texts", {"type": "table", "header": False, "text": [0], "label": {"l": 1}}
    folder.mkdir()
    for path in corpus.iterdir():
        blocks = [block.split("\n") for block in path.read_text().strip().split("\n\n")]
        lines = [" ".join(line.split("\t")[1] for line in block) + "\tx" for block in blocks]
        (folder / f"{path.stem}.tsv").write_text("\n".join(lines) + "\n")
    paths = {split: f"{split}.tsv" for split in ("train", "dev", "test")}
    card = CARD | {"files": [{"reader": group, "paths": paths, "layers": {"l": "l"}}]}
    run(corpus, tmp_path / "a", epochs=1)
    run(folder, tmp_path / "b", card, epochs=1)
    assert digest_tree(tmp_path / "a") == digest_tree(tmp_path / "b")


def test_the_encoder_keeps_its_dropout_and_its_language_model_head(corpus, tmp_path):
    run(corpus, tmp_path / "a", epochs=1, dropout=0.25)
    encoder = Encoder.load(tmp_path / "a")
    assert encoder.config.hidden_dropout_prob == 0.25
    assert encoder.max_pieces == 16
    assert any(name.startswith("cls.predictions") for name in load_file(tmp_path / "a" / "model.safetensors"))


def test_bad_sizes_are_refused_in_the_card():
    with pytest.raises(ValidationError, match="width 16 is not a multiple of heads 3"):
        pretrain.Options(**(SMALL | {"heads": 3}))


def test_pre_training_without_data_is_one_clear_line(tmp_path):
    with pytest.raises(EncoderError, match="E320: encoder 'small' learns from data, but was given none"):
        pretrain.Options(**SMALL).fetch(small.request(tmp_path, tmp_path))
