"""Checking the participants of a conversation, and their read states."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from chat_aio.actions.maintenance.check.findings import Violation, is_erased, violation_in
from chat_aio.schema.fields import MAX_PARTICIPANTS
from chat_aio.store import deleted_conversations
from chat_aio.store.database import Database
from chat_aio.store.direct_conversations import direct_conversation_id
from chat_aio.store.maintenance.snapshot import ConversationSnapshot, is_whole
from chat_aio.store.settings import Settings

DIRECT_KEY = "direct_conversation_key"


class DirectIds:
    """The ids that direct conversations must have; nothing is written."""

    def __init__(self, database: Database) -> None:
        self._settings = Settings(database)
        self._database = database
        self._known = False

    async def wrong(self, found: object, pair: tuple[str, str]) -> tuple[str, str] | None:
        """The id found and the right id, if the id found is not that of the pair."""
        self._known = self._known or await self._is_kept(DIRECT_KEY)
        if not self._known:
            return "an id, and no key in settings", "the key that ids are made with"
        expected = await direct_conversation_id(self._settings, *pair)
        if found == expected or await deleted_conversations.find(self._database, str(found)):
            return None
        for user_id in pair:
            if await self._is_kept(await self._settings.pseudonym(user_id)):
                return None  # An erasure is running, or has run: the id may be an earlier one.
        return str(found), expected

    async def _is_kept(self, name: str) -> bool:
        rows = self._database.settings
        found = await self._database.read(lambda: rows.find_one({"_id": name}, {"_id": 1}))
        return found is not None


async def participants(snapshot: ConversationSnapshot, direct_ids: DirectIds) -> list[Violation]:
    """The invariants of a conversation's participants and of their read states."""
    conversation = snapshot.conversation or {}
    found = conversation.get("participants")
    if not isinstance(found, list) or len(found) != len(snapshot.participants):
        expected = "a list of participants, each with a userId"
        return [violation_in(snapshot, "participants.form", type(found).__name__, expected)]
    violations = [*_counted(snapshot)]
    if conversation.get("type") == "direct":
        violations += await _pair(snapshot, direct_ids)
    elif conversation.get("type") != "group":
        kinds = "direct or group"
        violations.append(
            violation_in(snapshot, "conversation.type", conversation.get("type"), kinds)
        )
    # An empty group needs none: the last participant may leave, or be erased.
    elif found and not any(mark.get("role") == "admin" for mark in found):
        violations.append(
            violation_in(snapshot, "participants.admin", "no admin", "one admin at least")
        )
    named = [participant.get("lastReadMessageId") for participant in snapshot.participants]
    messages = await snapshot.find_messages(
        [message for message in named if isinstance(message, str)]
    )
    for participant in snapshot.participants:
        violations += _read_state(snapshot, participant, messages)
    return violations


def _counted(snapshot: ConversationSnapshot) -> Iterator[Violation]:
    users = Counter(participant["userId"] for participant in snapshot.participants)
    for user_id, count in users.items():
        if count > 1:
            yield violation_in(
                snapshot, "participants.repeated", f"{user_id} {count} times", "each once"
            )
    if len(users) > MAX_PARTICIPANTS:
        expected = f"at most {MAX_PARTICIPANTS}"
        yield violation_in(snapshot, "participants.too-many", len(users), expected)
    for participant in snapshot.participants:
        role, joined = participant.get("role"), participant.get("joinedAt")
        if role not in ("admin", "member") or not isinstance(joined, datetime):
            found = f"{participant['userId']}, {role}, joined {joined}"
            yield violation_in(snapshot, "participants.form", found, "admin or member, with a time")


async def _pair(snapshot: ConversationSnapshot, direct_ids: DirectIds) -> list[Violation]:
    """A direct conversation must have two admins, and the id and key of these two."""
    users = sorted(participant["userId"] for participant in snapshot.participants)
    if len(users) != 2:
        return [violation_in(snapshot, "direct.pair", f"{len(users)} participants", "two users")]
    violations = []
    if any(participant.get("role") != "admin" for participant in snapshot.participants):
        violations.append(violation_in(snapshot, "direct.roles", "a member", "two admins"))
    # After an erasure the id is still that of the earlier pair.
    if users[0] == users[1] or any(map(is_erased, users)):
        return violations
    key = (snapshot.conversation or {}).get("pairKey")
    if key != ":".join(users):
        violations.append(violation_in(snapshot, "direct.pair-key", key, ":".join(users)))
    if wrong := await direct_ids.wrong(snapshot.id, (users[0], users[1])):
        violations.append(violation_in(snapshot, "direct.id", *wrong))
    return violations


def _read_state(
    snapshot: ConversationSnapshot, reader: dict[str, Any], messages: dict[object, dict[str, Any]]
) -> Iterator[Violation]:
    """A read state must be the number of a message of this conversation, and its id."""
    seq, message_id, who = (
        reader.get("lastReadSeq"),
        reader.get("lastReadMessageId"),
        reader["userId"],
    )
    top = max(snapshot.last_seq, snapshot.greatest_seq)
    if not is_whole(seq):
        yield violation_in(snapshot, "read state.seq", f"{seq} of {who}", "a whole number")
    elif seq > top:
        yield violation_in(snapshot, "read state.ahead", f"{seq} of {who}", f"at most {top}")
    elif message_id is None:
        if seq > snapshot.floor:
            found = f"seq {seq} without a message, of {who}"
            yield violation_in(snapshot, "read state.message", found, "the message that was read")
    elif (message := messages.get(message_id)) is None:
        if seq > snapshot.floor:
            found = f"message {message_id}, which is not there, of {who}"
            yield violation_in(snapshot, "read state.message", found, f"the message with seq {seq}")
    elif (message["conversationId"], message["seq"]) != (snapshot.id, seq):
        found = f"seq {message['seq']} of conversation {message['conversationId']}, of {who}"
        yield violation_in(
            snapshot, "read state.message", found, f"the message with seq {seq}, of here"
        )
