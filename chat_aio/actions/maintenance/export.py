"""The lines of an export of a person, in the form that the HTTP API has, each with its kind. Of
others there are no more than ids."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from chat_aio.actions.groups import AUTHORS
from chat_aio.schema.wire import Wire, timestamp
from chat_aio.store.audit import entry_from
from chat_aio.store.database import Database
from chat_aio.store.maintenance.personal_data import PLACES, SCANNED, concerning
from chat_aio.store.maintenance.progress import Progress, silent
from chat_aio.store.maintenance.scanning import size_of
from chat_aio.store.mapping import (
    ban_from,
    bare_message_from,
    block_from,
    conversation_ban_from,
    held_message_from,
    invite_from,
    join_request_from,
    mute_from,
    report_from,
)
from chat_aio.store.versions import version_from

Line = dict[str, object]
Lines = Callable[[str, Any], Iterator[Line]]

DECIDED = ("reports", "bans")
"""What moderators decide on. The rows of the audit log about these are exported with them."""

_OPTIONAL: Mapping[str, Any] = {
    "role": "user",
    "editedAt": None,
    "deletedAt": None,
    "replyToMessageId": None,
    "threadRootMessageId": None,
    "timelines": (),
    "forwardedFrom": None,
    "metadata": {},
    "mentions": (),
    "reactions": (),
}
"""What another program may have left out of a message."""


async def export_user(
    database: Database,
    user_id: str,
    write: Callable[[Line], object],
    *,
    progress: Progress = silent,
) -> Counter[str]:
    """Write all that concerns a user, line by line; returns how many there are of each kind."""
    counts: Counter[str] = Counter()
    decided: list[str] = []
    with progress("Exporting", await size_of(database, SCANNED)) as advance:
        for collection in PLACES:
            async for passed, found in concerning(database, collection, user_id, decided):
                for document in found:
                    if collection in DECIDED:
                        decided.append(document["_id"])
                    for line in LINES[collection](user_id, document):
                        write(line)
                        counts[str(line["kind"])] += 1
                advance(passed)
    return counts


def _wire(kind: str, shape: Wire) -> Line:
    return {"kind": kind, **shape.model_dump(mode="json", by_alias=True)}


def _message(user_id: str, stored: Any) -> Iterator[Line]:
    """A message of theirs, and what ties them to any message."""
    document: Any = {**_OPTIONAL, **stored}
    if document["senderId"] == user_id:
        mentions = [mention["userId"] for mention in document["mentions"]]
        yield {**_wire("message", bare_message_from(document)), "mentions": mentions}
    here = {"messageId": document["_id"], "conversationId": document["conversationId"]}
    for reaction in document["reactions"]:
        if reaction["userId"] == user_id:
            at = timestamp(reaction["createdAt"])
            yield {"kind": "reaction", **here, "emoji": reaction["emoji"], "createdAt": at}
    by = {**here, "senderId": document["senderId"]}
    for mention in document["mentions"]:
        if mention["userId"] == user_id:
            yield {"kind": "mention", **by, "createdAt": timestamp(mention["createdAt"])}
    origin = document["forwardedFrom"]
    if origin and origin["senderId"] == user_id:
        at = timestamp(document["createdAt"])
        yield {"kind": "forward", **by, "createdAt": at, "forwardedFrom": origin}


def _version(user_id: str, document: Any) -> Iterator[Line]:
    """What a message of theirs was before."""
    if document["senderId"] == user_id:
        yield _wire("messageVersion", version_from(document))


def _legal_hold(_: str, document: Any) -> Iterator[Line]:
    """A hold that they have placed."""
    fields = {name: document[name] for name in ("targetType", "targetId", "reason")}
    yield {"kind": "legalHold", **fields, "createdAt": timestamp(document["createdAt"])}


def _participation(user_id: str, document: Any) -> Iterator[Line]:
    """That they are in a conversation, and its name and topic if they wrote them."""
    for text, author in AUTHORS.items():
        if document.get(author) == user_id:
            where = {"conversationId": document["_id"]}
            yield {"kind": "groupText", **where, "field": text, "text": document.get(text)}
    for participant in document["participants"]:
        if participant["userId"] == user_id:
            yield {
                "kind": "participation",
                "conversationId": document["_id"],
                "type": document["type"],
                "name": document.get("name"),
                "role": participant["role"],
                "joinedAt": timestamp(participant["joinedAt"]),
                "lastReadMessageId": participant.get("lastReadMessageId"),
                "unreadFrom": participant.get("unreadFrom"),
                "hiddenUpto": participant.get("hiddenUpto"),
                "participantIds": [other["userId"] for other in document["participants"]],
            }


def _presence(_: str, document: Any) -> Iterator[Line]:
    seen = document.get("lastSeenAt")
    yield {"kind": "presence", "lastSeenAt": seen and timestamp(seen)}


def _thread_state(_: str, document: Any) -> Iterator[Line]:
    named = ("conversationId", "rootId", "follows", "lastReadSeq")
    yield {"kind": "threadState", **{name: document[name] for name in named}}


def _active_day(_: str, document: Any) -> Iterator[Line]:
    where = {"day": document["day"], "conversationId": document["conversationId"]}
    yield {"kind": "activeDay", **where}


def _notification(_: str, document: Any) -> Iterator[Line]:
    where = {name: document[name] for name in ("messageId", "conversationId", "state")}
    yield {"kind": "notification", **where, "dueAt": timestamp(document["due"])}


def _notification_setting(_: str, document: Any) -> Iterator[Line]:
    chosen = {name: document[name] for name in ("level", "quietHours") if name in document}
    conversation_id = document["conversationId"]
    yield {"kind": "notificationSetting", "conversationId": conversation_id, **chosen}


def _shown(_: str, document: Any) -> Iterator[Line]:
    where = {name: document[name] for name in ("conversationId", "first", "last")}
    yield {"kind": "shown", **where, "at": timestamp(document["at"])}


def _push_subscription(_: str, document: Any) -> Iterator[Line]:
    at = timestamp(document["createdAt"])
    yield {"kind": "pushSubscription", "endpoint": document["endpoint"], "createdAt": at}


def _draft(user_id: str, document: Any) -> Iterator[Line]:
    """What they are writing as an assistant. Of those they have asked for, only that it is so."""
    where = {"conversationId": document["conversationId"]}
    own = {"text": "".join(document["parts"])} if document["senderId"] == user_id else {}
    yield {"kind": "draft", **where, **own, "startedAt": timestamp(document["startedAt"])}


def _attachment(_: str, document: Any) -> Iterator[Line]:
    """A file that they have uploaded; its bytes are under its id in the store."""
    shown = ("conversationId", "state", "store", "name", "contentType", "size")
    fields = {name: document[name] for name in shown}
    at = timestamp(document["createdAt"])
    yield {"kind": "attachment", "id": document["_id"], **fields, "createdAt": at}


LINES: Mapping[str, Lines] = {
    "counters": lambda *_: iter(()),  # A number of messages, which are all exported themselves.
    "conversations": _participation,
    "messages": _message,
    "message_versions": _version,
    "invites": lambda _, document: iter((_wire("invite", invite_from(document)),)),
    "join_requests": lambda _, document: iter((_wire("joinRequest", join_request_from(document)),)),
    "conversation_bans": lambda _, document: iter(
        (_wire("conversationBan", conversation_ban_from(document)),)
    ),
    "blocks": lambda _, document: iter((_wire("block", block_from(document)),)),
    "mutes": lambda _, document: iter((_wire("mute", mute_from(document)),)),
    "thread_states": _thread_state,
    "reports": lambda _, document: iter((_wire("report", report_from(document)),)),
    "held_messages": lambda _, message: iter((_wire("heldMessage", held_message_from(message)),)),
    "bans": lambda _, document: iter((_wire("ban", ban_from(document)),)),
    "legal_holds": _legal_hold,
    "presence": _presence,
    "audit": lambda _, document: iter(({"kind": "audit", **entry_from(document)},)),
    "daily_stats": _active_day,
    "notifications": _notification,
    "notification_settings": _notification_setting,
    "notification_shown": _shown,
    "push_subscriptions": _push_subscription,
    "drafts": _draft,
    "attachments": _attachment,
}
"""The lines of one document, by its collection."""
