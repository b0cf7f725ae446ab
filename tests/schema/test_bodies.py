"""Hostile JSON is a 400 with a reason (specification 1.3)."""

import pytest

from chat_aio.errors import InvalidInput
from chat_aio.web.request_body import object_from

HOSTILE = {
    "empty": b"",
    "white space": b"  ",
    "cut off": b'{"a":',
    "trailing": b'{"a":1}}',
    "not utf-8": b'{"a":"\xff"}',
    "utf-16": '{"a":1}'.encode("utf-16"),
    "byte order mark": b'\xef\xbb\xbf{"a":1}',
    "array": b"[]",
    "string": b'"a"',
    "number": b"1",
    "null": b"null",
    "NaN": b'{"a":NaN}',
    "Infinity": b'{"a":[-Infinity]}',
    "float overflow": b'{"a":1e400}',
    "negative float overflow": b'{"a":-1e400}',
    "integer past 64 bits": b'{"a":9223372036854775808}',
    "negative integer past 64 bits": b'{"a":-9223372036854775809}',
    "huge integer": b'{"a":' + b"9" * 100_000 + b"}",
    "repeated key": b'{"a":1,"a":2}',
    "repeated key, escaped": b'{"a":1,"\\u0061":2}',
    "repeated key deep within": b'{"a":{"b":1,"b":9223372036854775808}}',
    "lone surrogate": b'{"a":"\\ud800"}',
    "lone low surrogate": b'{"a":["\\uDC00"]}',
    "lone surrogate as key": b'{"\\uD834":1}',
    "surrogates swapped": b'{"a":"\\udc00\\ud800"}',
    "81 levels": b'{"a":' + b"[" * 80 + b"1" + b"]" * 80 + b"}",
    "100,000 levels": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "single quotes": b"{'a':1}",
    "comment": b'{"a":1/*x*/}',
    "control character": b'{"a":"\n"}',
    "so many objects": b'{"a":[' + b"{}," * 65_536 + b"{}]}",
    "a large number among many": b'{"a":[' + b"1," * 100_000 + b"-9223372036854775809]}",
    "an overflow among many": b'{"a":[' + b"[1.5]," * 50_000 + b"-1e309]}",
    "leading zero": b'{"a":01}',
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_hostile_bodies_are_refused(raw: bytes) -> None:
    with pytest.raises(InvalidInput):
        object_from(raw)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"{}", {}),
        (b' {"a" : 1} ', {"a": 1}),
        (b'{"a":{"b":1,"b":2}}', {"a": {"b": 2}}),
        (b'{"a":9223372036854775807,"b":-9223372036854775808}', {"a": 2**63 - 1, "b": -(2**63)}),
        (b'{"a":1.0,"b":1e3,"c":-0.0}', {"a": 1.0, "b": 1000.0, "c": -0.0}),
        (b'{"a":"\\ud83d\\ude00"}', {"a": "😀"}),
        (b'{"a":"\\u0000"}', {"a": "\0"}),
        (b'{"a":' + b"[" * 79 + b"1" + b"]" * 79 + b"}", None),
        (b'{"a":' + b"[[]]," * 0 + b"[" + b"[]," * 200 + b"1]}", None),
    ],
)
def test_plain_json_is_taken_as_it_is(raw: bytes, value: object) -> None:
    found = object_from(raw)
    assert value is None or repr(found) == repr(value)


@pytest.mark.parametrize(("opening", "closing"), [(b'{"x":', b"}"), (b"[", b"]")])
def test_a_body_has_at_most_80_levels(opening: bytes, closing: bytes) -> None:
    within = opening * 79 + b"1" + closing * 79
    assert object_from(b'{"x":' + within + b"}")
    with pytest.raises(InvalidInput, match="80 levels"):
        object_from(b'{"x":' + opening + within + closing + b"}")
