"""From a YAML file to a validated spec with its cards; every problem of the spec at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from mtlspec.errors import MtlspecError, Place, Problems
from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard, EncoderCard, is_inline
from mtlspec.spec.check import check_spec
from mtlspec.spec.check_card import check_card
from mtlspec.spec.corpora import resolved
from mtlspec.spec.explain import explain
from mtlspec.spec.models import ExperimentSpec, ModelGroup
from mtlspec.spec.nodes import Node, merge
from mtlspec.spec.overrides import apply_overrides, check_name, name_of_run
from mtlspec.spec.sources import Sources

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Needs:
    """What a spec needs of the machine it runs on, as far as it and its cards are sound."""

    data: tuple[DataCard, ...] = ()
    encoder: EncoderCard | None = None
    weights: bool = False  # of the encoder, not its tokenizer alone
    device: str = "cpu"
    device_place: Place | None = None


@dataclass(frozen=True)
class LoadedSpec:
    """A spec with the cards it names."""

    spec: ExperimentSpec
    data: Mapping[str, DataCard]  # corpus -> its card; a single one is called as its card is
    encoder: EncoderCard
    files: tuple[Path, ...]  # every file that was read
    source: str  # the spec's own file, relative to the project
    base: str  # what this file calls the spec; with overrides, `spec.name` is that of a variant
    overrides: tuple[str, ...]
    needs: Needs
    tasks: Mapping[str, Node]  # each task where it was said


@dataclass(frozen=True)
class Examined:
    """All that can be said of a spec; it is loaded if nothing is wrong."""

    problems: tuple[MtlspecError, ...]  # each once
    needs: Needs
    loaded: LoadedSpec | None


def load_spec(path: Path, project: Project, overrides: Sequence[str] = ()) -> LoadedSpec:
    """A spec with its cards; raises `Problems` with all that is wrong."""
    examined = examine_spec(path, project, overrides)
    if examined.loaded is None:
        raise Problems(examined.problems)
    return examined.loaded


def examine_spec(path: Path, project: Project, overrides: Sequence[str] = ()) -> Examined:
    """Read, merge, validate and cross-check a spec; a text that cannot be read at all is raised."""
    loader = _Loader(Sources(project))
    written = loader.sources.spec(path)
    node, wrong = apply_overrides(written, overrides)
    loader.problems.extend(wrong)
    node, cards = loader.take_corpora(_complete_models(node), project.data_cards)
    node, encoder = loader.take_card(node, ("encoder", "card"), EncoderCard, project.encoder_cards)
    spec = loader.validate(ExperimentSpec, node)
    loader.problems.extend(check_spec(node, cards, encoder, spec.models if spec else _valid_groups(node)))
    base = own_name(written)
    if overrides and not wrong and base is not None:
        loader.problems.extend(check_name(base, path, project, overrides))
    needs = _needs(node, loader.sound, spec)
    if problems := loader.unique():
        return Examined(problems, needs, None)
    assert spec is not None and encoder is not None
    data = {name: card for name, card in cards.items() if card is not None}
    base = base or spec.name
    spec = resolved(spec, data, encoder).model_copy(update={"name": name_of_run(base, overrides)})
    files = tuple(dict.fromkeys(loader.sources.files))
    source = project.relative(path.absolute())
    loaded = LoadedSpec(spec, data, encoder, files, source, base, tuple(overrides), needs, node.children("tasks"))
    return Examined((), needs, loaded)


def _needs(node: Node, cards: Sequence[DataCard | EncoderCard], spec: ExperimentSpec | None) -> Needs:
    said = node.near(("run", "device"))
    return Needs(
        tuple(card for card in cards if isinstance(card, DataCard)),
        next((card for card in cards if isinstance(card, EncoderCard)), None),
        spec is not None and spec.encoder.reads_weights,
        spec.run.device if spec is not None else "cpu",
        said.place,
    )


def own_name(written: Node) -> str | None:
    """What a spec's text calls it, if it says so."""
    name = written.get("name")
    return name.value if name is not None and isinstance(name.value, str) else None


