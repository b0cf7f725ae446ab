"""Listed words are found however they are disguised, and nothing else is."""

import time
import timeit
import unicodedata
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_aio.plugins.folding import MOST_WORDS, FoldedText, Lexicon
from tests.support.terms import TEXTS

LISTED = ("bad", "ass", "god", "hell", "kill you", "free moths", "漢字", "спам")
LEXICON = Lexicon(LISTED)
SIGNS = {"a": "a4@", "e": "e3", "i": "i1!|", "l": "l1", "o": "o0", "s": "s5$", "b": "b8", "t": "t7"}
LOOKS = {"a": "аɑα", "c": "с", "e": "еε", "i": "іι", "o": "оο", "p": "рρ", "x": "хχ", "y": "уγ"}


def finds(text: str, lexicon: Lexicon = LEXICON) -> bool:
    return lexicon.finds_in(FoldedText(text))


@pytest.mark.parametrize(
    "text",
    [
        *("so bad.", "BAD", "b.a.d", "b-a-d", "b_a_d", "ba.d", "b a d", "a b a d", "baaaad"),
        *(
            "B4D!",
            "b@d",
            "@bad",
            "bad!!!",
            "#bad",
            "b\u200ba\u00add",
            "bäd",
            "ｂａｄ",
            "𝐛𝐚𝐝",
            "ⓑⓐⓓ",
        ),
        *("bаd", "b\u0336a\u0336d\u0336", "(bad)", "x\nbad", "a55", "@ss", "assss", "he11", "HE!L"),
        *(
            "kill  you",
            "k1ll, you",
            "KILL\nYOU",
            "fr33 m0ths",
            "freeee moths",
            "これは漢字です",
            "漢 字",
        ),
        *("спам", "СПАМ", "с.п.а.м", "спаааам"),
    ],
)
def test_what_is_found(text: str) -> None:
    assert finds(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "badge", "abad1don", "class", "assess", "as", "good", "heil", "shell", "455", "5 5"),
        *("kill", "you kill", "kill for you", "moths free", "漢", "as.shown", "b", "!!!"),
        *("Scunthorpe", "grass", "b a d l y", "спаме"),
    ],
)
def test_what_is_not_found(text: str) -> None:
    assert not finds(text)


def test_within_words_only_on_request() -> None:
    anywhere = Lexicon(["bad", "ass"], match_substrings=True)
    assert all(finds(text, anywhere) for text in ("badge", "xb4dx", "classy", "p-a-s-s", "baddd"))
    assert not any(finds(text, anywhere) for text in ("as", "lasagne", "b ad"))


@pytest.mark.parametrize("listed", ["", " ", "...", " ".join("abcdefghi")])
def test_what_cannot_be_listed(listed: str) -> None:
    assert MOST_WORDS == 8
    with pytest.raises(ValueError, match="1 to 8 words"):
        Lexicon([listed])


letters = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=12)


@st.composite
def disguised(draw: st.DrawFn) -> tuple[str, str]:
    """A word, and what somebody makes of it. Of `i` and `l` either is read, not both at once, and
    `!` and `|` are letters only between others."""
    word = draw(letters)
    glue = draw(st.sampled_from(("", ".", "-", "_", "·", "\u2060")))
    shown = draw(st.sampled_from("il"))
    done = []
    for at, letter in enumerate(word):
        way = draw(st.sampled_from(("", "case", "sign", "look", "mark", "hidden", "many")))
        twin = letter in (word[at - 1 : at], word[at + 1 : at + 2])
        signs = SIGNS.get(letter, letter) if letter not in "il" or letter == shown else letter
        # A sign at the end may be punctuation, and an edge of signs alone is no word.
        safe = signs if 0 < at < len(word) - 1 else letter
        safe = safe.strip("!|") if glue in (".", "-", "_", "·") else safe
        made = {
            "case": letter.upper(),
            "sign": draw(st.sampled_from(safe)),
            "look": draw(st.sampled_from(LOOKS.get(letter, letter))),
            "mark": letter + "\u0308",
            "hidden": letter + "\u200b\u00ad",
            "many": letter if twin else letter * draw(st.integers(3, 9)),
        }
        done.append(made.get(way, letter))
    return word, glue.join(done)


@given(disguised())
def test_every_disguise_is_seen_through(pair: tuple[str, str]) -> None:
    word, text = pair
    lexicon = Lexicon([word])
    assert finds(text, lexicon)
    assert finds(f"and then ({text}), so", lexicon)


@given(letters, letters)
def test_plain_words_are_found_only_as_themselves(word: str, other: str) -> None:
    """Words of letters alone, written as they are, none of them three times in a row."""
    thrice = any(letter * 3 in other for letter in other)
    assert finds(other, Lexicon([word])) == (word == other) or thrice


@given(TEXTS)
def test_folding_twice_changes_nothing(text: str) -> None:
    folded = FoldedText(text).folded
    assert FoldedText(folded).folded == folded


@given(st.one_of(TEXTS, st.text(max_size=60)))
def test_any_text_finds_itself(text: str) -> None:
    try:
        lexicon = Lexicon([text])
    except ValueError:
        return
    assert finds(text, lexicon)
    assert finds(unicodedata.normalize("NFKD", text), lexicon)


HEAVY = {
    "expanding": "\ufdfa",
    "letters": "a ",
    "dots": "a.",
    "signs": "!",
    "readings": "a!",
    "digits": "4x ",
    "one word": "a",
    "marks": "a\u0301\u0302",
    "marks apart": "\u0651\u200b\u064b\u3164",
    "run": "漢",
    "links": "a.a",
    "words": "free moth ",
}


@pytest.mark.parametrize("unit", HEAVY.values(), ids=HEAVY)
def test_the_longest_message_takes_linear_time(unit: str) -> None:
    """Eight times the text takes about eight times as long; quadratic, it would be 64 times."""
    lexicon = Lexicon(
        [*(f"word{number}" for number in range(1_000)), "free moths", "漢字", "ab" * 9]
    )

    def seconds(size: int) -> float:
        text = (unit * size)[:size]
        timer = timeit.Timer(partial(finds, text, lexicon), timer=time.process_time)
        return min(timer.repeat(repeat=5, number=1))

    assert seconds(16_384) < 24 * seconds(2_048)
