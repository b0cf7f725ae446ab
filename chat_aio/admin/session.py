"""The session of a command: the chat, opened over its database until the command is over."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import click
from pymongo.errors import PyMongoError

from chat_aio.actions.api import ModerationAPI
from chat_aio.actions.context import Context
from chat_aio.admin.printing import progress_bar
from chat_aio.chat import operators_chat
from chat_aio.errors import ChatError, SetupError
from chat_aio.options import Options
from chat_aio.server.clients import client_of, with_database
from chat_aio.server.settings import ServeSettings
from chat_aio.server.sources import settings_from
from chat_aio.store.database import Database
from chat_aio.store.maintenance import doctor, personal_data
from chat_aio.store.privileges import lacks, missing_right

READER = "chat-aio"
"""The acting user of commands that only read."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The open chat, the acting user, and whether it is a dry run."""

    context: Context
    api: ModerationAPI
    user_id: str
    dry_run: bool

    @property
    def database(self) -> Database:
        return self.context.database


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run the work of one command; every failure is one line."""
    try:
        return asyncio.run(work)
    except (ChatError, SetupError, PyMongoError) as error:
        right = missing_right(error) if isinstance(error, PyMongoError) else None
        # A missing right is named: MongoDB's own text has the whole command instead.
        line = lacks([right]) if right else str(error).split(", full error:")[0]
        raise click.ClickException(" ".join(line.split())) from error


@contextmanager
def resumable() -> Iterator[None]:
    """On Ctrl-C, print one line instead of a traceback: completed work is kept."""
    try:
        yield
    except KeyboardInterrupt:
        line = "interrupted. Completed work is kept; run the command again to do the rest"
        raise click.ClickException(line) from None


async def require_rights(database: Database, command: str) -> None:
    """Raise SetupError, with the command that grants them, if this user of MongoDB lacks rights
    that a command needs (`store/privileges.py`): it must not fail half way."""
    if missing := await doctor.missing_rights(database, command):
        raise SetupError(f"nothing was done: {lacks(missing)}")


class UnknownId(click.ClickException):
    """No row of the database names an id."""

    exit_code = 4


async def require_known_user(session: Session, user_id: str, *, allow_unknown: bool) -> None:
    """Raise UnknownId unless some row names a user. All messages are read to be sure that none
    does, unless the user has written or is in a conversation."""
    if not allow_unknown and not await personal_data.has_traces(
        session.database, user_id, progress_bar
    ):
        raise UnknownId(
            f"no row of the database names the user {user_id}: is the id right? "
            "--allow-unknown skips this check"
        )


def on_database(settings: ServeSettings, act: Callable[[Database], Awaitable[T]]) -> T:
    """Run the work of one command on the database, without a chat."""
    return run(with_database(settings.mongo_url, settings.database, settings.options, act))


def in_session(
    work: Callable[[Session], Awaitable[T]],
    *,
    moderator_id: str | None = None,
    dry_run: bool = False,
    **place: Any,
) -> T:
    """Run the work of one command in a session; `place` are the options of `of_database`."""
    settings = settings_from(**place)

    async def opened() -> T:
        async with _open(settings, moderator_id or READER, dry_run=dry_run) as session:
            return await work(session)

    return run(opened())


@asynccontextmanager
async def _open(settings: ServeSettings, user_id: str, *, dry_run: bool) -> AsyncIterator[Session]:
    async with client_of(settings.mongo_url) as client:
        chat = operators_chat(
            client[settings.database],
            Options(
                collection_prefix=settings.options.collection_prefix,
                # Messages removed here are kept as long as messages removed through the server.
                moderation_tools=settings.options.moderation_tools,
                message_version_days=settings.options.message_version_days,
                # Releasing a held message must not write into a frozen conversation.
                room_controls=settings.options.room_controls,
            ),
        )
        async with chat:
            yield Session(
                # Private to the package: the server API has no maintenance and no dry runs.
                context=chat._context,
                api=chat.api.moderation,
                user_id=user_id,
                dry_run=dry_run,
            )


async def first(
    count: int, page: Callable[[str | None], Awaitable[tuple[Sequence[T], str | None]]]
) -> list[T]:
    """The first `count` rows of a list of pages; `page` also returns the next page's cursor."""
    found, cursor = await page(None)
    rows = [*found]
    # Pages of the API are smaller than what an operator may ask for.
    while cursor is not None and len(rows) < count:
        found, cursor = await page(cursor)
        rows += found
    return rows[:count]
