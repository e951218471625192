"""Sentences per CPU second of training the biGRU tagger, ours against a plain PyTorch loop, interleaved, on one thread.

Both train the same model on the same generated sentences, 32 a batch: words of 50 and characters of 25 numbers, two
two-layer biGRUs with dropout, a linear layer and a CRF, Adam, clipping at 5. The plain loop is what people write:
random batches, packed sequences, the characters of every token, and a CRF that goes from word to word in torch. Only
ours pays for deterministic kernels. That both are the same model is checked first.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from bench._our_loop import our_loop
from bench._timing import examples_per_second, print_speeds
from bench.linear_chain import Case, plain_nll
from mtlspec.data.sentence import Sentence
from mtlspec.model.encoder.birnn import BiRnn

SENTENCES, BATCH, ROUNDS = 256, 32, 3
TASK = {"type": "tagging", "layer": "xpos", "decoder": "crf", "dropout": 0.0}
RATE = {"encoder": 1e-3, "decoder": 1e-3}
TRAIN = {"epochs": ROUNDS + 3, "batch": {"sentences": BATCH, "tokens": 3200}, "lr": RATE, "clip": 5.0}


def make_encoder(directory: Path, sentences: list[Sentence]) -> BiRnn:
    """The encoder of the paper's size over the words of the sentences, laid out as a directory that can be loaded."""
    from mtlspec.model.encoder.kinds.birnn import Options
    from mtlspec.model.encoder.word_list import Words, rows_of, save_words
    from mtlspec.model.encoder.word_table import write_rows

    words = frozenset(word for sentence in sentences for word in sentence.words)
    entries = save_words(Words(words, words), directory)
    rows = {word: number for number, word in enumerate(sorted({word.lower() for word in words}), 1)}
    write_rows(directory, rows_of(entries, rows, str.lower))
    torch.manual_seed(1)
    encoder = Options(type="birnn", card="bench").build(directory)
    encoder.save(directory, tokenizer=directory)
    return encoder


class PlainTagger(nn.Module):
    """The same model as people write it; it begins with the weights of ours."""

    def __init__(self, encoder: BiRnn, tags: int) -> None:
        super().__init__()
        self.words, self.chars = (
            nn.Embedding.from_pretrained(e.weight.clone(), freeze=False) for e in _tables(encoder)
        )
        self.speller = nn.GRU(25, 25, 2, batch_first=True, bidirectional=True, dropout=0.25)
        self.reader = nn.GRU(100, 300, 2, batch_first=True, bidirectional=True, dropout=0.5)
        self.speller.load_state_dict(encoder.speller.state_dict())
        self.reader.load_state_dict(encoder.reader.state_dict())
        self.emissions = nn.Linear(600, tags)
        self.transitions = nn.Parameter(torch.zeros(tags, tags))
        self.start, self.end = nn.Parameter(torch.zeros(tags)), nn.Parameter(torch.zeros(tags))

    def states(self, words: Tensor, letters: Tensor, spelt: Tensor, lengths: Tensor) -> Tensor:
        """words int64 [B, W], letters int64 [B, W, L] and their number int64 [B, W] -> [B, W, 600]"""
        packed = pack_padded_sequence(self.chars(letters).flatten(0, 1), spelt.flatten(), True, False)
        _, last = self.speller(packed)
        characters = torch.cat([last[-2], last[-1]], 1).view(*words.shape, -1)
        tokens = torch.cat([self.words(words), characters], 2)
        states, _ = self.reader(pack_padded_sequence(tokens, lengths, True, False))
        padded, _ = pad_packed_sequence(states, batch_first=True)
        return padded

    def loss(self, batch: dict[str, Tensor]) -> Tensor:
        states = self.states(batch["words"], batch["letters"], batch["spelt"], batch["lengths"])
        mask = torch.arange(states.shape[1]) < batch["lengths"].unsqueeze(1)
        case = Case((self.emissions(states), self.transitions, self.start, self.end), mask, batch["tags"])
        return plain_nll(case).sum() / mask.sum()


def _tables(encoder: BiRnn) -> tuple[nn.Embedding, nn.Embedding]:
    return encoder.words, encoder.chars


