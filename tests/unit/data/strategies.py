"""Random sentences with all layers, for round trips."""

from __future__ import annotations

from hypothesis import strategies as st

from mtlspec.data.sentence import ConTree, DepTree, Frame, Layer, Sentence

WORDS = st.text(alphabet="abcXYZéß漢9.,'$%-", min_size=1, max_size=6).filter(
    lambda w: w not in ("-", "--") and "-" not in w
)
LABELS = st.text(alphabet="ABCXYZ", min_size=1, max_size=4)


@st.composite
def dep_trees(draw: st.DrawFn, size: int) -> DepTree:
    """Any tree: words are attached in a random order to one that is attached already."""
    order = draw(st.permutations(range(size)))
    heads = [0] * size
    for at, word in enumerate(order[1:], 1):
        heads[word] = order[draw(st.integers(0, at - 1))] + 1
    return DepTree(tuple(heads), tuple(draw(st.lists(LABELS, min_size=size, max_size=size))))


@st.composite
def con_trees(draw: st.DrawFn, size: int) -> ConTree:
    """Any tree with unary chains, outer and left spans first."""
    spans: list[tuple[int, int, str]] = [(0, size, "TOP")]
    todo = [(0, size)]
    while todo:
        start, end = todo.pop()
        spans += [(start, end, draw(LABELS)) for _ in range(draw(st.integers(0, 2)))]
        if end - start > 1 and draw(st.booleans()):
            middle = draw(st.integers(start + 1, end - 1))
            todo += [part for part in ((start, middle), (middle, end)) if draw(st.booleans())]
    spans.sort(key=lambda span: (span[0], -span[1]))  # stable: chains stay in their order
    return ConTree(tuple(spans), tuple(draw(st.lists(LABELS, min_size=size, max_size=size))))


@st.composite
def frames(draw: st.DrawFn, size: int) -> tuple[Frame, ...]:
    found = []
    for predicate in sorted(draw(st.sets(st.integers(0, size - 1), max_size=3))):
        roles = [(predicate, predicate + 1, "V")]
        for low, high in ((0, predicate), (predicate + 1, size)):
            if high > low and draw(st.booleans()):
                start = draw(st.integers(low, high - 1))
                roles.append((start, draw(st.integers(start + 1, high)), "ARG" + draw(LABELS)))
        found.append(Frame(predicate, f"{draw(LABELS)}.0{draw(st.integers(1, 9))}", tuple(sorted(roles))))
    return tuple(found)


@st.composite
def iob2(draw: st.DrawFn, size: int) -> tuple[str, ...]:
    tags: list[str] = []
    while len(tags) < size:
        label, length = draw(LABELS), draw(st.integers(1, 3))
        tags += ["O"] if draw(st.booleans()) else [f"B-{label}", *[f"I-{label}"] * (length - 1)]
    return tuple(tags[:size])


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    size = draw(st.integers(1, 8))
    tags = st.lists(LABELS, min_size=size, max_size=size).map(tuple)
    con = draw(con_trees(size))
    layers: dict[str, Layer] = {
        "lemma": draw(tags),
        "upos": draw(tags),
        "xpos": draw(tags),
        "dep": draw(dep_trees(size)),
        "con": con,
        "pos": con.pos,
        "ner": draw(iob2(size)),
        "srl": draw(frames(size)),
    }
    return Sentence(str(draw(st.integers(1, 99))), tuple(draw(st.lists(WORDS, min_size=size, max_size=size))), layers)


@st.composite
def partial_sentences(draw: st.DrawFn) -> Sentence:
    """Sentences that lack any of their layers, and tags of any of their words; `about` is a label, `size` a value."""
    whole = draw(sentences())
    layers = {**whole.layers, "about": draw(st.sampled_from("xyz")), "size": draw(st.floats(-9, 9))}
    kept = {name: layer for name, layer in layers.items() if draw(st.booleans())}
    if "upos" in kept:
        kept["upos"] = tuple(tag if draw(st.booleans()) else None for tag in kept["upos"])  # type: ignore[union-attr]
    return Sentence(whole.id, whole.words, kept)
