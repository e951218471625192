"""The rules that find sentences, as docs/use.md says them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.use.sentences import sentences_of

CUT = {  # one paragraph each; a bar where a sentence ends
    "titles": "Mr. and Mrs. Smith met Dr. Who at St. Paul's.|Prof. J. R. R. Tolkien, vs. Gen. Lee, won.",
    "what may end": "She works for Acme Inc. in Ohio.|He left Acme Inc.|The end came at 5 p.m.|It was late.",
    "acronyms": "The U.S. Senate met in the U.S.|It voted.|Ph.D. Students came.",
    "what leads on": "Fruit, e.g. apples, i.e. Fuji, cf. Smith et al. 2003.|See No. 7 of Vol. IV, p. 12.|No.|I know.",
    "months": "On Jan. 5 and Oct. 31 it rained.|It stopped in Nov.|The sun came.",
    "initials": "John F. Kennedy and George W. Bush ate vitamin C.|They liked it.|So did I.|You know.",
    "numbers": "It costs $3.50, or 1,000.75 in all.|Version 2.0.1 is out.|In 2003.|Then came 12.|He won.",
    "ordinals": "Am 3. Oktober kam er.|Le 1er mai.|Der 12. Mann.|Er war 12.|Das stimmt.",
    "lists": "1. First item.|2) Second one.|IV. Roman.|(3) Four.",
    "quotes": '"Stop!" she said.|"Why?"|He left.|“No.”|‘Maybe.’|(It rained.)|He said "go."|Then it ended.',
    "quoted question": "\"What?\" he asked.|'Where to?' they said.",
    "ellipses": "Well... maybe not.|I wait...|Nothing.|And so on … it goes.|It ends…|Or does it?! . . .|Yes.",
    "addresses": "See https://x.org/a.b?c=1.|Mail a.b@x.org.|Www.x.com is old.|Node.js runs etc. and so on.",
    "no capitals": "i like it.|they don't.|why not?|because he said so.|maybe.|but approx. five etc. that counts",
    "signs that go on": "Hm?, she said.|He (?) left!).|So be it.",
    "German": "Das ist z.B. so, d.h. Herr Dr. Müller kam bzw. ging.|Er ging usw.|Wir auch.|Änderung!",
    "French": "M. Dupont est parti.|Où est-il ?|Il est à l'école.|« Oui. » Non.",
    "Spanish": "¿Qué?|¡Nada!|La Sra. López vino.|Él no.",
    "Russian": "Он ушёл.|Она осталась.|Почему?",
    "Greek and Arabic": "Ήρθε.|Έφυγε.|ذهب إلى البيت.|لماذا؟|لا أعرف.",
    "Hindi": "वह गया।|वह आई।",
    "Chinese and Japanese": "他走了。|她留下！|为什么？|「はい。」|二つ。",
    "line ends": "A line\nthat goes on.|Another\tone.",
}


@pytest.mark.parametrize("case", CUT)
def test_rules(case: str) -> None:
    expected = CUT[case].split("|")
    wide = case == "Chinese and Japanese"
    text = ("" if wide else " ").join(expected)
    assert [text[start:end] for start, end in sentences_of(text)] == expected


@given(st.text(max_size=80) | st.text(alphabet="aI. T\"'?!…。)1\n", max_size=80))
def test_nothing_but_blanks_is_outside_of_sentences(text: str) -> None:
    at = 0
    for start, end in sentences_of(text):
        assert at <= start < end and not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


@pytest.mark.parametrize("unit", [".", '."', "a. b ", " ", "?x", "Mr. ", "A. "])
def test_time_grows_with_the_text_alone(unit: str) -> None:
    """Twenty times the text takes a minute, or a day, where a rule looks at everything again and again."""

    def seconds(size: int) -> float:
        text, began = unit * (size // len(unit)), time.perf_counter()
        for _ in sentences_of(text):
            pass
        return time.perf_counter() - began

    assert seconds(400_000) < 100 * max(seconds(20_000), 0.01)
