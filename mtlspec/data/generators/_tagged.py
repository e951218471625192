"""Eleven ways to tag the words of the small English, read off the layers of a sentence.

Some are functions of others, as fine and coarse parts of speech are; some share what must be known, as names and
multi-word expressions do; `hyp` has nothing to do with any of them but that it marks nouns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from zlib import crc32

from mtlspec.data.generators._lexicon import NOUNS
from mtlspec.data.generators._verbphrases import SENSES
from mtlspec.data.sentence import ConTree, DepTree, Frame, Sentence

Tags = tuple[str, ...]
_CHUNKS = {"NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "INTJ", "WHNP"}
_LINKED = 3  # one noun of so many is a link
_FIELDS: Mapping[str, str] = {  # a group of verbs -> what they are about
    **dict.fromkeys(("say", "tell", "urge", "talk_about", "discuss"), "communication"),
    **dict.fromkeys(("go", "arrive", "run_up", "visit"), "motion"),
    **dict.fromkeys(
        ("own", "buy", "trade", "give", "provide", "hand_over", "acquire", "earn", "invest_in"), "possession"
    ),
    **dict.fromkeys(("make", "write"), "creation"),
    **dict.fromkeys(("hit", "put", "pick_up", "replace", "feed"), "contact"),
    **dict.fromkeys(("see", "look_at"), "perception"),
    **dict.fromkeys(("eat",), "consumption"),
    **dict.fromkeys(("try", "rely_on", "wait_for"), "cognition"),
    **dict.fromkeys(("fall",), "change"),
    **dict.fromkeys(("live", "sleep", "happen", "sit_on"), "stative"),
}
_TRAITS: Mapping[str, str] = {  # a class of nouns or a field of verbs -> a trait
    **dict.fromkeys(("person", "office"), "Human"),
    **dict.fromkeys(("group",), "Group"),
    **dict.fromkeys(("animal",), "Animal"),
    **dict.fromkeys(("place", "surface"), "Place"),
    **dict.fromkeys(("food", "ingredient"), "Substance"),
    **dict.fromkeys(("event", "crime", "danger", "measure"), "Happening"),
    **dict.fromkeys(("abstract", "text"), "Mental"),
    **dict.fromkeys(("communication", "cognition", "perception"), "MentalAct"),
    **dict.fromkeys(("stative", "possession"), "State"),
}
_PREPOSITIONS: Mapping[str, str] = {  # the role of a phrase -> what its preposition says
    "ARGM-LOC": "Locus", "ARGM-TMP": "Time", "ARGM-DIR": "Path", "ARGM-MNR": "Manner", "ARGM-CAU": "Explanation",
    "ARG2": "Complement", "ARG4": "Goal", "ARG1": "Topic", "ARG0": "Agent",
}  # fmt: skip


def _layer(name: str) -> Callable[[Sentence], Tags]:
    def tags(sentence: Sentence) -> Tags:
        found = sentence.layers[name]
        assert isinstance(found, tuple)
        return tuple(map(str, found))

    return tags


def _chunks(sentence: Sentence) -> Tags:
    """IOBES: runs of words whose lowest phrase is the same, verb phrases inside each other taken as one."""
    tree = sentence.layers["con"]
    assert isinstance(tree, ConTree)
    lowest: list[tuple[str, object]] = [("", None)] * len(sentence.words)
    for start, end, label in tree.spans:  # outer ones first
        for at in range(start, end):
            lowest[at] = (label, "VP" if label == "VP" else (start, end))
    tags, at = ["O"] * len(lowest), 0
    while at < len(lowest):
        end = at + 1
        while end < len(lowest) and lowest[end] == lowest[at] and tree.pos[end].isalpha() == tree.pos[at].isalpha():
            end += 1
        if lowest[at][0] in _CHUNKS and (tree.pos[at].isalpha() or tree.pos[at] in ("PRP$", "$")):
            tags[at:end] = _iobes(lowest[at][0], end - at)
        at = end
    return tuple(tags)


def _iobes(label: str, length: int) -> list[str]:
    if length == 1:
        return [f"S-{label}"]
    return [f"B-{label}", *[f"I-{label}"] * (length - 2), f"E-{label}"]


def _mwe(sentence: Sentence) -> Tags:
    """Names of several words, verbs with the particle that follows them, and compounds."""
    ner, xpos = _layer("ner")(sentence), _layer("xpos")(sentence)
    tags = ["O"] * len(ner)
    for at in range(1, len(ner)):
        compound = xpos[at - 1] == "NN" and xpos[at] in ("NN", "NNS") and tags[at - 1] == "O"
        if ner[at].startswith("I-") or xpos[at] == "RP" or compound:
            tags[at - 1] = "B" if tags[at - 1] == "O" else tags[at - 1]
            tags[at] = "I"
    return tuple(tags)


def _senses(sentence: Sentence) -> list[tuple[str, str]]:
    """Of every word (noun or verb, its class), or nothing."""
    xpos, lemmas = _layer("xpos")(sentence), _layer("lemma")(sentence)
    fields = {frame.predicate: _verb_fields().get(frame.sense, "social") for frame in _frames(sentence)}
    found = []
    for at, (tag, lemma) in enumerate(zip(xpos, lemmas, strict=True)):
        if at in fields:
            found.append(("verb", "stative" if lemma == "be" else fields[at]))
        elif tag in ("NN", "NNS") and lemma in _noun_classes():
            found.append(("noun", _noun_classes()[lemma]))
        else:
            found.append(("", ""))
    return found


def _sem(sentence: Sentence) -> Tags:
    return tuple(f"{kind}.{name}" if kind else "O" for kind, name in _senses(sentence))


def _semtr(sentence: Sentence) -> Tags:
    """A function of `sem`."""
    other = {"noun": "Object", "verb": "Dynamic", "": "O"}
    return tuple(_TRAITS.get(name, other[kind]) for kind, name in _senses(sentence))


def _supsense(sentence: Sentence) -> Tags:
    """Of nouns, verbs and, by the role of what they begin, prepositions: other tags than those of `sem`."""
    xpos = _layer("xpos")(sentence)
    spelled = {"noun": str.upper, "verb": str.lower}
    tags = [f"{kind[0]}.{spelled[kind](name)}" if kind else "O" for kind, name in _senses(sentence)]
    for frame in _frames(sentence):
        for start, _, role in frame.roles:
            if xpos[start] in ("IN", "TO") and role in _PREPOSITIONS:
                tags[start] = f"p.{_PREPOSITIONS[role]}"
    return tuple(tags)


def _com(sentence: Sentence) -> Tags:
    """What can be left out: adjuncts of verbs, adjectives and adverbs, but not what denies or tells a mood."""
    tree = sentence.layers["dep"]
    assert isinstance(tree, DepTree)
    kept = [rel not in ("amod", "advmod", "nmod", "discourse") for rel in tree.rels]
    for frame in _frames(sentence):
        for start, end, role in frame.roles:
            if role.startswith("ARGM"):
                kept[start:end] = [role in ("ARGM-NEG", "ARGM-MOD")] * (end - start)
    return tuple("KEEP" if keep else "DEL" for keep in kept)


def _frame(sentence: Sentence) -> Tags:
    """The words that name an event: predicates, and nouns of events."""
    predicates = {frame.predicate for frame in _frames(sentence)}
    named = [sense == ("noun", "event") for sense in _senses(sentence)]
    return tuple("B-TARGET" if at in predicates or event else "O" for at, event in enumerate(named))


def _hyp(sentence: Sentence) -> Tags:
    """Links on nouns that nothing but a list of words decides: no other task has a use for it."""
    tagged = zip(_layer("upos")(sentence), _layer("lemma")(sentence), strict=True)
    linked = (upos in ("NOUN", "PROPN") and crc32(lemma.lower().encode()) % _LINKED == 0 for upos, lemma in tagged)
    return tuple("B-HTML" if link else "O" for link in linked)


def _frames(sentence: Sentence) -> Sequence[Frame]:
    found = sentence.layers["srl"]
    assert isinstance(found, tuple)
    return [frame for frame in found if isinstance(frame, Frame)]


@cache
def _noun_classes() -> Mapping[str, str]:
    """Lemma -> its class; of several, the one that the lexicon names first."""
    found: dict[str, str] = {}
    for name, nouns in NOUNS.items():
        for noun in nouns:
            found.setdefault(noun.partition("/")[0], name)
    return found


@cache
def _verb_fields() -> Mapping[str, str]:
    """The sense of a predicate -> what it is about."""
    return {sense: _FIELDS[group] for (group, _), sense in SENSES.items() if group in _FIELDS}


TAGGED: Mapping[str, Callable[[Sentence], Tags]] = {
    "upos": _layer("upos"),
    "xpos": _layer("xpos"),
    "chunk": _chunks,
    "ner": _layer("ner"),
    "mwe": _mwe,
    "sem": _sem,
    "semtr": _semtr,
    "supsense": _supsense,
    "com": _com,
    "frame": _frame,
    "hyp": _hyp,
}
