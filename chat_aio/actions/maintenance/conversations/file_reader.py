"""Reading a file of conversations: its lines become batches of documents, with bounded memory."""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from chat_aio.actions.maintenance.check.findings import is_erased
from chat_aio.actions.maintenance.conversations.incoming import Incoming, id_here
from chat_aio.schema.lines import (
    VERSION,
    ConversationLine,
    HeaderLine,
    MessageLine,
    WrongLine,
    line_from,
    parsed,
)
from chat_aio.store.direct_conversations import direct_conversation_id
from chat_aio.store.documents import ConversationDocument, CounterDocument, MessageDocument
from chat_aio.store.maintenance.progress import Advance
from chat_aio.store.numbering import weight_of
from chat_aio.store.settings import Settings

AT_A_TIME = 1_000
MOST_WEIGHT = 4 * 1024 * 1024
MOST_BYTES_OF_A_LINE = 16 * 1024 * 1024


class WrongFile(Exception):
    """A file that cannot be imported; the message contains the line and the error."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a conversation's lines: its document, its head, and the digest of the lines."""

    conversation: ConversationDocument
    head: CounterDocument
    digest: str


@dataclass(slots=True)
class Batch:
    """The next messages of one conversation; `finished` is set in its last batch."""

    incoming: Incoming
    messages: list[MessageDocument] = field(default_factory=list)
    weight: int = 0
    finished: Finished | None = None


@dataclass(slots=True)
class Names:
    """The ids in this database of the conversations that a file names. The id of a direct
    conversation follows from its users and the key of this database, so that the users find it
    again.

    `came_late` means that a name was used above the line that gives it another id here: the file
    must be read a second time, with the ids known by then.
    """

    settings: Settings
    known: dict[str, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    came_late: bool = False

    async def add(self, line: ConversationLine) -> str:
        """The id of a conversation in this database. Raises WrongLine."""
        users = [participant.user_id for participant in line.participants]
        if line.type == "direct" and len(users) == 2 and not any(map(is_erased, users)):
            # The id that a first message between the two would make, so that they find it again.
            found = await direct_conversation_id(self.settings, users[0], users[1])
        elif line.id is not None:
            found = id_here("conversation", line.id)
        else:
            raise WrongLine("id is missing; only a direct conversation may be without")
        if line.id is not None and found != self._id_of(line.id):
            self.came_late = self.came_late or line.id in self.asked
            self.known[line.id] = found
        return found

    def name(self, given: str) -> str:
        """The id in this database of the conversation that a forwarded message names."""
        self.asked.add(given)
        return self._id_of(given)

    def _id_of(self, given: str) -> str:
        return self.known.get(given) or id_here("conversation", given)


class Reader:
    """Reads the file at `path`. Messages get search fields if their conversation's id is
    `searchable`."""

    def __init__(
        self,
        path: Path,
        names: Names,
        *,
        searchable: Callable[[str], bool],
    ) -> None:
        self._path, self._names = path, names
        self._searchable = searchable
        self.size = path.stat().st_size

    async def batches(self, advance: Advance) -> AsyncIterator[Batch]:
        """All batches, in order. Raises WrongFile."""
        batch: Batch | None = None
        number = 1
        try:
            for number, line in _lines(self._path, advance):
                if isinstance(line, ConversationLine):
                    if batch:
                        yield self._last(batch)
                    conversation_id = await self._names.add(line)
                    batch = Batch(Incoming(line, number, conversation_id, name_of=self._names.name))
                    continue
                if batch is None:
                    raise WrongLine("a message must follow the line of its conversation")
                searchable = self._searchable(batch.incoming.conversation_id)
                message = batch.incoming.take(line, searchable=searchable)
                batch.messages.append(message)
                batch.weight += weight_of(message)
                # Both are bounded: many small messages, and a few of a megabyte.
                if len(batch.messages) >= AT_A_TIME or batch.weight >= MOST_WEIGHT:
                    yield batch
                    batch = Batch(batch.incoming)
        except WrongLine as error:
            raise wrong(number, error) from None
        if batch:
            yield self._last(batch)

    def _last(self, batch: Batch) -> Batch:
        try:
            batch.finished = Finished(*batch.incoming.finish())
        except WrongLine as error:
            # The line of the conversation, not the last one read: the fault is in its fields.
            raise wrong(batch.incoming.number, error) from None
        return batch


def wrong(number: int, what: object) -> WrongFile:
    return WrongFile(f"line {number}: {what}")


def _lines(path: Path, advance: Advance) -> Iterator[tuple[int, ConversationLine | MessageLine]]:
    """The lines after the header, with their numbers."""
    with path.open("rb") as file:
        number = 0
        while text := file.readline(MOST_BYTES_OF_A_LINE):
            number += 1
            advance(len(text))
            try:
                if text.isspace() and number > 1:
                    continue
                # A longer line was cut here, and no part of it may be read as a line.
                if len(text) == MOST_BYTES_OF_A_LINE:
                    raise WrongLine("is longer than 16 MiB")
                given = parsed(text)
                kind = given.get("kind")
                if number == 1:
                    if kind != "header":
                        raise WrongLine(
                            f'the first line must be {{"kind":"header","version":{VERSION}}}'
                        )
                    version = line_from(HeaderLine, given).version
                    if version != VERSION:
                        raise WrongLine(f"version {version} is not known, only {VERSION}")
                elif kind == "message":
                    yield number, line_from(MessageLine, given)
                elif kind == "conversation":
                    yield number, line_from(ConversationLine, given)
                else:
                    raise WrongLine('kind must be "conversation" or "message"')
            except WrongLine as error:
                raise wrong(number, error) from None
    if number == 0:
        raise wrong(1, "the file is empty")
