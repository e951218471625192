"""Whole sentences of the small English."""

from __future__ import annotations

from collections.abc import Callable

from mtlspec.data.generators import _adjuncts as adjuncts
from mtlspec.data.generators import _lexicon as lexicon
from mtlspec.data.generators import _nouns as nouns
from mtlspec.data.generators._morphology import inflect
from mtlspec.data.generators._tree import Draft, Node, phrase, word
from mtlspec.data.generators._verbphrases import (
    SENSES,
    SIMPLE,
    Scene,
    Shape,
    argument,
    choose,
    core,
    finite,
    full_clause,
)

_SUBORDINATE = (("because", "ARGM-CAU"), ("although", "ARGM-ADV"), ("if", "ARGM-ADV"), ("while", "ARGM-TMP"),
                ("after", "ARGM-TMP"), ("before", "ARGM-TMP"), ("since", "ARGM-TMP"),
                ("until", "ARGM-TMP"))  # fmt: skip


def compose(scene: Scene) -> Node:
    """The tree of one sentence, from TOP."""
    return phrase("TOP", scene.dice.weighted(_KINDS)(scene))


def _stop(body: Node, mark: str = ".") -> Node:
    body.kids.append(word(".", mark, "punct"))
    return body


def _comma() -> Node:
    return word(",", ",", "punct")


def _statement(scene: Scene) -> Node:
    body, draft = full_clause(scene, Shape())
    dice = scene.dice
    if dice.chance(0.1):
        front = adjuncts.time(dice)
        draft.add(front, "ARGM-TMP")
        body.kids[:0] = [front, _comma()]
    elif dice.chance(0.07):
        adverb = phrase("ADVP", word("RB", dice.word(lexicon.SENTENCE_ADVERBS))).as_("advmod")
        draft.add(adverb, "ARGM-DIS")
        body.kids[:0] = [adverb, _comma()]
    return _stop(body)


def _two_verbs(scene: Scene) -> Node:
    """One subject, two verb phrases: `Ann saw the man and thanked him`."""
    patterns = [p for p in SIMPLE if p.subject in ("person", "agent")]
    subject = argument(scene, "person", 1, subject=True)
    first, one, _ = finite(scene, choose(scene, patterns), subject, Shape(depth=1))
    second, two, _ = finite(scene, choose(scene, patterns), subject, Shape(depth=1))
    one.subject(subject)
    two.subject(subject)
    joined = word("CC", scene.dice.weighted((("and", 4.0), ("but", 1.0), ("or", 0.5))), "cc")
    joined.gov = second
    return _stop(phrase("S", subject.as_("nsubj"), phrase("VP", first, joined, second.as_("conj"))))


def _two_clauses(scene: Scene) -> Node:
    first, _ = full_clause(scene, Shape(depth=1))
    second, _ = full_clause(scene, Shape(depth=1))
    joined, comma = word("CC", scene.dice.one(("and", "but", "so")), "cc"), _comma()
    joined.gov = comma.gov = second
    return _stop(phrase("S", first, comma, joined, second.as_("conj")))


def _subordinate(scene: Scene) -> Node:
    main, draft = full_clause(scene, Shape(depth=1))
    inner, _ = full_clause(scene, Shape(depth=0))
    mark, role = scene.dice.one(_SUBORDINATE)
    extra = phrase("SBAR", word("IN", mark, "mark", upos="SCONJ"), inner).as_("advcl")
    draft.add(extra, role)
    if scene.dice.chance(0.4):
        main.kids[:0] = [extra, _comma()]
    else:
        main.kids[-1].kids.append(extra)
    return _stop(main)


def _being(scene: Scene, subject: Node, predicate: Node, role: str = "ARG2") -> Node:
    """`subject is predicate`; in the dependency tree the predicate is the head."""
    dice = scene.dice
    tag = "VBD" if dice.chance(0.4) else "VBP" if subject.plural or subject.first_person else "VBZ"
    verb = word(tag, inflect("be", tag, subject.plural, subject.first_person), "cop", "be", "AUX")
    draft = Draft(verb, "be.01", "ARG1")
    scene.drafts.append(draft)
    draft.subject(subject)
    draft.add(predicate, role)
    kids = [verb, predicate]
    if dice.chance(0.15):
        kids.insert(1, adjuncts.negation(draft, dice.one(("not", "n't")) if verb.word != "am" else "not"))
    elif dice.chance(0.15):
        kids.insert(1, adjuncts.frequency(dice, draft))
    return _stop(phrase("S", subject.as_("nsubj"), phrase("VP", *kids)))


def _property(scene: Scene) -> Node:
    """`The car is very old`, `Ann is older than Paul`."""
    dice = scene.dice
    wants = dice.one(("person", "thing", "abstract", "place", "vehicle"))
    subject = argument(scene, wants, 2, subject=True)
    adjective = dice.word(lexicon.ADJECTIVES[lexicon.CLASS_ADJECTIVES.get(wants, "abstract")])
    if adjective in lexicon.COMPARED and dice.chance(0.5):
        than = nouns.prepositional("than", nouns.noun_phrase(dice, wants, 0)).as_("obl")
        return _being(scene, subject, phrase("ADJP", word("JJR", lexicon.COMPARED[adjective], lemma=adjective), than))
    degree = [word("RB", dice.word(lexicon.DEGREE), "advmod")] if dice.chance(0.4) else []
    return _being(scene, subject, phrase("ADJP", *degree, word("JJ", adjective)))


