"""Noun phrases of the small English: pronouns, names, dates, amounts, common nouns and what may follow them."""

from __future__ import annotations

from mtlspec.data.generators import _lexicon as lexicon
from mtlspec.data.generators import _names as names
from mtlspec.data.generators._dice import Dice
from mtlspec.data.generators._morphology import plural, singular
from mtlspec.data.generators._tree import Node, phrase, word

# Classes that stand for one of several others.
UNIONS: dict[str, tuple[tuple[str, float], ...]] = {
    "agent": (("person", 0.62), ("org", 0.38)),
    "seen": (("person", 0.45), ("animal", 0.25), ("thing", 0.2), ("place", 0.1)),
    "goods": (("thing", 0.4), ("vehicle", 0.2), ("food", 0.15), ("text", 0.25)),
}
_PRONOUNS = (  # nominative, accusative, possessive, plural, first person
    ("he", "him", "his", False, False),
    ("she", "her", "her", False, False),
    ("they", "them", "their", True, False),
    ("we", "us", "our", True, True),
    ("I", "me", "my", False, True),
    ("you", "you", "your", True, False),
    ("it", "it", "its", False, False),
)


def noun_phrase(dice: Dice, wants: str, depth: int, subject: bool = False) -> Node:
    """A phrase of a class; `depth` bounds what may hang on it."""
    if wants in UNIONS:
        wants = dice.weighted(UNIONS[wants])
    node = _of_class(dice, wants, depth, subject)
    node.sort = wants
    return node


def _of_class(dice: Dice, wants: str, depth: int, subject: bool) -> Node:
    if wants == "person" and dice.chance(0.5):
        return pronoun(dice, subject) if dice.chance(0.35) else _apposed(dice, depth)
    if wants == "org":
        return organisation(dice) if dice.chance(0.72) else common(dice, "group", depth)
    if wants == "named_place" or (wants == "place" and dice.chance(0.4)):
        return place(dice)
    if wants == "amount":
        return amount(dice)
    if wants == "law":
        return phrase("NP", word("NN", dice.one(("law", "history", "music", "physics"))))
    if wants == "street":
        return phrase("NP", word("DT", "the", "det"), word("NN", dice.one(("street", "hill", "stairs", "road"))))
    if dice.chance(0.05) and depth > 0:
        return _coordinated(dice, wants)
    return common(dice, wants, depth)


def pronoun(dice: Dice, subject: bool) -> Node:
    nominative, accusative, _, many, first = dice.word(_PRONOUNS[:6])
    node = word("PRP", nominative if subject else accusative, lemma=nominative)
    node.plural, node.first_person = many, first
    return phrase("NP", node)


def common(dice: Dice, wants: str, depth: int) -> Node:
    """Determiner, adjectives, noun; perhaps a phrase that belongs to the noun."""
    entry = dice.word(lexicon.NOUNS[wants])
    many = plural(entry)
    if dice.chance(0.3) and many is not None:
        noun = word("NNS", many, lemma=singular(entry))
        noun.plural = True
    else:
        noun = word("NN", singular(entry))
    before = _determiner(dice, noun, many is None)
    definite = bool(before) and before[0].word == "the"
    kids = [*before, *_adjectives(dice, wants, definite), *_compound(dice, wants), noun]
    base = phrase("NP", *kids)
    return _extended(dice, base, singular(entry), wants, depth)


def _determiner(dice: Dice, noun: Node, mass: bool) -> list[Node]:
    if mass and dice.chance(0.5):
        return []
    if noun.plural:
        if dice.chance(0.25):
            return []
        if dice.chance(0.3):
            return [number(dice)]
        if dice.chance(0.12):
            return [_more_than(dice)]
        return [
            word(
                "DT", dice.weighted((("the", 6.0), ("these", 1.0), ("those", 0.7), ("some", 1.0), ("all", 0.6))), "det"
            )
        ]
    if dice.chance(0.1):
        return [_owner(dice.one((person, person, organisation, place))(dice))]
    if dice.chance(0.12):
        nominative, _, possessive, _, _ = dice.word(_PRONOUNS)
        return [word("PRP$", possessive, "nmod:poss", lemma=nominative)]
    if mass:
        return [word("DT", dice.one(("the", "some", "this", "that")), "det")]
    options = (("the", 5.0), ("a", 4.0), ("this", 0.6), ("that", 0.6), ("every", 0.5), ("another", 0.4), ("no", 0.3))
    return [word("DT", dice.weighted(options), "det")]


