"""A bot in a process of its own that answers every "!ping" once, whichever process fails.

    chat-aio serve --auth-header X-User --port 8000     # or a host of yours
    CHAT_URL=http://127.0.0.1:8000/api/chat python examples/resuming_bot.py

After each event that it has processed it stores the stream's position in a file (BOT_POSITION), and
resumes from there. If it fails between the two, the event comes again; the answer's idempotency
key, made from the question's id, makes sure that the service stores the answer once.
"""

import asyncio
import os
from pathlib import Path

from chat_aio.client import ChatClient, ChatError, MessageEvent, ResetEvent
from chat_aio.schema.models import Message

BOT = "resuming-bot"
URL = os.environ.get("CHAT_URL", "http://127.0.0.1:8000/api/chat")
POSITION = Path(os.environ.get("BOT_POSITION", "bot.position"))


async def answer(client: ChatClient, message: Message) -> None:
    """Answer a message, unless the bot has been removed or blocked meanwhile."""
    try:
        if message.body == "!ping" and message.sender_id != BOT:
            await client.send_message(
                *(message.conversation_id, "pong"),
                role="assistant",
                reply_to_message_id=message.id,
                client_message_id=f"pong-{message.id}",
            )
        await client.mark_read(message.conversation_id, message.id)
    except ChatError as refusal:
        if refusal.status not in (403, 404):
            raise


async def catch_up(client: ChatClient) -> None:
    """Answer what is unread, after more was missed than the stream replays."""
    cursor = None
    while True:
        page = await client.list_conversations(cursor=cursor)
        for each in page.conversations:
            if each.unread_count:
                found = await client.list_messages(each.id, limit=each.unread_count)
                for message in reversed(found.messages):
                    await answer(client, message)
        if (cursor := page.next_cursor) is None:
            return


def kept() -> str | None:
    return POSITION.read_text() or None if POSITION.exists() else None


def keep(position: str | None) -> None:
    """Store the position atomically: a crash leaves the old file or the new one."""
    written = POSITION.with_suffix(".new")
    written.write_text(position or "")
    written.replace(POSITION)


async def run(position: str | None) -> None:
    async with (
        ChatClient(URL, headers={"X-User": BOT}) as client,
        client.stream(position) as stream,
    ):
        if position is None:
            await catch_up(client)
        async for event in stream:
            if isinstance(event, ResetEvent):
                await catch_up(client)
            elif isinstance(event, MessageEvent) and event.type == "message.created":
                await answer(client, event.message)
            keep(stream.last_event_id)


if __name__ == "__main__":
    asyncio.run(run(kept()))
