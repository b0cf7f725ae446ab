"""The terms of a text, by example and against a plain reading of the rule."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_aio.actions.context import utc_now
from chat_aio.schema.normal_text import MAX_MARKS, MAX_NORMAL_LENGTH, is_run, normal
from chat_aio.store.messages import new_message
from chat_aio.store.numbering import weight_of
from chat_aio.store.tokenizer import (
    _TERM,
    MAX_INDEXED,
    MAX_TERMS,
    entries_of,
    indexed_terms_of,
    most_telling,
    search_fields,
    terms_of,
    tokens_of,
)
from tests.support.terms import TEXTS, naive_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("Hello, World! hello", ["hello", "world", "hello"]),
        ("can't re-do a_b", ["can", "t", "re", "do", "a", "b"]),
        ("Ｆｕｌｌ ﬁne ﷺ", ["full", "fine", "صلى", "الله", "عليه", "وسلم"]),
        ("E\u0301cole café CAFE\u0301", ["école", "café", "café"]),
        ("Straße STRASSE ΣΟΦΟΣ İ", ["straße", "strasse", "σοφος", "i\u0307"]),
        ("ΟΔΟΣ.ΑΘΗΝΩΝ ΟΔΟΣ", ["οδος", "αθηνων", "οδος"]),
        ("अनुच्छेद", ["अनुच्छेद"]),
        ("x² ½ Ⅷ", ["x2", "1", "2", "viii"]),
        ("東京タワーへ。iPhone版 2024年", ["東京タワーへ", "iphone", "版", "2024", "年"]),
        ("ｶﾞｷﾞ 々〇", ["ガギ", "々〇"]),
        ("ภาษาไทย ພາສາລາວ ភាសាខ្មែរ 한국어", ["ภาษาไทย", "ພາສາລາວ", "ភាសាខ្មែរ", "한국어"]),
        ("👍🏽 👨\u200d👩\u200d👧 ❤\ufe0f !?…", []),
        ('$where -not "a b"', ["where", "not", "a", "b"]),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert terms_of(text) == terms


@given(TEXTS | st.text(st.characters(max_codepoint=127)))
def test_terms_are_what_the_rule_says(text: str) -> None:
    assert terms_of(text) == naive_terms(text)


def test_ascii_is_cut_as_any_text() -> None:
    """It has a separate, faster expression."""
    characters = [chr(number) for number in range(128)]
    together = "".join(characters)
    longest = "ab " * (MAX_NORMAL_LENGTH // 3 + 1)
    texts = [
        *characters,
        *(f"Az{one}9" for one in characters),
        *(one + together + one for one in characters),
        longest[: MAX_NORMAL_LENGTH - 1],
        "c" * (MAX_NORMAL_LENGTH + 10),
        "a " * (MAX_TERMS + 10),
    ]
    for text in texts:
        common = [found.lower() for found in _TERM.findall(normal(text), 0, MAX_NORMAL_LENGTH)]
        assert terms_of(text) == common[:MAX_TERMS], ascii(text[:50])


@given(TEXTS)
def test_terms_are_in_normal_form(text: str) -> None:
    for term in terms_of(text):
        assert term
        assert not term.isspace()
        assert all(unicodedata.category(character)[0] in "LNM" for character in term)


def test_a_run_is_indexed_by_its_characters() -> None:
    assert is_run("東京")
    assert entries_of(["東京東", "to", "to"]) == ["東", "京", "to"]
    assert not is_run("tokyo")


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("a word among words", "words"),
        ("go 東へ", "東"),
        ("のへ", "へ"),
        ("elephant 東", "elephant"),
    ],
)
def test_the_most_telling_entry(text: str, term: str) -> None:
    assert most_telling(terms_of(text)) == term


def test_a_token_belongs_to_a_conversation() -> None:
    """All of one begin with the same, which the index need not repeat; the rest differs as well."""
    words = [f"w{number}" for number in range(200)]
    here, there = tokens_of("c1", words), tokens_of("c2", words)
    assert here == tokens_of("c1", words)
    assert len({token[:6] for token in here + there}) == 2
    assert len({token[6:] for token in here + there}) == 400
    # A text index changes no lower-case letters and digits, and takes them as one word.
    assert all(re.fullmatch("[a-z2-7]{10}", token) for token in here)


def test_an_index_has_room_for_so_many_different_terms() -> None:
    words = [f"w{number}" for number in range(MAX_INDEXED + 10)]
    assert indexed_terms_of(" ".join(["w1", *words])) == ["w1", *words[:MAX_INDEXED]]
    run = "".join(map(chr, range(0x4E00, 0x4E00 + MAX_INDEXED + 10)))
    assert indexed_terms_of(run) == [run[:MAX_INDEXED]]
    assert indexed_terms_of("word " + run) == ["word", run[: MAX_INDEXED - 1]]
    assert indexed_terms_of(run[:MAX_INDEXED] + " word " + run) == [run[:MAX_INDEXED]]


def test_a_text_that_grows_in_normal_form_is_bounded() -> None:
    """One character may become eighteen; a short message must not become a huge one."""
    found = search_fields("c", "\ufdfa" * 16_384)
    assert len(found["terms"]) == MAX_TERMS
    assert sum(map(len, found["terms"])) < 65_536
    message = new_message("m", "c", "alice", "\ufdfa" * 16_384, at=utc_now())
    assert weight_of(message) > 100 * weight_of(new_message("m", "c", "a", "hi", at=utc_now()))


@given(TEXTS)
def test_short_texts_are_indexed_whole(text: str) -> None:
    assert indexed_terms_of(text) == terms_of(text)


@given(st.text(min_size=1))
def test_any_text_has_terms_or_none(text: str) -> None:
    assert isinstance(terms_of(text), list)


@pytest.mark.parametrize("marks", ["\u0316\u0301", "\uff9e\u0301", "\u0301"])
def test_a_run_of_marks_is_bounded(marks: str) -> None:
    """Putting 16,384 marks in order took half a second, for each message and each forward of it."""
    run = marks * (16_000 // len(marks))
    assert terms_of(f"a{run} b") == [*terms_of("a" + run[:MAX_MARKS]), "b"]


@given(st.text(alphabet=st.sampled_from("aα\u0301\u0316\uff9e ｶ\u0e31"), max_size=MAX_MARKS))
def test_marks_that_are_not_many_are_all_looked_at(text: str) -> None:
    assert terms_of(text) == naive_terms(text)
