"""Parts of aggregations that several queries have in common."""

from collections.abc import Mapping, Sequence
from typing import Any

Stages = Sequence[Mapping[str, Any]]

IS_TEXT: Mapping[str, Any] = {"$match": {"_id": {"$type": "string", "$not": {"$type": "array"}}}}
"""Leaves out what another program has written in place of an id: `$type` looks into arrays."""


def union(collection: Any, pipelines: Sequence[Stages]) -> Stages:
    """One aggregation of the collection with the results of all these pipelines of it."""
    first, *others = pipelines
    joined = [
        {"$unionWith": {"coll": collection.name, "pipeline": list(stage)}} for stage in others
    ]
    return [*first, *joined]
