"""The promises of the sentence tasks of the small English."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import combinations, product
from pathlib import Path

import pytest

from mtlspec import kinds
from mtlspec.data.generators._events import OFFICES, PUBLIC, SYNONYMS
from mtlspec.data.generators._examples import Example, ExampleOptions
from mtlspec.data.generators._morphology import inflect
from mtlspec.data.generators._quantified import QUANTIFIERS, Statement, relation
from mtlspec.data.generators.english_entailment import HYPERNYMS
from mtlspec.data.generators.english_similarity import similarity
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError
from mtlspec.io.digest import digest_tree
from mtlspec.io.project import Project
from mtlspec.spec.card_families import GeneratorOptions
from mtlspec.spec.families import GENERATORS
from mtlspec.spec.load import load_data_card
from tests.unit.data import bags

ROOT = Path(__file__).parents[3]
CLASSES = {"topic": 4, "sentiment": 2, "acceptability": 2, "paraphrase": 2, "entailment": 3}
TASKS = (*CLASSES, "similarity")
# The most that a bag of words may reach on dev; by chance it has one in so many as there are classes.
BOUNDS = {"topic": 0.74, "sentiment": 0.70, "acceptability": 0.58, "paraphrase": 0.58, "entailment": 0.70}


def options(task: str, **sizes: int) -> ExampleOptions:
    found = kinds.parse(GENERATORS, GeneratorOptions, {"type": f"english_{task}", **sizes})
    assert isinstance(found, ExampleOptions)
    return found


@cache
def made(task: str) -> dict[str, list[Example]]:
    """The corpus of the task's card."""
    return dict(options(task).splits())


@pytest.mark.parametrize("task", TASKS)
def test_the_card_has_the_digests_of_its_files(task: str) -> None:
    card = load_data_card(f"english_{task}", Project(ROOT))
    assert card.generator == options(task) and card.licence == "CC0-1.0"
    tables = {f"{split}.tsv": options(task).table(examples) for split, examples in made(task).items()}
    assert {name: hashlib.sha256(table.encode()).hexdigest() for name, table in tables.items()} == card.sha256


def test_the_same_bytes_come_from_another_process(tmp_path: Path) -> None:
    code = """if True:
        from pathlib import Path
        from tests.unit.data.test_sentence_tasks import TASKS, options
        for task in TASKS:
            options(task, train=40, dev=10, test=10).generate(Path(FOLDER) / task)
    """
    for folder, seed in ((tmp_path / "a", "1"), (tmp_path / "b", "2")):
        text = code.replace("FOLDER", repr(str(folder)))
        subprocess.run(
            [sys.executable, "-c", text], check=True, cwd=ROOT, env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        )
    assert digest_tree(tmp_path / "a") == digest_tree(tmp_path / "b")


def test_sizes_differ_by_a_factor_of_ten() -> None:
    sizes = [options(task).train for task in TASKS]
    assert max(sizes) == 10 * min(sizes)


@pytest.mark.parametrize("task", TASKS)
def test_splits_share_no_sentence_and_no_example_comes_twice(task: str) -> None:
    sentences = [{text for example in examples for text in example.texts} for examples in made(task).values()]
    assert all(one.isdisjoint(other) for one, other in combinations(sentences, 2))
    for split, examples in made(task).items():
        assert len({example.texts for example in examples}) == len(examples) == getattr(options(task), split)


@pytest.mark.parametrize("task", CLASSES)
def test_classes_are_balanced(task: str) -> None:
    for examples in made(task).values():
        counts = Counter(example.gold for example in examples)
        assert len(counts) == CLASSES[task] and max(counts.values()) - min(counts.values()) <= 1


def test_numbers_of_similarity_cover_the_scale() -> None:
    counts = Counter(float(example.gold) for example in made("similarity")["train"])
    assert set(counts) == {half / 2 for half in range(11)} and min(counts.values()) >= 100


@pytest.mark.parametrize("task", CLASSES)
def test_a_bag_of_words_is_not_enough(task: str) -> None:
    """Nor is it by chance: words that name two topics are better than none."""
    reached = bags.accuracy(made(task)["train"][:2000], made(task)["dev"])
    assert 1 / CLASSES[task] - 0.06 < reached < BOUNDS[task]


def test_a_bag_of_words_does_not_tell_similarity() -> None:
    assert 0.2 < bags.correlation(made("similarity")["train"], made("similarity")["dev"]) < 0.68


def test_bags_learn_what_words_tell() -> None:
    """The bounds above would mean little if this baseline could not learn."""
    examples = [Example((f"{a} b c .", f"{b} c ."), str(a == "x")) for a, b in product("xyz", "uvw")]
    assert bags.accuracy(examples, examples) == 1
    numbers = [Example((e.texts[0], e.texts[1]), str(float(e.gold == "True"))) for e in examples * 20]
    assert bags.correlation(numbers, numbers) > 0.99


