"""The demo's assistant: a script in the place of a language model, whose answers are drafts."""

import asyncio
import logging
from collections.abc import AsyncIterator

from aiohttp import web

from chat_aio.chat import Chat
from chat_aio.errors import ChatError
from chat_aio.plugins import Drafts
from chat_aio.schema.events import MessageEvent
from chat_aio.schema.models import Message
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

SECONDS_PER_WORD = 0.07
AGAIN_SECONDS = 2.0

ANSWER = """\
You said: “{question}”. I am only a script, so I have no opinion about that. But you are reading \
this while it is being written: a language model in my place would show its words as they come, \
and you could stop it with the button below. When I am done, all of it is one ordinary message."""


def add_assistant(app: web.Application, chat: Chat, drafts: Drafts, user_id: str) -> None:
    """Have the assistant answer while `app`, into which the chat is mounted already, runs."""
    answering: list[asyncio.Task[None]] = []

    async def begin(_: web.Application) -> None:
        answering.append(asyncio.create_task(answer_all(chat, drafts, user_id)))

    async def end(_: web.Application) -> None:
        await cancel_and_wait(*answering)

    app.on_startup.append(begin)
    # Before the chat, whose own handler is there already.
    app.on_shutdown.insert(0, end)


async def answer_all(chat: Chat, drafts: Drafts, user_id: str) -> None:
    """Answer messages to the assistant, or with a mention of it, until cancelled. When it may not
    listen, as while it is banned, it tries again."""
    answers: set[asyncio.Task[None]] = set()
    try:
        while True:
            try:
                async for event in chat.events(user_id=user_id):
                    if isinstance(event, MessageEvent) and event.type == "message.created":
                        # A task for each answer: a question does not wait for the answers before.
                        answer = asyncio.create_task(_answer(chat, drafts, user_id, event.message))
                        answers.add(answer)
                        answer.add_done_callback(answers.discard)
            except ChatError as refusal:
                log.info("the assistant cannot listen: %s", refusal.code)
            except Exception:
                log.exception("the assistant cannot listen, and tries again")
            await asyncio.sleep(AGAIN_SECONDS)
    finally:
        await cancel_and_wait(*answers)


async def _answer(chat: Chat, drafts: Drafts, user_id: str, asked: Message) -> None:
    # Never an assistant, or two of them would answer each other for ever.
    if asked.sender_id == user_id or asked.role != "user":
        return
    writing = drafts.writing(
        user_id,
        asked.conversation_id,
        thread_root_message_id=asked.thread_root_message_id,
        asked_by_user_id=asked.sender_id,
    )
    try:
        conversation = await chat.api.get_conversation(user_id, asked.conversation_id)
        if conversation.type != "direct" and user_id not in asked.mentions:
            return
        async with writing as draft:
            async for words in _model(asked.body):
                await draft.write(words)
                if draft.stopped:
                    break
    except ChatError as refusal:
        log.info("the assistant could not answer: %s", refusal.code)
    except Exception:
        log.exception("the assistant has failed at message %r", asked.id)


async def _model(question: str) -> AsyncIterator[str]:
    for word in ANSWER.format(question=question.strip()[:200]).split():
        await asyncio.sleep(SECONDS_PER_WORD)
        yield f"{word} "
