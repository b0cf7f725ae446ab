"""Rule 12 of a search, read as plainly as possible, and texts in many scripts to try it on."""

import unicodedata
from collections.abc import Iterable

from hypothesis import strategies as st

UNSPACED = (
    "CJK",
    "IDEOGRAPHIC",
    "HIRAGANA",
    "KATAKANA",
    "KATAKANA-HIRAGANA",
    "HANGUL",
    "THAI",
    "LAO",
    "KHMER",
)

WORDS = (
    "hello",
    "Hello",
    "HELLO",
    "helló",
    "Straße",
    "strasse",
    "ﬁne",
    "fine",
    "Ｆｉｎｅ",
    "the",
    "a",
    "2024",
    "x²",
    "résumé",
    "resume",
    "Привет",
    "привет",
    "नमस्ते",
    "مرحبا",
    "İstanbul",
)
RUNS = (
    "東京",
    "東",
    "京東",
    "東京東京東",
    "タワー",
    "ﾀﾜｰ",
    "ひらがな",
    "한국어",
    "한국",
    "ภาษา",
    "ไทย",
    "ພາສາ",
    "ភាសា",
)
GLUE = (" ", "  ", ", ", "。", "-", "_", "\n", "❤\ufe0f", "👍🏽", "'", "·", "\0", "\u200d", "", "")

TEXTS = st.lists(st.sampled_from(WORDS + RUNS + GLUE), max_size=12).map("".join)


def naive_terms(text: str) -> list[str]:
    """Letters, digits and combining marks form terms; scripts without spaces go apart."""
    terms: list[str] = []
    kind = ""
    for character in unicodedata.normalize("NFKC", text):
        category = unicodedata.category(character)[0]
        if category == "M" and kind:
            terms[-1] += character
        elif category in "LN":
            here = "run" if _is_unspaced(character) else "word"
            if here == kind:
                terms[-1] += character
            else:
                terms.append(character)
            kind = here
        else:
            kind = ""
    return [term.lower() for term in terms]


def naive_score(query: str, body: str) -> int:
    """How often the terms of `query` occur in `body`; 0 unless all of them do."""
    counts = [_count(term, naive_terms(body)) for term in dict.fromkeys(naive_terms(query))]
    return sum(counts) if counts and all(counts) else 0


def naive_prefix_score(query: str, body: str) -> int:
    """How often the terms of `query` occur in `body` or, of the last one, what begins with it, and
    2²⁰ more if that is there as such; 0 unless all of them are there."""
    *others, last = naive_terms(query) or [""]
    terms = naive_terms(body)
    whole = len(last) < 3 or _is_unspaced(last[0]) or naive_terms(query + "x")[-1] == "x"
    if whole:
        return naive_score(query, body)
    begun = [term for term in terms if term.startswith(last) and not _is_unspaced(term[0])]
    if not begun or not all(_count(other, terms) for other in others):
        return 0
    runs = sum(_count(other, terms) for other in set(others) if _is_unspaced(other[0]))
    found = sum(term in {*others, *begun} for term in terms)
    return runs + found + (2**20 if last in terms else 0)


def _count(term: str, terms: Iterable[str]) -> int:
    if _is_unspaced(term[0]):
        return sum(other.count(term) for other in terms)
    return sum(other == term for other in terms)


def _is_unspaced(character: str) -> bool:
    return unicodedata.name(character, "").split(" ")[0] in UNSPACED
