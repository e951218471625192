"""`docs/spec.md`, written from the models: every key and kind with its type, default and meaning."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mtlspec import kinds
from mtlspec.io.digest import canonical_json
from mtlspec.kinds import Options
from mtlspec.spec import cards, shapes
from mtlspec.spec.cards import DataCard, EncoderCard
from mtlspec.spec.families import FAMILIES
from mtlspec.spec.models import ExperimentSpec

_PREFACE = """\
# The spec language

Written by `mtlspec schema --docs docs/spec.md` from the code; a test keeps it current.

A spec is one YAML file, and one spec is one experiment. Unknown keys are errors. `mtlspec check SPEC` says all that is
wrong at once, with file, line and column, and which data, encoder or device this machine lacks (`--offline` leaves the
machine out); `mtlspec schema > spec.schema.json` makes a JSON schema for editors.

**YAML.** Scalars are those of YAML 1.2: `2e-5` is a number, `no` and `on` are texts, `0o17` is octal. Tags, anchors,
aliases, merge keys and duplicate keys are errors.

**Names** begin with a small letter and go on with small letters, digits and `_`, at most 40 characters.

**Kinds.** Where a key holds a *kind* (a sampler, a task type, ...), `key: name` is short for `key: {type: name}`.

**`extends: other.yaml`** at the top of a spec takes everything from another spec of the project (the path is relative
to the file) and lays this one on it: mappings merge key by key, lists and scalars are replaced. Options of one kind do
not leak into another: a mapping with another `type` replaces the whole mapping. A mapping without `type` over a bare
name refines that name: `sampler: {alpha: 0.5}` over `sampler: power`.

**`--set a.b.c=value`** does the same from the command line and comes last; the value is YAML, such as `0.1`, `[1, 2]`
or `{type: power}`. Such a run is a *variant*: it has a folder, a record and a report of its own, called after what was
set (`study-seeds_1`) or as `--as NAME` says, and the run of the spec itself stays as it is.

**Cards.** `data` and `encoder.card` name a file in `registry/data` or `registry/encoders`, or hold a card themselves.
`data: {extends: NAME, root: elsewhere}` (or `--set data.root=elsewhere`) is that card with some keys changed.

**Corpora.** Tasks may learn from corpora of their own: `data: {news: NAME, pairs: {extends: NAME, root: elsewhere}}`
names several cards, and a task says `data: news`; without it, it reads the corpus of its own name. A corpus is not
named like a key of cards, which is how an inline card is told from several corpora (`--set data.pairs.root=elsewhere`
changes one of them). Every card stands once, and each is read by a task, an analysis or the encoder. An analysis that
names layers reads the corpus that has them, or says `data`. A model depends on the corpora of its own tasks only.

**Models.** A model group expands over its task sets, its sweep values and the seeds. Its `train` is laid on the
experiment's `train`. Where single models of a group differ, `by_tasks` says so: `by_tasks: {srl: {train: {epochs: 9}}}`
for the model of `srl`, `pos-ner` for that of the two. `mtlspec check` prints the number of trainings.

**Sweeps.** `sweep: {train.lr.encoder: [1e-5, 5e-5]}` trains a model for every value; several keys multiply. A key
begins with `train.`, or is `sharing`, or begins with `sharing.`. Kinds are swept over as a whole:
`train.sampler: [power, balanced]`. A group's sweep replaces the spec's sweep over the same key.
"""


def spec_document() -> str:
    """The whole page."""
    parts = [_PREFACE]
    parts += _records("The experiment", ExperimentSpec, stop=(DataCard, EncoderCard))
    parts += _records("Data cards", DataCard)
    parts += _records("Encoder cards", EncoderCard)
    parts.append("## Kinds\n")
    for family, word in FAMILIES.items():
        parts.append(f"### {word[0].upper()}{word[1:]}\n\n{_base_docstring(family)}\n")
        parts += [_kind(family, name) for name in kinds.names(family)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _records(title: str, root: type[BaseModel], stop: tuple[type[BaseModel], ...] = ()) -> Iterator[str]:
    """A section for a model, and one for every model below it, each under its dotted path."""
    yield f"## {title}\n\n{_docstring(root)}\n\n{_table(root)}"
    waiting = [("", root)]
    seen = {root, *stop}
    while waiting:
        prefix, model = waiting.pop(0)
        for name, field in model.model_fields.items():
            path, below = _below(f"{prefix}{name}", shapes.of_field(field))
            if below is not None and below not in seen:
                seen.add(below)
                waiting.append((f"{path}.", below))
                yield f"### `{path}`\n\n{_docstring(below)}\n\n{_table(below)}"


def _below(path: str, shape: shapes.Shape) -> tuple[str, type[BaseModel] | None]:
    """The model that stands at or inside a shape, and the path to it."""
    match shapes.unwrap(shape):
        case shapes.Record(cls):
            return path, cls
        case shapes.Mapping(value=value):
            return _below(f"{path}.<name>", value)
        case shapes.Items(item=item):
            return _below(f"{path}[]", item)
        case shapes.Either(options=options):
            found = [inside for option in options if (inside := _below(path, option))[1] is not None]
            return found[0] if found else (path, None)
    return path, None


def _kind(family: str, name: str) -> str:
    module = kinds.load(family, name)
    options = kinds.options_class(family, name)
    return f"#### `{name}`\n\n{_first_paragraph(module.__doc__)}\n\n{_table(options, leave_out=('type',))}"


def _table(model: type[BaseModel], leave_out: tuple[str, ...] = ()) -> str:
    fields = {name: field for name, field in model.model_fields.items() if name not in leave_out}
    if not fields:
        return "No options.\n"
    rows = ["| key | holds | default | meaning |", "|---|---|---|---|"]
    for name, field in fields.items():
        cells = (f"`{name}`", _holds(shapes.of_field(field)), _default(field), field.description or "")
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def _holds(shape: shapes.Shape) -> str:
    match shape:
        case shapes.Kind(family):
            word = FAMILIES[family]
            return f"{'an' if word[0] in 'aeiou' else 'a'} [{word}](#{word.replace(' ', '-')})"
        case shapes.Single(pattern=cards.NAME):
            return "a name"
        case shapes.Record(cards.DataCard | cards.EncoderCard):
            return "an inline card"
        case shapes.Mapping(value=value) if not isinstance(value, shapes.Anything):
            return f"{shape.words()}: name → {_holds(value)}"
        case shapes.Items(item=item) if not isinstance(item, shapes.Anything):
            return f"{shape.words()}, each {_holds(item)}"
        case shapes.Either(options, nullable):
            return " or ".join([*map(_holds, options), *(["null"] if nullable else [])])
    return shape.words()


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    value: Any = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, Options):
        return f"`{value.type}`"
    if isinstance(value, BaseModel):
        return "see below"
    return f"`{canonical_json(value)}`" if value not in ("", (), {}) else "empty"


def _docstring(model: type[BaseModel]) -> str:
    return _first_paragraph(inspect.getdoc(model) if model.__doc__ else None)


def _base_docstring(family: str) -> str:
    """What the members of a family have in common, from the class that their options derive from."""
    return _first_paragraph(inspect.getdoc(kinds.family_class(family)))


def _first_paragraph(text: str | None) -> str:
    return " ".join((text or "").strip().split("\n\n")[0].split())
