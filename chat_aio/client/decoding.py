"""Answers as models (`chat_aio.schema.models`), and refusals as errors (`chat_aio.errors`)."""

from typing import Any, TypeVar

from aiohttp import ClientResponse
from pydantic_core import from_json

from chat_aio.errors import ChatError
from chat_aio.schema.wire import Wire

W = TypeVar("W", bound=Wire)


def read(shape: type[W], told: Any) -> W:
    """A model of the contract from its JSON; keys that a newer service adds are ignored."""
    return shape.model_validate(told, extra="ignore")


def object_from(response: ClientResponse, raw: bytes) -> dict[str, Any]:
    """The JSON object of an answer. Raises ChatError if it is a refusal."""
    if response.ok:
        try:
            answer = from_json(raw)
        except ValueError:
            answer = None
        # A proxy's page with status 200 is not an answer of the chat either.
        if isinstance(answer, dict):
            return answer
    raise refusal_from(response, raw)


def refusal_from(response: ClientResponse, raw: bytes) -> ChatError:
    """The ChatError of an answer, of the catalogue's class if the code is known.

    `code`, `status` and `retry_after` are those of the answer. If something else has answered, such
    as a proxy, the code is `HTTP_502` and so on.
    """
    try:
        given = from_json(raw)["error"]
        code, message = str(given["code"]), str(given["message"])
    except (ValueError, KeyError, TypeError):
        code, message = f"HTTP_{response.status}", f"no answer of a chat: {response.reason}"
    error = ChatError.catalogue.get(code, ChatError)(message)
    wait = response.headers.get("Retry-After", "")
    # `isascii`, because `isdigit` also accepts digits such as `²`, which `int` refuses.
    retry_after = int(wait) if wait.isascii() and wait.isdigit() else None
    # On the instance: in the classes of the catalogue they are class attributes.
    vars(error).update(code=code, status=response.status, retry_after=retry_after)
    return error
