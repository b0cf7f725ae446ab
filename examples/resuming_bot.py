"""A bot in a process of its own that answers every "/ping" once, whichever process fails.

    chat-aio serve --auth-header X-User --port 8000     # or a host of yours
    CHAT_URL=http://127.0.0.1:8000/api/chat python examples/resuming_bot.py

After each message that it has handled it stores the stream's position in a file (BOT_POSITION), and
resumes from there. If it fails between the two, the message comes again; the answer's idempotency
key, made from the message's id, makes sure that the service stores the answer once.
"""

import asyncio
import os

from chat_aio.client import Bot, BotMessage, ChatClient, FilePositions

BOT = "resuming-bot"
URL = os.environ.get("CHAT_URL", "http://127.0.0.1:8000/api/chat")
POSITION = os.environ.get("BOT_POSITION", "bot.position")


async def main() -> None:
    async with ChatClient(URL, headers={"X-User": BOT}) as client:
        bot = Bot(client, BOT, positions=FilePositions(POSITION))

        @bot.command("ping")
        async def ping(message: BotMessage) -> None:
            await message.reply("pong")

        await bot.run()


if __name__ == "__main__":
    asyncio.run(main())
