"""The card of an exported model: what it is, how good it is, of what and how it was made, how to use it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mtlspec.io.digest import digest_value
from mtlspec.io.manifest import MANIFEST, read_manifest
from mtlspec.io.words import counted
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.track.record import read_record
from mtlspec.use.models import Found

_CODE = {
    "token-classification": """\
from transformers import AutoModelForTokenClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("this/folder")
model = AutoModelForTokenClassification.from_pretrained("this/folder")
words = ["Anna", "sees", "the", "house", "."]
batch = tokenizer(words, is_split_into_words=True, return_tensors="pt")
logits = model(**batch).logits[0]
for number, word in enumerate(words):
    pieces = [place for place, of in enumerate(batch.word_ids()) if of == number]
    print(word, model.config.id2label[logits[pieces].mean(0).argmax().item()])""",
    "text-classification": """\
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("this/folder")
model = AutoModelForSequenceClassification.from_pretrained("this/folder")
print(model(**tokenizer("A text.", return_tensors="pt")).logits)""",
    None: """\
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("this/folder/encoder")
encoder = AutoModel.from_pretrained("this/folder/encoder")  # its decoders are read by mtlspec""",
}


def model_card(found: Found, model: MultiTaskModel, pipeline: str | None) -> str:
    """Markdown with a head that hubs read; what nobody recorded is not said."""
    record = read_record(found.places.record) if found.places is not None and found.places.record.is_file() else None
    parts = [
        *_head(record, pipeline),
        f"# {found.title}",
        f"A model trained with mtlspec: {counted(len(model.tasks), 'task')} on one encoder.",
        "## Tasks",
        "\n".join(_tasks(model)),
        *(_scores(record, found, model) if record else ()),
        "## Use",
        f"```python\n{_CODE[pipeline]}\n```",
        *(_words_note(pipeline)),
        "`mtlspec predict this/folder new.txt` gives the predictions of its evaluation; `mlflow models predict -m "
        "this/folder --env-manager local -i new.json` and `mlflow models serve` give the same.",
        *(_sources(record) if record else ()),
        *(_again(record, found) if record else ()),
        "## Limits",
        "\n".join(_limits(found, model, record)),
    ]
    return "\n\n".join(parts) + "\n"


def _head(record: Mapping[str, Any] | None, pipeline: str | None) -> Iterator[str]:
    languages = sorted({card["language"] for card in record["data"]["cards"].values()}) if record else []
    lines = ["library_name: transformers", "tags: [mtlspec, multi-task-learning]"]
    lines += [f"pipeline_tag: {pipeline}"] if pipeline else []
    lines += [f"language: [{', '.join(languages)}]"] if languages else []
    yield "\n".join(["---", *lines, "---"])


def _tasks(model: MultiTaskModel) -> Iterator[str]:
    for task in model.tasks:
        about = task.describe()
        corpus = f" of `{task.corpus}`" if task.corpus else ""
        labels = "numbers" if about["options"]["type"] == "regression" else counted(len(about["labels"]), "label")
        yield f"- `{task.name}`: {about['options']['type']}, layer `{task.layer}`{corpus}, {labels}"


def _scores(record: Mapping[str, Any], found: Found, model: MultiTaskModel) -> Iterator[str]:
    """This model's, and those of the same model over all seeds."""
    assert found.places is not None
    own = record["stages"].get("evaluate-" + found.name.partition("/")[2], {}).get("scores", {})
    runs = "train-" + found.name.partition("/")[2]
    variant = next((one for one in record["models"] if any(run["train"] == runs for run in one["runs"])), None)
    rows = []
    for key, value in sorted(own.items()):
        split, _, rest = key.partition("/")
        task, _, metric = rest.partition("/")
        if metric and task in {one.name for one in model.tasks}:
            over = variant["scores"].get(key) if variant else None
            spread = _over_seeds(over) if over else ""
            rows.append(f"| {task} | {split} | {metric} | {value:.2f} | {spread} |")
    if rows:
        yield "## Scores"
        head = "| task | split | score | this model | all seeds |\n|---|---|---|---|---|"
        yield "\n".join([head, *rows])


def _over_seeds(over: Mapping[str, Any]) -> str:
    spread = f" ± {over['std']:.2f}" if over["std"] is not None else ""
    return f"{over['mean']:.2f}{spread} ({counted(over['n'], 'seed')})"


def _words_note(pipeline: str | None) -> Iterator[str]:
    if pipeline == "token-classification":
        yield (
            "The scores of a word are the mean of those of its sub-tokens. Words are cut as in English treebanks; "
            "byte-level tokenizers need `add_prefix_space=True`."
        )


def _sources(record: Mapping[str, Any]) -> Iterator[str]:
    yield "## Data and encoder"
    lines = []
    for name, card in record["data"]["cards"].items():
        files = record["data"]["artifacts"].get(f"data-{card['name']}")
        said = f"{card['title'] or name}; licence: {card['licence']}; source: {card['source']}"
        lines.append(f"- corpus `{name}`: {said}" + (f"; digest of its files: `{files[:16]}`" if files else ""))
    encoder = record["encoder"]["card"]
    lines.append(f"- encoder `{encoder['name']}`: {encoder['title'] or encoder['name']}; licence: {encoder['licence']}")
    yield "\n".join(lines)


def _again(record: Mapping[str, Any], found: Found) -> Iterator[str]:
    yield "## Make it again"
    spec, packages = record["spec"], record["code"]["packages"]
    pinned = ", ".join(
        f"{name} {packages[name]}" for name in ("torch", "transformers", "tokenizers") if name in packages
    )
    weights = digest_value(read_manifest(found.folder)) if (found.folder / MANIFEST).is_file() else "not sealed"
    yield (
        f"`mtlspec run {spec['name']}` with the spec of digest `{spec['digest'][:16]}` (plan `{record['plan'][:16]}`) "
        f"and {pinned}; the trained model's digest is `{weights[:16]}`. "
        f"`mtlspec verify {spec['name']} --rerun` compares bits."
    )
    resolved = json.dumps(spec["resolved"]["train"], sort_keys=True)
    yield f"Training: `{resolved}`; seeds {', '.join(map(str, spec['resolved']['seeds']))}."


def _limits(found: Found, model: MultiTaskModel, record: Mapping[str, Any] | None) -> Iterator[str]:
    yield "- It knows the labels of its training data and no others."
    if model.encoder.max_pieces is not None:
        policy = (
            "in overlapping windows" if found.long_text in ("window", "error") else "cut (`" + found.long_text + "`)"
        )
        long = f"- The encoder reads {model.encoder.max_pieces} sub-tokens at once; longer sentences are read {policy}"
        yield f"{long} by mtlspec, and not at all by transformers alone."
    if record is not None:
        names = ", ".join(f"`{name}`" for name in record["data"]["cards"])
        yield f"- It was evaluated on {names} only; text of another kind may give other scores."
