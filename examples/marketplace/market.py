"""A marketplace with its own users and orders, and a conversation for each order.

    python examples/marketplace/market.py

README.md in this folder has the tour. MONGO_URL names the replica set; without it a mongod is
started for the app, with its data in the folder market-data.
"""

import asyncio
import logging
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler
from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import DuplicateKeyError

from chat_aio import Chat, ChatError, Hooks, Options, Profile, add_browser_files
from chat_aio.embedded import Mongod
from chat_aio.errors import MetadataConflict
from chat_aio.hooks import MessageMutation, ModerationContext, PermissionContext
from chat_aio.plugins import Attachments, Notification, Notifications
from chat_aio.schema.models import ConversationWithUnread, ParticipantRole

SHOP = "shop"
"""The user who acts for the marketplace: a bot without a login."""
STATUSES = ("new", "paid", "shipped", "closed")
MAIL_DELAY_SECONDS = 300.0
USERS = (
    {"_id": SHOP, "name": "Marketplace", "job": "bot"},
    {"_id": "u1", "name": "Ann", "email": "ann@example.org"},
    {"_id": "u2", "name": "Ben's Lamps", "email": "ben@example.org"},
    {"_id": "u3", "name": "Sam", "email": "sam@example.org", "job": "support"},
    {"_id": "u4", "name": "Tina", "email": "tina@example.org", "job": "support"},
    {"_id": "u5", "name": "Mona", "email": "mona@example.org", "job": "moderator"},
)
OPTIONS = Options(
    collection_prefix="chat_",
    allowed_origins=(os.environ.get("ORIGIN", "http://127.0.0.1:8000"),),
    conversation_keys=True,
    editable_metadata=True,
    metadata_indexes=("status",),
    room_controls=True,
    moderation_tools=True,
    extra_events=True,
    inbox=True,
    supervisors=True,
    profile_cache_seconds=300,
)

Document = dict[str, Any]
T = TypeVar("T")
log = logging.getLogger(__name__)


async def send_mail(address: str, subject: str, text: str) -> None:
    """Yours would call a mail server. If it raises, the plugin tries again."""
    log.info("mail to %s: %s: %s", address, subject, text)


def can_write(asked: PermissionContext) -> bool:
    """In a closed order nothing is edited or deleted: it may be evidence in a dispute."""
    is_inside = asked.user_id == SHOP or asked.user_id in asked.conversation.roles
    return is_inside and not (asked.conversation.frozen and asked.message)


def participants_of(order: Document) -> dict[str, ParticipantRole]:
    """Support is admin: in a closed order, whose group is frozen, it alone still writes."""
    return {order["buyer"]: "member", order["seller"]: "member", order["support"]: "admin"}


def name_of(order: Document) -> str:
    return f"Order {order['_id']}: {order['title']}"