def plain_collate(encoder: BiRnn, directory: Path, tags: list[str]) -> Callable[[list[Sentence]], dict[str, Tensor]]:
    """From sentences to padded tensors; a word's numbers are looked up in a table, as people do."""
    from mtlspec.data.tokenizer import WordTokenizer

    pieces = WordTokenizer.load(directory)
    place = {tag: number for number, tag in enumerate(tags)}
    rows, letters, starts = (encoder.get_buffer(name) for name in ("rows", "letters", "starts"))
    known: dict[str, tuple[int, Tensor]] = {}

    def number(word: str) -> tuple[int, Tensor]:
        if word not in known:
            (piece,) = pieces.pieces([word])[word]
            known[word] = (int(rows[piece]), letters[starts[piece] : starts[piece + 1]])
        return known[word]

    def collate(examples: list[Sentence]) -> dict[str, Tensor]:
        found = [[number(word) for word in example.words] for example in examples]
        words = pad_sequence([torch.tensor([row for row, _ in sentence]) for sentence in found], batch_first=True)
        gold: list[Any] = [example.layers["xpos"] for example in examples]
        labels = pad_sequence([torch.tensor([place[tag] for tag in row]) for row in gold], batch_first=True)
        longest = max(len(word) for sentence in found for _, word in sentence)
        spelling = torch.zeros(*words.shape, longest, dtype=torch.int64)
        spelt = torch.ones(words.shape, dtype=torch.int64)
        for i, sentence in enumerate(found):
            for j, (_, word) in enumerate(sentence):
                spelling[i, j, : len(word)], spelt[i, j] = word, len(word)
        lengths = torch.tensor([len(sentence) for sentence in found])
        return {"words": words, "letters": spelling, "spelt": spelt, "lengths": lengths, "tags": labels}

    return collate


def plain_loop(encoder: BiRnn, directory: Path, sentences: list[Sentence]) -> Callable[[], int]:
    """A pass over the sentences; returns how many were trained on."""
    from torch.utils.data import DataLoader

    tags = sorted({str(tag) for sentence in sentences for tag in _tags(sentence)})
    collate = plain_collate(encoder, directory, tags)
    model = PlainTagger(encoder, len(tags))
    check(encoder, model, directory, collate, sentences[:BATCH])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader: Any = DataLoader(sentences, batch_size=BATCH, shuffle=True, collate_fn=collate)  # type: ignore[arg-type]

    def run() -> int:
        torch.use_deterministic_algorithms(False)
        model.train()
        for batch in loader:
            loss = model.loss(batch)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            optimizer.zero_grad()
            loss.item()
        return len(sentences)

    return run


def _tags(sentence: Sentence) -> Any:
    return sentence.layers["xpos"]


@torch.no_grad()
def check(encoder: BiRnn, model: PlainTagger, directory: Path, collate: Any, sentences: list[Sentence]) -> None:
    """The two give the same states, or the comparison means nothing."""
    from mtlspec.data.tokenizer import WordTokenizer

    model.eval()
    batch = collate(sentences)
    theirs = model.states(batch["words"], batch["letters"], batch["spelt"], batch["lengths"])
    table = WordTokenizer.load(directory).pieces({word for sentence in sentences for word in sentence.words})
    for i, sentence in enumerate(sentences):
        pieces = torch.tensor([[encoder.specials.cls, *(table[word][0] for word in sentence.words)]])
        ours = encoder.eval().hidden(pieces, torch.ones_like(pieces, dtype=torch.bool))[0, 1:]
        torch.testing.assert_close(ours, theirs[i, : len(ours)], rtol=1e-4, atol=1e-5)


def main() -> None:
    from mtlspec.data.generators.english_mini import Options, corpus
    from mtlspec.spec.models import RunOptions
    from mtlspec.train.determinism import make_deterministic

    make_deterministic(1, RunOptions())  # also sets one thread, for both
    _, sentences = next(corpus(Options(type="english_mini", train=SENTENCES)))
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "encoder"
        directory.mkdir()
        encoder = make_encoder(directory, sentences)
        (Path(name) / "data").mkdir()
        loops = {
            "plain": plain_loop(encoder, directory, sentences),
            "mtlspec": our_loop(directory, Path(name) / "data", sentences, TASK, TRAIN, dropout=0.0),
        }
        speeds = examples_per_second(loops, ROUNDS)
    words = statistics.mean(len(sentence.words) for sentence in sentences)
    print(
        f"biGRU tagger with a CRF, {SENTENCES} sentences of {words:.1f} words on average, {BATCH} a batch, one thread"
    )
    print_speeds(speeds, "plain", "sentences", target=2)


if __name__ == "__main__":
    main()
