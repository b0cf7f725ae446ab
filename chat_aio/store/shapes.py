"""The types of `documents/` as MongoDB validators, and as a filter for readers: malformed rows of
another program are left out and logged, and never fail their page."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from typing_extensions import get_type_hints, is_typeddict

from chat_aio.observability import process_wide
from chat_aio.observability.observer import Observer
from chat_aio.store import (
    documents,
)

DOCUMENTS: dict[str, Any] = {
    "conversations": documents.ConversationDocument,
    "counters": documents.CounterDocument,
    "messages": documents.MessageDocument,
    "message_versions": documents.VersionDocument,
    "invites": documents.InviteDocument,
    "join_requests": documents.JoinRequestDocument,
    "conversation_bans": documents.ConversationBanDocument,
    "deleted_conversations": documents.DeletedConversationDocument,
    "departures": documents.DepartureDocument,
    "blocks": documents.BlockDocument,
    "mutes": documents.MuteDocument,
    "thread_states": documents.ThreadStateDocument,
    "reports": documents.ReportDocument,
    "held_messages": documents.HeldMessageDocument,
    "bans": documents.BanDocument,
    "audit": documents.AuditEntry,
    "legal_holds": documents.LegalHoldDocument,
    "settings": documents.SettingDocument,
    "presence": documents.PresenceDocument,
    "processes": documents.ProcessDocument,
    "signals": documents.SignalDocument,
    "daily_stats": documents.DailyStatsDocument,
    "notification_messages": documents.NotificationMessageDocument,
    "notifications": documents.NotificationDocument,
    "notification_settings": documents.NotificationSettingDocument,
    "notification_shown": documents.ShownDocument,
    "notification_devices": documents.DeviceDocument,
    "webhook_deliveries": documents.WebhookDeliveryDocument,
    "drafts": documents.DraftDocument,
    "attachments": documents.AttachmentDocument,
    "attachment_bytes.files": documents.StoredFileDocument,
    "attachment_bytes.chunks": documents.StoredChunkDocument,
}

REVISION = 3
"""The revision of the validators, raised with every change, so that an older process that starts
next to a newer one does not replace the newer validators."""

TITLE = "chat_aio "

WHOLE = ["int", "long"]
"""The BSON types of a whole number; a double is not one."""

MOST_NAMED = 10

_TYPES: dict[Any, list[str]] = {
    str: ["string"],
    int: WHOLE,
    bool: ["bool"],
    bytes: ["binData"],
    datetime: ["date"],
    dict: ["object"],
    list: ["array"],
    NoneType: ["null"],
}

log = logging.getLogger(__name__)

Row = TypeVar("Row")


def validator(collection: str) -> dict[str, Any]:
    """The validator of a collection. It allows other fields, which newer versions and other
    programs may add."""
    schema = {"title": f"{TITLE}{REVISION}", **_schema(DOCUMENTS[collection])}
    if collection == "counters":  # A block leaves a stub where there is no conversation yet.
        full = [name for name in schema["required"] if name not in ("_id", "epoch")]
        schema = {**schema, "required": ["_id", "epoch"], "dependencies": {"seq": full}}
    return {"$jsonSchema": schema}


def revision_of(found: Mapping[str, Any]) -> int | None:
    """The revision in a validator's title; None for a host's own validator, 0 for none."""
    if not found:
        return 0
    title = str(found.get("$jsonSchema", {}).get("title", ""))
    number = title.removeprefix(TITLE)
    return int(number) if title.startswith(TITLE) and number.isdecimal() else None


def readable(collection: str, rows: Iterable[Row], *, shape: Any = None) -> list[Row]:
    """The rows that have the shape of their collection, or `shape` if only some fields were read.
    Other rows are logged by their ids, never with their content."""
    # `isinstance_python` describes no errors, which makes it quick enough for every row.
    fits = _adapter(shape or DOCUMENTS[collection]).validator.isinstance_python
    found = list(rows)
    kept = [row for row in found if fits(row, strict=True)]
    if len(kept) < len(found):
        note_left_out(collection, [row for row in found if row not in kept])
    return kept


def one_readable(collection: str, row: Row | None) -> Row | None:
    """The row; None if it is None or malformed."""
    if row is None or _adapter(DOCUMENTS[collection]).validator.isinstance_python(row, strict=True):
        return row
    note_left_out(collection, [row])
    return None


def note_left_out(collection: str, rows: Sequence[Any]) -> None:
    """Log malformed rows by their ids, at most the first ten, and notify observers."""
    process_wide.notify_all(Observer.rows_left_out, collection, len(rows))
    ids = [row.get("_id") for row in rows[:MOST_NAMED]]
    named = {"collection": collection, "document_ids": ids}
    log.error("%s: left out %d malformed rows: %r", collection, len(rows), ids, extra=named)


def problems(collection: str, row: Mapping[str, Any]) -> Iterator[str]:
    """The faults of a row, by field: `mentions: missing`."""
    if collection == "counters" and "seq" not in row:
        # A stub lacks the other fields: they are added, so that only its own fields are checked.
        row = {"seq": 0, "activityAt": datetime.min, **_STUB, **row}
    try:
        _adapter(DOCUMENTS[collection]).validate_python(row, strict=True)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False, include_context=False):
            yield f"{'.'.join(map(str, detail['loc']))}: {detail['type']}"


_STUB = {"fence": 0, "public": False, "floorSeq": 0}


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def _schema(shape: Any) -> dict[str, Any]:
    """A type of documents.py as $jsonSchema."""
    if shape is Any:
        return {}
    if is_typeddict(shape):
        hints = get_type_hints(shape)
        required = sorted(shape.__required_keys__)
        return {
            "bsonType": ["object"],
            # MongoDB refuses an empty list.
            **({"required": required} if required else {}),
            "properties": {name: _schema(hint) for name, hint in hints.items()},
        }
    origin, args = get_origin(shape) or shape, get_args(shape)
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, UnionType):
        parts = [_schema(hint) for hint in args]
        types = [name for part in parts for name in part["bsonType"]]
        return {name: value for part in parts for name, value in part.items()} | {"bsonType": types}
    if origin is dict and args and args[1] is not Any:
        return {"bsonType": _TYPES[dict], "additionalProperties": _schema(args[1])}
    if origin is list:
        return {"bsonType": _TYPES[list], "items": _schema(args[0])}
    return {"bsonType": _TYPES[origin]}
