"""Where the bytes of attachments are: the base class of stores."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator

from chat_aio.actions.plugin_api import Attachment, PluginAPI


class Store(ABC):
    """Keeps bytes under ids, which are letters, digits and hyphens. `name` is stored with each
    attachment; one that was stored elsewhere is left alone.

    Whatever it does may be repeated, and may be cut short by the end of the process.
    """

    name = "store"

    async def open(self, api: PluginAPI) -> None:
        """The chat opens."""
        return

    async def close(self) -> None:
        """The chat closes."""
        return

    @abstractmethod
    async def save(self, file_id: str, chunks: AsyncIterator[bytes]) -> None:
        """Store bytes as they come. If `chunks` raises, the file is not complete: it is deleted
        afterwards, and so is one that is never requested."""

    @abstractmethod
    def read(self, file_id: str, start: int, end: int) -> AsyncIterator[bytes]:
        """The bytes from `start` to before `end`, in parts of at most 1 MiB: a part is held until
        the client has it."""

    @abstractmethod
    async def delete(self, file_id: str) -> None:
        """Remove what there is of a file, if anything."""

    async def url(self, file_id: str, shown: Attachment, *, inline: bool) -> str | None:
        """A URL at which the client gets the bytes by itself, for some seconds; None if they go
        through the chat. It must answer with the content type and the name of `shown`, and tell
        browsers to store the file unless it is `inline`."""
        return None
