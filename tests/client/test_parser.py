"""The parser of server-sent events, held against the standard's own examples and any chunking."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chat_aio.client.sse import Frame, Parser


def parsed(*chunks: bytes) -> list[Frame]:
    parser = Parser()
    return [frame for chunk in chunks for frame in parser.feed(chunk)]


def test_what_fields_mean() -> None:
    """Comments and unknown fields are nothing, one space is taken away, lines of data are joined,
    and what is not complete is not there."""
    parser = Parser()
    text = (
        b"\xef\xbb\xbfretry: 2500\nretry: 1e3\n: open\n\n"
        b"id: c:1\nevent: add\ndata:  YHOO\ndata: +2\ndata\ndata: \xc3\xa9\n\n"
        b"nonsense: 1\ndata:10\n\n"
        b"id: c:2\n\n"
        b"id: c\x003\ndata: x\n\n"
        b"id\ndata: y\n\n"
        b"id: c:4\nevent: cut\ndata: half"
    )
    assert list(parser.feed(text)) == [
        Frame("c:1", "add", " YHOO\n+2\n\né"),
        Frame(None, "message", "10"),
        Frame("c:2", "message", ""),
        Frame(None, "message", "x"),
        Frame("", "message", "y"),
    ]
    assert parser.retry_ms == 2500


LINES = st.sampled_from(
    ["data: {}", "data", "data:é😀", ":", ": open", "id: c:1", "id", "event: x", "retry: 9", "", ""]
)
TEXTS = st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r", "\r\n"])), max_size=12)


@given(TEXTS, st.lists(st.integers(0, 200), max_size=8))
def test_any_chunking_gives_the_same(lines: list[tuple[str, str]], cuts: list[int]) -> None:
    """Also through the middle of a character and of a CRLF, and byte by byte."""
    text = "".join(line + end for line, end in lines).encode()
    whole = parsed(text)
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    chunks = [text[start:end] for start, end in pairwise(places)]
    assert parsed(*chunks) == whole
    assert parsed(*(bytes([byte]) for byte in text)) == whole
