"""What there is, as the contract has it: dicts in the shape of the wire, and who may do what.

Times are ISO strings, which sort as they are. Ids are the service's: each is learned from the
answer that gives it first, and kept. Nothing of `chat_aio` is used here.
"""

from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

Json = dict[str, Any]
Key = TypeVar("Key")

STATUS = {
    "INVALID_INPUT": 400,
    "MENTION_NOT_PARTICIPANT": 400,
    "FORBIDDEN_READ": 403,
    "FORBIDDEN_WRITE": 403,
    "NOT_MESSAGE_SENDER": 403,
    "NOT_CONVERSATION_ADMIN": 403,
    "NOT_PUBLIC_CONVERSATION": 403,
    "NOT_MODERATOR": 403,
    "DIRECT_INTERACTION_BLOCKED": 403,
    "USER_BANNED": 403,
    "CONVERSATION_NOT_FOUND": 404,
    "MESSAGE_NOT_FOUND": 404,
    "INVITE_NOT_FOUND": 404,
    "JOIN_REQUEST_NOT_FOUND": 404,
    "USER_NOT_FOUND": 404,
    "REPORT_NOT_FOUND": 404,
    "BAN_NOT_FOUND": 404,
    "MESSAGE_DELETED": 409,
    "MESSAGE_CONFLICT": 409,
    "NOT_GROUP_CONVERSATION": 409,
    "LAST_ADMIN_REMAINING": 409,
    "ALREADY_PARTICIPANT": 409,
    "INVITE_EXPIRED": 410,
    "MESSAGE_REJECTED": 422,
    "REACTION_LIMIT_EXCEEDED": 422,
}