@pytest.mark.parametrize("task", TASKS)
def test_the_words_are_those_of_english_mini(task: str, mini: dict[str, list[Sentence]]) -> None:
    """The encoder of small studies learns its vocabulary there."""
    known = {word.lower() for sentence in mini["train"] for word in sentence.words}
    used = [word.lower() for e in made(task)["train"] for text in e.texts for word in text.split()]
    assert sum(word in known for word in used) / len(used) > 0.96


def test_a_grammar_that_has_said_all_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = options("paraphrase", train=3)
    monkeypatch.setattr(type(asked), "draw", lambda *_: Example(("One sentence .",), "1"))
    with pytest.raises(DataError, match="E962: this grammar has no 3 train examples that are all new, only 1"):
        list(asked.splits())


def test_what_follows_is_what_logic_says() -> None:
    """Each pair of statements, told by rules of its own: what narrows or widens, and the square of opposition."""
    for one, other in product((Statement(*parts) for parts in product(QUANTIFIERS, (0, 1), (0, 1))), repeat=2):
        assert relation(one, other) == told_by_rules(one, other)


def told_by_rules(one: Statement, other: Statement) -> str:
    if follows(one, other):
        return "entailment"
    negation = {"all": "not all", "not all": "all", "some": "no", "no": "some"}
    return "contradiction" if follows(one, other._replace(quantifier=negation[other.quantifier])) else "neutral"


def follows(one: Statement, other: Statement) -> bool:
    """All and no are about fewer nouns, some and not all about more; verbs widen under all and some, else narrow."""
    weaker = {("all", "some"), ("no", "not all")}
    if (one.quantifier, other.quantifier) in weaker:  # there is a narrow noun of which both speak
        return one.wide_verb <= other.wide_verb if one.quantifier == "all" else one.wide_verb >= other.wide_verb
    if one.quantifier != other.quantifier:
        return False
    noun = one.wide_noun >= other.wide_noun if one.quantifier in ("all", "no") else one.wide_noun <= other.wide_noun
    upward = one.quantifier in ("all", "some")
    return noun and (one.wide_verb <= other.wide_verb if upward else one.wide_verb >= other.wide_verb)


def parsed(text: str) -> tuple[str, bool, bool]:
    """Quantifier, whether the noun is a hypernym, whether no place is told."""
    words = text.lower().split()
    quantifier = "not all" if words[0] == "not" else words[0]
    return quantifier, words[len(quantifier.split())].removesuffix("s") in HYPERNYMS, " in " not in text


def test_sentences_of_entailment_have_the_label_of_their_statements() -> None:
    for example in made("entailment")["dev"]:
        one, other = (Statement(*parsed(text)) for text in example.texts)
        assert told_by_rules(one, other) == example.gold


def meaning(text: str) -> tuple[str, int, str, bool, str]:
    """Who, what (a number for each meaning), whom, whether it is so, and when."""
    words = text.lower().removesuffix(" .").split()
    day = words[words.index("on") + 1] if "on" in words else ""
    first, second = (word for word in words if word in (*OFFICES, *PUBLIC))
    forms = {
        inflect(verb, tag): number
        for number, group in enumerate(SYNONYMS)
        for verb in group
        for tag in ("VB", "VBD", "VBN")
    }
    what = next(forms[word] for word in words if word in forms)
    agent, patient = (second, first) if "by" in words else (first, second)
    return agent, what, patient, "not" not in words, day


def test_paraphrases_mean_the_same_and_near_misses_do_not() -> None:
    for example in made("paraphrase")["dev"]:
        one, other = map(meaning, example.texts)
        assert (one == other) == (example.gold == "1"), example


def test_similarity_is_what_the_differences_weigh() -> None:
    for example in made("similarity")["dev"]:
        (agent, what, patient, so, day), (*roles, again, day_again) = (
            meaning(example.texts[0]),
            meaning(example.texts[1]),
        )
        different = {
            "roles": (agent, patient) == (roles[2], roles[0]),
            "meaning": what != roles[1],
            "negation": so != again,
            "day": day != day_again,
        }
        assert similarity([edit for edit, differs in different.items() if differs]) == float(example.gold), example


def test_the_page_shows_examples_and_sizes() -> None:
    page = (ROOT / "docs/english_mini.md").read_text("utf-8")
    for task in TASKS:
        for example in made(task)["train"][:4]:
            assert f"\n{example.gold:<14}{' / '.join(example.texts)}\n" in page
        assert f"| `english_{task}` | {options(task).train:,} |" in page
