"""A conversation as its lines are read: each message becomes the document that a send would have
made, and the end of the lines makes the conversation and its head."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, cast

from chat_aio.actions.maintenance.conversations.exporting import (
    conversation_line,
    digest,
    message_line,
)
from chat_aio.schema.lines import ConversationLine, MessageLine, ParticipantPart, WrongLine
from chat_aio.store.documents import (
    ROOM_CONTROLS,
    AttachedDocument,
    ConversationDocument,
    CounterDocument,
    ForwardedFromDocument,
    MessageDocument,
    ParticipantDocument,
)
from chat_aio.store.messages import Place, new_message
from chat_aio.store.metadata import escaped, escaped_key
from chat_aio.store.sent_counts import known

ACTOR = "chat-aio"
"""Who the stamp of an imported conversation names; no event shows it."""

MAX_BODY = 1_000_000

NameOf = Callable[[str], str]
"""The id here of a conversation that a line names."""


def id_here(kind: str, given: str) -> str:
    """The id that something of another system has here: the same, if it can be one of ours. An id
    with a colon, which separates the parts of a position, becomes 96 bits of its hash."""
    return derived_id(kind, given) if ":" in given else given


def derived_id(kind: str, *names: str) -> str:
    return sha256("\0".join((kind, *names)).encode()).hexdigest()[:24]


def participants_of(line: ConversationLine) -> list[ParticipantDocument]:
    """The participants, in the order of joining. Raises WrongLine."""
    users = [participant.user_id for participant in line.participants]
    if len(set(users)) < len(users):
        raise WrongLine("participants must name each user once")
    if line.type == "direct":
        if len(users) != 2:
            raise WrongLine("participants of a direct conversation must be two users")
        if any(participant.role == "member" for participant in line.participants):
            raise WrongLine("participants of a direct conversation are both admins")
    elif users and not any(participant.role == "admin" for participant in line.participants):
        raise WrongLine("participants of a group need an admin")
    role = "admin" if line.type == "direct" else "member"
    found: list[ParticipantDocument] = [
        {
            "userId": participant.user_id,
            "role": participant.role or role,  # type: ignore[typeddict-item]
            "joinedAt": participant.joined_at or line.created_at,
            "lastReadMessageId": None,
            "lastReadSeq": 0,
        }
        for participant in line.participants
    ]
    for participant, said in zip(found, line.participants, strict=True):
        if said.hidden_upto:
            participant["hiddenUpto"] = said.hidden_upto
    return sorted(found, key=lambda participant: (participant["joinedAt"], participant["userId"]))


class Incoming:
    """One conversation, which has the id `conversation_id` here, from its line `number` on."""

    def __init__(
        self, line: ConversationLine, number: int, conversation_id: str, *, name_of: NameOf
    ) -> None:
        self.line, self.number, self.conversation_id = line, number, conversation_id
        self._name_of = name_of
        self._participants = participants_of(line)
        self._seq = line.floor_seq
        self._last_id: str | None = None
        self._last_at: datetime | None = None
        # The seq of each message by its id, negative for one that is in its thread only.
        self._places: dict[str, int] = {}
        self._sent: dict[str, int] = defaultdict(int)
        self._marks = _Marks(line.participants)
        self._digest = sha256()
        self.has_threads = False

    @property
    def count(self) -> int:
        return self._seq - self.line.floor_seq

    def take(self, line: MessageLine, *, searchable: bool) -> MessageDocument:
        """The document of the next message; `searchable` as in `new_message`. Raises WrongLine."""
        self._check_place(line)
        message_id = self._id_of(line)
        if message_id in self._places:
            raise WrongLine(f"id {message_id} is that of a message above")
        reply = line.reply_to_message_id and self._pointed(line.reply_to_message_id, "replyTo")
        root = line.thread_root_message_id and self._pointed(line.thread_root_message_id, "root")
        if root and self._places.get(root, 1) < 0:
            raise WrongLine("threadRootMessageId must not be a thread reply itself")
        self._seq += 1
        attached = [part.model_dump(by_alias=True) for part in line.attachments]
        message = new_message(
            message_id,
            self.conversation_id,
            line.sender_id,
            line.body,
            at=line.created_at,
            role=line.role,
            place=Place(reply, root, line.also_in_main),
            forwarded_from=self._origin_of(line),
            attachments=cast(list[AttachedDocument], attached),
            metadata=escaped(line.metadata or {}),
            searchable=searchable and line.deleted_at is None,
        )
        message["seq"] = self._seq
        _set_history(message, line)
        self._note(message)
        return message

    def _origin_of(self, line: MessageLine) -> ForwardedFromDocument | None:
        origin = line.forwarded_from
        if origin is None:
            return None
        return {
            "messageId": id_here("message", origin.message_id),
            "conversationId": self._name_of(origin.conversation_id),
            "senderId": origin.sender_id,
        }

    def finish(self) -> tuple[ConversationDocument, CounterDocument, str]:
        """The conversation, its head and the digest of its lines. Raises WrongLine."""
        line, floor = self.line, self.line.floor_seq
        for participant in self._participants:
            seq, message_id, count = self._marks.state_of(
                participant["userId"],
                top=self._seq,
                last_id=self._last_id,
                floor=floor,
                sent=self._sent,
            )
            participant["lastReadSeq"], participant["lastReadMessageId"] = seq, message_id
            participant.update(known(upto=max(seq, floor), count=count))  # type: ignore[typeddict-item]
            if participant.get("hiddenUpto", 0) > self._seq:
                raise WrongLine(f"hiddenUpto of {participant['userId']} is behind the last message")
        users = [participant["userId"] for participant in self._participants]
        conversation: dict[str, Any] = {
            "_id": self.conversation_id,
            "type": line.type,
            "pairKey": ":".join(sorted(users)) if line.type == "direct" else None,
            "name": line.name,
            "createdAt": line.created_at,
            "metadata": escaped(line.metadata or {}),
            "visibility": line.visibility or "private",
            "joinPolicy": line.join_policy or "approval",
            "epoch": 0,
            "participants": self._participants,
        }
        given = line.model_dump(by_alias=True)
        controls = {name: given[name] for name in (*ROOM_CONTROLS, "namedBy", "topicBy")}
        controls["pins"] = self._pins()
        conversation |= {name: value for name, value in controls.items() if value is not None}
        head = self._head(users)
        made: ConversationDocument = conversation  # type: ignore[assignment]
        return made, head, digest(conversation_line(made, head), self._digest.digest())

    def _pins(self) -> list[str] | None:
        if self.line.pins is None:
            return None
        pins = list(dict.fromkeys(id_here("message", pin) for pin in self.line.pins))
        if not self.line.floor_seq and (unknown := [p for p in pins if p not in self._places]):
            raise WrongLine(f"pins: {unknown[0]} is no message of the conversation")
        return pins

    def _head(self, users: Iterable[str]) -> CounterDocument:
        line = self.line
        least = max(line.created_at, self._last_at or line.created_at)
        if line.activity_at and line.activity_at < least:
            raise WrongLine("activityAt is before the newest message")
        return {
            "_id": self.conversation_id,
            "seq": self._seq,
            "activityAt": line.activity_at or least,
            "epoch": 0,
            "fence": 0,
            "public": line.visibility == "public",
            "floorSeq": line.floor_seq,
            "counted": self._seq,
            "sent": {
                escaped_key(user_id): self._sent[user_id]
                for user_id in users
                if self._sent[user_id]
            },
        }

    def _check_place(self, line: MessageLine) -> None:
        """Check the fields of a message, and that it comes after the one above."""
        named = line.conversation_id
        if named is not None and named not in (self.line.id, self.conversation_id):
            raise WrongLine("conversationId is not that of the conversation above")
        if line.seq is not None and line.seq != self._seq + 1:
            raise WrongLine(f"seq must be {self._seq + 1}, the next one")
        if self._last_at and line.created_at < self._last_at:
            raise WrongLine("createdAt is before that of the message above")
        if line.deleted_at and line.body:
            raise WrongLine("body of a deleted message must be empty")
        if not line.deleted_at and not line.body.strip():
            raise WrongLine("body must not be blank")
        if len(line.body) > MAX_BODY:
            raise WrongLine(f"body must be at most {MAX_BODY} characters")
        if line.also_in_main and line.thread_root_message_id is None:
            raise WrongLine("alsoInMain needs threadRootMessageId")
        if line.request_hash and line.client_message_id is None:
            raise WrongLine("requestHash needs clientMessageId")

    def _id_of(self, line: MessageLine) -> str:
        if line.id is None:
            return derived_id("message", self.conversation_id, str(self._seq + 1))
        return id_here("message", line.id)

    def _pointed(self, given: str, name: str) -> str:
        """The id of a message that another one names. Retention may have removed it."""
        message_id = id_here("message", given)
        if message_id not in self._places and not self.line.floor_seq:
            field = "replyToMessageId" if name == "replyTo" else "threadRootMessageId"
            raise WrongLine(f"{field} names no message above")
        return message_id

    def _note(self, message: MessageDocument) -> None:
        message_id, sender_id = message["_id"], message["senderId"]
        in_main = self.conversation_id in message["timelines"]
        self._places[message_id] = self._seq if in_main else -self._seq
        self._sent[sender_id] += 1
        self.has_threads = self.has_threads or message["threadRootMessageId"] is not None
        self._last_id, self._last_at = message_id, message["createdAt"]
        self._marks.passed(self._seq, message_id, self._sent)
        self._digest.update(message_line(message))


class _Marks:
    """The read states of the participants from their lines, and what they had sent by then."""

    def __init__(self, participants: Sequence[ParticipantPart]) -> None:
        self._said = {participant.user_id: participant for participant in participants}
        self._waiting: dict[int | str, list[str]] = defaultdict(list)
        self._found: dict[str, tuple[int, str, int]] = {}
        for participant in participants:
            if participant.last_read_seq is not None:
                self._waiting[participant.last_read_seq].append(participant.user_id)
            elif participant.last_read_message_id is not None:
                named = id_here("message", participant.last_read_message_id)
                self._waiting[named].append(participant.user_id)

    def passed(self, seq: int, message_id: str, sent: dict[str, int]) -> None:
        """Note who has read as far as this message."""
        for key in (seq, message_id):
            for user_id in self._waiting.pop(key, ()) if self._waiting else ():
                self._found[user_id] = seq, message_id, sent.get(user_id, 0)

    def state_of(
        self, user_id: str, *, top: int, last_id: str | None, floor: int, sent: dict[str, int]
    ) -> tuple[int, str | None, int]:
        """What a participant has read: its seq, its id, and what they had sent behind the floor by
        then. Without any word everything is read. Raises WrongLine."""
        said = self._said[user_id]
        given = said.last_read_message_id and id_here("message", said.last_read_message_id)
        if found := self._found.get(user_id):
            if given not in (None, found[1]):
                raise WrongLine(f"lastReadMessageId of {user_id} is not the message lastReadSeq")
            return found
        if said.last_read_seq is not None:
            if said.last_read_seq > max(floor, 0):
                raise WrongLine(f"lastReadSeq of {user_id} is that of no message")
            return said.last_read_seq, given, 0
        if given is not None:
            raise WrongLine(f"lastReadMessageId of {user_id} names no message")
        return top, last_id, sent.get(user_id, 0)


def _set_history(message: MessageDocument, line: MessageLine) -> None:
    """Set what has happened to a message since it was sent. Raises WrongLine."""
    mentioned = [mention.user_id for mention in line.mentions]
    if len(set(mentioned)) < len(mentioned):
        raise WrongLine("mentions must name each user once")
    reacted = [(reaction.emoji, reaction.user_id) for reaction in line.reactions]
    if len(set(reacted)) < len(reacted):
        raise WrongLine("reactions must have each emoji of a user once")
    at = line.created_at
    message["mentions"] = [
        {"userId": mention.user_id, "createdAt": mention.created_at or at}
        for mention in line.mentions
    ]
    message["reactions"] = [
        {
            "emoji": reaction.emoji,
            "userId": reaction.user_id,
            "createdAt": reaction.created_at or at,
        }
        for reaction in line.reactions
    ]
    message["editedAt"], message["deletedAt"] = line.edited_at, line.deleted_at
    if changed_at := line.changed_at or line.deleted_at or line.edited_at:
        message["changedAt"] = changed_at
    if line.client_message_id is not None:
        message["clientMessageId"] = line.client_message_id
    if line.request_hash is not None:
        message["requestHash"] = bytes.fromhex(line.request_hash)
