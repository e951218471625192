"""Verb phrases of the small English: a verb with what its frame asks for, its adjuncts and its auxiliaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from mtlspec.data.generators import _adjuncts as adjuncts
from mtlspec.data.generators import _nouns as nouns
from mtlspec.data.generators._dice import Dice
from mtlspec.data.generators._morphology import inflect
from mtlspec.data.generators._tree import Draft, Node, phrase, word
from mtlspec.data.generators._verbs import MODALS, PATTERNS, Pattern, Slot

_CONTRACTING = {"did", "does", "do", "could", "would", "should", "is", "are", "was", "were", "has", "have", "had"}
_SHORT = {"is": "'s", "has": "'s", "will": "'ll", "have": "'ve", "are": "'re"}
_STYLES = (("past", 5.0), ("present", 2.0), ("modal", 2.0), ("perfect", 1.3), ("progressive", 1.0))


def _senses() -> dict[tuple[str, str], str]:
    """Frameset of each verb in each pattern: numbered per lemma."""
    seen: Counter[str] = Counter({"be": 2})
    table = {}
    for pattern in PATTERNS:
        for verb in pattern.verbs:
            seen[verb] += 1
            table[pattern.name, verb] = f"{verb}.{seen[verb]:02d}"
    return table


SENSES = _senses()
SIMPLE = [p for p in PATTERNS if all(slot.kind not in ("that", "to") for slot in p.slots)]  # no clause inside


@dataclass
class Scene:
    """A sentence in the making."""

    dice: Dice
    drafts: list[Draft] = field(default_factory=list)


@dataclass(frozen=True)
class Shape:
    """How a clause differs from a plain active one."""

    passive: bool = False
    gap: bool = False  # the object stands elsewhere
    invert: bool = False  # the first auxiliary is handed back for a question
    depth: int = 2


def sort_fits(pattern_class: str, sort: str) -> bool:
    """Whether a noun phrase of class `sort` is what a verb's slot selects."""
    return sort == pattern_class or any(sort == name for name, _ in nouns.UNIONS.get(pattern_class, ()))


def choose(scene: Scene, fits: Sequence[Pattern]) -> Pattern:
    return scene.dice.weighted([(pattern, pattern.weight) for pattern in fits])


def finite(scene: Scene, pattern: Pattern, subject: Node, shape: Shape) -> tuple[Node, Draft, Node | None]:
    """A finite verb phrase that agrees with `subject`, its draft, and the fronted auxiliary of a question."""
    dice = scene.dice
    style = dice.weighted(_STYLES)
    auxiliaries = {"modal": [dice.one(MODALS)], "perfect": ["have"], "progressive": ["be"]}.get(style, [])
    auxiliaries = auxiliaries + ["be"] * shape.passive
    negated = dice.chance(0.12)
    if not auxiliaries and (negated or shape.invert):
        auxiliaries = ["do"]
    leaves: list[Node] = []
    tag = "VBD" if style == "past" or (style == "perfect" and dice.chance(0.4)) else _present(subject)
    for number, lemma in enumerate(auxiliaries):
        passive_be = shape.passive and number == len(auxiliaries) - 1
        leaves.append(_auxiliary(lemma, tag, subject, "aux:pass" if passive_be else "aux"))
        tag = "VBN" if passive_be or lemma == "have" else "VBG" if lemma == "be" else "VB"
    inner, draft = core(scene, pattern, tag, shape, subject)
    for leaf in leaves:
        if leaf.label == "MD":
            draft.add(leaf, "ARGM-MOD")
    fronted = leaves.pop(0).as_("aux") if shape.invert else None
    if not leaves and negated:  # a question: the negation stays behind
        inner = phrase("VP", adjuncts.negation(draft, "not"), inner)
    for number, leaf in reversed(list(enumerate(leaves))):
        middle: list[Node] = []
        if number == 0 and negated:
            short = leaf.word in _CONTRACTING and dice.chance(0.4)
            middle.append(adjuncts.negation(draft, "n't" if short else "not"))
        elif number == 0 and dice.chance(0.12):
            middle.append(adjuncts.frequency(dice, draft))
        inner = phrase("VP", leaf, *middle, inner)
    if leaves and not negated and subject.head.label == "PRP" and leaves[0].word in _SHORT and dice.chance(0.35):
        leaves[0].word = _short(leaves[0].word, subject)
    return inner, draft, fronted


