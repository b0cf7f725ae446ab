"""Applies and verifies the indexes of `indexes/*.json` and the validators of shapes.py."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

from bson import json_util
from pymongo import IndexModel
from pymongo.errors import CollectionInvalid, OperationFailure, PyMongoError

from chat_aio.errors import SetupError
from chat_aio.store import shapes
from chat_aio.store.database import COLLECTIONS, Database, is_unauthorized
from chat_aio.store.drivers import maybe_await

_EXISTS_ALREADY = 48

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Index:
    """One index; `serves` is the query that needs it, which a test proves with explain(). With
    `only_with` it is made where that option is on, and surplus elsewhere."""

    collection: str
    name: str
    keys: tuple[tuple[str, Any], ...]
    options: dict[str, Any]
    serves: dict[str, Any]
    only_with: str | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between the database and its description. `index` is None for a collection or
    its validator (`of`). A surplus index is not described; it only slows writes down."""

    state: Literal["missing", "different", "surplus"]
    collection: str
    index: str | None
    of: Literal["collection", "index", "validator"] = "index"

    def __str__(self) -> str:
        said = {
            "missing": "does not exist",
            "different": "is not as described",
            "surplus": "is not described",
        }
        name = self.collection if self.index is None else f"{self.collection}.{self.index}"
        subject = "the validator of" if self.of == "validator" else self.of
        return f"{subject} {name} {said[self.state]}"


def folder() -> Traversable | Path:
    """The folder of the index files: in the installed package, else in the checkout."""
    packaged = files("chat_aio") / "indexes"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "indexes"


def load() -> Iterator[Index]:
    """Every described index, in the order of the files' names."""
    for file in sorted(folder().iterdir(), key=lambda file: file.name):
        described = json.loads(file.read_text("utf-8"))
        for index in described["indexes"]:
            yield Index(
                collection=described["collection"],
                name=index["name"],
                keys=tuple((field, kind) for field, kind in index["keys"]),
                options=index["options"],
                serves=json_util.loads(json.dumps(index["serves"])),
                only_with=index.get("only_with"),
            )


def described_for(database: Database) -> Iterator[Index]:
    """The indexes that a database needs with the options that are on."""
    return (
        index for index in load() if index.only_with is None or index.only_with in database.flags
    )


async def apply(database: Database, advance: Callable[[int], object] = lambda _: None) -> None:
    """Create missing collections and indexes, and set missing or different validators. `advance` is
    called after each of COLLECTIONS. Raises SetupError if MongoDB refuses one."""
    described = _by_collection(database)
    try:
        existing = await _collections(database)
        for name in COLLECTIONS:
            standing = await _standing(database, name) if name in existing else {}
            # MongoDB refuses an index that differs from a standing one only in how it is stored.
            lacking = [
                index
                for index in described.get(name, ())
                if not _is_as_described(standing.get(index.name), index)
            ]
            if lacking:
                await database.collection(name).create_indexes(
                    [
                        IndexModel(list(index.keys), name=index.name, **index.options)
                        for index in lacking
                    ]
                )
            # Creating an index creates its collection. The others must also exist before the first
            # transaction and before the change stream.
            elif name not in existing:
                await _create_collection(database, database.prefix + name)
            advance(1)
    except PyMongoError as error:
        raise _refused("an index could not be created", error) from error
    try:
        for name, found in (await _collections(database)).items():
            if _lacks(name, found):
                await _set_validator(database, name)
    except PyMongoError as error:
        raise _refused("a validator could not be set", error) from error


def _refused(what: str, error: PyMongoError) -> SetupError:
    if is_unauthorized(error):
        return SetupError(
            f"{what}: this user of MongoDB has no right to it. Run `chat-aio indexes apply` once "
            "as a user who has readWrite and dbAdmin, and the chat as one with the role of "
            "docs/operations.md"
        )
    return SetupError(f"{what}: {error}")


async def require(database: Database, *, manage: bool) -> None:
    """Raise SetupError unless all indexes exist; with `manage`, create missing ones first.

    A missing validator is only logged: a chat works without, and its role may not be allowed to set
    one. Validators of the host's own are kept.
    """
    # Look first: if everything exists, the role of a service needs no right to create anything.
    found = [
        difference for difference in await differences(database) if difference.state != "surplus"
    ]
    lacking = [difference for difference in found if difference.of != "validator"]
    if lacking and manage:
        await apply(database)
        found = [
            difference
            for difference in await differences(database)
            if difference.state != "surplus"
        ]
        lacking = [difference for difference in found if difference.of != "validator"]
    if lacking:
        raise SetupError(
            "the database is not as the chat needs it (chat-aio indexes apply mends it): "
            + "; ".join(map(str, lacking))
        )
    if found and manage:
        found = await _set_own(database)
    if found:
        log.warning("%s (chat-aio indexes apply sets it)", "; ".join(map(str, found)))


