"""Words as a filter compares them: without the tricks that hide a word (docs/guides/filters.md).

Every step is linear in the length of the text, which NFKC bounds (`schema/normal_text.py`).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby

import regex

from chat_aio.schema.normal_text import MAX_NORMAL_LENGTH, is_run, normal

MOST_WORDS = 8
"""The words of the longest phrase that can be listed."""

REPEATED = 3
"""From so many on, the same letters in a row stand for any smaller number of them. Two do not: they
tell words apart (`god`, `good`)."""

_HIDDEN = regex.compile(r"[\p{Cf}\u115f\u1160\u3164\uffa0]+")
"""What is not seen: format characters, and the fillers of Hangul."""

_ON_LETTERS = regex.compile(
    r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f"
    r"\ufe20-\ufe2f\U000e0100-\U000e01ef]+"
)
"""Marks on letters; not the vowel signs of scripts that need them."""

_ALIKE = {
    "a": "\u0430\u0251\u03b1",
    "b": "\u0432\u044c\u03b2",
    "c": "\u0441",
    "d": "\u0501\u0111",
    "e": "\u0435\u0454\u03b5",
    "g": "\u0261",
    "h": "\u04bb\u043d\u0127",
    "i": "\u0456\u0131\u03b9",
    "j": "\u0458",
    "k": "\u043a\u03ba",
    "l": "\u04cf\u0142\u01c0",
    "m": "\u043c",
    "n": "\u043f\u03b7",
    "o": "\u043e\u03bf\u03c3\u00f8\u0473",
    "p": "\u0440\u03c1",
    "q": "\u051b",
    "r": "\u0433",
    "s": "\u0455",
    "t": "\u0442\u03c4\u0167",
    "u": "\u03c5\u057d\u03bc",
    "v": "\u03bd\u0475",
    "w": "\u051d\u03c9\u0448",
    "x": "\u0445\u03c7",
    "y": "\u0443\u03b3\u04af",
}
"""Letters that look like a Latin one and that NFKC keeps apart. A word of theirs is folded in the
list as in the text, so that it is found as well."""
_AS_LATIN = {ord(letter): latin for latin, letters in _ALIKE.items() for letter in letters}

_SIGNS = "@$!|"
_LETTERS_FOR_SIGNS = (
    str.maketrans("0134578@$!|", "oieastbasii"),
    str.maketrans("0134578@$!|", "oleastbasll"),
)
"""The two readings of what may be an `i` or an `l`."""
_HAS_SIGNS = re.compile(r"[0134578@$!|]")
_LETTER = regex.compile(r"\p{L}")
_PIECE = regex.compile(r"[\p{L}\p{N}\p{M}@$!|]+")
_AGAIN = re.compile(r"(.)\1+")
_FIRST_ALONE = frozenset("aeiouy")
"""Letters that are words: a word spelled out may stand behind one (`a b a d`)."""


def pieces_of(chunk: str) -> list[str]:
    """The words of a folded text. Signs count as letters, except at the end of a word."""
    found = (piece.rstrip("!|") for piece in _PIECE.findall(chunk))
    return [word for word in found if word]


def readings(word: str) -> Iterator[str]:
    """A word unchanged, and if it has a letter also with digits and signs read as letters."""
    yield word
    if _HAS_SIGNS.search(word) and _LETTER.search(word):
        for table in _LETTERS_FOR_SIGNS:
            yield word.translate(table)
            # A sign in front may be one, as before a name.
            yield word.lstrip(_SIGNS).translate(table)


def squeezed(words: Sequence[str]) -> list[str]:
    """The words with repeated letters reduced to one."""
    # In one call: a call for each word takes as long as all the rest.
    return _AGAIN.sub(r"\1", "\n".join(words)).split("\n") if words else []


def runs_of(word: str) -> list[int]:
    """How often each letter of a squeezed word occurs in the word."""
    return [len(list(letters)) for _, letters in groupby(word)]


class FoldedText:
    """A message's text, prepared once for all rules: as it is `seen`, in normal form and lower
    case; and `folded`, also without hidden characters and diacritics, in Latin letters where others
    look like them."""

    def __init__(self, text: str) -> None:
        # First: without characters between them, marks would be one long run, which `normal`
        # limits.
        visible = text if text.isascii() else _HIDDEN.sub("", text)
        seen = normal(visible)[:MAX_NORMAL_LENGTH]
        self.seen = self.folded = seen.lower()
        if not seen.isascii():
            # Apart and together again: a mark may be part of its letter, and Hangul must stay
            # syllables.
            apart = _ON_LETTERS.sub("", unicodedata.normalize("NFD", seen.casefold()))
            self.folded = unicodedata.normalize("NFC", apart).translate(_AS_LATIN)
        self._has_signs = _HAS_SIGNS.search(self.folded) is not None

    @cached_property
    def words(self) -> list[str]:
        """The words in their order."""
        return [piece for pieces in self._chunks for piece in pieces]

    @cached_property
    def candidates(self) -> list[tuple[str, str]]:
        """All readings of each word, and of words that are put together again; each with its
        squeezed form."""
        found = dict.fromkeys((*self.words, *self._joined()))
        if self._has_signs:
            found = dict.fromkeys(reading for word in found for reading in readings(word))
        return list(zip(found, squeezed([*found]), strict=True))

    @cached_property
    def phrases(self) -> list[list[str]]:
        """The words in their order as parts of phrases, in each reading."""
        tables = _LETTERS_FOR_SIGNS if self._has_signs else _LETTERS_FOR_SIGNS[:1]
        return [[_part(word, table) for word in self.words] for table in tables]

    @cached_property
    def _chunks(self) -> list[list[str]]:
        """The words of the text between spaces."""
        chunks = self.folded.split()
        return [[chunk] if chunk.isalnum() else pieces_of(chunk) for chunk in chunks]

    def _joined(self) -> Iterator[str]:
        """What may be one word: what separators other than spaces cut (`b.ad`), and letters that
        stand alone (`b a d`)."""
        alone: list[str] = []
        for pieces in self._chunks:
            if len(pieces) > 1:
                yield "".join(pieces)
            for piece in pieces:
                if len(piece) == 1:
                    alone.append(piece)
                elif alone:
                    yield from _spelled(alone)
                    alone = []
        yield from _spelled(alone)


def _spelled(letters: list[str]) -> Iterator[str]:
    if len(letters) > 1:
        yield "".join(letters)
        if letters[0] in _FIRST_ALONE:
            yield "".join(letters[1:])


def _part(word: str, table: dict[int, int]) -> str:
    """A word of a phrase: signs as letters, and repeated letters reduced to one."""
    if _LETTER.search(word):
        word = word.translate(table)
    return _AGAIN.sub(r"\1", word)


class Lexicon:
    """Listed words and phrases, to be found in folded texts.

    They are found as whole words; within words too if `match_substrings`, and so are always words
    of scripts that write without spaces.
    """

    def __init__(self, listed: Iterable[str], *, match_substrings: bool = False) -> None:
        self._whole: dict[str, list[list[int]]] = {}
        self._within: dict[str, list[list[int]]] = {}
        self._lengths: dict[str, set[int]] = {}
        self._phrases: set[tuple[str, ...]] = set()
        for word in listed:
            words = pieces_of(FoldedText(word).folded)
            if not 0 < len(words) <= MOST_WORDS:
                raise ValueError(f"a filter lists 1 to {MOST_WORDS} words at a time, not {word!r}")
            if len(words) > 1:
                for table in _LETTERS_FOR_SIGNS:
                    self._phrases.add(tuple(_part(word, table) for word in words))
                continue
            within = match_substrings or is_run(words[0])
            spelled = [*dict.fromkeys(readings(words[0]))]
            for piece, key in zip(spelled, squeezed(spelled), strict=True):
                (self._within if within else self._whole).setdefault(key, []).append(runs_of(piece))
                if within:
                    # By first letter: most places of a text are passed over at once.
                    self._lengths.setdefault(key[0], set()).add(len(key))
        self._phrase_lengths = sorted({len(phrase) for phrase in self._phrases})

    def finds_in(self, text: FoldedText) -> bool:
        """Whether a listed word or phrase is in the text."""
        for candidate, key in text.candidates:
            if key in self._whole:
                runs = runs_of(candidate)
                # A letter occurs as often as listed, or too often for the number to matter.
                if any(
                    all(
                        found == least or found >= max(least, REPEATED)
                        for found, least in zip(runs, listed, strict=True)
                    )
                    for listed in self._whole[key]
                ):
                    return True
            if self._within and self._is_within(candidate, key):
                return True
        return any(
            tuple(words[at : at + length]) in self._phrases
            for length in self._phrase_lengths
            for words in text.phrases
            for at in range(len(words) - length + 1)
        )

    def _is_within(self, candidate: str, key: str) -> bool:
        starts = [at for at, letter in enumerate(key) if letter in self._lengths]
        runs = runs_of(candidate) if starts else []
        for at in starts:
            for length in self._lengths[key[at]]:
                # Within a longer word more of a letter are its own: at least as many are enough.
                part = runs[at : at + length]
                if any(
                    all(found >= least for found, least in zip(part, listed, strict=True))
                    for listed in self._within.get(key[at : at + length], ())
                ):
                    return True
        return False
