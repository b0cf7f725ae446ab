"""Many conversations and a long one, as lines that `chat-aio conversations import` reads."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ME = "ada"
OTHERS = ("grace", "linus", "margaret", "dennis")
LONG_ID = "a-long-conversation"
BEGINNING = datetime(2025, 1, 1, 9, tzinfo=UTC)
BODIES = (
    "Found a moth in the relay.",
    "Taped it into the log. Page 92, if somebody asks for it later on, which somebody will.",
    "Does it **compile**? See https://example.org/builds/1202 and `make check`.",
    "- first the tests\n- then the rest\n\nThen we have lunch.",
    "🚀",
)


def write(file: Path, *, conversations: int, messages: int) -> None:
    """Write `conversations` groups with one message, and a last group with `messages`."""
    with file.open("w") as lines:
        for line in _lines(conversations, messages):
            lines.write(json.dumps(line) + "\n")


def _lines(conversations: int, messages: int) -> Iterator[dict[str, Any]]:
    yield {"kind": "header", "version": 1}
    for number in range(conversations):
        at = BEGINNING + timedelta(minutes=number)
        yield _group(f"group-{number:05}", f"Group {number:05}", at)
        yield _message(OTHERS[number % len(OTHERS)], BODIES[number % len(BODIES)], at)
    begun = BEGINNING + timedelta(minutes=conversations)
    yield _group(LONG_ID, "A long conversation", begun)
    for number in range(messages):
        sender = (ME, *OTHERS)[(number // 3) % 5]
        body = f"{number}: {BODIES[number % len(BODIES)]}"
        yield _message(sender, body, begun + timedelta(seconds=20 * number))


def _group(group_id: str, name: str, at: datetime) -> dict[str, Any]:
    participants = [{"userId": ME, "role": "admin"}, *({"userId": other} for other in OTHERS)]
    about = {"kind": "conversation", "type": "group", "id": group_id, "name": name}
    return {**about, "createdAt": at.isoformat(), "participants": participants}


def _message(sender: str, body: str, at: datetime) -> dict[str, Any]:
    return {"kind": "message", "senderId": sender, "body": body, "createdAt": at.isoformat()}
