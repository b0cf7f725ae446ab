"""The sample users of the demo."""

from dataclasses import asdict, dataclass
from typing import Any

from pydantic.alias_generators import to_camel

PICTURES = "/demo/static/people.svg"


@dataclass(frozen=True, slots=True)
class Person:
    id: str
    name: str
    avatar_url: str | None = None
    is_bot: bool = False
    is_moderator: bool = False


PEOPLE = (
    Person("ada", "Ada", f"{PICTURES}#ada", is_moderator=True),
    Person("grace", "Grace", f"{PICTURES}#grace"),
    Person("linus", "Linus", f"{PICTURES}#linus"),
    Person("margaret", "Margaret", f"{PICTURES}#margaret"),
    # Users without an image are shown by initials.
    Person("dennis", "Dennis"),
    Person("eliza", "Eliza", f"{PICTURES}#eliza", is_bot=True),
)
ASSISTANT = "eliza"

NAMES = {person.id: person.name for person in PEOPLE}
MODERATORS = frozenset(person.id for person in PEOPLE if person.is_moderator)


def people_json() -> list[dict[str, Any]]:
    """The people, with the names of fields that the page knows."""
    return [{to_camel(name): value for name, value in asdict(person).items()} for person in PEOPLE]
