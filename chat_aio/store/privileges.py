"""The rights that a chat needs in MongoDB: those of the role in docs/operations.md."""

from collections.abc import Iterable, Mapping
from typing import Any

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
    "blocks": ("insert", "remove"),
    "mutes": ("insert", "update", "remove"),
    "thread_states": ("insert", "update"),
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
    "push_subscriptions": ("insert", "update", "remove"),
    "drafts": ("insert", "update", "remove"),
    "attachments": ("insert", "update", "remove"),
    "attachment_bytes.files": ("insert", "update", "remove"),
    "attachment_bytes.chunks": ("insert", "update", "remove"),
}

Privilege = Mapping[str, Any]


def needed(database: str, prefix: str = "") -> list[dict[str, Any]]:
    """The privileges of the role, as `createRole` takes them."""
    places = {"": EVERYWHERE} | {prefix + name: actions for name, actions in WRITTEN.items()}
    return [
        {"resource": {"db": database, "collection": name}, "actions": list(actions)}
        for name, actions in places.items()
    ]


def lacking(granted: Iterable[Privilege], database: str, prefix: str = "") -> list[str]:
    """What is needed and not granted, such as `insert on messages`."""
    held = list(granted)
    return [
        f"{action} on {place or database}"
        for each in needed(database, prefix)
        for place in [each["resource"]["collection"]]
        for action in each["actions"]
        if action not in _granted_on(held, database, place)
    ]


def surplus(granted: Iterable[Privilege], database: str, prefix: str = "") -> list[str]:
    """The actions that are granted on the chat's own collections and not needed there."""
    held = list(granted)
    found: set[str] = set()
    for name, actions in WRITTEN.items():
        found |= _granted_on(held, database, prefix + name) - {*EVERYWHERE, *actions}
    return sorted(found)


def _granted_on(granted: Iterable[Privilege], database: str, collection: str) -> set[str]:
    """The actions on a collection; on every one of the database for an empty name."""
    return {
        action
        for each in granted
        if _covers(each["resource"], database, collection)
        for action in each["actions"]
    }


def _covers(resource: Mapping[str, Any], database: str, collection: str) -> bool:
    if resource.get("anyResource"):
        return True
    # An empty name stands for every database, and for every collection.
    return resource.get("db") in ("", database) and resource.get("collection") in ("", collection)
