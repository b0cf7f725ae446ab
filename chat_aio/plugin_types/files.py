"""Files that come in and go out by a plugin's routes."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that a client sends in the part `file` of a multipart form.

    `name` comes from the client: it may be a path, or empty. `length` is the most that can come,
    None if that is unknown. `chunks` gives the bytes as they arrive, once; it raises InvalidInput
    for a client that stalls or leaves, PayloadTooLarge, and at the end UserBanned for one who was
    banned in the meantime.
    """

    name: str
    length: int | None
    chunks: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """An answer of bytes, which are the same as long as its `etag` is. `read(start, end)` gives
    those from `start` to before `end`. Browsers show it if it is `inline`, which is safe for few
    content types only; otherwise they store it under its `name`."""

    name: str
    content_type: str
    size: int
    etag: str
    inline: bool
    read: Callable[[int, int], AsyncIterator[bytes]]


@dataclass(frozen=True, slots=True)
class Redirect:
    """An answer that sends the client to another URL, for this once."""

    url: str


def disposition(name: str, *, inline: bool) -> str:
    """The Content-Disposition under which browsers show or store a file, in ASCII and as it is."""
    kind = "inline" if inline else "attachment"
    # Both forms: old browsers read only the first, which must not contain other characters.
    plain = "".join(
        character if " " <= character <= "~" and character not in '"\\%' else "_"
        for character in name
    )
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
