"""Conversations: opening a direct one, making a group, listing and reading them."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, cast

from chat_aio import hooks, inputs, pages
from chat_aio.actions.access import acting, load_readable
from chat_aio.capabilities import Capability, require
from chat_aio.context import Context
from chat_aio.errors import ConversationNotFound, GroupLimitExceeded, InvalidInput, UserNotFound
from chat_aio.models import (
    ConversationPage,
    JoinPolicy,
    ParticipantRole,
    ViewedConversation,
    Visibility,
)
from chat_aio.store import conversations
from chat_aio.store.documents import ConversationDocument, ParticipantDocument
from chat_aio.store.metadata import escaped
from chat_aio.store.unread import count_unread
from chat_aio.store.views import viewed_conversation_from

MAX_PARTICIPANTS = 256
USERS_AT_A_TIME = 8


@acting
async def get_or_create_conversation(
    context: Context,
    user_id: str,
    other_user_id: str,
    *,
    metadata: dict[str, Any] | None = None,
) -> ViewedConversation:
    """The direct conversation of the two users, made if there is none (docs/behaviour.md 3.2).

    Raises InvalidInput (also for oneself) and UserNotFound. `metadata` is for a new one only.
    """
    given = inputs.read(inputs.DirectConversation, other_user_id=other_user_id, metadata=metadata)
    kept = inputs.metadata_within(given.metadata, context.options.max_metadata_bytes)
    if given.other_user_id == user_id:
        raise InvalidInput("otherUserId: a direct conversation needs somebody else")
    pair = sorted((user_id, given.other_user_id))
    conversation_id = await context.settings.direct_conversation_id(*pair)
    if viewed := await _find_viewed(context, user_id, conversation_id):
        return viewed
    await require_users(context, user_id, [given.other_user_id])
    new = _new_conversation(
        context,
        conversation_id,
        creator_id=user_id,
        roles=dict.fromkeys(pair, "admin"),
        type="direct",
        pairKey=":".join(pair),
        metadata=escaped(kept),
    )
    await conversations.create(context.database, new)
    return await _load_viewed(context, user_id, conversation_id)


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
    """A new group with `user_id` as its admin and `user_ids` as members (Group routes 1-4).

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
    if (given.visibility or "private", given.join_policy or "approval") != ("private", "approval"):
        require(context, Capability.CHANNELS)
    members = [each for each in dict.fromkeys(given.user_ids or ()) if each != user_id]
    if len(members) >= MAX_PARTICIPANTS:
        raise GroupLimitExceeded
    await require_users(context, user_id, members)
    roles: dict[str, ParticipantRole] = {user_id: "admin", **dict.fromkeys(members, "member")}
    new = _new_conversation(
        context,
        context.new_id(),
        creator_id=user_id,
        roles=roles,
        members=members,
        name=given.name,
        metadata=escaped(kept),
        visibility=given.visibility or "private",
        joinPolicy=given.join_policy or "approval",
    )
    await conversations.create(context.database, new)
    return viewed_conversation_from(new, unread_count=0)


@acting
async def list_conversations(
    context: Context, user_id: str, *, limit: int | None = None, cursor: str | None = None
) -> ConversationPage:
    """The user's conversations, most recently active first (docs/behaviour.md 3.3)."""
    size = pages.limit_from(limit)
    position = pages.position_from("conversations", cursor, int, str)
    before = (pages.moment_from(cast(int, position[0])), str(position[1])) if position else None
    ids = await conversations.ids_of_user(context.database, user_id)
    found = await conversations.list_heads(context.database, ids, limit=size + 1, before=before)
    page, last = pages.cut(found, size)
    documents = await conversations.find_many(context.database, [each["_id"] for each in page])
    heads = {each["_id"]: each for each in page}
    present = [
        documents[each] for each in heads if each in documents and _is_in(documents[each], user_id)
    ]
    unread = await count_unread(context.database, user_id, present, heads)
    return ConversationPage(
        conversations=tuple(
            viewed_conversation_from(each, unread_count=unread[each["_id"]]) for each in present
        ),
        next_cursor=last
        and pages.cursor_from("conversations", pages.millis_from(last["activityAt"]), last["_id"]),
    )


@acting
async def get_conversation(
    context: Context, user_id: str, conversation_id: str
) -> ViewedConversation:
    """One conversation. Raises ConversationNotFound and ForbiddenRead."""
    await load_readable(context, user_id, conversation_id)
    return await _load_viewed(context, user_id, conversation_id)


async def require_users(context: Context, user_id: str, user_ids: Iterable[str]) -> None:
    """Raise UserNotFound for the first of distinct `user_ids` that the host does not know.

    The acting user is not asked about; eight questions are under way at a time (rule 13).
    """
    exists = context.hooks.user_exists
    if exists is None:
        return
    limit = context.options.hook_timeout_seconds
    asked = [each for each in dict.fromkeys(user_ids) if each != user_id]
    for start in range(0, len(asked), USERS_AT_A_TIME):
        together = asked[start : start + USERS_AT_A_TIME]
        answers = await asyncio.gather(
            *(hooks.call(exists, each, limit=limit) for each in together)
        )
        for target_user_id, answer in zip(together, answers, strict=True):
            if answer is not True:
                raise UserNotFound(f"there is no user {target_user_id!r}")


def _new_conversation(
    context: Context,
    conversation_id: str,
    *,
    creator_id: str,
    roles: dict[str, ParticipantRole],
    members: Sequence[str] = (),
    **given: Any,
) -> ConversationDocument:
    """A conversation document at its beginning; `given` are fields that differ from a plain one."""
    now = context.clock()
    participants: list[ParticipantDocument] = [
        {
            "userId": each,
            "role": roles[each],
            "joinedAt": now,
            "lastReadMessageId": None,
            "lastReadSeq": 0,
        }
        for each in sorted(roles)
    ]
    plain: ConversationDocument = {
        "_id": conversation_id,
        "type": "group",
        "pairKey": None,
        "name": None,
        "createdAt": now,
        "metadata": {},
        "visibility": "private",
        "joinPolicy": "approval",
        "epoch": 0,
        "participants": participants,
        "change": {
            "id": context.new_id(),
            "at": now,
            "kind": "participant.added" if members else "conversation.created",
            "actorId": creator_id,
            "addedUserIds": list(members),
        },
    }
    return cast(ConversationDocument, {**plain, **given})


async def _find_viewed(
    context: Context, user_id: str, conversation_id: str
) -> ViewedConversation | None:
    """A conversation with the viewer's unread count; its head is read before its read-states."""
    head = await conversations.find_head(context.database, conversation_id)
    found = await conversations.find(context.database, conversation_id)
    if head is None or found is None:
        return None
    unread = await count_unread(context.database, user_id, [found], {conversation_id: head})
    return viewed_conversation_from(found, unread_count=unread.get(conversation_id, 0))


async def _load_viewed(context: Context, user_id: str, conversation_id: str) -> ViewedConversation:
    viewed = await _find_viewed(context, user_id, conversation_id)
    if viewed is None:
        raise ConversationNotFound
    return viewed


def _is_in(conversation: ConversationDocument, user_id: str) -> bool:
    return any(each["userId"] == user_id for each in conversation["participants"])
