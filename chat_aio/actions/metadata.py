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


def require_editable(context: Context, metadata: object, version: object) -> None:
    """Raise InvalidInput for metadata without the option, because nobody should believe them
    stored, and for a version without metadata."""
    if metadata is not None and not context.options.editable_metadata:
        raise InvalidInput(NOT_EDITABLE)
    if version is not None and metadata is None:
        raise InvalidInput("metadataVersion needs metadata")


def require_version(stored: Mapping[str, Any], given: MetadataGiven) -> None:
    """Raise MetadataConflict if the metadata have another version than the one named."""
    if given.metadata_version not in (None, version_of(stored)):
        raise MetadataConflict


def metadata_to_set(stored: Mapping[str, Any], given: MetadataGiven) -> dict[str, Any]:
    """The fields that replace the metadata of a conversation or a message; none if they are as
    given already. Raises as `require_version`."""
    require_version(stored, given)
    if given.metadata is None or same(stored["metadata"], given.metadata):
        return {}
    return replacement(stored, given.metadata)
