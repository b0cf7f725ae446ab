"""The guides of the element, the store and chat.js describe chat_aio/browser."""

import json
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from pydantic.alias_generators import to_camel

from chat_aio.schema import models
from chat_aio.schema.inputs import EditableMetadata, RoomChange
from chat_aio.web.browser_files import BROWSER
from tests.spec.test_documents import table
from tests.spec.test_npm import OPTIONS, TSC, needs_tsc, run
from tests.spec.test_npm import folder as folder

GUIDES = Path(__file__).parents[2] / "docs/guides"
GUIDE = "\n".join((GUIDES / f"{name}.md").read_text() for name in ("pages", "react", "chat-js"))
ELEMENT = (BROWSER / "element.js").read_text()
VIEWS = "".join(
    path.read_text()
    for folder in ("view", "style")
    for path in sorted(BROWSER.glob(f"{folder}/*.js"))
)
VIEWS += ELEMENT
STORE = (BROWSER / "chat-store.d.ts").read_text()


CHAT_TYPES = {
    name: (base, {*re.findall(r"(\w+)\??:", body)})
    for base, body, name in re.findall(
        r"@typedef \{(?:(\w+) & )?\{(.*?)\}\} (\w+)",
        re.sub(r"\n \* +", " ", (BROWSER / "chat.js").read_text()),
    )
}
"""The types of chat.js that are objects: their base, and their other fields."""


def test_types_of_chat_js_have_the_fields_of_the_answers() -> None:
    compared = 0
    for name, (base, written) in CHAT_TYPES.items():
        shape: Any = getattr(models, name, None)
        if shape is None:  # A part of a request, or an answer without a model of its own.
            continue
        given = fields_of(shape) - (fields_of(getattr(models, base)) if base else set())
        assert written == given, name
        compared += 1
    assert compared > 20


def test_group_fields_of_chat_js_are_those_of_the_request() -> None:
    # Without `editable_metadata` a change refuses metadata; with it they are a type by themselves.
    fields_of_group = RoomChange.model_fields.keys() - {"metadata"}
    assert CHAT_TYPES["GroupFields"] == ("", {*map(to_camel, fields_of_group)})
    assert CHAT_TYPES["NewMetadata"] == ("", {*map(to_camel, EditableMetadata.model_fields)})


def fields_of(shape: Any) -> set[str]:
    named = [field.name for field in fields(shape)] if is_dataclass(shape) else shape.model_fields
    return {*map(to_camel, named)}


def names(cell: str) -> set[str]:
    return {*re.findall(r"(\w+)\(", cell)}


def test_every_module_of_the_package_is_documented() -> None:
    rows = [[cell.strip("| ") for cell in row] for row in table("File | As an npm package")]
    exports = json.loads((BROWSER / "package.json").read_text())["exports"]
    places = {
        export["default"]: name for name, export in exports.items() if isinstance(export, dict)
    }
    assert {f"./{file}": name.replace("chat-aio", ".") for file, name, _ in rows} == places
    for file, _, exported in rows:
        text = (BROWSER / file).read_text()
        found = re.findall(r"^export (?:class|function|const) (\w+)", text, re.MULTILINE)
        assert exported.split(", and ")[0].split(", ") == sorted(found, key=exported.index)


def test_the_element_is_documented() -> None:
    documented = {row[0].strip("| ") for row in table("Attribute", GUIDE)}
    (observed,) = re.findall(r"observedAttributes = \[(.*?)\];", ELEMENT, re.DOTALL)
    assert documented == {*re.findall(r'"(\w+)"', observed), "token"}
    (known,) = re.findall(r"FEATURES = \[(.*?)\];", ELEMENT, re.DOTALL)
    features = " ".join(row[0] for row in table("Feature", GUIDE))
    assert {*re.findall(r"\w+", features)} == {*re.findall(r'"(\w+)"', known)}
    dispatched = {f"chat-aio:{name}" for name in re.findall(r'#dispatch\w*\("(\w+)"', ELEMENT)}
    assert {row[0].strip("| ") for row in table("Event", GUIDE)} == dispatched
    themes = " ".join(row[0] for row in table("Property", GUIDE))
    assert {*re.findall(r"--chat-aio-[\w-]+", themes)} == {*re.findall(r"--chat-aio-[\w-]+", VIEWS)}


def test_colours_are_as_documented() -> None:
    for cells in table("Property", GUIDE):
        properties = re.findall(r"--[\w-]+", cells[0])
        light, _, dark = cells[1].strip("| ").partition("; ")
        if "-font" in cells[0]:
            continue
        pairs = zip(*(re.split(r", | and ", text) for text in (light, dark)), strict=True)
        for name, (by_day, by_night) in zip(properties, pairs, strict=True):
            assert f"var({name}, light-dark({by_day}, {by_night}))" in VIEWS


def test_parts_are_documented() -> None:
    (line,) = re.findall(r"^Parts: (.*?)\. It needs", GUIDE, re.DOTALL | re.MULTILINE)
    given = " ".join(re.findall(r'part: "([\w -]+)"', VIEWS))
    # A message is somebody's, and a panel has its name.
    expected = {*given.split(), "own", "other", "thread", "details"}
    assert {*re.findall(r"`([\w-]+)`", line)} == expected


def test_the_store_is_documented() -> None:
    offered = {*re.findall(r"^    (\w+)(?:\(|: \()", STORE, re.MULTILINE)}
    documented = set[str]()
    for title in ("Snapshot", "Action"):
        for row in table(title, GUIDE):
            documented |= names(row[0])
    assert documented | {"subscribe", "constructor"} == offered
    state, listed, _, timeline, thread, _ = [row[1] for row in table("Snapshot", GUIDE)]
    shapes = {"ChatState": state, "ShownConversation": listed, "ShownTimeline": timeline}
    shapes["ShownThread"] = thread
    for shape, cell in shapes.items():
        (fields,) = re.findall(rf"^export type {shape} = \{{\n(.*?)^\}};", STORE, re.S | re.M)
        (shown,) = re.findall(r"^[^{]*\{(.*?)\}", cell)
        assert shown.split(", ") == re.findall(r"^    (\w+)\??:", fields, re.M)


@needs_tsc
async def test_the_typed_sample_is_accepted(folder: Path) -> None:
    (sample,) = re.findall(r"```typescript\n(.*?)```", GUIDE, re.DOTALL)
    (folder / "sample.ts").write_text(sample)
    code, said = await run(TSC, *OPTIONS, "sample.ts", cwd=folder)
    assert (code, said) == (0, "")
