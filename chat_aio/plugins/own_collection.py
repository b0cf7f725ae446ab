"""A collection of a plugin's own documents, as an attribute of the class that uses it."""

from typing import Any, Protocol

from chat_aio.actions.plugin_api import PluginAPI


class _UsesAPI(Protocol):
    _api: PluginAPI


class OwnCollection:
    """`_rows = OwnCollection("drafts")`, in a class that has `_api`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, user: _UsesAPI, owner: type) -> Any:
        # At each use, and never kept: the client behind a collection may be replaced.
        return user._api.collection(self._name)
