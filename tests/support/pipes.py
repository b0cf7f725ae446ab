"""A connection of a stream without a socket."""

from dataclasses import dataclass, field

from chat_aio.live.stream import Pipe
from chat_aio.observability.observer import Ending


@dataclass
class Connected:
    """What `Stream.go_live` takes; it notes how the stream has ended."""

    pipe: Pipe
    chunked: bool = False
    finished: list[Ending] = field(default_factory=list)

    def finish(self, ending: Ending) -> None:
        self.finished.append(ending)
