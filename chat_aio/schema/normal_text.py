"""The normal form of a text, in which searches and filters compare it: NFKC, in bounded time."""

import unicodedata

import regex

MAX_NORMAL_LENGTH = 65_536
"""How much of a normalised text is looked at: NFKC turns one character into up to 18."""

BEGINNING = 4_096

MAX_MARKS = 64
"""The combining marks in a row that are kept; the rest of such a run is dropped."""

UNSPACED = "".join(
    rf"\p{{scx={script}}}" for script in ("Han", "Hira", "Kana", "Hang", "Thai", "Lao", "Khmr")
)
"""The scripts that write without spaces, for a set of a regular expression."""

_MARK = r"[\p{M}\uff9e\uff9f]"
"""Marks, and the two half-width Kana letters that NFKC turns into marks."""
_MARKS = regex.compile(rf"({_MARK}{{{MAX_MARKS}}}){_MARK}+")
_IN_RUN = regex.compile(rf"[[\p{{L}}\p{{N}}]&&[{UNSPACED}]]", regex.V1)


def normal(text: str) -> str:
    """The NFKC form of a text, as far as it is looked at; it may be longer than that."""
    if text.isascii():
        return text
    # Normalising sorts the marks of a run in quadratic time: 16,384 took half a second, during
    # which the event loop stood still. No script has more than 64 on one letter.
    text = _MARKS.sub(r"\1", text)
    beginning = unicodedata.normalize("NFKC", text[:BEGINNING])
    # If the beginning fills all that is looked at, the rest could only change its last letter.
    if len(text) <= BEGINNING or len(beginning) > MAX_NORMAL_LENGTH + MAX_MARKS:
        return beginning
    return unicodedata.normalize("NFKC", text)


def is_run(term: str) -> bool:
    """Whether a term is a run without spaces, whose parts are found as well."""
    return not term.isascii() and _IN_RUN.match(term) is not None
