"""A message's JSON is made of its document: it is what the model would be written as."""

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from bson.int64 import Int64
from hypothesis import given
from hypothesis import strategies as some

from chat_aio.live.frames import message_frame
from chat_aio.schema.events import MessageEvent
from chat_aio.schema.models import NO_OPTIONAL_FIELDS
from chat_aio.schema.wire import json_from
from chat_aio.store.mapping import message_from, message_json
from chat_aio.store.messages import new_message

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
LATER = NOON + timedelta(milliseconds=7)
PARENT: Any = {"_id": "p", "senderId": "bob", "body": "é" * 200, "deletedAt": None}
SOURCE = {"messageId": "m0", "conversationId": "c0", "senderId": "eve"}
VARIED: dict[str, dict[str, Any]] = {
    "plain": {},
    "reply": {"replyToMessageId": "p"},
    "reply to what is gone": {"replyToMessageId": "gone"},
    "thread reply": {"threadRootMessageId": "r", "timelines": ["r"]},
    "thread reply in both": {"threadRootMessageId": "r", "timelines": ["c1", "r"]},
    "root": {"thread": {"replyCount": 3, "lastReplyAt": LATER}},
    "forward": {"forwardedFrom": SOURCE},
    "mentions": {"mentions": [{"userId": name, "createdAt": NOON} for name in ("bob", "zoe")]},
    "key": {"clientMessageId": "k-1"},
    "edited": {"editedAt": LATER},
    "deleted": {"body": "", "deletedAt": LATER},
    "number": {"seq": Int64(2**40)},
    "reactions": {
        "reactions": [
            {"emoji": emoji, "userId": user, "createdAt": NOON}
            for emoji, user in (("👍", "bob"), ("🎉", "bob"), ("👍", "eve"))
        ]
    },
}


def document(body: str = 'a\u2028"b"\n', **more: Any) -> Any:
    return {**new_message("m1", "c1", "alice", body, at=NOON), **more}


@pytest.mark.parametrize("of", VARIED)
def test_it_is_the_models_own(of: str) -> None:
    message, parents = document(**VARIED[of]), {"p": PARENT}
    assert message_json(message, parents, NO_OPTIONAL_FIELDS) == json_from(
        message_from(message, parents, NO_OPTIONAL_FIELDS)
    )
    event = MessageEvent(
        type="message.created",
        conversation_id="c1",
        message=message_from(message, parents, NO_OPTIONAL_FIELDS),
    )
    _, _, data = message_frame(
        "message.created", message, parents, NO_OPTIONAL_FIELDS
    ).plain.partition(b"data: ")
    assert data == json_from(event) + b"\n\n"


scalars = some.none() | some.booleans() | some.integers(-(2**63), 2**63 - 1) | some.text()
numbers = some.floats(allow_nan=False, allow_infinity=False)
values = some.recursive(
    scalars | numbers,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(), inner, max_size=3),
    max_leaves=8,
)


@given(some.dictionaries(some.text(), values, max_size=3), some.text())
def test_any_text_and_metadata(metadata: dict[str, Any], body: str) -> None:
    message = document(body, metadata=metadata)
    expected = orjson.loads(json_from(message_from(message, {}, NO_OPTIONAL_FIELDS)))
    assert orjson.loads(message_json(message, {}, NO_OPTIONAL_FIELDS)) == expected


@pytest.mark.parametrize("wrong", [{"role": "robot"}, {"body": 7}, {"seq": 1.5}])
def test_a_malformed_document_makes_no_event(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        message_frame("message.created", {**document(), **wrong}, {}, NO_OPTIONAL_FIELDS)  # type: ignore[typeddict-item]


def test_an_unknown_name_makes_no_event() -> None:
    with pytest.raises(ValueError):
        message_frame("message.exploded", document(), {}, NO_OPTIONAL_FIELDS)
