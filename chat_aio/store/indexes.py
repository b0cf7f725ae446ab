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
from chat_aio.store.metadata import METADATA_INDEXES, metadata_index, metadata_path

_EXISTS_ALREADY = 48

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Index:
    """One index; `serves` is the query that needs it, which a test proves with explain(). With
    `only_with` it is needed only if that option is on, and surplus otherwise."""

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
    """The indexes that a database needs with its options."""
    yield from (
        index for index in load() if index.only_with is None or index.only_with in database.flags
    )
    yield from map(_of_metadata, database.metadata_indexes)


def _of_metadata(name: str) -> Index:
    """The index of a field of conversations' metadata; the id orders those with one value."""
    path = metadata_path(name)
    return Index(
        collection="conversations",
        name=metadata_index(name),
        keys=((path, 1), ("_id", 1)),
        options={"partialFilterExpression": {path: {"$exists": True}}},
        serves={"what": f"the conversations with a value of {name}", "find": {path: {"$eq": 7}}},
    )


def _is_created_at_start(index: str | None) -> bool:
    """Whether a start may create this index. Those of metadata are the host's own choice, and may
    take long: only `chat-aio indexes apply` creates them."""
    return index is None or not index.startswith(METADATA_INDEXES)


async def apply(
    database: Database,
    advance: Callable[[int], object] = lambda _: None,
    *,
    at_start: bool = False,
) -> None:
    """Create missing collections and indexes, and set missing or different validators; `at_start`
    without indexes of metadata. `advance` is called after each of COLLECTIONS. Raises SetupError if
    MongoDB refuses one."""
    described = _by_collection(database)
    try:
        existing = await _collections(database)
        for name in COLLECTIONS:
            standing = await _standing(database, name) if name in existing else {}
            # MongoDB refuses an index that differs from an existing one only in how it is stored.
            lacking = [
                index
                for index in described.get(name, ())
                if not _is_as_described(standing.get(index.name), index)
                and (not at_start or _is_created_at_start(index.name))
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
                try:
                    await database.handle.create_collection(database.prefix + name)
                except CollectionInvalid:
                    pass  # Another process was faster.
                except OperationFailure as error:
                    if error.code != _EXISTS_ALREADY:
                        raise
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
            "docs/operations/mongodb.md"
        )
    return SetupError(f"{what}: {error}")


async def require(database: Database, *, manage: bool) -> None:
    """Raise SetupError unless all indexes exist; with `manage`, create missing ones first.

    A missing validator is only logged: a chat works without it, and its role may not be allowed to
    set one. Validators of the host are kept.
    """
    # Check first: if everything exists, the role of a service needs no right to create anything.
    found = await _lacking_at_start(database)
    lacking = [difference for difference in found if difference.of != "validator"]
    if lacking and manage:
        await apply(database, at_start=True)
        found = await _lacking_at_start(database)
        lacking = [difference for difference in found if difference.of != "validator"]
    if lacking:
        raise SetupError(
            "the database is not as the chat needs it (chat-aio indexes apply repairs it): "
            + "; ".join(map(str, lacking))
        )
    if found and manage:
        # Validators are set where there is none or an older one of ours.
        for name, validator in (await _collections(database)).items():
            if _lacks(name, validator) and shapes.revision_of(validator) is not None:
                try:
                    await _set_validator(database, name)
                except OperationFailure as error:
                    log.warning("a validator could not be set: code %s", error.code)
                    # The role may not set validators: the others would fail as well.
                    break
        remaining = await differences(database)
        found = [difference for difference in remaining if difference.of == "validator"]
    if found:
        log.warning("%s (chat-aio indexes apply sets it)", "; ".join(map(str, found)))


async def _lacking_at_start(database: Database) -> list[Difference]:
    """The differences that prevent a start."""
    return [
        difference
        for difference in await differences(database)
        if difference.state != "surplus" and _is_created_at_start(difference.index)
    ]


async def _collections(database: Database) -> dict[str, Mapping[str, Any]]:
    """The existing collections, by name without the prefix, with their validators."""
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
    """Missing and different indexes and validators, one line each; empty if there are none."""
    return [
        str(difference)
        for difference in await differences(database)
        if difference.state != "surplus"
    ]


async def differences(database: Database) -> list[Difference]:
    """All differences from the description. Raises SetupError if the database cannot be read."""
    described = _by_collection(database)
    found: list[Difference] = []
    try:
        existing = await _collections(database)
        for name in COLLECTIONS:
            place = database.prefix + name
            if name not in existing:
                found.append(Difference("missing", place, None, of="collection"))
                continue
            standing = await _standing(database, name)
            wanted = described.get(name, [])
            found += [
                Difference("different" if index.name in standing else "missing", place, index.name)
                for index in wanted
                if not _is_as_described(standing.get(index.name), index)
            ]
            known = {"_id_", *(index.name for index in wanted)}
            found += [
                Difference("surplus", place, other) for other in standing if other not in known
            ]
            if _lacks(name, existing[name]):
                found.append(
                    Difference(
                        "different" if existing[name] else "missing", place, None, of="validator"
                    )
                )
    except PyMongoError as error:
        raise _refused("the indexes could not be read", error) from error
    return found


async def _standing(database: Database, collection: str) -> dict[str, dict[str, Any]]:
    """The existing indexes of a collection, by name."""
    cursor = await maybe_await(database.collection(collection).list_indexes())
    return {index["name"]: index for index in await cursor.to_list(None)}


def _is_as_described(stands: dict[str, Any] | None, index: Index) -> bool:
    if stands is None:
        return False
    # How an index is stored changes no query, so an operator may have made it otherwise.
    options = {name: value for name, value in index.options.items() if name != "storageEngine"}
    same = all(stands.get(option) == value for option, value in options.items())
    # The server returns the keys of a text index as weights.
    weights = ((field, "text") for field in stands.get("weights", ()))
    keys = tuple(weights) or tuple(stands["key"].items())
    return same and keys == index.keys
