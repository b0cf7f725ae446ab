"""Changes of stored messages. Every change is one guarded update with its stamp: if the guard does
not match, nothing changes and None is returned. With a `history`, the replaced version is kept that
long.
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
from chat_aio.store.metadata import having_version, version_of
from chat_aio.store.numbering import EpochChanged, StillAllowed
from chat_aio.store.sequencer import Sequencer
from chat_aio.store.shapes import WHOLE, one_readable
from chat_aio.store.transactions import Session, Unchanged, transact

Update = Mapping[str, Any]


class MostReactions(NamedTuple):
    """The limits that guard `add_reaction`: different emoji on the message, reactions of one user,
    and reactions in all. `actions/reactions.py` has the rule."""

    emoji: int
    of_user: int
    in_all: int


class NewText(NamedTuple):
    """The text of an edited message. `search` None, if search is turned off, removes the old
    terms."""

    body: str
    search: SearchFields | None


def edited(
    text: NewText | None,
    *,
    change: Change,
    mentions: Sequence[MentionDocument] | None,
    metadata: Mapping[str, Any],
) -> Update:
    """The update that edits a message; `text` and `mentions` are kept if they are None. A change of
    the metadata alone is not shown as an edit. `metadata` are the fields that replace them, none to
    keep them."""
    replaced: dict[str, Any] = {"changedAt": change["at"], "change": change, **metadata}
    if mentions is not None:
        replaced |= {"editedAt": change["at"], "mentions": list(mentions)}
    if text is None:
        return {"$set": replaced}
    replaced |= {"body": text.body, "editedAt": change["at"]}
    if text.search is not None:
        return {"$set": {**replaced, **text.search}}
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
    """Update a message unless it is a tombstone, its mentions differ from those of `message`, or
    the update replaces metadata of another version."""
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
    `still_allowed` decides; raises EpochChanged if that is None or returns False.

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
            raise EpochChanged(now)
    return await _replace_within(database, _live(message, update), update, history, session)


def _live(message: MessageDocument, update: Update) -> dict[str, Any]:
    replaces = "metadata" in update["$set"]
    return {
        **(having_version(version_of(message)) if replaces else {}),
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
        # In the query of the update: two callers could both pass a check that comes before it.
        {
            "_id": message_id,
            **_absent(emoji, user_id),
            **_room(emoji, user_id, most),
        },
        {
            "$push": {"reactions": reaction},
            "$set": reacted(change, dated=database.dates_changes),
        },
    )


def _absent(emoji: str, user_id: str) -> dict[str, Any]:
    return {"reactions": {"$not": {"$elemMatch": {"emoji": emoji, "userId": user_id}}}}


def _room(emoji: str, user_id: str, most: MostReactions) -> dict[str, Any]:
    # `$literal`: text of a user that starts with `$` would be read as the name of a field.
    mine = {"$eq": ["$$this.userId", {"$literal": user_id}]}
    of_user = {"$size": {"$filter": {"input": "$reactions", "cond": mine}}}
    # A union with nothing, because a set has no repeats.
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
        {
            "$pull": {"reactions": reaction},
            "$set": reacted(change, dated=database.dates_changes),
        },
    )


def reacted(change: Change, *, dated: bool) -> dict[str, Any]:
    """The fields to set with a change of reactions: its stamp, and where it is `dated` its time, by
    which clients that were away are notified."""
    return {"change": change, "reactedAt": change["at"]} if dated else {"change": change}


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
    """Update a message in a transaction, and keep the earlier version."""
    if history is not None:
        # In the snapshot of the update: if the message changes in between, the two conflict, and
        # the transaction is tried again with the newer version.
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
