"""The optional parts of an installation; the value of each is its 501 error."""

from enum import Enum
from typing import Protocol

from chat_aio import errors


class Capability(Enum):
    """An optional part of the service; switch one off with
    `Options(disabled_capabilities={...})`."""

    CHANNELS = errors.ChannelsUnsupported
    INVITES = errors.InvitesUnsupported
    MODERATION = errors.ModerationUnsupported
    SEARCH = errors.SearchUnsupported
    STREAMS = errors.StreamUnsupported


class HasCapabilities(Protocol):
    @property
    def capabilities(self) -> frozenset[Capability]: ...


def require(context: HasCapabilities, capability: Capability) -> None:
    """Raise the capability's 501 error if this installation lacks it."""
    if capability not in context.capabilities:
        raise capability.value()
