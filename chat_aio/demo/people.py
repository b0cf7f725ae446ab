"""The sample users of the demo."""

from dataclasses import dataclass


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