def _owner(named: Node) -> Node:
    """The mark of possession is no part of the name."""
    mark = word("POS", "'s", "case")
    if any(kid.kids for kid in named.kids):
        return phrase("NP", named, mark).as_("nmod:poss")
    if len(named.kids) == 1:
        named.kids[0].entity = named.entity
        return phrase("NP", *named.kids, mark).as_("nmod:poss")
    named.label = "NML"
    return phrase("NP", named, mark).as_("nmod:poss")


def _adjectives(dice: Dice, wants: str, definite: bool) -> list[Node]:
    if not dice.chance(0.3):
        return []
    kind = lexicon.CLASS_ADJECTIVES.get(wants, "abstract")
    first = dice.word(lexicon.ADJECTIVES[kind])
    if definite and dice.chance(0.3) and first in lexicon.SUPERLATIVE:
        return [word("JJS", lexicon.SUPERLATIVE[first], "amod", lemma=first)]
    if dice.chance(0.15):
        degree = word("RB", dice.word(lexicon.DEGREE), "advmod")
        return [phrase("ADJP", degree, word("JJ", first)).as_("amod")]
    second = dice.word(lexicon.ADJECTIVES[kind])
    two = dice.chance(0.15) and second != first
    return [word("JJ", text, "amod") for text in ((first, second) if two else (first,))]


def _compound(dice: Dice, wants: str) -> list[Node]:
    """A noun or a name before the noun: `school bus`, `Paris office`."""
    if wants in ("person", "animal", "food") or not dice.chance(0.12):
        return []
    if wants in ("place", "event", "group", "text") and dice.chance(0.4):
        return [word("NNP", dice.word(dice.one((names.PLACES, names.AMBIGUOUS))), "compound").is_("LOC")]
    first = dice.word(lexicon.NOUNS[dice.one(("abstract", "thing", "event", "text", "food", "place"))])
    return [word("NN", singular(first), "compound")]


def _extended(dice: Dice, base: Node, noun: str, wants: str, depth: int) -> Node:
    """Phrases that the noun itself calls for: its own complement, the place of an event, the trait of a person."""
    if depth <= 0:
        return base
    extra: Node | None = None
    if noun in lexicon.RELATIONAL and dice.chance(0.3):
        preposition, inner = lexicon.RELATIONAL[noun]
        extra = prepositional(preposition, noun_phrase(dice, inner, depth - 1))
    elif wants == "event" and dice.chance(0.3):
        extra = prepositional("on", day(dice)) if dice.chance(0.4) else prepositional("in", place(dice))
    elif wants in ("person", "animal") and dice.chance(0.1):
        extra = prepositional("with", common(dice, "trait", 0))
    elif wants in ("thing", "place", "vehicle") and dice.chance(0.1):
        extra = prepositional("with", common(dice, "part", 0))
    elif wants == "text" and dice.chance(0.15):
        year = phrase("NP", word("CD", str(dice.number(1850, 2024))))
        note = phrase("PRN", word("-LRB-", "-LRB-", "punct"), year.is_("DATE"), word("-RRB-", "-RRB-", "punct"))
        return phrase("NP", base, note.as_("parataxis"))
    return phrase("NP", base, extra.as_("nmod")) if extra else base


def _coordinated(dice: Dice, wants: str) -> Node:
    first, second = common(dice, wants, 0), common(dice, wants, 0)
    joined = word("CC", dice.weighted((("and", 4.0), ("or", 1.0))), "cc")
    joined.gov = second
    node = phrase("NP", first, joined, second.as_("conj"))
    node.plural = True
    return node


def prepositional(preposition: str, inner: Node) -> Node:
    return phrase("PP", word("IN", preposition, "case"), inner)


def person(dice: Dice) -> Node:
    """`Laura`, `Laura B. Stone`, `Mr. Stone`, or an ambiguous surname alone."""
    surname = dice.word(names.AMBIGUOUS if dice.chance(0.25) else names.SURNAMES)
    style = dice.weighted((("full", 4.0), ("first", 2.0), ("title", 2.0), ("last", 1.5)))
    if style == "title":
        return phrase("NP", word("NNP", dice.word(names.TITLES), "compound"), word("NNP", surname).is_("PER"))
    parts = [surname] if style == "last" else [dice.word(names.FIRST_NAMES)]
    if style == "full":
        parts += [dice.word(names.INITIALS)] * dice.chance(0.15) + [surname]
    first, *rest = parts
    return phrase("NP", word("NNP", first), *(word("NNP", part, "flat") for part in rest)).is_("PER")


