"""What a message looks like, and where it stands."""

from tests.scenarios.model.world import Json, World


def shown(world: World, message: Json, user_id: str) -> Json:
    """A message with its decorations, as a user sees it: what is hidden is quoted as deleted."""
    emoji = dict.fromkeys(sign for _, sign in message["reactions"])
    by = {one: [user for user, sign in message["reactions"] if sign == one] for one in emoji}
    return {
        **{key: value for key, value in message.items() if key != "request"},
        "replyTo": _preview(world, message["replyToMessageId"], user_id),
        "reactions": [
            {"emoji": sign, "count": len(by[sign]), "userIds": by[sign]} for sign in emoji
        ],
        "mentions": [user for _, user in sorted((at, u) for u, at in message["mentions"].items())],
        "threadSummary": _summary(replies_of(world, message["id"])),
    }


def is_in_main(message: Json) -> bool:
    return message["threadRootMessageId"] is None or bool(message["alsoSendToMain"])


def replies_of(world: World, root_id: str) -> list[Json]:
    return [
        message for message in world.messages.values() if message["threadRootMessageId"] == root_id
    ]


def _preview(world: World, parent_id: str | None, user_id: str) -> Json | None:
    if parent_id is None:
        return None
    parent = world.messages[parent_id]
    if world.is_hidden(user_id, parent):
        return {"id": parent_id, "senderId": "", "excerpt": "", "deleted": True}
    body = parent["body"]
    return {
        "id": parent_id,
        "senderId": parent["senderId"],
        "excerpt": body if len(body) <= 140 else body[:140] + "…",
        "deleted": parent["deletedAt"] is not None,
    }


def _summary(replies: list[Json]) -> Json | None:
    if not replies:
        return None
    last = max(reply["createdAt"] for reply in replies)
    return {"replyCount": len(replies), "lastReplyAt": last}
