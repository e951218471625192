"""Inflection of the small English."""

from __future__ import annotations

from mtlspec.data.generators._verbs import DOUBLING, IRREGULAR

_VOWELS = "aeiou"
_BE = {"VB": "be", "VBG": "being", "VBN": "been"}


def plural(noun: str) -> str | None:
    """The plural of an entry such as `man/men`, or None for a noun without one (`rice/-`)."""
    word, _, irregular = noun.partition("/")
    if irregular:
        return None if irregular == "-" else irregular
    return _add_s(word)


def singular(noun: str) -> str:
    return noun.partition("/")[0]


def inflect(lemma: str, tag: str, plural_subject: bool = False, first_person: bool = False) -> str:
    """The form of a verb for its tag: VB VBP VBZ VBD VBN VBG."""
    if lemma == "be":
        return _be(tag, plural_subject, first_person)
    if tag in ("VB", "VBP"):
        return lemma
    if tag == "VBZ":
        return "has" if lemma == "have" else _add_s(lemma)
    if tag == "VBG":
        return _ing(lemma)
    past, participle = IRREGULAR.get(lemma, (_ed(lemma),) * 2)
    return past if tag == "VBD" else participle


def _be(tag: str, plural_subject: bool, first_person: bool) -> str:
    if tag in _BE:
        return _BE[tag]
    if tag == "VBD":
        return "were" if plural_subject else "was"
    if tag == "VBP":
        return "am" if first_person and not plural_subject else "are"
    return "is"


def _add_s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")) or word in ("go", "do"):
        return word + "es"
    if word.endswith("y") and word[-2] not in _VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _ed(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2] not in _VOWELS:
        return lemma[:-1] + "ied"
    return lemma + lemma[-1] * (lemma in DOUBLING) + "ed"


def _ing(lemma: str) -> str:
    if lemma.endswith("e") and not lemma.endswith("ee"):
        return lemma[:-1] + "ing"
    return lemma + lemma[-1] * (lemma in DOUBLING) + "ing"
