"""The fields of room controls as admins set them: the one list for requests, for lines of exported
files, and for the methods that set them, in process and over HTTP."""

from pydantic import BaseModel
from typing_extensions import TypedDict

from chat_aio.schema.fields import SlowSeconds, Topic
from chat_aio.schema.models import History


class RoomControls(BaseModel):
    """A part of an input or of a line, which decides about aliases and strictness."""

    frozen: bool | None = None
    slow_mode_seconds: SlowSeconds | None = None
    topic: Topic | None = None
    history: History | None = None


class RoomFields(TypedDict, total=False):
    """The same as keyword arguments: `**controls: Unpack[RoomFields]`. A test compares the two."""

    # Not made from the model: type checkers know only written fields.
    frozen: bool | None
    slow_mode_seconds: int | None
    topic: str | None
    history: History | None