def load_data_card(name: str, project: Project) -> DataCard:
    return _load_card(name, DataCard, project.data_cards, project)


def load_encoder_card(name: str, project: Project) -> EncoderCard:
    return _load_card(name, EncoderCard, project.encoder_cards, project)


def _load_card(name: str, model: type[M], folder: Path, project: Project) -> M:
    loader = _Loader(Sources(project))
    card = loader.card(model, loader.sources.card(folder, Node(name, Place(project.relative(folder)))))
    if problems := loader.unique():
        raise Problems(problems)
    assert card is not None
    return card


@dataclass
class _Loader:
    """One load: its sources and the problems met so far."""

    sources: Sources
    problems: list[MtlspecError] = field(default_factory=list)
    sound: list[DataCard | EncoderCard] = field(default_factory=list)  # cards without a problem of their own

    def validate(self, model: type[M], node: Node) -> M | None:
        try:
            return model.model_validate(node.plain())
        except ValidationError as error:
            self.problems.extend(explain(error, model, node))
            return None

    def card(self, model: type[M], node: Node) -> M | None:
        """A card, checked as far as it is valid."""
        card = self.validate(model, node)
        if isinstance(card, DataCard | EncoderCard):
            wrong = list(check_card(card, node))
            self.problems.extend(wrong)
            self.sound += [card] if not wrong else []
        return card

    def take_card(self, spec: Node, path: tuple[str, ...], model: type[M], folder: Path) -> tuple[Node, M | None]:
        """The card at a path of a spec, and the spec with an inline card laid on the one it extends."""
        said = spec.get(*path)
        if said is None:
            return spec, None
        try:
            if isinstance(said.value, str):
                return spec, self.card(model, self.sources.card(folder, said))
            if isinstance(said.value, dict):
                inline = self.sources.refined(folder, said)
                return spec.replaced(path, inline), self.card(model, inline)
        except MtlspecError as error:
            self.problems.extend(error.problems)
            if isinstance(said.value, dict):  # what it extends is said to be wrong; nothing else is known of it
                return spec.replaced(path, Node("unknown", said.place, said.key)), None
        return spec, None

    def take_corpora(self, spec: Node, folder: Path) -> tuple[Node, dict[str, DataCard | None]]:
        """The corpora of a spec with their cards, None for a wrong one; and the spec with inline cards completed."""
        said = spec.child("data")
        if said is None or not isinstance(said.value, dict) or is_inline(said.value):
            spec, card = self.take_card(spec, ("data",), DataCard, folder)
            return spec, {card.name: card} if card is not None else {}
        cards: dict[str, DataCard | None] = {}
        for name in said.value:
            spec, cards[name] = self.take_card(spec, ("data", name), DataCard, folder)
        return spec, cards

    def unique(self) -> tuple[MtlspecError, ...]:
        """Each problem once: a wrong `train` is met again in every model that it is merged into."""
        unique = {(p.place, p.code, p.message): p for p in reversed(self.problems)}
        return tuple(reversed(unique.values()))


def _complete_models(node: Node) -> Node:
    """Lay every model's `train` on the experiment's, so that each is complete and knows who said what."""
    models, base = node.child("models"), node.child("train")
    if models is None or base is None or not isinstance(models.value, dict) or not isinstance(base.value, dict):
        return node
    complete = {}
    for name, group in models.value.items():
        own = group.child("train")
        if isinstance(group.value, dict) and (own is None or isinstance(own.value, dict)):
            merged = base if own is None else merge(base, own, ("train",))
            complete[name] = group.with_child("train", merged)
        else:
            complete[name] = group
    return node.with_child("models", Node(complete, models.place, models.key))


def _valid_groups(node: Node) -> dict[str, ModelGroup]:
    """The model groups that are sound on their own, to be checked although the spec as a whole is not."""
    models = node.child("models")
    groups = {}
    for name, group in models.value.items() if models is not None and isinstance(models.value, dict) else ():
        try:
            groups[name] = ModelGroup.model_validate(group.plain())
        except ValidationError:
            continue
    return groups
