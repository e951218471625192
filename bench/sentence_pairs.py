"""Pairs per CPU second of our training loop against transformers' own Trainer, interleaved, on one thread.

Both fine-tune the same encoder on MRPC's and RTE's pairs (a model for each), 32 pairs a batch, with dropout, clipping,
warm-up and linear decay. The Trainer has its best ordinary settings: texts tokenised beforehand, batches grouped by
length and padded to their longest, fused AdamW, no logging, no saving. The ratio is larger for small corpora, whose
parts that the Trainer sorts by length are small. Set MTLSPEC_DATA to the folder of glue/.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from bench._our_loop import our_loop
from bench._timing import examples_per_second, print_speeds, quiet_on_one_thread
from mtlspec.data.sentence import Sentence

BATCH, ROUNDS, EXAMPLES = 32, 3, 640
TASK = {"type": "classification", "layer": "label"}
TRAIN = {"epochs": ROUNDS + 3, "batch": {"sentences": BATCH, "tokens": 99_999}}
SHAPES = {"width 128, 4 layers": (128, 4, 8), "width 384, 6 layers (MiniLM's)": (384, 6, 12)}


def make_encoder(directory: Path, pairs: Iterable[Sentence], shape: tuple[int, int, int]) -> None:
    """A WordPiece tokenizer learnt from the texts and a random BERT, laid out as an encoder artifact."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=8000, special_tokens=specials, show_progress=False)
    tokenizer.train_from_iterator((text for pair in pairs for text in pair.texts), trainer)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    roles = {f"{role}_token": f"[{role.upper()}]" for role in ("pad", "unk", "cls", "sep", "mask")}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **roles).save_pretrained(directory)
    torch.manual_seed(1)
    width, layers, heads = shape
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=512,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(directory)


def trainer_loop(directory: Path, root: Path, pairs: list[Sentence]) -> Callable[[], int]:
    """A pass over the pairs by transformers' Trainer; returns how many were trained on."""
    import torch
    from datasets import Dataset
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DataCollatorWithPadding,
        PrinterCallback,
        Trainer,
        TrainingArguments,
    )

    tokenizer = AutoTokenizer.from_pretrained(directory)
    labels = sorted({str(pair.layers["label"]) for pair in pairs})
    encoded = tokenizer([pair.texts[0] for pair in pairs], [pair.texts[1] for pair in pairs], truncation=True)
    columns = {**encoded, "labels": [labels.index(str(pair.layers["label"])) for pair in pairs]}
    data = Dataset.from_dict({**columns, "length": [len(ids) for ids in encoded["input_ids"]]})
    model = AutoModelForSequenceClassification.from_pretrained(directory, num_labels=len(labels))
    settings = TrainingArguments(
        output_dir=str(root),
        num_train_epochs=1,
        per_device_train_batch_size=BATCH,
        learning_rate=5e-5,
        warmup_steps=len(pairs) // BATCH // 10,
        optim="adamw_torch_fused",
        train_sampling_strategy="group_by_length",
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        dataloader_pin_memory=False,
    )

    def run() -> int:
        torch.use_deterministic_algorithms(False)
        trainer = Trainer(model, settings, DataCollatorWithPadding(tokenizer), data, processing_class=tokenizer)
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        return len(pairs)

    return run


def read_pairs(name: str) -> list[Sentence]:
    """The first training pairs of a corpus in the registry."""
    from itertools import islice

    from mtlspec.data.corpus import read_split
    from mtlspec.data.pins import resolve_root
    from mtlspec.io.project import Project
    from mtlspec.spec.load import load_data_card

    project = Project(Path(__file__).resolve().parents[1])
    card = load_data_card(name, project)
    return list(islice(read_split(card, resolve_root(card, project), "train"), EXAMPLES))


def compare(title: str, shape: tuple[int, int, int], corpora: dict[str, list[Sentence]]) -> None:
    """Print the speeds of both loops over all corpora, and their ratio."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        make_encoder(root / "encoder", [pair for pairs in corpora.values() for pair in pairs], shape)
        passes: dict[str, list[Callable[[], int]]] = {"Trainer": [], "mtlspec": []}
        for corpus, pairs in corpora.items():
            (root / corpus).mkdir()
            passes["Trainer"].append(trainer_loop(root / "encoder", root / "trainer", pairs))
            passes["mtlspec"].append(our_loop(root / "encoder", root / corpus, pairs, TASK, TRAIN, dropout=0.0))
        loops = {loop: partial(_all, runs) for loop, runs in passes.items()}
        speeds = examples_per_second(loops, ROUNDS)
    print(f"training loop on pairs, {title}, {BATCH} a batch, one thread")
    print_speeds(speeds, "Trainer", "pairs", target=1.5)


def _all(runs: Sequence[Callable[[], int]]) -> int:
    return sum(run() for run in runs)


def main() -> None:
    if not os.environ.get("MTLSPEC_DATA"):
        sys.exit("sentence_pairs: set MTLSPEC_DATA to the folder of glue/")
    from mtlspec.spec.models import RunOptions
    from mtlspec.train.determinism import make_deterministic

    warnings.simplefilter("ignore")
    quiet_on_one_thread()
    make_deterministic(1, RunOptions())  # as training does, for both
    corpora = {name: read_pairs(name) for name in ("mrpc", "rte")}
    for title, shape in SHAPES.items():
        compare(title, shape, corpora)
