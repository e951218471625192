"""Sentences per CPU second of our training loop against a plain transformers loop, interleaved, on one thread.

Both train the same encoder (4 layers x 8 heads, width 128, random weights) with a linear tagger on the same generated
sentences, 32 a batch, with dropout, clipping, warm-up and linear decay. The plain loop is what people write: it
tokenises and pads each random batch with the fast tokenizer and steps torch's AdamW as it comes; only ours pays for
deterministic kernels. CPU time is what one thread needs on an idle machine, whatever else runs on this one.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench._our_loop import our_loop
from bench._timing import examples_per_second, print_speeds, quiet_on_one_thread
from mtlspec.data.sentence import Sentence

SENTENCES, BATCH, ROUNDS = 1024, 32, 5
TASK = {"type": "tagging", "layer": "xpos"}
TRAIN = {"epochs": ROUNDS + 3, "batch": {"sentences": BATCH, "tokens": 3200}}


def make_encoder(directory: Path, sentences: list[Sentence]) -> None:
    """A WordPiece tokenizer learnt from the sentences and a random BERT, laid out as an encoder artifact."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordPieceTrainer(vocab_size=2000, special_tokens=specials, show_progress=False)
    tokenizer.train_from_iterator((" ".join(sentence.words) for sentence in sentences), trainer)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    roles = {f"{role}_token": f"[{role.upper()}]" for role in ("pad", "unk", "cls", "sep", "mask")}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **roles).save_pretrained(directory)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=128,
        num_hidden_layers=4,
        num_attention_heads=8,
        intermediate_size=512,
        max_position_embeddings=256,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(directory)


def plain_loop(directory: Path, sentences: list[Sentence]) -> Callable[[], int]:
    """A pass over the sentences; returns how many were trained on."""
    import torch
    from torch.utils.data import DataLoader
    from transformers import AutoModelForTokenClassification, AutoTokenizer, get_linear_schedule_with_warmup

    tags = sorted({tag for sentence in sentences for tag in sentence.layers["xpos"]})
    place = {tag: i for i, tag in enumerate(tags)}
    tokenizer = AutoTokenizer.from_pretrained(directory)
    model = AutoModelForTokenClassification.from_pretrained(directory, num_labels=len(tags))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    steps = ROUNDS * (SENTENCES // BATCH) + 100
    scheduler = get_linear_schedule_with_warmup(optimizer, steps // 10, steps)

    def collate(examples: list[Sentence]) -> dict[str, torch.Tensor]:
        words = [list(example.words) for example in examples]
        encoded = tokenizer(words, is_split_into_words=True, padding=True, truncation=True, return_tensors="pt")
        labels = []
        for i, example in enumerate(examples):
            row, previous = [], None
            for word in encoded.word_ids(i):
                first = word is not None and word != previous
                row.append(place[example.layers["xpos"][word]] if first else -100)
                previous = word
            labels.append(row)
        encoded["labels"] = torch.tensor(labels)
        return encoded

    loader = DataLoader(sentences, batch_size=BATCH, shuffle=True, collate_fn=collate)

    def run() -> int:
        torch.use_deterministic_algorithms(False)
        model.train()
        for batch in loader:
            loss = model(**batch).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            loss.item()
        return len(sentences)

    return run


def main() -> None:
    from mtlspec.data.generators.english_mini import Options, corpus
    from mtlspec.spec.models import RunOptions
    from mtlspec.train.determinism import make_deterministic

    quiet_on_one_thread()
    make_deterministic(1, RunOptions())  # as training does, for both
    _, sentences = next(corpus(Options(type="english_mini", train=SENTENCES)))
    with tempfile.TemporaryDirectory() as name:
        encoder = Path(name) / "encoder"
        make_encoder(encoder, sentences)
        (Path(name) / "data").mkdir()
        loops = {
            "plain": plain_loop(encoder, sentences),
            "mtlspec": our_loop(encoder, Path(name) / "data", sentences, TASK, TRAIN, dropout=0.2),
        }
        speeds = examples_per_second(loops, ROUNDS)
    words = statistics.mean(len(sentence.words) for sentence in sentences)
    print(f"training loop, {SENTENCES} sentences of {words:.1f} words on average, {BATCH} a batch, one thread")
    print_speeds(speeds, "plain", "sentences", target=1.8)


if __name__ == "__main__":
    main()
