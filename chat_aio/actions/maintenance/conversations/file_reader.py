"""Reading a file of conversations: its lines become batches of documents, a bounded number at a
time."""

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
from chat_aio.store.documents import ConversationDocument, CounterDocument, MessageDocument
from chat_aio.store.maintenance.progress import Advance
from chat_aio.store.numbering import weight_of
from chat_aio.store.settings import Settings

AT_A_TIME = 1_000
MOST_WEIGHT = 4 * 1024 * 1024
MOST_BYTES_OF_A_LINE = 16 * 1024 * 1024


class WrongFile(Exception):
    """A file that cannot be imported; the message names the line and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a conversation's lines: its document, its head, and the digest of the lines."""

    conversation: ConversationDocument
    head: CounterDocument
    digest: str


@dataclass(slots=True)
class Batch:
    """The next messages of one conversation; `finished` in its last batch."""

    incoming: Incoming
    messages: list[MessageDocument] = field(default_factory=list)
    weight: int = 0
    finished: Finished | None = None


@dataclass(slots=True)
class Names:
    """The ids here of the conversations that a file names. That of a direct conversation follows
    from its users and the key of this database, so that they find it again.

    `came_late` means that a name was needed above the line that gives it another id here: the
    file must be read once more, with what is known by then.
    """

    settings: Settings
    known: dict[str, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    came_late: bool = False

    async def add(self, line: ConversationLine) -> str:
        """The id of a conversation here. Raises WrongLine."""
        users = [participant.user_id for participant in line.participants]
        if line.type == "direct" and len(users) == 2 and not any(map(is_erased, users)):
            found = await self.settings.direct_conversation_id(users[0], users[1])
        elif line.id is not None:
            found = id_here("conversation", line.id)
        else:
            raise WrongLine("id is missing; only a direct conversation may be without")
        if line.id is not None and found != self._id_of(line.id):
            self.came_late = self.came_late or line.id in self.asked
            self.known[line.id] = found
        return found

    def name(self, given: str) -> str:
        """The id here of the conversation that a forward names."""
        self.asked.add(given)
        return self._id_of(given)

    def _id_of(self, given: str) -> str:
        return self.known.get(given) or id_here("conversation", given)


class Reader:
    """Reads the file at `path`. Messages get their search fields in the conversations, by id, that
    are `searchable`."""

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
        for number, line in _lines(self._path, advance):
            if isinstance(line, ConversationLine):
                if batch:
                    yield self._last(batch)
                batch = Batch(await self._begin(number, line))
                continue
            if batch is None:
                raise wrong(number, "a message stands behind the line of its conversation")
            message = self._take(batch.incoming, number, line)
            batch.messages.append(message)
            batch.weight += weight_of(message)
            if len(batch.messages) >= AT_A_TIME or batch.weight >= MOST_WEIGHT:
                yield batch
                batch = Batch(batch.incoming)
        if batch:
            yield self._last(batch)

    async def _begin(self, number: int, line: ConversationLine) -> Incoming:
        try:
            conversation_id = await self._names.add(line)
            return Incoming(line, number, conversation_id, name_of=self._names.name)
        except WrongLine as error:
            raise wrong(number, error) from None

    def _take(self, incoming: Incoming, number: int, line: MessageLine) -> MessageDocument:
        try:
            searchable = self._searchable(incoming.conversation_id)
            return incoming.take(line, searchable=searchable)
        except WrongLine as error:
            raise wrong(number, error) from None

    def _last(self, batch: Batch) -> Batch:
        try:
            batch.finished = Finished(*batch.incoming.finish())
        except WrongLine as error:
            raise wrong(batch.incoming.number, error) from None
        return batch


def wrong(number: int, what: object) -> WrongFile:
    return WrongFile(f"line {number}: {what}")


def _lines(path: Path, advance: Advance) -> Iterator[tuple[int, ConversationLine | MessageLine]]:
    """The lines behind the header, with their numbers."""
    with path.open("rb") as file:
        number = 0
        while text := file.readline(MOST_BYTES_OF_A_LINE):
            number += 1
            advance(len(text))
            try:
                if number == 1:
                    _require_header(text)
                elif not text.isspace():
                    yield number, _line(text)
            except WrongLine as error:
                raise wrong(number, error) from None
    if number == 0:
        raise wrong(1, "the file is empty")


def _require_header(text: bytes) -> None:
    given = parsed(text)
    if given.get("kind") != "header":
        raise WrongLine(f'the first line must be {{"kind":"header","version":{VERSION}}}')
    version = line_from(HeaderLine, given).version
    if version != VERSION:
        raise WrongLine(f"version {version} is not known, only {VERSION}")


def _line(text: bytes) -> ConversationLine | MessageLine:
    if len(text) == MOST_BYTES_OF_A_LINE:
        raise WrongLine("is longer than 16 MiB")
    given = parsed(text)
    match given.get("kind"):
        case "message":
            return line_from(MessageLine, given)
        case "conversation":
            return line_from(ConversationLine, given)
    raise WrongLine('kind must be "conversation" or "message"')
