"""What may be added to a verb phrase; words decide where a phrase belongs and what it means."""

from __future__ import annotations

from mtlspec.data.generators import _lexicon as lexicon
from mtlspec.data.generators import _names as names
from mtlspec.data.generators import _nouns as nouns
from mtlspec.data.generators._dice import Dice
from mtlspec.data.generators._tree import Draft, Node, phrase, word
from mtlspec.data.generators._verbs import Pattern

# With these verbs a `with` phrase of the first class goes to the verb, one of the second to the object.
_WITH = {"see": ("optic", "trait"), "hit": ("tool", "part"), "eat": ("utensil", "ingredient")}


def belonging(dice: Dice, pattern: Pattern, draft: Draft, kids: list[Node], target: Node | None) -> None:
    """A phrase after the object whose place in the tree only the words decide."""
    plain = target is not None and target.head.label in ("NN", "NNS") and kids[-1] is target
    if target is None or not plain:
        return
    if pattern.name in _WITH and dice.chance(0.45):
        means, trait = _WITH[pattern.name]
        to_verb = dice.chance(0.5)
        inner = nouns.common(dice, means if to_verb else trait, 0)
        _attach(nouns.prepositional("with", inner), to_verb, "ARGM-MNR", draft, kids, target)
    elif dice.chance(0.14):
        preposition = dice.weighted((("in", 4.0), ("near", 1.0), ("at", 1.0)))
        inner = nouns.place(dice) if preposition == "in" and dice.chance(0.5) else nouns.common(dice, "place", 0)
        to_verb = pattern.attach == "verb" and target.sort != "event"
        _attach(nouns.prepositional(preposition, inner), to_verb, "ARGM-LOC", draft, kids, target)


def _attach(extra: Node, to_verb: bool, role: str, draft: Draft, kids: list[Node], target: Node) -> None:
    if to_verb:
        draft.add(extra, role)
        kids.append(extra.as_("obl"))
        return
    base = Node(target.label, target.kids)
    base.plural, base.sort, base.entity = target.plural, target.sort, target.entity
    target.kids, target.entity = [base, extra.as_("nmod")], ""  # in place: roles already point to the object


def free(dice: Dice, draft: Draft, kids: list[Node], first_slot: bool) -> None:
    """Manner, place and time, at the end of the phrase."""
    clausal = kids[-1].label in ("SBAR", "S")
    if clausal:
        return
    if dice.chance(0.12):
        manner = phrase("ADVP", word("RB", dice.word(lexicon.MANNER))).as_("advmod")
        draft.add(manner, "ARGM-MNR")
        kids.append(manner)
    if not first_slot and dice.chance(0.35):
        where = nouns.prepositional(dice.one(("in", "at", "near")), nouns.common(dice, "place", 0)).as_("obl")
        draft.add(where, "ARGM-LOC")
        kids.append(where)
    if dice.chance(0.22):
        when = time(dice)
        draft.add(when, "ARGM-TMP")
        kids.append(when)


def time(dice: Dice) -> Node:
    """`on Monday`, `in 1998`, `in May`, `last week`, `yesterday`, `early`, `for three weeks`, `two days ago`."""
    style = dice.weighted(
        (("day", 3.0), ("year", 2.0), ("last", 2.0), ("today", 1.5), ("adverb", 0.8), ("for", 1.2), ("ago", 1.0))
    )
    if style == "day":
        return nouns.prepositional("on", nouns.day(dice)).as_("obl")
    if style == "year":
        year = word("CD", str(dice.number(1900, 2024))) if dice.chance(0.6) else word("NNP", dice.word(names.MONTHS))
        before = dice.weighted((("in", 4.0), ("since", 1.0), ("until", 0.7), ("before", 0.7), ("after", 0.7)))
        return nouns.prepositional(before, phrase("NP", year).is_("DATE")).as_("obl")
    if style == "last":
        which = word("JJ", dice.one(("last", "next"))).as_("amod") if dice.chance(0.7) else word("DT", "this", "det")
        return phrase("NP", which, word("NN", dice.word(names.PERIODS))).is_("DATE").as_("obl:tmod")
    if style == "today":
        return phrase("NP", word("NN", dice.word(names.TODAY))).is_("DATE").as_("obl:tmod")
    if style == "adverb":
        return phrase("ADVP", word("RB", dice.one(("early", "late", "soon", "again", "daily", "weekly")))).as_("advmod")
    unit = word("NNS", dice.one(("days", "weeks", "months", "years", "hours")))
    unit.lemma, unit.plural = unit.word[:-1], True
    span = phrase("NP", nouns.number(dice), unit).is_("DATE")
    if style == "for":
        return nouns.prepositional("for", span).as_("obl")
    return phrase("ADVP", span.as_("obl:npmod"), word("RB", "ago")).as_("advmod")


def negation(draft: Draft, text: str) -> Node:
    node = word("RB", text, "advmod", "not", "PART")
    draft.add(node, "ARGM-NEG")
    return node


def frequency(dice: Dice, draft: Draft) -> Node:
    text = dice.word(lexicon.FREQUENCY)
    node = phrase("ADVP", word("RB", text)).as_("advmod")
    draft.add(node, {"never": "ARGM-NEG", "also": "ARGM-DIS"}.get(text, "ARGM-TMP"))
    return node
