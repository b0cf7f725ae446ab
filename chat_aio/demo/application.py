"""The demo's app: an aiohttp app with the chat mounted and one page at `/`."""

import re
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from aiohttp import web

from chat_aio.chat import Chat
from chat_aio.demo.assistant import add_assistant
from chat_aio.demo.page import add_page
from chat_aio.demo.people import ASSISTANT, MODERATORS, NAMES, PEOPLE, people_json
from chat_aio.demo.telling import Telling
from chat_aio.embedded import Mongod
from chat_aio.errors import ForbiddenOrigin
from chat_aio.hooks import Hooks, Profile
from chat_aio.options import Options
from chat_aio.plugins import Attachments, BlockedWords, Drafts, Filter, Presence, Receipts, Typing
from chat_aio.server.clients import Clients
from chat_aio.web.openapi.routes import add_openapi
from chat_aio.web.security_headers import UNFRAMED, hide_server

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Samples = Callable[[Chat, Attachments], Awaitable[None]]

OPTIONS = Options(
    extra_events=True,
    inbox=True,
    room_controls=True,
    moderation_tools=True,
    prefix_search=True,
    search_filters=True,
    gzip=True,
)
"""All that a page can show, with compressed answers: the demo has no proxy."""

HERE = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]+)?", re.IGNORECASE)


async def make_demo(
    *,
    data: Path,
    mongo_url: str | None,
    port: int,
    say: Callable[[str], None],
    database: str = "chat_demo",
    samples: Samples | None = None,
) -> web.Application:
    """Make the app, with an embedded mongod over `data` unless `mongo_url` names a replica set.

    `say` is called with lines about the progress of starting. A new database is filled by
    `samples`, by default with a story. Raises SetupError.
    """
    stack = AsyncExitStack()
    if mongo_url is None:
        say(f"Starting MongoDB, with its data in {data}/ ...")
        mongo_url = (await stack.enter_async_context(Mongod(data))).url
    clients = Clients(mongo_url, database)
    stack.push_async_callback(clients.close)
    drafts, files = Drafts([ASSISTANT]), Attachments()
    handle = clients.make()
    telling = Telling(handle)
    chat = Chat(
        handle,
        database_factory=clients.make,
        auth=_picked_user,
        hooks=HOOKS,
        options=OPTIONS,
        plugins=[Typing(), Presence(), Receipts(), Filter([ADVERTISING]), drafts, files],
    )
    app = web.Application(middlewares=[_only_from_here])
    chat.mount(app)
    add_openapi(app)
    add_page(app)
    app.on_response_prepare.extend((_protected, hide_server))

    async def people(_: web.Request) -> web.Response:
        return web.json_response(people_json())

    app.router.add_get("/people", people)

    async def opened(_: web.Application) -> None:
        # Only without any message: samples that somebody has changed are kept.
        if not (await chat.api.list_conversations("ada", limit=1)).conversations:
            say("Filling in sample conversations ...")
            await (samples or telling.tell)(chat, files)
        say(f"Ready: http://127.0.0.1:{port}  Open it twice, as two people. Ctrl+C ends it.")

    async def closed(_: web.Application) -> None:
        await stack.aclose()

    app.on_startup.insert(0, telling.drop_half)
    # After mounting, whose own handler opens the chat before this one uses it.
    app.on_startup.append(opened)
    add_assistant(app, chat, drafts, ASSISTANT)
    # The chat closes earlier, in `on_shutdown`, and still needs its client for that.
    app.on_cleanup.append(closed)
    return app


ADVERTISING = BlockedWords(
    ["casino", "free money"],
    action="hold",
    reason="This looks like advertising. A moderator looks.",
)
"""A rule to try out what a filter does: these words wait for a moderator."""


HOOKS = Hooks(
    user_exists=lambda user_id: user_id in NAMES,
    # The assistant sends in process.
    allowed_roles=lambda _: {"user"},
    can_moderate=lambda asked: asked.user_id in MODERATORS,
    profiles=lambda user_ids: {
        person.id: Profile(name=person.name, avatar_url=person.avatar_url, is_bot=person.is_bot)
        for person in PEOPLE
        if person.id in user_ids
    },
    search_users=lambda asked: [
        person.id for person in PEOPLE if asked.query.casefold() in person.name.casefold()
    ],
)


def _picked_user(request: web.Request) -> dict[str, Any] | None:
    """The user that the page has picked: the demo has no passwords, and listens on this machine
    only."""
    user_id = request.query.get("as")
    return {"id": user_id} if user_id in NAMES else None


@web.middleware
async def _only_from_here(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse requests of other sites' pages. No login keeps them out, and such a page may have
    pointed its own host name at this machine (DNS rebinding), so the host is checked as well."""
    origin = request.headers.get("Origin", f"http://{request.host}")
    known = HERE.fullmatch(request.host) and origin == f"http://{request.host}"
    # A link from another site may lead to the page itself, and to nothing else.
    followed = request.headers.get("Sec-Fetch-Mode") == "navigate" and request.path == "/"
    elsewhere = request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    if known and (followed or not elsewhere):
        return await handler(request)
    error = {"code": ForbiddenOrigin.code, "message": "the demo is for pages of its own only"}
    return web.json_response({"error": error}, status=ForbiddenOrigin.status)


async def _protected(_: web.Request, response: web.StreamResponse) -> None:
    # Other pages must not show the demo in a frame (clickjacking).
    response.headers.setdefault("Content-Security-Policy", "frame-ancestors 'none'")
    response.headers.update(UNFRAMED)
    # Browsers revalidate, so that they never mix modules of two versions after an upgrade.
    response.headers.setdefault("Cache-Control", "no-cache")