async def _set_own(database: Database) -> list[Difference]:
    """Set validators where there is none or an older one of ours; returns what still differs."""
    for name, found in (await _collections(database)).items():
        if _lacks(name, found) and shapes.revision_of(found) is not None:
            try:
                await _set_validator(database, name)
            except OperationFailure as error:
                log.warning("a validator could not be set: code %s", error.code)
                # The role may not set validators: the others would be refused as well.
                break
    return [
        difference for difference in await differences(database) if difference.of == "validator"
    ]


async def _collections(database: Database) -> dict[str, Mapping[str, Any]]:
    """The existing collections, by name without the prefix, each with its validator."""
    wanted = {database.prefix + name: name for name in COLLECTIONS}
    answer = await maybe_await(
        database.handle.command("listCollections", filter={"name": {"$in": list(wanted)}})
    )
    # The first batch has all: there are no more than the chat's own collections.
    found = answer["cursor"]["firstBatch"]
    return {
        wanted[collection["name"]]: collection["options"].get("validator", {})
        for collection in found
    }


def _lacks(collection: str, found: Mapping[str, Any]) -> bool:
    """Whether a collection has neither its validator nor that of a newer version."""
    revision = shapes.revision_of(found)
    return not (revision and revision > shapes.REVISION) and found != shapes.validator(collection)


async def _set_validator(database: Database, collection: str) -> None:
    """Set a validator. With `moderate`, malformed rows can still be changed, and so repaired."""
    await maybe_await(
        database.handle.command(
            "collMod",
            database.prefix + collection,
            validator=shapes.validator(collection),
            validationLevel="moderate",
            validationAction="error",
        )
    )


def _by_collection(database: Database) -> dict[str, list[Index]]:
    described: dict[str, list[Index]] = {}
    for index in described_for(database):
        described.setdefault(index.collection, []).append(index)
    return described


async def missing(database: Database) -> list[str]:
    """What is missing or different, one line each; empty if all is as described."""
    return [
        str(difference)
        for difference in await differences(database)
        if difference.state != "surplus"
    ]


async def differences(database: Database) -> list[Difference]:
    """All differences to the description. Raises SetupError if the database cannot be read."""
    described = _by_collection(database)
    found: list[Difference] = []
    try:
        existing = await _collections(database)
        for name in COLLECTIONS:
            place = database.prefix + name
            if name not in existing:
                found.append(Difference("missing", place, None, of="collection"))
                continue
            found += await _differences(database, name, described.get(name, []))
            if _lacks(name, existing[name]):
                found.append(
                    Difference(
                        "different" if existing[name] else "missing", place, None, of="validator"
                    )
                )
    except PyMongoError as error:
        raise _refused("the indexes could not be read", error) from error
    return found


async def _differences(
    database: Database, collection: str, described: list[Index]
) -> list[Difference]:
    standing = await _standing(database, collection)
    place = database.prefix + collection
    found = [
        Difference("different" if index.name in standing else "missing", place, index.name)
        for index in described
        if not _is_as_described(standing.get(index.name), index)
    ]
    known = {"_id_", *(index.name for index in described)}
    return found + [Difference("surplus", place, name) for name in standing if name not in known]


async def _standing(database: Database, collection: str) -> dict[str, dict[str, Any]]:
    """The indexes of a collection as they are, by name."""
    cursor = await maybe_await(database.collection(collection).list_indexes())
    return {index["name"]: index for index in await cursor.to_list(None)}


def _is_as_described(stands: dict[str, Any] | None, index: Index) -> bool:
    if stands is None:
        return False
    # How an index is stored changes no query: one that an operator has made otherwise is right.
    options = {name: value for name, value in index.options.items() if name != "storageEngine"}
    same = all(stands.get(option) == value for option, value in options.items())
    return same and _keys_of(stands) == index.keys


def _keys_of(stands: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The keys as they were given; the server returns those of a text index as weights."""
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
