"""The lines of a user's export, in the format of the HTTP API, with their kind. Of other users they
contain only ids."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
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
Lines = Callable[[str, Any], Iterable[Line]]

DECIDED = ("reports", "bans")
"""Objects that moderators decide on, exported with their rows of the audit log."""

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
"""Fields of a message that another program may have left out."""


async def export_user(
    database: Database,
    user_id: str,
    write: Callable[[Line], object],
    *,
    progress: Progress = silent,
) -> Counter[str]:
    """Write all data about a user, line by line; returns the number of lines of each kind."""
    counts: Counter[str] = Counter()
    decided: list[str] = []
    with progress("Exporting", await size_of(database, SCANNED)) as advance:
        for collection in PLACES:
            async for passed, found in concerning(database, collection, user_id, decided):
                for document in found:
                    # The audit log comes last, and is asked for the rows of these as well.
                    if collection in DECIDED:
                        decided.append(document["_id"])
                    for line in LINES[collection](user_id, document):
                        write(line)
                        counts[str(line["kind"])] += 1
                advance(passed)
    return counts


def _wire(kind: str, shape: Wire) -> Line:
    return {"kind": kind, **shape.model_dump(mode="json", by_alias=True)}


def _fields(kind: str, *names: str, **times: str) -> Lines:
    """Lines with some fields of a document; `times` maps the name of a time to its field."""

    def lines(_: str, document: Any) -> Iterable[Line]:
        fields = {name: document[name] for name in names}
        at = {name: timestamp(document[field]) for name, field in times.items()}
        return [{"kind": kind, **fields, **at}]

    return lines


def _message(user_id: str, stored: Any) -> Iterator[Line]:
    """The user's own message, and the user's connections to any message."""
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


def _participation(user_id: str, document: Any) -> Iterator[Line]:
    """The user's participation in a conversation, and its name and topic if they wrote them."""
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
                "hiddenUpToSeq": participant.get("hiddenUpToSeq"),
                "view": participant.get("view"),
                "participantIds": [other["userId"] for other in document["participants"]],
            }


def _draft(user_id: str, document: Any) -> Iterator[Line]:
    """The user's draft as an assistant; of drafts that they requested, only the fact."""
    where = {"conversationId": document["conversationId"]}
    # The text of a draft by another assistant is not the user's.
    own = {"text": "".join(document["parts"])} if document["senderId"] == user_id else {}
    yield {"kind": "draft", **where, **own, "startedAt": timestamp(document["startedAt"])}


def _attachment(_: str, document: Any) -> Iterator[Line]:
    """A file that the user has uploaded; its bytes are under its id in the store."""
    shown = ("conversationId", "state", "store", "name", "contentType", "size")
    fields = {name: document[name] for name in shown}
    at = timestamp(document["createdAt"])
    yield {"kind": "attachment", "id": document["_id"], **fields, "createdAt": at}


LINES: Mapping[str, Lines] = {
    "counters": lambda *_: (),  # A number of messages, which are all exported anyway.
    "conversations": _participation,
    "messages": _message,
    # Of others' messages only ids are the user's data, so their versions are left out.
    "message_versions": lambda user_id, document: (
        [_wire("messageVersion", version_from(document))] if document["senderId"] == user_id else ()
    ),
    "invites": lambda _, document: [_wire("invite", invite_from(document))],
    "join_requests": lambda _, document: [_wire("joinRequest", join_request_from(document))],
    "conversation_bans": lambda _, document: [
        _wire("conversationBan", conversation_ban_from(document))
    ],
    "blocks": lambda _, document: [_wire("block", block_from(document))],
    "mutes": lambda _, document: [_wire("mute", mute_from(document))],
    "thread_states": _fields("threadState", "conversationId", "rootId", "follows", "lastReadSeq"),
    "departures": _fields("departure", "conversationId", at="at"),
    "reports": lambda _, document: [_wire("report", report_from(document))],
    "held_messages": lambda _, document: [_wire("heldMessage", held_message_from(document))],
    "bans": lambda _, document: [_wire("ban", ban_from(document))],
    "legal_holds": _fields("legalHold", "targetType", "targetId", "reason", createdAt="createdAt"),
    "presence": lambda _, document: [
        {
            "kind": "presence",
            "lastSeenAt": timestamp(seen) if (seen := document.get("lastSeenAt")) else None,
        }
    ],
    "audit": lambda _, document: [{"kind": "audit", **entry_from(document)}],
    "daily_stats": _fields("activeDay", "day", "conversationId"),
    "notifications": _fields("notification", "messageId", "conversationId", "state", dueAt="dueAt"),
    "notification_settings": lambda _, document: [
        {
            "kind": "notificationSetting",
            **{
                name: document[name]
                for name in ("conversationId", "level", "quietHours")
                if name in document
            },
        }
    ],
    "notification_shown": _fields("shown", "conversationId", "first", "last", at="at"),
    "notification_devices": lambda _, device: [
        {
            "kind": "device",
            "deviceKind": device["kind"],
            "token": device["token"],
            "createdAt": timestamp(device["createdAt"]),
        }
    ],
    "webhook_deliveries": _fields(
        "webhookEvent", "type", "conversationId", "messageId", "state", at="at"
    ),
    "drafts": _draft,
    "attachments": _attachment,
}
"""The function that makes the lines of a document, by its collection."""
