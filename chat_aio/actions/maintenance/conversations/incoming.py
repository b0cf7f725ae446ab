"""A conversation while its lines are read: every message becomes the document that a send would
have stored, and the end of the lines yields the conversation and its head."""

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
from chat_aio.schema.models import ForwardedFrom
from chat_aio.store.documents import (
    ROOM_CONTROLS,
    AttachedDocument,
    ConversationDocument,
    CounterDocument,
    MessageDocument,
    ParticipantDocument,
)
from chat_aio.store.messages import Place, new_message
from chat_aio.store.metadata import escaped, escaped_key
from chat_aio.store.sent_counts import known

ACTOR = "chat-aio"
"""The author in the stamp of an imported conversation; no event shows it."""

MAX_BODY = 1_000_000

NameOf = Callable[[str], str]
"""Maps a conversation's id in a line to its id in this database."""


def id_here(kind: str, given: str) -> str:
    """The id in this database of an object of another system: the same, if it is valid here. An id
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
        if line.key is not None:
            raise WrongLine("key is a field of groups")
    elif users and not any(participant.role == "admin" for participant in line.participants):
        raise WrongLine("participants of a group need an admin")
    # In a direct conversation both are admins (docs/reference/data-model.md).
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
        if said.hidden_up_to_seq:
            participant["hiddenUpToSeq"] = said.hidden_up_to_seq
        if said.view:
            participant["view"] = said.view.stored
    return sorted(found, key=lambda participant: (participant["joinedAt"], participant["userId"]))


class Incoming:
    """One conversation with the id `conversation_id` in this database, from its line `number`
    on."""

    def __init__(
        self, line: ConversationLine, number: int, conversation_id: str, *, name_of: NameOf
    ) -> None:
        self.line, self.number, self.conversation_id = line, number, conversation_id
        self._name_of = name_of
        self._participants = participants_of(line)
        self._seq = line.floor_seq
        self._last_id: str | None = None
        self._last_at: datetime | None = None
        # The seq of each message by its id, negative for a message that is in its thread only.
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
        if line.id is None:
            # By its place, so that a second run of the same file makes the same id.
            message_id = derived_id("message", self.conversation_id, str(self._seq + 1))
        else:
            message_id = id_here("message", line.id)
        if message_id in self._places:
            raise WrongLine(f"id {message_id} is that of a message above")
        reply = line.reply_to_message_id and self._pointed(line.reply_to_message_id, "replyTo")
        root = line.thread_root_message_id and self._pointed(line.thread_root_message_id, "root")
        if root and self._places.get(root, 1) < 0:
            raise WrongLine("threadRootMessageId must not be a thread reply itself")
        self._seq += 1
        forwarded_from: ForwardedFrom | None = None
        if (origin := line.forwarded_from) is not None:
            forwarded_from = ForwardedFrom(
                message_id=id_here("message", origin.message_id),
                conversation_id=self._name_of(origin.conversation_id),
                sender_id=origin.sender_id,
            )
        message = new_message(
            message_id,
            self.conversation_id,
            line.sender_id,
            line.body,
            at=line.created_at,
            role=line.role,
            place=Place(reply, root, line.also_send_to_main),
            forwarded_from=forwarded_from,
            metadata=line.metadata,
            searchable=searchable and line.deleted_at is None,
        )
        message["seq"] = self._seq
        if line.attachments:
            attached = [part.model_dump(by_alias=True) for part in line.attachments]
            message["attachments"] = cast(list[AttachedDocument], attached)
        _set_history(message, line)
        # Negative for messages that are only in a thread, and so cannot be a root.
        in_main = self.conversation_id in message["timelines"]
        self._places[message_id] = self._seq if in_main else -self._seq
        self._sent[message["senderId"]] += 1
        self.has_threads = self.has_threads or message["threadRootMessageId"] is not None
        self._last_id, self._last_at = message_id, message["createdAt"]
        self._marks.passed(self._seq, message_id, self._sent)
        # Of the document, not of the line: an export of it makes the same line.
        self._digest.update(message_line(message))
        return message

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
            if participant.get("hiddenUpToSeq", 0) > self._seq:
                raise WrongLine(
                    f"hiddenUpToSeq of {participant['userId']} is behind the last message"
                )
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
        optional = ("key", "metadataVersion", *ROOM_CONTROLS, "namedBy", "topicBy")
        controls = {name: given[name] for name in optional}
        if line.pins is not None:
            pins = list(dict.fromkeys(id_here("message", pin) for pin in line.pins))
            # Below a floor retention may have removed the pinned message.
            if not floor and (unknown := [pin for pin in pins if pin not in self._places]):
                raise WrongLine(f"pins: {unknown[0]} is no message of the conversation")
            controls["pins"] = pins
        conversation |= {name: value for name, value in controls.items() if value is not None}
        head = self._head(users)
        made: ConversationDocument = conversation  # type: ignore[assignment]
        return made, head, digest(conversation_line(made, head), self._digest.digest())

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
        """Check the fields of a message, and that it follows the previous one."""
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
        if line.also_send_to_main and line.thread_root_message_id is None:
            raise WrongLine("alsoSendToMain needs threadRootMessageId")
        if line.request_hash and line.client_message_id is None:
            raise WrongLine("requestHash needs clientMessageId")

    def _pointed(self, given: str, name: str) -> str:
        """The id of a message that another one names; retention may have removed it."""
        message_id = id_here("message", given)
        if message_id not in self._places and not self.line.floor_seq:
            field = "replyToMessageId" if name == "replyTo" else "threadRootMessageId"
            raise WrongLine(f"{field} names no message above")
        return message_id


class _Marks:
    """The participants' read states from their lines, and how much they had sent by then."""

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
        """Note the participants who have read up to this message."""
        # A line names a read state by its number or by its message.
        for key in (seq, message_id):
            for user_id in self._waiting.pop(key, ()) if self._waiting else ():
                self._found[user_id] = seq, message_id, sent.get(user_id, 0)

    def state_of(
        self, user_id: str, *, top: int, last_id: str | None, floor: int, sent: dict[str, int]
    ) -> tuple[int, str | None, int]:
        """A participant's read state: its seq, its id, and the number of messages that they had
        sent behind the floor by then. By default everything is read. Raises WrongLine."""
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
    """Set the changes of a message since it was sent. Raises WrongLine."""
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
    if line.metadata_version is not None:
        message["metadataVersion"] = line.metadata_version
    if line.client_message_id is not None:
        message["clientMessageId"] = line.client_message_id
    if line.request_hash is not None:
        message["requestHash"] = bytes.fromhex(line.request_hash)