class Refused(Exception):
    """The contract says no, with this code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Reply:
    """What the contract says that the answer is."""

    json: Json
    status: int = 200


def require(holds: object, code: str = "INVALID_INPUT") -> None:
    """Refused, unless something holds."""
    if not holds:
        raise Refused(code)


@dataclass
class World:
    """One chat. `suffix` marks its users, `answer` is the service's answer to the present call.
    `hidden` is up to which seq messages are hidden, `unread_from` from which seq on they are marked
    as unread, `views` what a user has set of their view, all by conversation and user."""

    suffix: str
    moment: datetime
    answer: Json = field(default_factory=dict)
    conversations: dict[str, Json] = field(default_factory=dict)
    activity: dict[str, str] = field(default_factory=dict)
    messages: dict[str, Json] = field(default_factory=dict)
    invites: dict[str, Json] = field(default_factory=dict)
    requests: dict[tuple[str, str], Json] = field(default_factory=dict)
    blocks: dict[tuple[str, str], Json] = field(default_factory=dict)
    mutes: dict[tuple[str, str], Json] = field(default_factory=dict)
    reports: dict[str, Json] = field(default_factory=dict)
    bans: dict[str, Json] = field(default_factory=dict)
    cursors: dict[str, tuple[str, Any]] = field(default_factory=dict)
    told: dict[str, list[Json]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    hidden: dict[tuple[str, str], int] = field(default_factory=dict)
    unread_from: dict[tuple[str, str], int] = field(default_factory=dict)
    views: dict[tuple[str, str], Json] = field(default_factory=dict)

    @property
    def now(self) -> str:
        return self.later(0)

    def later(self, seconds: float) -> str:
        moment = self.moment + timedelta(seconds=seconds)
        return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"

    def pass_time(self, milliseconds: int) -> None:
        self.moment += timedelta(milliseconds=milliseconds)

    def learned(self, *path: str) -> str:
        """An id that the answer gives for the first time."""
        found: Any = self.answer
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        if not isinstance(found, str) or not found or found in self.names:
            return f"(a new {'.'.join(path)})"
        self.names[found] = f"<{path[0]} {len(self.names)}>"
        return found

    def named(self, text: str) -> str:
        """A text for people, with short names in place of ids."""
        for found, name in self.names.items():
            text = text.replace(found, name)
        return text

    def tell(self, where: Json, kind: str, /, *also: str, **of: Any) -> None:
        """Note what the streams of all participants, and of some others, are told."""
        for user_id in {*members(where), *also}:
            self.tell_one(user_id, where, kind, **of)

    def tell_one(self, user_id: str, where: Json, kind: str, /, **of: Any) -> None:
        said: Json = {"type": kind, "conversationId": where["id"], "id": None, **of}
        self.told.setdefault(user_id, []).append(deepcopy(said))

    def take_told(self) -> dict[str, list[Json]]:
        """What is to be told by user, and not any more then. Who is banned hears nothing."""
        told, self.told = self.told, {}
        return {key: value for key, value in told.items() if not self.is_banned(key)}

    def conversation(self, conversation_id: str) -> Json:
        require(conversation_id in self.conversations, "CONVERSATION_NOT_FOUND")
        return self.conversations[conversation_id]

    def forget(self, conversation_id: str) -> None:
        """Nothing is left of a conversation but reports, and forwards elsewhere."""
        del self.conversations[conversation_id], self.activity[conversation_id]
        self.messages = _outside(self.messages, conversation_id)
        self.invites = _outside(self.invites, conversation_id)
        self.requests = _outside(self.requests, conversation_id)
        self.mutes = _outside(self.mutes, conversation_id)

    def message(self, message_id: str) -> Json:
        require(message_id in self.messages, "MESSAGE_NOT_FOUND")
        return self.messages[message_id]

    def shown_message(self, user_id: str, message_id: str) -> Json:
        """A message that is not hidden from the user."""
        found = self.message(message_id)
        self.require_shown(user_id, found)
        return found

    def message_in(self, conversation_id: str, message_id: str) -> Json:
        found = self.message(message_id)
        require(found["conversationId"] == conversation_id, "MESSAGE_NOT_FOUND")
        return found

    def hidden_from(self, user_id: str, conversation_id: str) -> int:
        """Up to which seq messages of a conversation are hidden from a user."""
        return self.hidden.get((conversation_id, user_id), 0)

    def is_hidden(self, user_id: str, message: Json) -> bool:
        return bool(message["seq"] <= self.hidden_from(user_id, message["conversationId"]))

    def require_shown(self, user_id: str, message: Json) -> None:
        require(not self.is_hidden(user_id, message), "MESSAGE_NOT_FOUND")

    def readable(self, user_id: str, conversation_id: str) -> Json:
        found = self.conversation(conversation_id)
        require(user_id in members(found), "FORBIDDEN_READ")
        return found

    def writable(self, user_id: str, conversation_id: str) -> Json:
        found = self.conversation(conversation_id)
        require(user_id in members(found), "FORBIDDEN_WRITE")
        return found

    def group(self, conversation_id: str) -> Json:
        found = self.conversation(conversation_id)
        require(found["type"] == "group", "NOT_GROUP_CONVERSATION")
        return found

    def managed(self, user_id: str, conversation_id: str) -> Json:
        found = self.group(conversation_id)
        require(role_of(found, user_id) == "admin", "NOT_CONVERSATION_ADMIN")
        return found

    def require_unblocked(self, conversation: Json) -> None:
        if conversation["type"] == "direct":
            require(not self.are_blocked(*members(conversation)), "DIRECT_INTERACTION_BLOCKED")

    def are_blocked(self, one: str, other: str) -> bool:
        return (one, other) in self.blocks or (other, one) in self.blocks

    def require_unbanned(self, user_id: str) -> None:
        require(not self.is_banned(user_id), "USER_BANNED")

    def is_banned(self, user_id: str) -> bool:
        return any(map(self.is_in_force, self.bans_of(user_id)))

    def bans_of(self, user_id: str) -> list[Json]:
        return [ban for ban in self.bans.values() if ban["userId"] == user_id]

    def is_in_force(self, ban: Json) -> bool:
        return ban["revokedAt"] is None and (ban["expiresAt"] or "forever") > self.now

    def require_moderator(self, user_id: str) -> None:
        require(is_moderator(user_id), "NOT_MODERATOR")

    def require_known(self, user_ids: list[str]) -> None:
        require(all(map(is_known, user_ids)), "USER_NOT_FOUND")


def _outside(rows: dict[Key, Json], conversation_id: str) -> dict[Key, Json]:
    return {key: row for key, row in rows.items() if row["conversationId"] != conversation_id}


def members(conversation: Json) -> list[str]:
    return [member["userId"] for member in conversation["participants"]]


def admins(conversation: Json) -> list[str]:
    return [
        member["userId"] for member in conversation["participants"] if member["role"] == "admin"
    ]


def participant(conversation: Json, user_id: str) -> Json:
    return next(member for member in conversation["participants"] if member["userId"] == user_id)


def role_of(conversation: Json, user_id: str) -> str | None:
    return participant(conversation, user_id)["role"] if user_id in members(conversation) else None


def is_moderator(user_id: str) -> bool:
    """The host's rule in these tests."""
    return user_id.startswith("mod")


def is_known(user_id: str) -> bool:
    """The host's rule in these tests."""
    return not user_id.startswith("ghost")


def is_accepted(body: str) -> bool:
    """The host's rule in these tests."""
    return "spam" not in body


def is_user_id(value: str) -> bool:
    return bool(value.strip())
