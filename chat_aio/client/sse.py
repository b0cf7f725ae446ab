"""Parses server-sent events by the WHATWG standard, from bytes that may be cut anywhere."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Frame:
    """The lines up to an empty line. An `id` moves Last-Event-ID, even if there is no data and thus
    no event to dispatch; it is None if the frame has none."""

    id: str | None
    event: str
    data: str


class Parser:
    """Parses the bytes of one connection. `retry_ms` is the reconnection delay that the service has
    asked for."""

    def __init__(self) -> None:
        self.retry_ms: int | None = None
        # By the standard a byte order mark is dropped, and invalid bytes are replaced.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._after_cr = False
        self._id: str | None = None
        self._event = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames that are complete with these bytes."""
        text = self._decoder.decode(chunk)
        if self._after_cr and text:  # A CR LF was cut in two: the line has ended already.
            text = text.removeprefix("\n")
            self._after_cr = False
        self._after_cr |= text.endswith("\r")
        *lines, self._rest = _LINE_END.split(self._rest + text)
        for line in lines:
            if line:
                name, _, value = line.partition(":")
                value = value.removeprefix(" ")
                match name:
                    case "data":
                        self._data.append(value)
                    case "event":
                        self._event = value
                    case "id" if "\0" not in value:
                        self._id = value
                    case "retry" if value.isascii() and value.isdigit():
                        self.retry_ms = int(value)
            else:
                # A frame with an id alone is passed on, too: it moves the client's position.
                if self._data or self._id is not None:
                    yield Frame(self._id, self._event or "message", "\n".join(self._data))
                self._id, self._event, self._data = None, "", []
