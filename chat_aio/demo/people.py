"""The sample users of the demo."""

from dataclasses import dataclass

PICTURES = "/demo/static/people.svg"


@dataclass(frozen=True, slots=True)
class Person:
    id: str
    name: str
    picture: str | None = None
    moderator: bool = False
    bot: bool = False


PEOPLE = (
    Person("ada", "Ada", f"{PICTURES}#ada", moderator=True),
    Person("grace", "Grace", f"{PICTURES}#grace"),
    Person("linus", "Linus", f"{PICTURES}#linus"),
    Person("margaret", "Margaret", f"{PICTURES}#margaret"),
    # Users without a picture are shown by initials.
    Person("dennis", "Dennis"),
    Person("eliza", "Eliza", f"{PICTURES}#eliza", bot=True),
)
ASSISTANT = "eliza"

NAMES = {person.id: person.name for person in PEOPLE}
MODERATORS = frozenset(person.id for person in PEOPLE if person.moderator)
