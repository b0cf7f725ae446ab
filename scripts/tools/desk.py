"""A moderator's desk: the chat, opened over its database for one command."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click
from chat_aio.actions.moderation import ModerationAPI
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError

from chat_aio import Chat, ChatError, Hooks, Options, SetupError
from chat_aio.actions.context import new_id
from chat_aio.capabilities import Capability
from chat_aio.server.app import ServeSettings, settings_from
from chat_aio.store.database import Database

LOOKING = "scripts/moderation"
"""Who acts where nothing is written and nobody is named."""

T = TypeVar("T")


class WouldWrite(Exception):
    """A dry run has come to where something would be written."""


class Ids:
    """Where every write takes its ids from. In a dry run there are none: an action goes through all
    its rules, and stops at its first write."""

    def __init__(self, *, dry_run: bool) -> None:
        self.dry_run = dry_run
        self.taken: set[str] = set()

    def __call__(self) -> str:
        if self.dry_run:
            raise WouldWrite
        taken = new_id()
        self.taken.add(taken)
        return taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where one command works: what it may call, who acts, and the ids that were given out."""

    api: ModerationAPI
    user_id: str
    ids: Ids

    @property
    def database(self) -> Database:
        return self.api.database


def at_desk(
    work: Callable[[Desk], Awaitable[T]],
    *,
    mongo_url: str | None,
    database: str | None,
    collection_prefix: str | None,
    moderator_id: str | None = None,
    dry_run: bool = False,
) -> T:
    """Do one command's work; every failure is one line."""
    settings = settings_from(
        mongo_url=mongo_url, database=database, collection_prefix=collection_prefix
    )

    async def run() -> T:
        async with _opened(settings, moderator_id or LOOKING, dry_run=dry_run) as desk:
            return await work(desk)

    try:
        return asyncio.run(run())
    except (ChatError, SetupError, PyMongoError) as error:
        raise click.ClickException(" ".join(str(error).split())) from error


async def first(
    count: int, page: Callable[[str | None], Awaitable[tuple[Sequence[T], str | None]]]
) -> list[T]:
    """The first `count` rows of a list that comes in pages, each with the cursor of the next."""
    found, cursor = await page(None)
    rows = [*found]
    while cursor is not None and len(rows) < count:
        found, cursor = await page(cursor)
        rows += found
    return rows[:count]


@asynccontextmanager
async def _opened(settings: ServeSettings, user_id: str, *, dry_run: bool) -> AsyncIterator[Desk]:
    async with _client(settings.mongo_url) as client:
        chat = Chat(
            client[settings.database],
            hooks=Hooks(can_moderate=lambda _: True),
            options=Options(
                collection_prefix=settings.collection_prefix,
                manage_indexes=False,
                without=frozenset({Capability.STREAMS}),
            ),
        )
        async with chat:
            ids = Ids(dry_run=dry_run)
            api = replace(chat.api.moderation, new_id=ids)
            yield Desk(api=api, user_id=user_id, ids=ids)


def _client(url: str) -> AsyncMongoClient[dict[str, Any]]:
    try:
        return AsyncMongoClient[dict[str, Any]](url)
    except (PyMongoError, ValueError) as error:
        raise SetupError(f"--mongo-url: {error}") from error