def _short(form: str, subject: Node) -> str:
    return "'m" if form == "am" and subject.first_person else _SHORT[form]


def _present(subject: Node) -> str:
    return "VBP" if subject.plural or subject.first_person else "VBZ"


def _auxiliary(lemma: str, tag: str, subject: Node, rel: str) -> Node:
    if lemma in MODALS:
        return word("MD", lemma, rel)
    form = inflect(lemma, tag, subject.plural, subject.first_person)
    return word(tag, form, rel, lemma, "AUX")


def core(scene: Scene, pattern: Pattern, tag: str, shape: Shape, subject: Node | None) -> tuple[Node, Draft]:
    """The innermost phrase: verb, complements, adjuncts. The subject's role is given by the caller."""
    dice = scene.dice
    lemma = dice.word(pattern.verbs)
    plural, first = (subject.plural, subject.first_person) if subject else (False, False)
    verb = word(tag, inflect(lemma, tag, plural, first), lemma=lemma)
    draft = Draft(verb, SENSES[pattern.name, lemma], pattern.subject_role)
    scene.drafts.append(draft)
    kids = [verb, *_complements(scene, pattern, draft, shape)]
    if shape.passive:
        draft.subject_role = draft.object_role
        if dice.chance(0.45):
            agent = nouns.prepositional("by", nouns.noun_phrase(dice, pattern.subject, shape.depth - 1)).as_(
                "obl:agent"
            )
            draft.add(agent, pattern.subject_role)
            kids.append(agent)
    target = next((kid for kid in kids if kid.rel == "obj" and kid.sort), None)
    adjuncts.belonging(dice, pattern, draft, kids, target)
    if not shape.invert or dice.chance(0.5):
        adjuncts.free(dice, draft, kids, first_slot=bool(pattern.slots))
    if shape.depth > 1 and dice.chance(0.07):
        kids.append(_purpose(scene, draft, shape))
    return phrase("VP", *kids), draft


def _complements(scene: Scene, pattern: Pattern, draft: Draft, shape: Shape) -> list[Node]:
    dice = scene.dice
    missing = shape.passive or shape.gap
    if pattern.name == "give" and not missing and dice.chance(0.5):
        given, receiver = pattern.slots
        hearer = nouns.noun_phrase(dice, receiver.wants, 0).as_("iobj")
        thing = argument(scene, given.wants, shape.depth - 1).as_("obj")
        draft.add(hearer, receiver.role)
        draft.add(thing, given.role)
        return [hearer, thing]
    kids: list[Node] = []
    particle: Node | None = None
    controller: Node | None = None
    for slot in pattern.slots:
        if slot.kind == "particle":
            particle = phrase("PRT", word("RP", slot.wants)).as_("compound:prt")
            kids.append(particle)
        elif slot.kind == "np" and missing:
            draft.object_role, missing = slot.role, False
        elif slot.kind == "to":
            kids.append(_infinitive(scene, draft, slot, shape, controller))
        else:
            node = _slot(scene, slot, shape)
            draft.add(node, slot.role)
            controller = node
            kids.append(node)
    if particle and kids[-1] is not particle and (kids[-1].head.label == "PRP" or dice.chance(0.35)):
        kids.append(kids.pop(0))  # "turned it down"
    return kids


def _slot(scene: Scene, slot: Slot, shape: Shape) -> Node:
    if slot.kind == "np":
        return argument(scene, slot.wants, shape.depth).as_("obj")
    if slot.kind == "pp":
        preposition = scene.dice.one(slot.preposition.split("|"))
        return nouns.prepositional(preposition, argument(scene, slot.wants, shape.depth - 1)).as_("obl")
    inner = clause(scene, Shape(depth=shape.depth - 1))
    mark = [word("IN", "that", "mark", upos="SCONJ")] if scene.dice.chance(0.7) else []
    return phrase("SBAR", *mark, inner).as_("ccomp")


