"""Changes of a message that is there. Each is one guarded update with its stamp: it changes the
message as it finds it, or nothing, and then returns None."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from chat_aio.errors import ConversationNotFound
from chat_aio.store.database import Database
from chat_aio.store.documents import Change, MentionDocument, MessageDocument
from chat_aio.store.drafts import EpochMoved, Holds
from chat_aio.store.messages import READ
from chat_aio.store.search import search_fields
from chat_aio.store.sequencer import Sequencer
from chat_aio.store.shapes import WHOLE, one_readable
from chat_aio.store.transactions import Session, Unchanged, transact

Update = Mapping[str, Any]


def edited(
    message: MessageDocument,
    body: str,
    *,
    change: Change,
    mentions: Sequence[MentionDocument],
    metadata: Mapping[str, Any] | None,
    searchable: bool,
) -> Update:
    """The update that edits `message`; its metadata stay where None is given."""
    replaced: dict[str, Any] = {
        "body": body,
        "editedAt": change["at"],
        "changedAt": change["at"],
        "mentions": list(mentions),
        "change": change,
    }
    if metadata is not None:
        replaced["metadata"] = metadata
    if searchable:
        return {"$set": {**replaced, **search_fields(message["conversationId"], body)}}
    return {"$set": replaced, "$unset": {"terms": "", "search": ""}}


def emptied(change: Change) -> Update:
    """The update that leaves a tombstone where a live message was."""
    fields = {"body": "", "deletedAt": change["at"], "changedAt": change["at"], "change": change}
    return {"$set": fields, "$unset": {"terms": "", "search": ""}}


async def delete(database: Database, message_id: str, *, change: Change) -> MessageDocument | None:
    """Leave a tombstone where a live message was."""
    return await _change(database, {"_id": message_id, "deletedAt": None}, emptied(change))


async def change_live(
    database: Database, message: MessageDocument, update: Update
) -> MessageDocument | None:
    """Update a message that is no tombstone, and still has the mentions that `message` has."""
    return await _change(database, _live(message), update)


async def change_live_fenced(
    database: Database,
    sequencer: Sequencer,
    message: MessageDocument,
    update: Update,
    *,
    epoch: int,
    holds: Holds | None = None,
) -> MessageDocument | None:
    """`change_live` for what was checked on participants as of `epoch`: where they have changed
    since, `holds` is asked as for a new message, and EpochMoved raised. It locks the head as a
    batch does, and goes between two batches."""
    async with sequencer.hold(message["conversationId"]) as deadline:
        body = partial(_fenced, database, message, update, epoch, holds)
        return await transact(database, body, deadline=deadline)


async def _fenced(
    database: Database,
    message: MessageDocument,
    update: Update,
    epoch: int,
    holds: Holds | None,
    session: Session,
) -> MessageDocument | None:
    conversation_id = message["conversationId"]
    head = await database.counters.find_one_and_update(
        {"_id": conversation_id, "fence": {"$type": WHOLE}},
        {"$inc": {"fence": 1}},
        return_document=True,
        session=session,
    )
    if one_readable("counters", head) is None:
        raise ConversationNotFound
    now = head["epoch"]
    if now != epoch:
        here = {"_id": conversation_id}
        row = holds and await database.conversations.find_one(here, session=session)
        found = one_readable("conversations", row or None)
        if not found or not holds or not holds(found):
            raise EpochMoved(now)
    changed = await database.messages.find_one_and_update(
        _live(message), update, READ, return_document=True, session=session
    )
    if changed is None:
        raise Unchanged(None)
    return cast(MessageDocument, changed)


def _live(message: MessageDocument) -> dict[str, Any]:
    return {"_id": message["_id"], "deletedAt": None, "mentions": message["mentions"]}


async def add_reaction(
    database: Database,
    message_id: str,
    emoji: str,
    *,
    change: Change,
    most: int,
    most_of_user: int,
) -> MessageDocument | None:
    """Add a reaction that is not there, unless the message has `most` other emoji, or
    `most_of_user` of this user's."""
    user_id = change["actorId"]
    reaction = {"emoji": emoji, "userId": user_id, "createdAt": change["at"]}
    return await _change(
        database,
        {
            "_id": message_id,
            **_absent(emoji, user_id),
            **_room(emoji, user_id, most, most_of_user),
        },
        {"$push": {"reactions": reaction}, "$set": {"change": change}},
    )


def _absent(emoji: str, user_id: str) -> dict[str, Any]:
    return {"reactions": {"$not": {"$elemMatch": {"emoji": emoji, "userId": user_id}}}}


def _room(emoji: str, user_id: str, most: int, most_of_user: int) -> dict[str, Any]:
    mine = {"$eq": ["$$this.userId", {"$literal": user_id}]}
    of_user = {"$size": {"$filter": {"input": "$reactions", "cond": mine}}}
    different = {"$size": {"$setUnion": ["$reactions.emoji", []]}}
    known = {"$in": [{"$literal": emoji}, "$reactions.emoji"]}
    return {
        "$expr": {
            "$and": [
                {"$lt": [of_user, most_of_user]},
                {"$or": [known, {"$lt": [different, most]}]},
            ]
        }
    }


async def remove_reaction(
    database: Database, message_id: str, emoji: str, *, change: Change
) -> MessageDocument | None:
    """Remove a reaction that is there."""
    reaction = {"emoji": emoji, "userId": change["actorId"]}
    return await _change(
        database,
        {"_id": message_id, "reactions": {"$elemMatch": reaction}},
        {"$pull": {"reactions": reaction}, "$set": {"change": change}},
    )


async def _change(
    database: Database, chosen: Mapping[str, Any], update: Update
) -> MessageDocument | None:
    found = await database.write(
        lambda: database.messages.find_one_and_update(chosen, update, READ, return_document=True)
    )
    return cast(MessageDocument | None, found)
