"""The sample people's messages: a conversation about the features of a chat, shown by the
messages themselves."""

import asyncio
import re
from typing import Any

from chat_aio.chat import Chat
from chat_aio.demo.drawing import moth
from chat_aio.demo.people import ASSISTANT, NAMES
from chat_aio.plugins import Attachments
from chat_aio.schema.models import Message

TALKING = [user_id for user_id in NAMES if user_id != ASSISTANT]
IDS = {name: user_id for user_id, name in NAMES.items()}
MENTION = re.compile(rf"@({'|'.join(IDS)})\b")

TOPIC = "A tour: each message shows a feature"
WELCOME = """\
Welcome! Here are five people, an assistant and a real MongoDB, all on your own machine. Open a \
second window as somebody else and write: it arrives at once. This message is pinned, so you find \
it again under Details, at the top right."""
QUOTING = """\
Replying quotes what you answer to. Press the quote, and you are taken there."""
POLL = """\
When do we launch? Vote with a reaction, and press it once more to take your vote back:
- 🌅 in the morning
- 🌞 at noon
- 🌙 at night"""
VOTES = {"🌅": ["dennis"], "🌞": ["linus", "ada"], "🌙": ["margaret", "grace", "dennis"]}
MISSPELT = "At nihgt, please: the relays are cooler."
EDITED = "At night, please: the relays are cooler. (I had misspelt that, so now it says “edited”.)"
DELETED = "I take two votes. Nobody will notice."
AFTER_DELETED = "We noticed. Dennis has deleted what he said; that there was something is left."
CODE = """\
All that your app needs is one line, once it can say who is asking:
```python
Chat(database, auth=auth).mount(app, "/api/chat")
```"""
LIST = """\
> And what else do I have to run?
Nothing:
1. what is said is kept in *your* MongoDB
2. what is new comes from its **change stream**, so there is no broker
3. people are those of your app; the chat has no accounts

More of change streams: https://www.mongodb.com/docs/manual/changeStreams/"""
THREAD = """\
What do we do about the alarm 1202? Let us talk about it in a thread: it opens next to the \
channel and does not fill it."""
REPLIES = (
    ("linus", "What does it mean?"),
    ("margaret", "Too much to do at once. It drops what matters least, and goes on."),
    ("grace", "Then we go on as well."),
)
CONCLUSION = "We go on, and keep an eye on it. (Said in the thread, and also sent to the channel.)"
MENTIONING = """\
@Ada @Grace @Linus @Dennis who is mentioned sees it in their list, loud and clear. Type @ to \
mention somebody yourself."""
REPORTED = """\
@Ada you are the moderator, and a report waits for you: see Moderation, above your conversations. \
The others do not have it, so come back as Ada to look."""
FILTER = """\
@Margaret you asked about advertising: there is a filter. Write “free” and “money” next to each \
other, and your message waits until Ada releases it."""
ASSISTED = """\
And Eliza is an assistant. Write to her, or mention her here with @: you read her answer while she \
writes it, and can stop her."""
NEXT = """\
When you have seen enough, make it yours: `chat-aio new myapp` writes an app with this chat in it, \
with a login and tests."""

MOTH = "Found a moth in the relay. Taped it into the log book."
LOG_BOOK = """\
15:45  Relay 70, panel F: moth in relay.
15:46  First actual case of bug being found.
15:52  Log book is sticky now.
"""
GREETING = """\
Hello {name}, I am Eliza, an assistant. Write me something, and watch my answer grow word by word; \
a button stops me. I am a script: in your app a language model has my place."""


