"""The rules for changes of metadata, and for their versions (specification 18).

Changes need the option `editable_metadata`. The version grows with each change, with or without the
option, so that it may be switched on later.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from chat_aio.actions.context import Context
from chat_aio.errors import InvalidInput, MetadataConflict
from chat_aio.store.metadata import replacement, same, version_of

NOT_EDITABLE = "metadata cannot be changed: the service has not switched this on"


class MetadataGiven(Protocol):
    """New metadata, if any are given, and the version that the present ones must have."""

    @property
    def metadata(self) -> dict[str, Any] | None: ...

    @property
    def metadata_version(self) -> int | None: ...


def require_editable(context: Context, metadata: object) -> None:
    """Raise InvalidInput for metadata without the option: nobody should believe them stored."""
    if metadata is not None and not context.options.editable_metadata:
        raise InvalidInput(NOT_EDITABLE)


def require_version(stored: Mapping[str, Any], given: MetadataGiven) -> None:
    """Raise MetadataConflict if the metadata have another version than the one named, and
    InvalidInput for a version without metadata."""
    if given.metadata_version is None:
        return
    if given.metadata is None:
        raise InvalidInput("metadataVersion needs metadata")
    if given.metadata_version != version_of(stored):
        raise MetadataConflict


def metadata_to_set(stored: Mapping[str, Any], given: MetadataGiven) -> dict[str, Any]:
    """The fields that replace the metadata of a conversation or a message; none if they are as
    given already. Raises as `require_version`."""
    require_version(stored, given)
    if given.metadata is None or same(stored["metadata"], given.metadata):
        return {}
    return replacement(stored, given.metadata)
