"""The indexes that `indexes/*.json` describe: loaded, applied, verified."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from bson import json_util
from pymongo import IndexModel
from pymongo.errors import CollectionInvalid, OperationFailure, PyMongoError

from chat_aio.errors import SetupError
from chat_aio.store.database import COLLECTIONS, Database, settled

_EXISTS_ALREADY = 48


@dataclass(frozen=True, slots=True)
class Index:
    """One index: `serves` is the query that needs it, which a test proves with explain()."""

    collection: str
    name: str
    keys: tuple[tuple[str, Any], ...]
    options: dict[str, Any]
    serves: dict[str, Any]


def folder() -> Traversable | Path:
    """Where the index files are: in the installed package, else in the checkout."""
    packaged = files("chat_aio") / "indexes"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "indexes"


def load() -> Iterator[Index]:
    """Every index of the installation, in the order of the files' names."""
    for file in sorted(folder().iterdir(), key=lambda each: each.name):
        described = json.loads(file.read_text("utf-8"))
        for each in described["indexes"]:
            yield Index(
                collection=described["collection"],
                name=each["name"],
                keys=tuple((field, kind) for field, kind in each["keys"]),
                options=each["options"],
                serves=json_util.loads(json.dumps(each["serves"])),
            )


async def apply(database: Database) -> None:
    """Create the collections and indexes that are missing; SetupError where one is refused."""
    described = _by_collection()
    try:
        existing = set(await database.handle.list_collection_names())
        for name in COLLECTIONS:
            if models := [_model(each) for each in described.get(name, ())]:
                await database.collection(name).create_indexes(models)
            elif database.prefix + name not in existing:
                await _create_collection(database, database.prefix + name)
    except PyMongoError as error:
        raise SetupError(f"an index could not be created: {error}") from error


def _by_collection() -> dict[str, list[Index]]:
    described: dict[str, list[Index]] = {}
    for index in load():
        described.setdefault(index.collection, []).append(index)
    return described


def _model(index: Index) -> IndexModel:
    return IndexModel(list(index.keys), name=index.name, **index.options)


async def missing(database: Database) -> list[str]:
    """What is missing or different, one line each; empty when all is as described."""
    problems: list[str] = []
    try:
        existing = set(await database.handle.list_collection_names())
        problems += [
            f"collection {database.prefix}{name} does not exist"
            for name in COLLECTIONS
            if database.prefix + name not in existing
        ]
        for index in load():
            if database.prefix + index.collection in existing:
                problems += await _difference(database, index)
    except PyMongoError as error:
        raise SetupError(f"the indexes could not be read: {error}") from error
    return problems


async def _difference(database: Database, index: Index) -> list[str]:
    cursor = await settled(database.collection(index.collection).list_indexes())
    found = {each["name"]: each for each in await cursor.to_list(None)}
    place = f"index {database.prefix}{index.collection}.{index.name}"
    if index.name not in found:
        return [f"{place} does not exist"]
    stands = found[index.name]
    same = _keys_of(stands) == index.keys and all(
        stands.get(option) == value for option, value in index.options.items()
    )
    return [] if same else [f"{place} is not as described"]


def _keys_of(stands: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The keys as they were given; the server names those of a text index in its weights."""
    if "weights" in stands:
        return tuple((field, "text") for field in stands["weights"])
    return tuple(stands["key"].items())


async def _create_collection(database: Database, name: str) -> None:
    try:
        await database.handle.create_collection(name)
    except CollectionInvalid:
        pass  # Another process was faster.
    except OperationFailure as error:
        if error.code != _EXISTS_ALREADY:
            raise
