"""The tokenizer of search: the terms of a text, and their tokens (specification 6.1)."""

import re
from collections.abc import Iterable
from hashlib import sha256
from zlib import crc32

import regex

from chat_aio.schema.normal_text import MAX_NORMAL_LENGTH, UNSPACED, is_run, normal
from chat_aio.store.documents import SearchFields

MAX_INDEXED = 4_096
MAX_TERMS = 8_192

_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]
"""Ten bits in base 32, in letters that a text index leaves unchanged."""

_RUN = rf"[[\p{{L}}\p{{N}}]&&[{UNSPACED}]]"
_WORD = rf"[[\p{{L}}\p{{N}}]--[{UNSPACED}]]"
_TERM = regex.compile(rf"{_RUN}[{_RUN}\p{{M}}]*|{_WORD}[{_WORD}\p{{M}}]*", regex.V1)

_ASCII_TERM = re.compile("[0-9a-z]+")


def search_fields(
    conversation_id: str, body: str, *, terms: list[str] | None = None
) -> SearchFields:
    """The search fields of a message; `terms` are the body's if they are known already, as those
    of a forwarded message are."""
    if terms is None:
        terms = indexed_terms_of(body)
    return {"terms": terms, "search": search_of(conversation_id, terms)}


def search_of(conversation_id: str, terms: Iterable[str]) -> str:
    """The field `search` of a message with these terms: the tokens of their entries."""
    return " ".join(tokens_of(conversation_id, entries_of(terms)))


def terms_of(text: str) -> list[str]:
    """The terms of `text` in order, with repeats; NFKC, then lower case.

    Letters, digits and the marks on them form terms. A run of letters of a script that writes
    without spaces (Han, Kana, Hangul, Thai, Lao, Khmer) is one term.
    """
    if text.isascii():  # The same, several times quicker.
        return _ASCII_TERM.findall(text.lower(), 0, MAX_NORMAL_LENGTH)[:MAX_TERMS]
    # Each term separately: the text after a separator must not change a letter (a final sigma).
    return [term.lower() for term in _TERM.findall(normal(text), 0, MAX_NORMAL_LENGTH)[:MAX_TERMS]]


def ends_in_term(text: str) -> bool:
    """Whether no separator follows the last term of `text`."""
    whole = normal(text)
    return any(found.end() == len(whole) for found in _TERM.finditer(whole))


def entries_of(terms: Iterable[str]) -> list[str]:
    """The distinct index entries of some terms: words, and the characters of runs."""
    entries: dict[str, None] = {}
    for term in terms:
        # Most terms are ASCII, and there may be thousands: the call would be half of this loop.
        if not term.isascii() and is_run(term):
            entries |= dict.fromkeys(term)
        else:
            entries[term] = None
    return list(entries)


def indexed_terms_of(text: str) -> list[str]:
    """The terms of `text` up to its 4,096th distinct entry."""
    terms = terms_of(text)
    # Nearly all texts end here: they have no more characters than there may be entries.
    if sum(map(len, terms)) <= MAX_INDEXED:
        return terms
    kept: list[str] = []
    seen: set[str] = set()
    for term in terms:
        new = set(entries_of([term])) - seen
        if len(seen) + len(new) > MAX_INDEXED:
            # A word that does not fit is left out; the beginning of a run still counts.
            for end, character in enumerate(term if is_run(term) else ""):
                seen.add(character)
                if len(seen) > MAX_INDEXED:
                    kept.append(term[:end])
                    break
            break
        seen |= new
        kept.append(term)
    return [term for term in kept if term]


def tokens_of(conversation_id: str, entries: Iterable[str]) -> list[str]:
    """The tokens of entries in the text index: 30 bits of the conversation, so that its entries are
    neighbours there, and 20 of the entry in this conversation, so that a search does not read the
    same word in others (decision 0056)."""
    here = int.from_bytes(sha256(conversation_id.encode()).digest()[:4], "big")
    beginning = _PAIRS[here >> 22] + _PAIRS[here >> 12 & 1_023] + _PAIRS[here >> 2 & 1_023]
    tokens = []
    for entry in entries:
        bits = crc32(entry.encode(), here)  # A tenth of the time of a better hash.
        tokens.append(beginning + _PAIRS[bits >> 22] + _PAIRS[bits >> 12 & 1_023])
    return tokens


def most_telling(terms: Iterable[str]) -> str:
    """The entry of some terms that is probably in the fewest messages: a long word, else an
    ideograph, else a letter."""
    return max(
        entries_of(terms),
        key=lambda entry: (3 if "\u3400" <= entry < "\ua000" else len(entry), entry),
    )
