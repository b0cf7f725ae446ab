"""A bot within the host's process: it answers "!ping" in conversations that it is in.

    python examples/ping_bot.py
    curl -H 'X-User: ada' -d '{"otherUserId": "ping-bot"}' \
        http://127.0.0.1:8000/api/chat/conversations
    curl -H 'X-User: ada' -d '{"body": "!ping"}' \
        http://127.0.0.1:8000/api/chat/conversations/$ID/messages

The hook is called once for each message, in the process that has written it. The sender waits for
the hook, so a task sends the answer. If the process is killed, its open answers are lost;
examples/resuming_bot.py misses nothing. The header stands in for your login.
"""

import asyncio
import os
from typing import Any

from aiohttp import web
from pymongo import AsyncMongoClient

from chat_aio import Chat, Hooks
from chat_aio.hooks import MessageMutation

BOT = "ping-bot"


async def auth(request: web.Request) -> dict[str, str] | None:
    user_id = request.headers.get("X-User")
    return {"id": user_id} if user_id else None


async def make_app() -> web.Application:
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
        os.environ.get("MONGO_URL", "mongodb://127.0.0.1:27017")
    )
    answers: set[asyncio.Task[object]] = set()

    def listen(heard: MessageMutation) -> None:
        message = heard.message
        if heard.kind == "created" and message.body == "!ping" and BOT in heard.recipient_ids:
            answer = chat.api.send_message(
                *(BOT, message.conversation_id, "pong"),
                role="assistant",
                reply_to_message_id=message.id,
                client_message_id=f"pong-{message.id}",
            )
            answers.add(task := asyncio.create_task(answer))
            task.add_done_callback(answers.discard)

    async def finish(_: web.Application) -> None:
        """Runs before the chat closes, which would refuse the answers."""
        await asyncio.gather(*answers, return_exceptions=True)

    chat = Chat(
        client.get_default_database("chat"),
        auth=auth,
        hooks=Hooks(after_message_mutation=listen),
    )
    app = web.Application()
    app.on_shutdown.append(finish)
    chat.mount(app)
    app.on_cleanup.append(lambda _: client.close())
    return app


if __name__ == "__main__":
    web.run_app(make_app(), host="127.0.0.1", port=8000, auto_decompress=False)
