"""The indexes that `indexes/*.json` describe: loaded, applied, verified."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

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


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a database is not as described. `index` is None where a whole collection is meant; what
    is surplus is not described, and does no harm but to writes."""

    state: Literal["missing", "different", "surplus"]
    collection: str
    index: str | None

    def __str__(self) -> str:
        if self.index is None:
            return f"collection {self.collection} does not exist"
        said = {
            "missing": "does not exist",
            "different": "is not as described",
            "surplus": "is not described",
        }
        return f"index {self.collection}.{self.index} {said[self.state]}"


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
    return [str(each) for each in await differences(database) if each.state != "surplus"]


async def differences(database: Database) -> list[Difference]:
    """Where the database is not as described; SetupError where that cannot be read."""
    described = _by_collection()
    found: list[Difference] = []
    try:
        existing = set(await database.handle.list_collection_names())
        for name in COLLECTIONS:
            if database.prefix + name in existing:
                found += await _differences(database, name, described.get(name, []))
            else:
                found.append(Difference("missing", database.prefix + name, None))
    except PyMongoError as error:
        raise SetupError(f"the indexes could not be read: {error}") from error
    return found


async def _differences(
    database: Database, collection: str, described: list[Index]
) -> list[Difference]:
    cursor = await settled(database.collection(collection).list_indexes())
    standing = {each["name"]: each for each in await cursor.to_list(None)}
    place = database.prefix + collection
    found = [
        Difference("different" if each.name in standing else "missing", place, each.name)
        for each in described
        if not _is_as_described(standing.get(each.name), each)
    ]
    known = {"_id_", *(each.name for each in described)}
    return found + [Difference("surplus", place, name) for name in standing if name not in known]


def _is_as_described(stands: dict[str, Any] | None, index: Index) -> bool:
    if stands is None:
        return False
    same = all(stands.get(option) == value for option, value in index.options.items())
    return same and _keys_of(stands) == index.keys


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
