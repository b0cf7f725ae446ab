"""The rights in MongoDB that a chat needs (the role in docs/operations/mongodb.md), the rights that
operators' commands need, and the command that grants missing ones."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pymongo.errors import OperationFailure, PyMongoError

EVERYWHERE = ("find", "changeStream", "listCollections", "listIndexes")
"""On all collections of the database."""

WRITTEN: Mapping[str, tuple[str, ...]] = {
    "conversations": ("insert", "update"),
    "counters": ("insert", "update"),
    "messages": ("insert", "update"),
    "message_versions": ("insert",),
    "invites": ("insert", "update", "remove"),
    "join_requests": ("insert", "update", "remove"),
    "conversation_bans": ("insert", "remove"),
    "deleted_conversations": ("update",),
    "departures": ("insert", "update"),
    "blocks": ("insert", "remove"),
    "mutes": ("insert", "update", "remove"),
    "thread_states": ("insert", "update", "remove"),
    "reports": ("insert", "update"),
    "held_messages": ("insert", "update", "remove"),
    "bans": ("insert", "update"),
    "audit": ("insert",),
    "settings": ("insert", "update"),
    "presence": ("insert", "update"),
    "processes": ("insert", "update", "remove"),
    "signals": ("insert",),
    "notification_messages": ("insert", "update"),
    "notifications": ("insert", "update"),
    "notification_settings": ("insert", "update", "remove"),
    "notification_shown": ("insert", "update"),
    "notification_devices": ("insert", "update", "remove"),
    "webhook_deliveries": ("insert", "update"),
    "drafts": ("insert", "update", "remove"),
    "attachments": ("insert", "update", "remove"),
    "attachment_bytes.files": ("insert", "update", "remove"),
    "attachment_bytes.chunks": ("insert", "update", "remove"),
}

DELETING: Mapping[str, tuple[str, ...]] = {
    "counters": ("update", "remove"),
    "conversations": ("remove",),
    "deleted_conversations": ("insert", "update"),
    "departures": ("insert", "update"),
    "settings": ("insert", "update"),
    "signals": ("insert",),
    "audit": ("insert",),
    "attachments": ("update",),
    **dict.fromkeys(
        (
            "messages",
            "message_versions",
            "held_messages",
            "invites",
            "join_requests",
            "conversation_bans",
            "mutes",
            "thread_states",
            "drafts",
            "notification_messages",
            "notifications",
            "notification_settings",
            "notification_shown",
            "daily_stats",
        ),
        ("remove",),
    ),
}
"""For deleting conversations, also within a service that does so (`chat.conversations`)."""

_LEGAL_HOLD: Mapping[str, tuple[str, ...]] = {
    "counters": ("update",),
    "settings": ("insert", "update"),
    "legal_holds": ("insert", "remove"),
    "message_versions": ("update",),
    "held_messages": ("update",),
    "audit": ("insert",),
}
# Every run removes the expiry of versions and held messages that a hold keeps.
_RETENTION: Mapping[str, tuple[str, ...]] = {
    "counters": ("update",),
    "messages": ("update",),
    "message_versions": ("update",),
    "held_messages": ("update",),
    "audit": ("insert",),
}

OF_COMMANDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "users erase": {
        "counters": ("insert", "update"),
        "conversations": ("update",),
        "messages": ("update",),
        "message_versions": ("update", "remove"),
        "invites": ("remove",),
        "join_requests": ("update", "remove"),
        "conversation_bans": ("update", "remove"),
        "blocks": ("remove",),
        "mutes": ("remove",),
        "thread_states": ("remove",),
        "departures": ("remove",),
        "reports": ("update",),
        "held_messages": ("update", "remove"),
        "bans": ("update",),
        "presence": ("remove",),
        "legal_holds": ("update",),
        "audit": ("insert", "update"),
        "daily_stats": ("update",),
        "notifications": ("remove",),
        "notification_settings": ("remove",),
        "notification_shown": ("remove",),
        "notification_devices": ("remove",),
        "webhook_deliveries": ("update",),
        "drafts": ("remove",),
        "attachments": ("update",),
        "settings": ("insert", "update"),
    },
    "conversations delete": DELETING,
    "legal-hold": _LEGAL_HOLD,
    "retention": _RETENTION,
    "retention --remove": {**_RETENTION, "messages": ("update", "remove")},
    "purge-records": {
        "counters": ("update",),
        "reports": ("remove",),
        "bans": ("remove",),
        "join_requests": ("remove",),
        "presence": ("remove",),
        "message_versions": ("update",),
        "held_messages": ("update",),
        "audit": ("insert", "remove"),
    },
}
"""The collections that commands write, with the actions. Commands also need `EVERY_COMMAND`."""

EVERY_COMMAND = ("find", "listCollections", "listIndexes")
"""On all collections of the database."""

ACTIONS = {
    "delete": ("remove",),
    "aggregate": ("find",),
    "count": ("find",),
    "distinct": ("find",),
    "getMore": ("find",),
    "findAndModify": ("find", "update"),
    "createIndexes": ("createIndex",),
    "dropIndexes": ("dropIndex",),
    "create": ("createCollection",),
    "drop": ("dropCollection",),
}
"""The actions that MongoDB's commands need; other commands have the name of their action."""