class Market:
    def __init__(self, database: AsyncDatabase[Document]) -> None:
        self.users, self.sessions = database["users"], database["sessions"]
        self.orders = database["orders"]
        self.answers: set[asyncio.Task[None]] = set()
        hooks = Hooks(
            user_exists=self.user_exists,
            profiles=self.profiles,
            can_read=self.can_read,
            can_write=can_write,
            can_create=lambda asked: asked.user_id == SHOP,  # Conversations are those of orders,
            can_leave=lambda asked: False,  # and last as long as these.
            can_manage=lambda asked: asked.user_id == SHOP,
            can_moderate=self.can_moderate,
            allowed_roles=lambda user_id: {"user"},
            after_message_mutation=self.listen,
        )
        mails = Notifications(
            self.notify,
            delay_seconds=MAIL_DELAY_SECONDS,
            suppress_when="read",
            once_until_read=True,
        )
        files = Attachments(content_types=["image/*", "application/pdf"])
        self.chat = Chat(
            database,
            auth=self.auth,
            hooks=hooks,
            options=OPTIONS,
            plugins=[mails, files],
            admin=database,  # In production over a client with the rights of operators.
        )

    # Hooks of the chat

    async def auth(self, request: web.Request) -> dict[str, str] | None:
        session = await self.sessions.find_one({"_id": request.cookies.get("login", "")})
        return {"id": session["userId"]} if session else None

    async def user_exists(self, user_id: str) -> bool:
        return await self.users.find_one({"_id": user_id}) is not None

    async def profiles(self, user_ids: Sequence[str]) -> Mapping[str, Profile]:
        shown = {
            user_id: Profile(name="Deleted account")
            for user_id in user_ids
            if user_id.startswith("erased-")
        }
        async for user in self.users.find({"_id": {"$in": [*user_ids]}}):
            shown[user["_id"]] = Profile(name=user["name"], is_bot=user.get("job") == "bot")
        return shown

    async def can_read(self, asked: PermissionContext) -> bool:
        """A moderator reads every order, and follows it live; the audit log has each look."""
        is_inside = asked.user_id == SHOP or asked.user_id in asked.conversation.roles
        return is_inside or await self.has_job(asked.user_id, "moderator")

    async def can_moderate(self, asked: ModerationContext) -> bool:
        return await self.has_job(asked.user_id, "moderator")

    async def has_job(self, user_id: str, job: str) -> bool:
        return await self.users.find_one({"_id": user_id, "job": job}) is not None

    async def notify(self, notification: Notification) -> None:
        user = await self.users.find_one({"_id": notification.user_id})
        if user is not None and "email" in user:
            subject = f"{notification.count} new in {notification.conversation.name or 'a chat'}"
            await send_mail(user["email"], subject, notification.excerpt)

    def listen(self, heard: MessageMutation) -> None:
        """The sender waits for this hook, so a task sends the answer to `/status`."""
        if heard.kind == "created" and heard.message.body == "/status":
            task = asyncio.create_task(self.answer(heard))
            self.answers.add(task)
            task.add_done_callback(self.answers.discard)

    async def answer(self, heard: MessageMutation) -> None:
        group = await self.chat.api.get_conversation(SHOP, heard.message.conversation_id)
        if group.key is not None:
            await self.chat.api.send_message(
                *(SHOP, group.id, f"This order is {group.metadata['status']}."),
                role="assistant",
                client_message_id=f"status-{heard.message.id}",
            )

    # Users

    async def login(self, request: web.Request) -> web.Response:
        """Yours would ask for a password."""
        email = str((await request.post()).get("email"))
        user = require(await self.users.find_one({"email": email}))
        key = secrets.token_urlsafe()
        await self.sessions.insert_one({"_id": key, "userId": user["_id"]})
        response = web.Response(status=303, headers={"Location": "/"})
        response.set_cookie("login", key, httponly=True, samesite="Lax")
        return response

    async def user_of(self, request: web.Request) -> str:
        if user := await self.auth(request):
            return user["id"]
        raise web.HTTPUnauthorized

    async def change_me(self, request: web.Request) -> web.Response:
        """A name and an e-mail address may change. The chat stores neither, only the id."""
        user_id, changes = await self.user_of(request), await texts_in(request, "name", "email")
        try:
            await self.users.update_one({"_id": user_id}, {"$set": changes})
        except DuplicateKeyError:
            raise web.HTTPConflict from None
        await self.chat.invalidate_profiles([user_id])
        return web.json_response(changes)

    async def delete_me(self, request: web.Request) -> web.Response:
        """The account, and what the chat stores of it. May be repeated if it is interrupted."""
        user_id = await self.user_of(request)
        await self.chat.admin.erase_user(user_id, by=SHOP, allow_unknown=True)
        await self.users.delete_one({"_id": user_id})
        await self.sessions.delete_many({"userId": user_id})
        return web.json_response({})

    # Orders

    async def place_order(self, request: web.Request) -> web.Response:
        """May be repeated: an id has one order and one conversation."""
        buyer, given = await self.user_of(request), await texts_in(request, "title", "seller")
        if len(given) < 2 or not await self.user_exists(given["seller"]):
            raise web.HTTPBadRequest
        agent = require(await self.users.find_one({"job": "support"}))
        found = {"_id": request.match_info["id"]}
        placed = {**given, "buyer": buyer, "support": agent["_id"], "status": "new"}
        await self.orders.update_one(found, {"$setOnInsert": placed}, upsert=True)
        order = require(await self.orders.find_one({**found, "buyer": buyer}))
        group = await self.chat.conversations.get_or_create_group(
            SHOP,
            key=f"order:{order['_id']}",
            participants=participants_of(order),
            name=name_of(order),
            metadata={"status": order["status"]},
        )
        return web.json_response({"conversationId": group.id})

    async def list_orders(self, request: web.Request) -> web.Response:
        """The orders of the user with their unread messages, the most active first."""
        user_id, status = await self.user_of(request), request.query.get("status")
        page = await self.chat.api.list_conversations(
            user_id,
            metadata={"status": status} if status else None,
            cursor=request.query.get("cursor"),
        )
        groups = [group for group in page.conversations if group.key is not None]
        shown = [{"name": group.name, "unread": group.unread_count} for group in groups]
        return web.json_response({"orders": shown, "nextCursor": page.next_cursor})

    async def change_order(self, request: web.Request) -> web.Response:
        """The title, the status, which only goes forward, and the support agent."""
        user_id, order_id = await self.user_of(request), request.match_info["id"]
        changes = await texts_in(request, "title", "status", "support")
        own = {"$or": [{"seller": user_id}, {"support": user_id}]}
        require(await self.orders.find_one({"_id": order_id, **own}))
        if "support" in changes:
            require(await self.has_job(changes["support"], "support"))
        status = changes.get("status")
        if status not in (None, *STATUSES):
            raise web.HTTPBadRequest
        earlier = STATUSES[: STATUSES.index(status) + 1] if status else STATUSES
        found = {"_id": order_id, "status": {"$in": earlier}, **own}
        if not (await self.orders.update_one(found, {"$set": changes})).matched_count:
            raise web.HTTPConflict
        group = await self.show(order_id, line=status)
        return web.json_response({"name": group.name, **group.metadata})

    async def show(self, order_id: str, *, line: str | None) -> ConversationWithUnread:
        """Make the conversation like its order; `line` is a status to write in it."""
        while True:
            # Read before the order: after another change the version differs.
            group = await self.chat.conversations.find_conversation(SHOP, key=f"order:{order_id}")
            order = require(await self.orders.find_one({"_id": order_id}))
            if line is not None:
                await self.chat.api.send_message(
                    *(SHOP, group.id, f"The order is {line}."),
                    role="system",
                    silent=True,
                    client_message_id=f"order-{order_id}-{line}",
                )
            try:
                await self.chat.rooms.update_conversation(
                    *(SHOP, group.id),
                    name=name_of(order),
                    metadata={"status": order["status"]},
                    metadata_version=group.metadata_version,
                    frozen=order["status"] == "closed",
                )
            except MetadataConflict:
                continue
            shown = await self.chat.conversations.set_participants(
                SHOP, group.id, participants_of(order)
            )
            if await self.orders.find_one({"_id": order_id}) == order:
                return shown

    async def delete_order(self, request: web.Request) -> web.Response:
        user_id, order_id = await self.user_of(request), request.match_info["id"]
        require(await self.has_job(user_id, "support"))
        group = await self.chat.conversations.find_conversation(SHOP, key=f"order:{order_id}")
        await self.orders.delete_one({"_id": order_id})
        reason = f"order {order_id} was deleted by {user_id}"
        await self.chat.conversations.delete_conversation(SHOP, group.id, reason=reason)
        return web.json_response({})

    # The app

    async def page(self, request: web.Request) -> web.Response:
        user, unread = await self.auth(request) or {"id": ""}, 0
        if user["id"]:
            unread = (await self.chat.inbox.count_unread(user["id"])).unmuted.messages
        text = Path(__file__).with_name("page.html").read_text()
        text = text.replace("{{ user }}", escape(user["id"]))
        text = text.replace("{{ badge }}", f"{unread} unread" if unread else "")
        return web.Response(text=text, content_type="text/html")

    async def create_users(self) -> None:
        await self.users.create_index("email", unique=True, sparse=True)
        for user in USERS:
            await self.users.update_one({"_id": user["_id"]}, {"$setOnInsert": user}, upsert=True)

    async def finish_answers(self, _: web.Application) -> None:
        """Before the chat closes, which would refuse them."""
        await asyncio.gather(*self.answers, return_exceptions=True)


