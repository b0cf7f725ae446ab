"""Groups: making them."""

from collections.abc import Sequence
from typing import Any

from chat_aio import inputs
from chat_aio.actions.access import acting
from chat_aio.actions.users import require_users
from chat_aio.capabilities import Capability, require
from chat_aio.context import Context
from chat_aio.errors import GroupLimitExceeded
from chat_aio.models import JoinPolicy, ViewedConversation, Visibility
from chat_aio.store import conversations
from chat_aio.store.metadata import escaped
from chat_aio.store.views import viewed_conversation_from

MAX_PARTICIPANTS = 256


@acting
async def create_group_conversation(
    context: Context,
    user_id: str,
    *,
    user_ids: Sequence[str] | None = None,
    name: str | None = None,
    visibility: Visibility | None = None,
    join_policy: JoinPolicy | None = None,
    metadata: dict[str, Any] | None = None,
) -> ViewedConversation:
    """A new group with `user_id` as its admin and `user_ids` as members (docs/behaviour.md 3.5).

    Raises InvalidInput, ChannelsUnsupported, GroupLimitExceeded and UserNotFound.
    """
    given = inputs.read(
        inputs.GroupConversation,
        name=name,
        user_ids=user_ids,
        metadata=metadata,
        visibility=visibility,
        join_policy=join_policy,
    )
    kept = inputs.metadata_within(given.metadata, context.options.max_metadata_bytes)
    if given.visibility == "public" or given.join_policy == "open":
        require(context, Capability.CHANNELS)
    members = _members(user_id, given.user_ids or ())
    await require_users(context, user_id, members)
    new = conversations.new_conversation(
        context.new_id(),
        creator_id=user_id,
        roles={user_id: "admin", **dict.fromkeys(members, "member")},
        at=context.clock(),
        change_id=context.new_id(),
        name=given.name,
        metadata=escaped(kept),
        visibility=given.visibility or "private",
        joinPolicy=given.join_policy or "approval",
    )
    await conversations.create(context.database, new)
    return viewed_conversation_from(new, unread_count=0)


def _members(creator_id: str, user_ids: Sequence[str]) -> list[str]:
    """Who joins a new group besides its creator, each once; GroupLimitExceeded for too many."""
    members = [each for each in dict.fromkeys(user_ids) if each != creator_id]
    if len(members) >= MAX_PARTICIPANTS:
        raise GroupLimitExceeded
    return members
