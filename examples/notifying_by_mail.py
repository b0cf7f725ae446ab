"""A digest by mail of what users have not seen: at most one mail in a quarter of an hour.

    python examples/notifying_by_mail.py

`deliver` notes what is to be told, under the notification's id, so a repetition changes nothing.
A task sends it: one mail for each user. If the process ends between a mail and the removal of what
was in it, the mail is sent again. With several processes, run the task in one of them, such as from
cron. The header stands in for your login, and the address is made of the user's id.
"""

import asyncio
import logging
import os
import smtplib
from collections.abc import AsyncIterator
from email.message import EmailMessage
from typing import Any

from aiohttp import web
from pymongo import AsyncMongoClient

from chat_aio import Chat
from chat_aio.plugins import Notification, Notifications

EVERY_SECONDS = 15 * 60.0
DELAY_SECONDS = 60.0
"""Whoever reads a message by then needs no mail."""

log = logging.getLogger(__name__)


def send_mail(user_id: str, lines: list[str]) -> None:
    """Blocks until the mail server has taken it."""
    mail = EmailMessage()
    mail["From"], mail["To"] = "chat@example.org", f"{user_id}@example.org"
    mail["Subject"] = f"{len(lines)} conversations with new messages"
    mail.set_content("\n".join(lines))
    with smtplib.SMTP(os.environ.get("SMTP_HOST", "127.0.0.1"), timeout=10) as server:
        server.send_message(mail)


async def send_digests(notes: Any) -> None:
    """One mail for each user for whom something is noted."""
    for user_id in await notes.distinct("userId"):
        found = await notes.find({"userId": user_id}).sort("at", 1).to_list(None)
        newest = {note["conversationId"]: note["line"] for note in found}
        await asyncio.to_thread(send_mail, user_id, [*newest.values()])
        await notes.delete_many({"_id": {"$in": [note["_id"] for note in found]}})


async def keep_sending(notes: Any) -> None:
    while True:
        await asyncio.sleep(EVERY_SECONDS)
        try:
            await send_digests(notes)
        except Exception:
            log.exception("digests were not sent, and are tried again")


async def auth(request: web.Request) -> dict[str, str] | None:
    user_id = request.headers.get("X-User")
    return {"id": user_id} if user_id else None


async def make_app() -> web.Application:
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
        os.environ.get("MONGO_URL", "mongodb://127.0.0.1:27017")
    )
    database = client.get_default_database("chat")
    notes = database["digest_notes"]

    async def deliver(notification: Notification) -> None:
        where = notification.conversation.name or notification.message.sender_id
        note = {
            "userId": notification.user_id,
            "conversationId": notification.conversation.id,
            "line": f"{where}: {notification.excerpt}",
            "at": notification.message.created_at,
        }
        await notes.update_one({"_id": notification.id}, {"$setOnInsert": note}, upsert=True)

    async def sending(_: web.Application) -> AsyncIterator[None]:
        task = asyncio.create_task(keep_sending(notes))
        yield
        task.cancel()
        await asyncio.wait({task})
        await client.close()

    app = web.Application()
    notifications = Notifications(deliver, delay_seconds=DELAY_SECONDS)
    Chat(database, auth=auth, plugins=[notifications]).mount(app)
    app.cleanup_ctx.append(sending)
    return app


if __name__ == "__main__":
    web.run_app(make_app(), host="127.0.0.1", port=8000, auto_decompress=False)
