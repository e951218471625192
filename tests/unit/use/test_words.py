"""The rules that cut text into words, as docs/use.md says them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.use.words import words_of

CUT = {
    "Anna sees the old house.": "Anna sees the old house .",
    "Mr. Smith doesn't live in the U.S. anymore.": "Mr. Smith does n't live in the U.S. anymore .",
    "We'll pay $3.50 (or 1,000) at 10:30...": "We 'll pay $ 3.50 ( or 1,000 ) at 10:30 ...",
    "Signs, e.g. by J. Doe": "Signs , e.g. by J. Doe",
    "See https://x.org/a_b?c=1. Mail a.b@x.org!": "See https://x.org/a_b?c=1 . Mail a.b@x.org !",
    "“Well-known” and/or AT&T’s -- yes": "“ Well-known ” and/or AT&T ’s -- yes",
    "It was the end of Acme Inc.": "It was the end of Acme Inc .",
    "Acme Inc. rose 5%!!": "Acme Inc. rose 5 % !!",
    "He said 'no'.": "He said ' no ' .",
    "naïve cafe\u0301": "naïve cafe\u0301",
    "一つ。": "一つ 。",
    "यह हिन्दी है।": "यह हिन्दी है ।",
    "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd, \u0645\u064e\u0631\u062d\u0628\u064b\u0627!": (
        "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd , \u0645\u064e\u0631\u062d\u0628\u064b\u0627 !"
    ),
    "co\u00adoperate": "co\u00adoperate",
    "A \U0001f469\u200d\U0001f469\u200d\U0001f467 in \U0001f1e9\U0001f1ea: \U0001f44d\U0001f3fd\u2764\ufe0f": (
        "A \U0001f469\u200d\U0001f469\u200d\U0001f467 in \U0001f1e9\U0001f1ea : \U0001f44d\U0001f3fd \u2764\ufe0f"
    ),
}


@pytest.mark.parametrize(("text", "cut"), CUT.items())
def test_rules(text: str, cut: str) -> None:
    assert words_of(text) == tuple(cut.split(" "))


def test_blanks_cut_nowhere_else() -> None:
    assert words_of(" It's  done.\t(Yes) ", "blanks") == ("It's", "done.", "(Yes)")


@given(st.text(max_size=60))
def test_no_character_is_lost_or_made_up(text: str) -> None:
    assert "".join(words_of(text)) == "".join(text.split())
    assert "".join(words_of(text, "blanks")) == "".join(text.split())
    assert all(words_of(text))