def _infinitive(scene: Scene, draft: Draft, slot: Slot, shape: Shape, controller: Node | None) -> Node:
    """`to VB ...`; its subject is the object in front of it, or the subject of the verb above."""
    fits = [pattern for pattern in SIMPLE if sort_fits(pattern.subject, "person")]
    inner, below = core(scene, choose(scene, fits), "VB", Shape(depth=shape.depth - 1), None)
    if controller is not None:
        below.subject(controller)
    else:
        draft.sharing.append(below)
    node = phrase("S", phrase("VP", word("TO", "to", "mark"), inner)).as_("xcomp")
    draft.add(node, slot.role)
    return node


def _purpose(scene: Scene, draft: Draft, shape: Shape) -> Node:
    slot = Slot("to", role="ARGM-PRP")
    return _infinitive(scene, draft, slot, shape, None).as_("advcl")


def argument(scene: Scene, wants: str, depth: int, subject: bool = False) -> Node:
    """A noun phrase that may carry a relative clause."""
    node = nouns.noun_phrase(scene.dice, wants, depth, subject)
    if depth > 0 and node.head.label in ("NN", "NNS") and scene.dice.chance(0.13):
        return _related(scene, node, depth)
    return node


def _related(scene: Scene, base: Node, depth: int) -> Node:
    """`who saw it`, `that he saw`, `seen by him`; the phrase before the clause plays the role, `R-` its pronoun."""
    subjects = [p for p in PATTERNS if sort_fits(p.subject, base.sort)]
    objects = [p for p in SIMPLE if p.transitive and sort_fits(p.slots[0].wants, base.sort)]
    kind = scene.dice.weighted(
        (
            ("subject", 3.0 * bool(subjects)),
            ("object", 2.0 * bool(objects)),
            ("reduced", 1.5 * bool(objects)),
            ("none", 0.01),
        )
    )
    if kind == "none":
        return base
    if kind == "reduced":
        inner, draft = core(scene, choose(scene, objects), "VBN", Shape(passive=True, depth=0), None)
        draft.subject(base)
        return _joined(base, inner.as_("acl"))
    human = base.sort in ("person", "office")
    other = "that" if human else scene.dice.one(("which", "that"))
    pronoun = word("WP", "who") if human and scene.dice.chance(0.75) else word("WDT", other)
    relative = phrase("WHNP", pronoun)
    if kind == "subject":
        inner, draft, _ = finite(scene, choose(scene, subjects), base, Shape(depth=depth - 1))
        draft.subject(base)
        draft.subject(relative, "R-")
        return _joined(base, phrase("SBAR", relative.as_("nsubj"), phrase("S", inner)).as_("acl:relcl"))
    pattern = choose(scene, objects)
    subject = nouns.noun_phrase(scene.dice, pattern.subject, 0, subject=True)
    inner, draft, _ = finite(scene, pattern, subject, Shape(gap=True, depth=0))
    draft.subject(subject)
    draft.add(base, draft.object_role)
    body = phrase("S", subject.as_("nsubj"), inner)
    if pronoun.word != "which" and scene.dice.chance(0.3):
        return _joined(base, phrase("SBAR", body).as_("acl:relcl"))
    draft.add(relative, "R-" + draft.object_role)
    return _joined(base, phrase("SBAR", relative.as_("obj"), body).as_("acl:relcl"))


def _joined(base: Node, modifier: Node) -> Node:
    return phrase("NP", base, modifier)


def clause(scene: Scene, shape: Shape) -> Node:
    """A declarative S without punctuation; the draft of its verb is the last subject's."""
    return full_clause(scene, shape)[0]


def full_clause(scene: Scene, shape: Shape, pattern: Pattern | None = None) -> tuple[Node, Draft]:
    dice = scene.dice
    if pattern is None:
        pattern = choose(scene, PATTERNS if shape.depth > 0 else SIMPLE)
    passive = pattern.transitive and dice.chance(0.25)
    wants = pattern.slots[0].wants if passive else pattern.subject
    subject = argument(scene, wants, shape.depth, subject=True)
    inner, draft, _ = finite(scene, pattern, subject, Shape(passive=passive, depth=shape.depth))
    draft.subject(subject)
    kids = [subject.as_("nsubj:pass" if passive else "nsubj"), inner]
    if inner.kids[0] is draft.verb and dice.chance(0.1):
        kids.insert(1, adjuncts.frequency(dice, draft))
    return phrase("S", *kids), draft
