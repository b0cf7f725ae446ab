"""An assistant whose answers are read while it writes them.

    chat-aio serve --auth-header X-User --plugins typing,drafts --assistant assistant --port 8000
    CHAT_URL=http://127.0.0.1:8000/api/chat python examples/assistant.py

Write to it, and it answers piece by piece. Whoever has asked may stop it, and what it has written
so far is sent. `model` stands for a language model: put the stream of yours in its place.
"""

import asyncio
import os
from collections.abc import AsyncIterator

from chat_aio.client import Bot, BotMessage, ChatClient, FilePositions

ASSISTANT = "assistant"
URL = os.environ.get("CHAT_URL", "http://127.0.0.1:8000/api/chat")
POSITION = os.environ.get("BOT_POSITION", "assistant.position")
SECONDS_PER_WORD = float(os.environ.get("SECONDS_PER_WORD", "0.08"))


async def model(question: str) -> AsyncIterator[str]:
    """What a language model would answer, word by word."""
    answer = (
        f"You said: “{question}”. I am a script, so I cannot think about it. A language model "
        "in my place would take its time, and you would read along as its words arrive."
    )
    for word in answer.split():
        await asyncio.sleep(SECONDS_PER_WORD)
        yield f"{word} "


async def main() -> None:
    async with ChatClient(URL, headers={"X-User": ASSISTANT}) as client:
        bot = Bot(client, ASSISTANT, positions=FilePositions(POSITION))

        @bot.on_message
        async def answer(message: BotMessage) -> None:
            async with message.draft() as draft:
                async for words in model(message.body):
                    await draft.write(words)
                    if draft.stopped:
                        break

        await bot.run()


if __name__ == "__main__":
    asyncio.run(main())
