"""Common parts of aggregations."""

from collections.abc import Mapping, Sequence
from typing import Any

Stages = Sequence[Mapping[str, Any]]

IS_TEXT: Mapping[str, Any] = {"$match": {"_id": {"$type": "string", "$not": {"$type": "array"}}}}
"""Leaves out other values that another program has written as an id: `$type` looks into arrays."""


def union(collection: Any, pipelines: Sequence[Stages]) -> Stages:
    """One aggregation of the collection with the results of all these pipelines."""
    first, *others = pipelines
    joined = [
        {"$unionWith": {"coll": collection.name, "pipeline": list(stage)}} for stage in others
    ]
    return [*first, *joined]