def require(found: T | None) -> T:
    """Refuse the request (403) without what its user needs."""
    if not found:
        raise web.HTTPForbidden
    return found


async def texts_in(request: web.Request, *names: str) -> dict[str, str]:
    """The fields of the body that have these names, at least one."""
    try:
        body = await request.json()
        found = {name: body[name].strip() for name in names if name in body}
    except (ValueError, TypeError, AttributeError):
        raise web.HTTPBadRequest from None
    if not found or not all(found.values()):
        raise web.HTTPBadRequest
    return found


@web.middleware
async def answer_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """An error of the chat has a code and a status, in process too."""
    try:
        return await handler(request)
    except ChatError as error:
        return web.json_response({"code": error.code}, status=error.status)


async def make_app() -> web.Application:
    resources = AsyncExitStack()
    url = os.environ.get("MONGO_URL")
    if url is None:
        url = (await resources.enter_async_context(Mongod("market-data"))).url
    client = await resources.enter_async_context(AsyncMongoClient[Document](url))
    market = Market(client.get_default_database("market"))
    await market.create_users()
    app = web.Application(middlewares=[answer_errors])
    app.add_routes(
        [
            web.get("/", market.page),
            web.post("/login", market.login),
            web.patch("/me", market.change_me),
            web.delete("/me", market.delete_me),
            web.get("/orders", market.list_orders),
            web.put("/orders/{id}", market.place_order),
            web.patch("/orders/{id}", market.change_order),
            web.delete("/orders/{id}", market.delete_order),
        ]
    )
    app.on_shutdown.append(market.finish_answers)
    market.chat.mount(app)
    add_browser_files(app, "/chat-aio")
    app.on_cleanup.append(lambda _: resources.aclose())
    return app


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    web.run_app(make_app(), host="127.0.0.1", port=8000, auto_decompress=False)