def _identity(scene: Scene) -> Node:
    """`Jordan is a small village`: the predicate tells what the name stands for."""
    dice = scene.dice
    kind = dice.one(("person", "place", "group"))
    named = {"person": nouns.person, "place": nouns.place, "group": nouns.organisation}[kind](dice)
    named.sort = kind
    noun = word("NN", dice.one({"person": ("teacher", "lawyer", "singer", "judge", "cook"),
                                "place": ("city", "village", "island", "suburb", "place"),
                                "group": ("company", "firm", "agency", "club", "union")}[kind]))  # fmt: skip
    adjective = dice.word(lexicon.ADJECTIVES[lexicon.CLASS_ADJECTIVES[kind]])
    return _being(scene, named, phrase("NP", word("DT", "a", "det"), word("JJ", adjective, "amod"), noun))


def _location(scene: Scene) -> Node:
    """`The report is on the table`."""
    dice = scene.dice
    subject = argument(scene, dice.one(("thing", "text", "person", "animal")), 1, subject=True)
    where = nouns.prepositional(dice.one(("on", "near", "under", "behind")), nouns.common(dice, "surface", 0))
    return _being(scene, subject, where)


def _existence(scene: Scene) -> Node:
    """`There are two cars near the station .`"""
    dice = scene.dice
    thing = nouns.common(dice, dice.one(("animal", "thing", "event", "group", "vehicle")), 1)
    tag = "VBD" if dice.chance(0.5) else "VBP" if thing.plural else "VBZ"
    verb = word(tag, inflect("be", tag, thing.plural), lemma="be")
    draft = Draft(verb, "be.02", "ARG1")
    scene.drafts.append(draft)
    draft.subject(thing)
    kids = [verb, thing.as_("nsubj")]
    if dice.chance(0.8):
        where = nouns.prepositional(dice.one(("in", "near", "at")), nouns.noun_phrase(dice, "place", 0)).as_("obl")
        draft.add(where, "ARGM-LOC")
        kids.append(where)
    there = phrase("NP", word("EX", "there")).as_("expl")
    return _stop(phrase("S", there, phrase("VP", *kids)))


def _yes_no(scene: Scene) -> Node:
    """`Did the man see Ann ?`"""
    pattern = choose(scene, SIMPLE)
    subject = argument(scene, pattern.subject, 1, subject=True)
    inner, draft, front = finite(scene, pattern, subject, Shape(invert=True, depth=1))
    assert front is not None
    draft.subject(subject)
    return _stop(phrase("SQ", front, subject.as_("nsubj"), inner), "?")


def _wh(scene: Scene) -> Node:
    """`Who saw Ann ?`, `What did Ann eat ?`, `Where does Ann live ?`"""
    dice = scene.dice
    if dice.chance(0.5):
        pattern = choose(scene, [p for p in SIMPLE if p.subject in ("person", "agent")])
        asked = phrase("WHNP", word("WP", "who"))
        inner, draft, _ = finite(scene, pattern, asked, Shape(depth=1))
        draft.subject(asked)
        return _stop(phrase("SBARQ", asked.as_("nsubj"), phrase("SQ", inner)), "?")
    pattern = choose(scene, [p for p in SIMPLE if p.transitive and p.slots[0].wants not in ("person", "named_place")])
    subject = nouns.noun_phrase(dice, pattern.subject, 1, subject=True)
    inner, draft, front = finite(scene, pattern, subject, Shape(gap=True, invert=True, depth=0))
    assert front is not None
    draft.subject(subject)
    asked = phrase("WHNP", word("WP", "what"))
    draft.add(asked, draft.object_role)
    return _stop(phrase("SBARQ", asked.as_("obj"), phrase("SQ", front, subject.as_("nsubj"), inner)), "?")


def _order(scene: Scene) -> Node:
    """`Please open the door .`"""
    pattern = choose(scene, [p for p in SIMPLE if p.slots and p.subject in ("person", "agent")])
    inner, _ = core(scene, pattern, "VB", Shape(depth=1), None)
    please = [phrase("INTJ", word("UH", "please")).as_("discourse")] if scene.dice.chance(0.4) else []
    return _stop(phrase("S", *please, phrase("VP", *inner.kids)))


def _quoted(scene: Scene) -> Node:
    """'' The price fell , '' said Ann Stone ."""
    quoted, _ = full_clause(scene, Shape(depth=0))
    speaker = nouns.noun_phrase(scene.dice, "agent", 0, subject=True)
    verb = word("VBD", "said", lemma="say")
    draft = Draft(verb, SENSES["say", "say"], "ARG0")
    scene.drafts.append(draft)
    draft.subject(speaker)
    draft.add(quoted, "ARG1")
    left, comma, right = word("``", "``", "punct"), _comma(), word("''", "''", "punct")
    left.gov = comma.gov = right.gov = quoted
    kids = [left, quoted.as_("ccomp"), comma, right, phrase("VP", verb), speaker.as_("nsubj")]
    return _stop(phrase("SINV", *kids))


_KINDS: tuple[tuple[Callable[[Scene], Node], float], ...] = (
    (_statement, 50.0),
    (_two_verbs, 7.0),
    (_two_clauses, 5.0),
    (_subordinate, 7.0),
    (_property, 6.0),
    (_identity, 5.0),
    (_location, 2.5),
    (_existence, 3.0),
    (_yes_no, 4.0),
    (_wh, 4.0),
    (_order, 3.0),
    (_quoted, 3.5),
)
