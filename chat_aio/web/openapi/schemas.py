"""JSON schemas of requests, answers and events, and the links from answers to further requests."""

from collections.abc import Iterable, Iterator
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema

from chat_aio.plugin_types.files import File
from chat_aio.schema.models import Done
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
        taken = {shape for operation in operations for shape in _taken(operation)}
        given: set[Shape] = {*filter(None, map(_given, operations)), *events, Done}
        wanted: list[tuple[Shape, JsonSchemaMode]] = []
        wanted += [(model, "validation") for model in sorted(taken, key=_name)]
        wanted += [(model, "serialization") for model in sorted(given, key=_name)]
        self._refs, found = models_json_schema(
            wanted, ref_template="#/components/schemas/{model}", schema_generator=_Untitled
        )
        self.components: Json = found["$defs"]

    def given(self, shape: Shape) -> Json:
        """A reference to the schema of an answer or event."""
        return self._refs[shape, "serialization"]

    def body_of(self, operation: Described) -> Json | None:
        shape = operation.body if isinstance(operation, Operation) else _body(operation)
        return None if shape is None else self._refs[shape, "validation"]

    def query_of(self, operation: Described) -> Iterator[tuple[str, Json, bool]]:
        """Each field of the query string: its name, its schema and whether it is required."""
        shape = operation.query if isinstance(operation, Operation) else _query(operation)
        if shape is None:
            return
        found = self.components[self._refs[shape, "validation"]["$ref"].rpartition("/")[2]]
        for name, schema in found["properties"].items():
            yield name, _without_null(schema), name in found.get("required", ())

    def answer_to(self, operation: Operation | PluginOperation) -> Json:
        """The schema of the whole answer, including its envelope."""
        shape = _given(operation) or Done
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
    """OpenAPI links from an operation to the requests about what it has made."""
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
    return isinstance(operation, PluginOperation) and operation.route.gives is File


def _taken(operation: Described) -> Iterator[Shape]:
    if isinstance(operation, Operation):
        yield from filter(None, (operation.query, operation.body))
    elif isinstance(operation, PluginOperation) and operation.route.takes:
        yield operation.route.takes


def _given(operation: Described) -> Shape | None:
    if isinstance(operation, PluginOperation):
        gives = operation.route.gives
        return gives if gives is not None and issubclass(gives, BaseModel) else None
    if isinstance(operation, Streaming):
        return None
    answer = answer_of(operation)
    found = get_args(answer)[0] if _is_list(operation) else answer
    return found if isinstance(found, type) and issubclass(found, BaseModel) else None


def _is_list(operation: Described) -> bool:
    return isinstance(operation, Operation) and bool(get_args(answer_of(operation)))


def _query(operation: Described) -> Shape | None:
    if isinstance(operation, PluginOperation) and operation.method == "GET":
        return operation.route.takes
    return None


def _body(operation: Described) -> Shape | None:
    if isinstance(operation, PluginOperation) and operation.method != "GET":
        return operation.route.takes
    return None


def _without_null(schema: Json) -> Json:
    """The schema of an optional field without null, which a query string does not have."""
    found = [variant for variant in schema.get("anyOf", [schema]) if variant != {"type": "null"}]
    default = {} if schema.get("default") is None else {"default": schema["default"]}
    return {**found[0], **default}


def _name(shape: Shape) -> str:
    return shape.__name__
