"""JSON schemas of requests, answers and events, and the links from answers to further requests."""

from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema

from chat_aio.plugin_types.files import File
from chat_aio.schema.models import OkResponse
from chat_aio.web.openapi.prose import Described, name_of
from chat_aio.web.operations import Operation, Streaming
from chat_aio.web.plugins import PluginOperation

Json = dict[str, Any]
Shape = type[BaseModel]

IDENTIFIED: dict[str, dict[str, str]] = {
    "conversation": {"conversation_id": "id"},
    "message": {"message_id": "id", "root_id": "id", "conversation_id": "conversationId"},
    "invite": {"code": "code", "conversation_id": "conversationId"},
    "report": {"report_id": "id"},
    "ban": {"ban_id": "id"},
}
"""For each envelope of something that was made: the path parameters that its fields can fill. Those
whose field is not `conversationId` identify the thing itself."""


class _Untitled(GenerateJsonSchema):
    """Leaves out the titles of fields, which only repeat their names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class Schemas:
    """The schemas of all models that operations take and return, and of events."""

    def __init__(self, operations: Iterable[Described], events: Iterable[Shape]) -> None:
        operations = list(operations)
        taken: set[Shape] = set()
        for operation in operations:
            if isinstance(operation, Operation):
                taken.update(filter(None, (operation.query, operation.body)))
            elif isinstance(operation, Streaming):
                taken.update(filter(None, (operation.query,)))
            elif operation.route.request_model:
                taken.add(operation.route.request_model)
        given: set[Shape] = {*filter(None, map(_given, operations)), *events, OkResponse}
        # In the order of their names, so that the document is the same in every process.
        name = attrgetter("__name__")
        wanted: list[tuple[Shape, JsonSchemaMode]] = []
        wanted += [(model, "validation") for model in sorted(taken, key=name)]
        wanted += [(model, "serialization") for model in sorted(given, key=name)]
        self._refs, found = models_json_schema(
            wanted, ref_template="#/components/schemas/{model}", schema_generator=_Untitled
        )
        self.components: Json = found["$defs"]

    def given(self, shape: Shape) -> Json:
        """A reference to the schema of an answer or event."""
        return self._refs[shape, "serialization"]

    def body_of(self, operation: Described) -> Json | None:
        shape: Shape | None = None
        if isinstance(operation, Operation):
            shape = operation.body
        elif isinstance(operation, PluginOperation) and operation.method != "GET":
            shape = operation.route.request_model
        return None if shape is None else self._refs[shape, "validation"]

    def query_of(self, operation: Described) -> Iterator[tuple[str, Json, bool]]:
        """Each field of the query string: its name, its schema and whether it is required."""
        shape: Shape | None = None
        if isinstance(operation, Operation | Streaming):
            shape = operation.query
        elif isinstance(operation, PluginOperation) and operation.method == "GET":
            shape = operation.route.request_model
        if shape is None:
            return
        found = self.components[self._refs[shape, "validation"]["$ref"].rpartition("/")[2]]
        for name, schema in found["properties"].items():
            # An optional field is "this or null", and a query string has no null.
            shapes = schema.get("anyOf", [schema])
            plain = next(variant for variant in shapes if variant != {"type": "null"})
            default = {} if schema.get("default") is None else {"default": schema["default"]}
            yield name, {**plain, **default}, name in found.get("required", ())

    def answer_to(self, operation: Operation | PluginOperation) -> Json:
        """The schema of the whole answer, including its envelope."""
        shape = _given(operation) or OkResponse
        envelope = operation.envelope if isinstance(operation, Operation) else None
        if envelope is None:
            return self.given(shape)
        ref = self.given(shape)
        inside = {"type": "array", "items": ref} if _is_list(operation) else ref
        return {
            "type": "object",
            "properties": {envelope: inside},
            "required": [envelope],
            "additionalProperties": False,
        }


def links_to(operation: Described, others: Iterable[Described]) -> Json:
    """OpenAPI links from an operation to the requests about its result."""
    if (
        not isinstance(operation, Operation)
        or operation.method != "POST"
        or operation.envelope not in IDENTIFIED
    ):
        return {}
    named = IDENTIFIED[operation.envelope]
    names = {name for name, key in named.items() if key != "conversationId"}
    places = {name: f"$response.body#/{operation.envelope}/{key}" for name, key in named.items()}
    # Requests about the thing itself, if its fields can fill all of their path's parameters.
    return {
        name_of(other): {
            "operationId": name_of(other),
            "parameters": {name: places[name] for name in other.places},
        }
        for other in others
        if isinstance(other, Operation) and names & {*other.places} and {*other.places} <= {*places}
    }


def answer_of(operation: Operation) -> Any:
    """The annotated return type of an operation's action."""
    return operation.answer_type


def gives_file(operation: Described) -> bool:
    """Whether the answer is a file."""
    return isinstance(operation, PluginOperation) and operation.route.response_model is File


def _given(operation: Described) -> Shape | None:
    if isinstance(operation, PluginOperation):
        response = operation.route.response_model
        return response if response is not None and issubclass(response, BaseModel) else None
    if isinstance(operation, Streaming):
        return None
    answer = answer_of(operation)
    found = get_args(answer)[0] if _is_list(operation) else answer
    return found if isinstance(found, type) and issubclass(found, BaseModel) else None


def _is_list(operation: Described) -> bool:
    return isinstance(operation, Operation) and bool(get_args(answer_of(operation)))
