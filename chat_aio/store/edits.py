"""Changes of stored messages. Each is one guarded update with its stamp: if the guard does not
match, nothing changes and None is returned. With a `history`, what was replaced is kept so long.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, cast

from chat_aio.errors import ConversationNotFound
from chat_aio.store import versions
from chat_aio.store.database import Database
from chat_aio.store.documents import (
    Change,
    MentionDocument,
    MessageDocument,
    SearchFields,
)
from chat_aio.store.messages import READ
from chat_aio.store.numbering import EpochMoved, StillAllowed
from chat_aio.store.sequencer import Sequencer
from chat_aio.store.shapes import WHOLE, one_readable
from chat_aio.store.transactions import Session, Unchanged, transact

Update = Mapping[str, Any]


class MostReactions(NamedTuple):
    """The numbers that guard `add_reaction`: at most so many different emoji on the message, so
    many reactions of one user, and so many in all. `actions/reactions.py` has the rule."""

    emoji: int
    of_user: int
    in_all: int


def edited(
    message: MessageDocument,
    body: str,
    *,
    change: Change,
    mentions: Sequence[MentionDocument],
    metadata: Mapping[str, Any] | None,
    search: SearchFields | None,
) -> Update:
    """The update that edits `message`. `metadata` None keeps them; `search` None, where search is
    switched off, removes the old terms."""
    replaced: dict[str, Any] = {
        "body": body,
        "editedAt": change["at"],
        "changedAt": change["at"],
        "mentions": list(mentions),
        "change": change,
    }
    if metadata is not None:
        replaced["metadata"] = metadata
    if search is not None:
        return {"$set": {**replaced, **search}}
    return {"$set": replaced, "$unset": {"terms": "", "search": ""}}


def emptied(change: Change) -> Update:
    """The update that makes a live message a tombstone."""
    fields = {"body": "", "deletedAt": change["at"], "changedAt": change["at"], "change": change}
    return {"$set": fields, "$unset": {"terms": "", "search": "", "attachments": ""}}


async def delete(
    database: Database, message_id: str, *, change: Change, history: timedelta | None
) -> MessageDocument | None:
    """Make a live message a tombstone, unless it was changed later than `change`."""
    chosen = {"_id": message_id, "deletedAt": None, **_unchanged_after(change["at"])}
    return await _replace(database, chosen, emptied(change), history)


def _unchanged_after(at: datetime) -> dict[str, Any]:
    """Guards that a message's times never fall, also if two processes change it at once."""
    return {"changedAt": {"$not": {"$gt": at}}}


async def change_live(
    database: Database, message: MessageDocument, update: Update, *, history: timedelta | None
) -> MessageDocument | None:
    """Update a message unless it is a tombstone or its mentions differ from those of `message`."""
    return await _replace(database, _live(message, update), update, history)


async def change_live_fenced(
    database: Database,
    sequencer: Sequencer,
    message: MessageDocument,
    update: Update,
    *,
    epoch: int,
    history: timedelta | None,
    still_allowed: StillAllowed | None = None,
) -> MessageDocument | None:
    """As `change_live`, for an update that was checked on a snapshot of `epoch`. In a later epoch
    `still_allowed` decides; raises EpochMoved if that is None or says no.

    It locks the head as a batch does, in a transaction between two batches.
    """
    async with sequencer.hold(message["conversationId"]) as deadline:
        body = partial(_fenced, database, message, update, epoch, history, still_allowed)
        return await transact(database, body, deadline=deadline)


async def _fenced(
    database: Database,
    message: MessageDocument,
    update: Update,
    epoch: int,
    history: timedelta | None,
    still_allowed: StillAllowed | None,
    session: Session,
) -> MessageDocument | None:
    conversation_id = message["conversationId"]
    head = await database.counters.find_one_and_update(
        {"_id": conversation_id, "fence": {"$type": WHOLE}},
        {"$inc": {"fence": 1}},  # A write, because only that locks the head.
        return_document=True,
        session=session,
    )
    if one_readable("counters", head) is None:
        raise ConversationNotFound
    now = head["epoch"]
    if now != epoch:
        here = {"_id": conversation_id}
        row = still_allowed and await database.conversations.find_one(here, session=session)
        found = one_readable("conversations", row or None)
        if not found or not still_allowed or not still_allowed(found):
            raise EpochMoved(now)
    return await _replace_within(database, _live(message, update), update, history, session)


def _live(message: MessageDocument, update: Update) -> dict[str, Any]:
    return {
        "_id": message["_id"],
        "deletedAt": None,
        "mentions": message["mentions"],
        **_unchanged_after(update["$set"]["changedAt"]),
    }


async def add_reaction(
    database: Database,
    message_id: str,
    emoji: str,
    *,
    change: Change,
    most: MostReactions,
) -> MessageDocument | None:
    """Add a reaction unless it exists already or the message has `most` before."""
    user_id = change["actorId"]
    reaction = {"emoji": emoji, "userId": user_id, "createdAt": change["at"]}
    return await _change(
        database,
        {
            "_id": message_id,
            **_absent(emoji, user_id),
            **_room(emoji, user_id, most),
        },
        {"$push": {"reactions": reaction}, "$set": {"change": change}},
    )


def _absent(emoji: str, user_id: str) -> dict[str, Any]:
    return {"reactions": {"$not": {"$elemMatch": {"emoji": emoji, "userId": user_id}}}}


def _room(emoji: str, user_id: str, most: MostReactions) -> dict[str, Any]:
    mine = {"$eq": ["$$this.userId", {"$literal": user_id}]}
    of_user = {"$size": {"$filter": {"input": "$reactions", "cond": mine}}}
    different = {"$size": {"$setUnion": ["$reactions.emoji", []]}}
    known = {"$in": [{"$literal": emoji}, "$reactions.emoji"]}
    return {
        "$expr": {
            "$and": [
                {"$lt": [{"$size": "$reactions"}, most.in_all]},
                {"$lt": [of_user, most.of_user]},
                {"$or": [known, {"$lt": [different, most.emoji]}]},
            ]
        }
    }


async def remove_reaction(
    database: Database, message_id: str, emoji: str, *, change: Change
) -> MessageDocument | None:
    """Remove a reaction if it exists."""
    reaction = {"emoji": emoji, "userId": change["actorId"]}
    return await _change(
        database,
        {"_id": message_id, "reactions": {"$elemMatch": reaction}},
        {"$pull": {"reactions": reaction}, "$set": {"change": change}},
    )


async def _replace(
    database: Database, chosen: Mapping[str, Any], update: Update, history: timedelta | None
) -> MessageDocument | None:
    if history is None:
        return await _change(database, chosen, update)
    return await transact(database, partial(_replace_within, database, chosen, update, history))


async def _replace_within(
    database: Database,
    chosen: Mapping[str, Any],
    update: Update,
    history: timedelta | None,
    session: Session,
) -> MessageDocument | None:
    """Update a message in a transaction, and keep what it was."""
    if history is not None:
        found = await database.messages.find_one(chosen, READ, session=session)
        if before := one_readable("messages", cast(MessageDocument | None, found)):
            change = update["$set"]["change"]
            await versions.keep(database, [(before, change)], history, session)
    changed = await database.messages.find_one_and_update(
        chosen, update, READ, return_document=True, session=session
    )
    if changed is None:
        raise Unchanged(None)
    return cast(MessageDocument, changed)


async def _change(
    database: Database, chosen: Mapping[str, Any], update: Update
) -> MessageDocument | None:
    found = await database.write(
        lambda: database.messages.find_one_and_update(chosen, update, READ, return_document=True)
    )
    return cast(MessageDocument | None, found)