async def tell_story(chat: Chat, files: Attachments) -> None:
    """Have the people talk, over the same API as any host's."""
    story = Story(chat, files)
    # A group with a picture and a file.
    place = await story.group("ada", "Engine room")
    await story.say("ada", place, "Welcome to the engine room!")
    picture = await story.upload("grace", place, "moth.png", await asyncio.to_thread(moth))
    shown = await story.say("grace", place, MOTH, attachment_ids=[picture])
    log_book = await story.upload("linus", place, "log-book.txt", LOG_BOOK.encode())
    await story.say("linus", place, "Here is the page.", attachment_ids=[log_book])
    recovery = "Then let's write the recovery path before we need it."
    await story.read(await story.say("margaret", place, recovery), *TALKING)
    # Direct conversations, and what one of them leads to: a report.
    place = await story.direct("grace", "margaret")
    await story.read(await story.say("margaret", place, "Thank you for the review!"), "grace")
    place = await story.direct("dennis", "linus")
    rude = await story.say("dennis", place, "Your tabs are spaces.")
    reason = "Unkind, though not wrong"
    await story.api.moderation.report("linus", "message", rude.id, reason)
    await story.read(rude, "linus")
    await story.say("linus", place, "And your spaces are tabs.")
    place = await story.direct("ada", "grace")
    await story.say("grace", place, "Do you have a minute for the compiler?")
    for user_id in TALKING:
        place = await story.direct(ASSISTANT, user_id)
        await story.say(ASSISTANT, place, GREETING.format(name=NAMES[user_id]), role="assistant")
    await _tour(story, shown)


class Story:
    """The chat as the people use it."""

    def __init__(self, chat: Chat, files: Attachments) -> None:
        self.chat = chat
        self.api = chat.api
        self.files = files

    async def say(self, user_id: str, place: str, body: str, **more: Any) -> Message:
        mentions = [IDS[name] for name in MENTION.findall(body)]
        return await self.api.send_message(user_id, place, body, mentions=mentions, **more)

    async def upload(self, user_id: str, place: str, name: str, data: bytes) -> str:
        return (await self.files.upload(user_id, place, data, name=name)).id

    async def group(self, user_id: str, name: str, **more: Any) -> str:
        """A group of all of them."""
        others = [name for name in NAMES if name != user_id]
        made = await self.api.create_group_conversation(user_id, user_ids=others, name=name, **more)
        return made.id

    async def direct(self, user_id: str, other: str) -> str:
        return (await self.api.get_or_create_conversation(user_id, other)).id

    async def read(self, last: Message, *user_ids: str) -> None:
        for user_id in user_ids:
            await self.api.mark_read(user_id, last.conversation_id, last.id)


async def _tour(story: Story, picture: Message) -> None:
    """A public channel in which each feature is shown; its last messages are unread."""
    place = await story.group("ada", "Start here", visibility="public", join_policy="open")
    await story.chat.rooms.update_conversation("ada", place, topic=TOPIC)
    welcome = await story.say("ada", place, WELCOME)
    await story.chat.rooms.pin_message("ada", place, welcome.id)
    await story.say("linus", place, QUOTING, reply_to_message_id=welcome.id)
    # A poll of reactions, and comments on it: one message edited, one deleted.
    poll = await story.say("margaret", place, POLL)
    for emoji, voters in VOTES.items():
        for voter in voters:
            await story.api.add_reaction(voter, poll.id, emoji)
    misspelt = await story.say("grace", place, MISSPELT, reply_to_message_id=poll.id)
    await story.api.edit_message("grace", misspelt.id, EDITED)
    deleted = await story.say("dennis", place, DELETED)
    await story.api.delete_message("dennis", deleted.id)
    await story.say("margaret", place, AFTER_DELETED)
    await story.say("dennis", place, CODE)
    await story.say("linus", place, LIST)
    await story.api.forward_message("dennis", picture.id, place)
    root = await story.say("ada", place, THREAD)
    for sender, body in REPLIES:
        await story.say(sender, place, body, thread_root_message_id=root.id)
    # In the channel as well. The messages behind it are unread.
    last = await story.say(
        "margaret", place, CONCLUSION, thread_root_message_id=root.id, also_send_to_main=True
    )
    await story.read(last, *TALKING)
    await story.say("margaret", place, MENTIONING)
    await story.say("linus", place, REPORTED)
    await story.say("grace", place, FILTER)
    await story.say("dennis", place, ASSISTED)
    await story.say("ada", place, NEXT)
