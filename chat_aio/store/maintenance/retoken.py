"""Giving messages the tokens of their terms: the migration to schema version 3, and its repair
(docs/decisions/0056). Nothing here is an event: no stamp is written."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from pymongo import UpdateOne

from chat_aio.store.database import Database
from chat_aio.store.tokenizer import entries_of, older_tokens_of, search_of

AT_A_TIME = 100
SECONDS = 60.0

READ = {"conversationId": 1, "seq": 1, "deletedAt": 1, "terms": 1, "search": 1}

Row = Mapping[str, Any]


async def shorten_tokens(database: Database, after: str | None) -> str | None:
    """Give the next messages behind the id `after` the short tokens alone; returns the last one's
    id, None at the end. Processes that were opened before find these as well as the others."""
    # Ids of another type are not ours. In the order of ids, which never change.
    chosen = {"_id": {"$gt": after or ""}}
    rows = database.messages.find(chosen, READ).sort("_id", 1).limit(AT_A_TIME)
    found = await database.read(lambda: rows.to_list(None), seconds=SECONDS)
    wrong = [each for each in found if has_wrong_tokens(each, older=False)]
    await _mend(database, wrong, older=False)
    return found[-1]["_id"] if len(found) == AT_A_TIME else None


async def mend_conversation(database: Database, conversation_id: object, *, dry_run: bool) -> int:
    """Mend the tokens of a conversation's messages; returns how many were wrong. A dry run only
    counts."""
    older, wrong, after = database.older_tokens, 0, 0
    while True:
        chosen = {"conversationId": conversation_id, "seq": {"$gt": after}}
        rows = database.messages.find(chosen, READ).sort("seq", 1).limit(AT_A_TIME)
        found = await database.read(partial(rows.to_list, None), seconds=SECONDS)
        having = [each for each in found if has_wrong_tokens(each, older=older)]
        wrong += len(having)
        if not dry_run:
            await _mend(database, having, older=older)
        if len(found) < AT_A_TIME:
            return wrong
        after = found[-1]["seq"]


def has_wrong_tokens(message: Row, *, older: bool) -> bool:
    """Whether a message that is not deleted has other tokens than those of its terms. With `older`
    those of schema version 2 are right as well, alone or beside them. Nothing is said about terms
    that cannot be read."""
    terms = message.get("terms", [])
    if message.get("deletedAt") or not _is_readable(terms):
        return False
    if not isinstance(message.get("conversationId"), str):
        return False  # A row of another program; `check` names it.
    return message.get("search") not in _right(message, older=older)


def _is_readable(terms: object) -> bool:
    return isinstance(terms, list) and all(isinstance(each, str) for each in terms)


def _right(message: Row, *, older: bool) -> list[str | None]:
    """What may be in the field `search` of a message."""
    if "terms" not in message:
        return [None]
    conversation_id, terms = message["conversationId"], message["terms"]
    right: list[str | None] = [search_of(conversation_id, terms, older=False)]
    if older:
        right.append(search_of(conversation_id, terms, older=True))
        right.append(" ".join(older_tokens_of(conversation_id, entries_of(terms))))
    return right


async def _mend(database: Database, wrong: Iterable[Row], *, older: bool) -> None:
    if updates := [_update(each, older=older) for each in wrong]:
        await database.write(lambda: database.messages.bulk_write(updates, ordered=False))


def _update(message: Row, *, older: bool) -> UpdateOne:
    """The update of one message. It asks for the terms: a message that is edited or deleted
    meanwhile stays as that has left it."""
    if "terms" not in message:
        gone = {"_id": message["_id"], "terms": {"$exists": False}}
        return UpdateOne(gone, {"$unset": {"search": ""}})
    search = search_of(message["conversationId"], message["terms"], older=older)
    unchanged = {"_id": message["_id"], "terms": message["terms"]}
    return UpdateOne(unchanged, {"$set": {"search": search}})