def _apposed(dice: Dice, depth: int) -> Node:
    """A person, perhaps with an office: `Laura Stone , the mayor of Paris ,`."""
    named = person(dice)
    if depth < 2 or not dice.chance(0.08):
        return named
    office = phrase("NP", word("DT", "the", "det"), word("NN", singular(dice.word(lexicon.NOUNS["office"]))))
    of = prepositional("of", organisation(dice) if dice.chance(0.5) else place(dice))
    apposition = phrase("NP", office, of.as_("nmod")).as_("appos")
    return phrase("NP", named, word(",", ",", "punct"), apposition, word(",", ",", "punct"))


def place(dice: Dice) -> Node:
    if dice.chance(0.12):
        left, right = dice.word(names.TWO_WORD_PLACES).split("_")
        return phrase("NP", word("NNP", left, "compound"), word("NNP", right)).is_("LOC")
    return phrase("NP", word("NNP", dice.word(names.AMBIGUOUS if dice.chance(0.3) else names.PLACES))).is_("LOC")


def organisation(dice: Dice) -> Node:
    """`Globex`, `Jordan Motors`, `the University of Kent`, `the Dallas Herald`, or an ambiguous name alone."""
    style = dice.weighted((("plain", 3.0), ("ending", 2.5), ("of", 1.5), ("paper", 0.8), ("name", 2.0), ("short", 0.8)))
    if style in ("plain", "name", "short"):
        source = {"plain": names.ORGANISATIONS, "name": names.AMBIGUOUS, "short": names.ACRONYMS}[style]
        return phrase("NP", word("NNP", dice.word(source))).is_("ORG")
    base = word(
        "NNP", dice.word(dice.one((names.ORGANISATIONS, names.AMBIGUOUS, names.SURNAMES, names.PLACES))), "compound"
    )
    if style == "ending":
        return phrase("NP", base, word("NNP", dice.word(names.COMPANY_ENDINGS))).is_("ORG")
    article = word("DT", "the", "det")
    if style == "paper":
        name = phrase("NML", base, word("NNP", dice.word(names.PAPERS))).is_("ORG")
        return phrase("NP", article, name)
    inner = phrase("NP", word("NNP", dice.word(dice.one((names.PLACES, names.AMBIGUOUS)))))
    institution = phrase("NP", article, word("NNP", dice.word(names.INSTITUTIONS)))
    return phrase("NP", institution, prepositional("of", inner).as_("nmod")).is_("ORG")


def day(dice: Dice) -> Node:
    """`Monday`, `March 3`, `March 3 , 1998`."""
    if dice.chance(0.55):
        return phrase("NP", word("NNP", dice.word(names.DAYS))).is_("DATE")
    kids = [word("NNP", dice.word(names.MONTHS)), word("CD", str(dice.number(1, 28)), "nummod")]
    if dice.chance(0.4):
        kids += [word(",", ",", "punct"), word("CD", str(dice.number(1900, 2024)), "nummod")]
    return phrase("NP", *kids).is_("DATE")


def _more_than(dice: Dice) -> Node:
    more, than = word("JJR", "more", "advmod"), word("IN", "than", "fixed")
    than.gov = more
    return phrase("QP", more, than, number(dice).as_("head")).as_("nummod")


def number(dice: Dice) -> Node:
    spelled = dice.chance(0.6)
    return word("CD", dice.word(names.SPELLED) if spelled else str(dice.number(2, 4000)), "nummod")


def amount(dice: Dice) -> Node:
    """`12 %` or `$ 3 million`."""
    if dice.chance(0.6):
        return phrase("NP", word("CD", f"{dice.number(1, 60)}", "nummod"), word("NN", "%", upos="SYM"))
    value = phrase(
        "QP",
        word("$", "$"),
        word("CD", str(dice.number(2, 900)), "nummod"),
        word("CD", dice.one(names.SCALES), "nummod"),
    )
    return phrase("NP", value)