_REFUSED = re.compile(r"not authorized on (\S+) to execute command \{ (\w+): (?:\"([^\"]*)\")?")

Privilege = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MissingRight:
    """An action that a user of MongoDB may not perform, and its place."""

    database: str
    collection: str
    actions: tuple[str, ...]

    def __str__(self) -> str:
        place = self.collection or f"the database {self.database}"
        return f"{' and '.join(self.actions)} on {place}"


def missing_right(error: PyMongoError) -> MissingRight | None:
    """The right that was missing for a command; None for an error of another kind. Nothing else of
    MongoDB's text is used, because it quotes documents."""
    if not isinstance(error, OperationFailure) or error.code != 13:
        return None
    details = error.details or {}
    known: MissingRight | None = details.get("missing")  # Set earlier by `store/database.py`.
    found = _REFUSED.search(str(details.get("errmsg") or error))
    if known or found is None:
        return known
    database, command, collection = found.groups()
    actions = ACTIONS.get(command, (command,))
    place = collection or ""
    # By the end of the name: the prefix is not known here.
    is_inserted = any(
        place.endswith(name) and "insert" in written for name, written in WRITTEN.items()
    )
    # MongoDB does not report whether an update would also have inserted.
    if command in ("update", "findAndModify") and is_inserted:
        actions = ("insert", *actions)
    return MissingRight(database, place, actions)


def lacks(missing: Sequence[MissingRight]) -> str:
    """One line with the missing rights, and the command of mongosh that grants them."""
    granted = [
        {
            "resource": {"db": right.database, "collection": right.collection},
            "actions": [*right.actions],
        }
        for right in missing
    ]
    return (
        f"this user of MongoDB lacks {', '.join(map(str, missing))}. An administrator can grant "
        f'it in mongosh: db.getSiblingDB("{missing[0].database}").grantPrivilegesToRole('
        f'"chatService", {json.dumps(granted)}), with the role of this user for chatService'
    )


def lacking_for(
    command: str, granted: Iterable[Privilege], database: str, prefix: str = ""
) -> list[MissingRight]:
    """The rights that a command of `OF_COMMANDS` needs and that are not granted."""
    held = list(granted)
    needs = {"": EVERY_COMMAND} | {prefix + name: a for name, a in OF_COMMANDS[command].items()}
    missing = {
        place: tuple(a for a in actions if a not in _granted_on(held, database, place))
        for place, actions in needs.items()
    }
    return [MissingRight(database, place, actions) for place, actions in missing.items() if actions]


def needed(database: str, prefix: str = "") -> list[dict[str, Any]]:
    """The privileges of the role, as `createRole` takes them."""
    places = {"": EVERYWHERE} | {prefix + name: actions for name, actions in WRITTEN.items()}
    return [
        {"resource": {"db": database, "collection": name}, "actions": list(actions)}
        for name, actions in places.items()
    ]


def lacking(granted: Iterable[Privilege], database: str, prefix: str = "") -> list[str]:
    """The rights that are needed and not granted, such as `insert on messages`."""
    held = list(granted)
    return [
        f"{action} on {place or database}"
        for privilege in needed(database, prefix)
        for place in [privilege["resource"]["collection"]]
        for action in privilege["actions"]
        if action not in _granted_on(held, database, place)
    ]


def surplus(granted: Iterable[Privilege], database: str, prefix: str = "") -> list[str]:
    """The actions that are granted on the chat's collections and not needed there."""
    held = list(granted)
    found: set[str] = set()
    for name, actions in WRITTEN.items():
        allowed = {*EVERYWHERE, *actions, *DELETING.get(name, ())}
        found |= _granted_on(held, database, prefix + name) - allowed
    return sorted(found)


def _granted_on(granted: Iterable[Privilege], database: str, collection: str) -> set[str]:
    """The actions on a collection; on all collections of the database for an empty name."""
    found: set[str] = set()
    for privilege in granted:
        resource = privilege["resource"]
        # An empty name means every database, or every collection.
        is_here = resource.get("db") in ("", database)
        is_this = resource.get("collection") in ("", collection)
        if resource.get("anyResource") or (is_here and is_this):
            found.update(privilege["actions"])
    return found
