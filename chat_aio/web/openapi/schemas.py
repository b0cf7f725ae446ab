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
        taken = {shape for each in operations for shape in _taken(each)}
        given: set[Shape] = {*filter(None, map(_given, operations)), *events, Done}
        wanted: list[tuple[Shape, JsonSchemaMode]] = []
        wanted += [(each, "validation") for each in sorted(taken, key=_name)]
        wanted += [(each, "serialization") for each in sorted(given, key=_name)]
        self._refs, found = models_json_schema(
            wanted, ref_template="#/components/schemas/{model}", schema_generator=_Untitled
        )
        self.components: Json = found["$defs"]

    def given(self, shape: Shape) -> Json:
        """A reference to the schema of an answer or event."""
        return self._refs[shape, "serialization"]

    def body_of(self, each: Described) -> Json | None:
        shape = each.body if isinstance(each, Operation) else _body(each)
        return None if shape is None else self._refs[shape, "validation"]

    def query_of(self, each: Described) -> Iterator[tuple[str, Json, bool]]:
        """Each field of the query string: its name, its schema and whether it is required."""
        shape = each.query if isinstance(each, Operation) else _query(each)
        if shape is None:
            return
        found = self.components[self._refs[shape, "validation"]["$ref"].rpartition("/")[2]]
        for name, schema in found["properties"].items():
            yield name, _without_null(schema), name in found.get("required", ())

    def answer_to(self, each: Operation | PluginOperation) -> Json:
        """The schema of the whole answer, including its envelope."""
        shape = _given(each) or Done
        envelope = each.envelope if isinstance(each, Operation) else None
        if envelope is None:
            return self.given(shape)
        ref = self.given(shape)
        inside = {"type": "array", "items": ref} if _is_list(each) else ref
        return {
            "type": "object",
            "properties": {envelope: inside},
            "required": [envelope],
            "additionalProperties": False,
        }


def links_to(each: Described, others: Iterable[Described]) -> Json:
    """OpenAPI links from an operation to the requests about what it has made."""
    if not isinstance(each, Operation) or each.method != "POST" or each.envelope not in IDENTIFIED:
        return {}
    named = IDENTIFIED[each.envelope]
    names = {name for name, key in named.items() if key != "conversationId"}
    places = {name: f"$response.body#/{each.envelope}/{key}" for name, key in named.items()}
    # Requests about the thing itself, if its fields can fill all of their path's parameters.
    return {
        name_of(other): {
            "operationId": name_of(other),
            "parameters": {name: places[name] for name in other.places},
        }
        for other in others
        if isinstance(other, Operation) and names & {*other.places} and {*other.places} <= {*places}
    }


def answer_of(each: Operation) -> Any:
    """The annotated return type of an operation's action."""
    return each.answer_type


def gives_file(each: Described) -> bool:
    """Whether the answer is a file."""
    return isinstance(each, PluginOperation) and each.route.gives is File


def _taken(each: Described) -> Iterator[Shape]:
    if isinstance(each, Operation):
        yield from filter(None, (each.query, each.body))
    elif isinstance(each, PluginOperation) and each.route.takes:
        yield each.route.takes


def _given(each: Described) -> Shape | None:
    if isinstance(each, PluginOperation):
        gives = each.route.gives
        return gives if gives is not None and issubclass(gives, BaseModel) else None
    if isinstance(each, Streaming):
        return None
    answer = answer_of(each)
    found = get_args(answer)[0] if _is_list(each) else answer
    return found if isinstance(found, type) and issubclass(found, BaseModel) else None


def _is_list(each: Described) -> bool:
    return isinstance(each, Operation) and bool(get_args(answer_of(each)))


def _query(each: Described) -> Shape | None:
    if isinstance(each, PluginOperation) and each.method == "GET":
        return each.route.takes
    return None


def _body(each: Described) -> Shape | None:
    if isinstance(each, PluginOperation) and each.method != "GET":
        return each.route.takes
    return None


def _without_null(schema: Json) -> Json:
    """The schema of an optional field without null, which a query string does not have."""
    found = [each for each in schema.get("anyOf", [schema]) if each != {"type": "null"}]
    default = {} if schema.get("default") is None else {"default": schema["default"]}
    return {**found[0], **default}


def _name(shape: Shape) -> str:
    return shape.__name__
