"""Bodies that are no good, and what each is answered with, whatever the route."""

import gzip
import zlib
from typing import NamedTuple

from tests.schema.test_bodies import HOSTILE

TOO_LARGE = 1024 * 1024 + 1
GZIP, DEFLATE = {"Content-Encoding": "gzip"}, {"Content-Encoding": "deflate"}


class Body(NamedTuple):
    """A body and the headers that it comes with."""

    raw: bytes
    headers: dict[str, str] = {}


NO_OBJECTS = {name: Body(raw) for name, raw in HOSTILE.items() if name != "empty"} | {
    "true": Body(b"true"),
    "two objects": Body(b"{} {}"),
    "lines of objects": Body(b"{}\n{}"),
    "a form": Body(b"a=1&b=2", {"Content-Type": "application/x-www-form-urlencoded"}),
    "xml": Body(b"<a/>", {"Content-Type": "application/xml"}),
    "another charset": Body('{"a":"ü"}'.encode("latin-1"), {"Content-Type": "text/plain"}),
    "utf-16, and said so": Body(
        "{}".encode("utf-16"), {"Content-Type": "application/json; charset=utf-16"}
    ),
    "2^64": Body(b'{"a":18446744073709551616}'),
    "-2^64": Body(b'{"a":-18446744073709551616}'),
    "100,000 levels of objects": Body(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "levels that are left open": Body(b"[" * 100_000),
    "nothing but NUL": Body(b"\0" * 1_000),
}
"""All 400 INVALID_INPUT."""

LARGE = {
    "a little too large": Body(b'{"a":"' + b"x" * (TOO_LARGE - 8) + b'"}'),
    "too large, and no JSON": Body(b"x" * TOO_LARGE),
    "white space in front": Body(b" " * TOO_LARGE + b"{}"),
}
"""All 413 PAYLOAD_TOO_LARGE."""

ENCODED = {
    "an object, in gzip": Body(gzip.compress(b"{}"), GZIP),
    "an object, deflated": Body(zlib.compress(b"{}"), DEFLATE),
    "an encoding that nobody knows": Body(b"{}", {"Content-Encoding": "secret"}),
    "20 megabytes, in gzip": Body(gzip.compress(b" " * 20 * TOO_LARGE), GZIP),
    "no gzip": Body(b"{}", GZIP),
}
"""All 415 UNSUPPORTED_ENCODING."""

CHUNKED = "Transfer-Encoding: chunked"
OFF_THE_RAILS: dict[str, tuple[str, bytes]] = {
    "more than was said": ("Content-Length: 5", b'{"body":"x"}'),
    "no number": ("Content-Length: x", b"{}"),
    "a negative number": ("Content-Length: -1", b"{}"),
    "a number with a sign": ("Content-Length: +2", b"{}"),
    "two lengths": ("Content-Length: 2\r\nContent-Length: 3", b"{} "),
    "a length and chunks": (f"Content-Length: 2\r\n{CHUNKED}", b"2\r\n{}\r\n0\r\n\r\n"),
    "chunks of no size": (CHUNKED, b"zz\r\n{}\r\n0\r\n\r\n"),
    "chunks of a negative size": (CHUNKED, b"-2\r\n{}\r\n0\r\n\r\n"),
    "chunks longer than they say": (CHUNKED, b"1\r\n{}\r\n0\r\n\r\n"),
    "an unknown encoding": ("Transfer-Encoding: secret", b"2\r\n{}\r\n0\r\n\r\n"),
}
"""Bodies that are not what their headers say: 400, whether it is the server's or ours."""

CUT_OFF: dict[str, tuple[str, bytes]] = {
    "less than was said": ("Content-Length: 99", b'{"body":"x"}'),
    "chunks without an end": (CHUNKED, b'c\r\n{"body":"x"}\r\n'),
    "a chunk that is cut off": (CHUNKED, b'ff\r\n{"body":"x"}'),
}
"""The client leaves in the middle: nobody is answered."""
