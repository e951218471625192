"""How hard a task may be by its data alone: Evolutionary Data Measures (Collins et al., 2018), an estimate.

Five numbers are added: distinct words among all, how uneven and how diverse the classes are, and how much their words
interfere. The authors left the Hellinger distance of their code without the words of the second class only, and read
ASCII alone; here it is the distance that the paper defines, of any letters.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from mtlspec.data.prepared import Prepared

TOP = 10  # words of a class that mutual information is of, as in the authors' code
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ENGLISH = """
a an the this that these those no nor not any all both each few more most other own same some such
i me my myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves who whom whose which what when where why how
am is are was were be been being have has had having do does did doing can could will would shall should may might
must and but or if because as until while than so too very just only once then here there now again further
of at by for with about against between into through during before after above below to from up down in out on off
over under s t d m o re ve ll y don isn aren wasn weren hasn haven hadn doesn didn won wouldn shan shouldn couldn
mightn mustn needn ain
"""
_FUNCTION_WORDS = frozenset(_ENGLISH.split())


@dataclass(frozen=True)
class Difficulty:
    """The parts of the estimate, whose sum it is."""

    distinct: float  # distinct words as a share of all
    imbalance: float  # sum over classes of |1 / C - share|
    diversity: float  # entropy of the classes, in nats
    interference: float  # 1 - the smallest Hellinger distance between the words of two classes
    information: float  # mean over pairs of classes of the mutual information of their most frequent words

    @property
    def estimate(self) -> float:
        return float(sum(getattr(self, part.name) for part in fields(self)))


def difficulty(sizes: Mapping[str, int], words: Mapping[str, Mapping[str, int]]) -> Difficulty | None:
    """Of the sizes of classes, and of the words of each with their counts; None where there are no two classes.

    Classes without words count in their sizes alone.
    """
    spoken = [dict(words[label]) for label in sizes if words.get(label)]
    if len(sizes) < 2 or len(spoken) < 2:
        return None
    every = Counter[str]()
    for own in spoken:
        every.update(own)
    shares = np.array(list(sizes.values()), np.float64) / sum(sizes.values())
    return Difficulty(
        distinct=len(every) / every.total(),
        imbalance=float(np.abs(1 / len(shares) - shares).sum()),
        diversity=float(-(shares * np.log(shares)).sum()),
        interference=1 - _nearest(spoken, list(every)),
        information=_information([most_frequent(own) for own in spoken]),
    )


def _nearest(classes: list[dict[str, int]], vocabulary: list[str]) -> float:
    """The smallest Hellinger distance between the word distributions of two classes, from 0 to 1."""
    place = {word: number for number, word in enumerate(vocabulary)}
    roots = np.zeros((len(classes), len(vocabulary)))
    for row, own in zip(roots, classes, strict=True):
        row[[place[word] for word in own]] = np.sqrt(np.array(list(own.values())) / sum(own.values()))
    common = roots @ roots.T
    np.fill_diagonal(common, -1.0)
    return float(np.sqrt(max(0.0, 1 - common.max())))


def most_frequent(words: Mapping[str, int]) -> dict[str, int]:
    """The `TOP` most frequent words but English function words; of equally frequent ones the first in the alphabet."""
    kept = (word for word in words if word not in _FUNCTION_WORDS)
    return {word: words[word] for word in sorted(kept, key=lambda word: (-words[word], word))[:TOP]}


def _information(classes: list[dict[str, int]]) -> float:
    """Mean over all pairs, each class with itself included: there it is the entropy of its words."""
    totals = [sum(own.values()) for own in classes]
    found = np.zeros((len(classes), len(classes)))
    for i, own in enumerate(classes):
        shares = np.array(list(own.values()), np.float64) / (totals[i] or 1)
        found[i, i] = -(shares * np.log(shares)).sum()
        for j in range(i):
            for word in sorted(own.keys() & classes[j].keys()):
                both = (own[word] + classes[j][word]) / (totals[i] + totals[j])
                apart = own[word] / totals[i] * classes[j][word] / totals[j]
                found[i, j] = found[j, i] = found[i, j] + both * np.log(both / apart)
    return float(found.mean())


def of_layer(data: Prepared, layer: str) -> Difficulty | None:
    """From the training examples; None for a layer whose values are no classes.

    Classes are those of whole examples or, of tags, those of words: their authors know the former only.
    """
    train = data.split("train")
    rows = train.labelled(layer).tolist()
    sizes: Counter[str] = Counter()
    words: dict[str, Counter[str]] = {}
    texts, values = train.all_texts(), train.values(layer) if train.layers[layer] in ("label", "tags") else []
    for row in rows if values else ():
        for label, spoken in _classes(texts[row], values[row], train.words(row) if train.has_tags(layer) else None):
            sizes[label] += 1
            words.setdefault(label, Counter()).update(read(spoken))
    return difficulty(sizes, words)


def _classes(
    texts: list[str], value: str | tuple[str | None, ...], words: list[str] | None
) -> Iterable[tuple[str, list[str]]]:
    """Every class that an example bears, with the words that bear it."""
    if isinstance(value, str):
        yield value, [word for text in texts for word in text.split()]
        return
    for word, tag in zip(words or (), value, strict=True):
        if tag is not None:
            yield tag, [word]


def read(words: Iterable[str]) -> list[str]:
    """Words in small letters, without punctuation; what is nothing else is none."""
    bare = (word.lower().translate(_PUNCTUATION) for word in words)
    return [word for word in bare if word]


def agreement(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> tuple[float, float | None]:
    """Kendall's tau (b) of two rankings of the same things, and its two-sided p value over all ways to pair them.

    Of more than seven things 10,000 ways are drawn, always the same ones. There is no p value of fewer than two
    different ranks on either side.
    """
    signs = [np.sign(np.subtract.outer(side, side)) for side in (one, other)]
    scale = np.sqrt((signs[0] ** 2).sum() * (signs[1] ** 2).sum())
    if not scale:
        return 0.0, None
    found = (signs[0] * signs[1]).sum()
    count = len(one)
    if count <= 7:
        from itertools import permutations

        ways = np.array(list(permutations(range(count))))
        reached = _sums(signs, ways)
        return float(found / scale), float((np.abs(reached) >= abs(found)).mean())
    drawn = np.random.default_rng(1).permuted(np.tile(np.arange(count), (10_000, 1)), axis=1)
    reached = _sums(signs, drawn)
    return float(found / scale), float((1 + (np.abs(reached) >= abs(found)).sum()) / (1 + len(drawn)))


def _sums(signs: list[npt.NDArray[np.float64]], ways: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Of each way to pair the things [n, things], the pairs in the same order minus those in the other [n]."""
    return np.array([(signs[0] * signs[1][np.ix_(way, way)]).sum() for way in ways])
