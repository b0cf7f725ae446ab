"""The sample users of the demo and their first conversations."""

from dataclasses import dataclass

from chat_aio.chat import Chat


@dataclass(frozen=True, slots=True)
class Person:
    id: str
    name: str
    moderator: bool = False
    bot: bool = False


PEOPLE = (
    Person("ada", "Ada", moderator=True),
    Person("grace", "Grace"),
    Person("linus", "Linus"),
    Person("margaret", "Margaret"),
    Person("dennis", "Dennis"),
    Person("eliza", "Eliza", bot=True),
)
ASSISTANT = "eliza"

NAMES = {each.id: each.name for each in PEOPLE}
MODERATORS = frozenset(each.id for each in PEOPLE if each.moderator)


async def introduce(chat: Chat) -> None:
    """Fill a new demo with sample conversations; one that has conversations stays as it is."""
    if (await chat.api.list_conversations("ada", limit=1)).conversations:
        return
    team = await chat.api.create_group_conversation(
        "ada", user_ids=[each.id for each in PEOPLE if each.id != "ada"], name="Engine room"
    )
    for sender, body in (
        ("ada", "Welcome to the engine room!"),
        ("grace", "Found a moth in the relay. Taped it into the log book."),
        ("margaret", "Then let's write the recovery path before we need it."),
    ):
        await chat.api.send_message(sender, team.id, body)
    direct = await chat.api.get_or_create_conversation("ada", "grace")
    await chat.api.send_message("grace", direct.id, "Do you have a minute for the compiler?")
