"""Metadata comes back exactly as it went in, through real BSON."""

import json
from datetime import UTC, datetime
from typing import Any

import bson
from bson import Decimal128, Int64, ObjectId, Regex
from hypothesis import given, settings
from hypothesis import strategies as st

from chat_aio.schema.inputs import GroupConversation, read
from chat_aio.schema.wire import json_from
from chat_aio.store.metadata import escaped, unescaped

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
KEYS = TEXT | st.sampled_from(
    ["", "%", "$ref", "$id", "$", ".", "a.b", "%24", "_id", "\0", "__proto__"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


def kept(metadata: dict[str, Any]) -> Any:
    """Through input check, escape, BSON, and back to what goes out as JSON."""
    given_metadata = read(GroupConversation, metadata=metadata).metadata
    document = bson.decode(bson.encode({"metadata": escaped(given_metadata)}))
    return unescaped(document["metadata"])


@settings(max_examples=150)
@given(st.dictionaries(KEYS, JSON, max_size=5))
def test_metadata_is_lossless(metadata: dict[str, Any]) -> None:
    found = kept(metadata)
    assert repr(found) == repr(metadata)
    assert repr(json.loads(json_from(found))) == repr(metadata)


def test_a_database_reference_in_disguise() -> None:
    disguised = {"$ref": "users", "$id": 7, "$db": "x"}
    assert kept({"a": disguised, **disguised}) == {"a": disguised, **disguised}


def test_keys_stay_queryable() -> None:
    assert escaped({"plain": 1, "a.b": {"$c": 2}, "": 3}) == {
        "plain": 1,
        "a%2Eb": {"%24c": 2},
        "%": 3,
    }


def test_what_only_other_programs_write_is_text() -> None:
    """It fails no page, and is the same however the times of a page are read."""
    moment = datetime(2026, 1, 31, 12, tzinfo=UTC)
    stored = {
        "at": moment,
        "naive": moment.replace(tzinfo=None),
        "id": ObjectId("5f2c1d0e9b8a77660a1b2c3d"),
        "bytes": [b"abc", b"", b"\xff"],
        "number": {"of": [Decimal128("1.5"), Int64(7)]},
        "pattern": Regex("a.b"),
    }
    assert json.loads(json.dumps(unescaped(stored))) == {
        "at": "2026-01-31T12:00:00.000Z",
        "naive": "2026-01-31T12:00:00.000Z",
        "id": "5f2c1d0e9b8a77660a1b2c3d",
        "bytes": ["abc", "", "\ufffd"],
        "number": {"of": ["1.5", 7]},
        "pattern": str(Regex("a.b")),
    }
