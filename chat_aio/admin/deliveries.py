"""The common output of `chat-aio webhooks` and `chat-aio notifications`."""

from collections.abc import Mapping, Sequence
from typing import Any

from chat_aio.admin.printing import Outcome, json_value, listed, table_of
from chat_aio.plugins.deliveries.rows import Row


def progress_of(lease: Mapping[str, Any]) -> dict[str, object]:
    """The process that holds a lease, and how far it has read."""
    fields = {"holder": "holder", "fence": "fence", "heldUntil": "until", "readUntil": "at"}
    return {name: json_value(lease.get(field)) for name, field in fields.items()}


def list_dead(found: Sequence[Row], heads: Mapping[str, str], *, limit: int) -> Outcome:
    """A list of dead letters; `heads` are the columns' heads by field. Rows of other programs may
    lack fields, or contain values of any type."""
    entries = [{name: json_value(row.get(name)) for name in heads} for row in found]
    table = table_of([*heads.values()], [[*entry.values()] for entry in entries[:limit]])
    # The table is cut, the JSON is not: programs get all fields.
    return listed("dead", entries, table, limit=limit)
