"""The description as an HTML page: one file without scripts or external resources."""

from collections.abc import Iterator
from html import escape
from typing import Any

Json = dict[str, Any]

NOTHING: Json = {"": {"schema": {}}}

HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }}
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
h2 {{ margin-top: 3rem; }}
details {{ border-top: 1px solid #8886; padding: .5rem 0; }}
summary {{ cursor: pointer; overflow-wrap: anywhere; }}
code, pre {{ font: .875rem/1.5 ui-monospace, monospace; }}
pre {{ overflow-x: auto; padding: .75rem; background: #8881; border-radius: .5rem; }}
table {{ border-collapse: collapse; }}
td, th {{ text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; }}
</style>
<h1>{title} {version}</h1>
"""


def page_of(document: Json) -> str:
    """The page: the operations by subject, then the shapes."""
    return "\n".join(_parts(document))


def _parts(document: Json) -> Iterator[str]:
    info = document["info"]
    yield HEAD.format(title=escape(info["title"]), version=escape(info["version"]))
    yield _prose(info["description"])
    yield '<p>For programs: <a href="openapi.json">openapi.json</a>.</p>'
    subject = None
    for path, methods in sorted(document["paths"].items()):
        for method, operation in methods.items():
            if operation["tags"][0] != subject:
                subject = operation["tags"][0]
                yield f"<h2>{escape(subject)}</h2>"
            yield from _operation(f"{method.upper()} {path}", operation)
    yield "<h2>Shapes</h2>"
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>'
        yield _prose(schema.get("description", ""))
        yield f"{_shape(schema)}</details>"


def _operation(name: str, operation: Json) -> Iterator[str]:
    summary = escape(operation["summary"])
    yield f'<details id="{operation["operationId"]}">'
    yield f"<summary><code>{escape(name)}</code> {summary}</summary>"
    yield _prose(operation["description"])
    if parameters := operation["parameters"]:
        yield "<table><tr><th>Parameter<th>In<th>Type</tr>"
        for parameter in parameters:
            required = "" if parameter.get("required") else ", optional"
            kind = escape(_kind(parameter["schema"]))
            name, place = parameter["name"], parameter["in"]
            yield f"<tr><td><code>{name}</code><td>{place}<td>{kind}{required}</tr>"
        yield "</table>"
    if body := operation.get("requestBody"):
        optional = "" if body["required"] else " (may be missing)"
        (content,) = body["content"].values()
        yield f"<p>Body{optional}: {_link(content['schema'])}</p>"
    yield "<table><tr><th>Status<th>Answer</tr>"
    for status, answer in operation["responses"].items():
        yield f"<tr><td>{status}<td>{_answer(answer)}</tr>"
    yield "</table></details>"


def _answer(answer: Json) -> str:
    schema = next(iter(answer.get("content", NOTHING).values()))["schema"]
    if "error" in schema.get("properties", {}):
        # Each line of an error's description begins with `- `.
        return "<br>".join(_marked(line[2:]) for line in answer["description"].split("\n"))
    return f"{_marked(answer['description'])} {_link(schema) if schema else ''}"


def _shape(schema: Json) -> str:
    if "oneOf" in schema:
        return f"<p>One of {', '.join(map(_link, schema['oneOf']))}.</p>"
    required = schema.get("required", ())
    rows = (
        f"<tr><td><code>{escape(name)}</code><td>{_link(field)}"
        f"<td>{'' if name in required else 'optional'}</tr>"
        for name, field in schema.get("properties", {}).items()
    )
    return f"<table>{''.join(rows)}</table>"


def _link(schema: Json) -> str:
    """A schema in a few words; a named one links to its description."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{escape(name)}"><code>{escape(name)}</code></a>'
    if "anyOf" in schema:
        return " or ".join(map(_link, schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_link(schema.get('items') or schema['prefixItems'][0])}"
    if "properties" in schema:
        inside = (f"{escape(name)}: {_link(field)}" for name, field in schema["properties"].items())
        return f"{{ {', '.join(inside)} }}"
    return escape(_kind(schema))


def _kind(schema: Json) -> str:
    if values := schema.get("enum") or ([schema["const"]] if "const" in schema else None):
        return " | ".join(map(str, values))
    kind = str(schema.get("format") or schema.get("type", "anything"))
    limits = {"minLength": "from", "maxLength": "up to", "minimum": "from", "maxItems": "up to"}
    bounds = [f"{word} {schema[key]}" for key, word in limits.items() if key in schema]
    return f"{kind} ({', '.join(bounds)})" if bounds else kind


def _prose(text: str) -> str:
    return f"<p>{_marked(text)}</p>" if text else ""


def _marked(text: str) -> str:
    """Text as HTML, with its code in `<code>` and its paragraphs."""
    # Every other part was between backquotes.
    parts = escape(text).split("`")
    marked = (f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))
    return "".join(marked).replace("\n\n", "</p><p>")
