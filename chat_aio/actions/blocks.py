"""Blocks: keeping another user out of direct conversations with the blocking user."""

from collections.abc import Collection

from chat_aio.actions.context import Context
from chat_aio.capabilities import Capability, require
from chat_aio.errors import DirectInteractionBlocked, InvalidInput
from chat_aio.schema import inputs, pagination
from chat_aio.schema.models import Block, BlockPage
from chat_aio.store import blocks
from chat_aio.store.mapping import block_from
from chat_aio.store.shapes import readable
from chat_aio.store.transactions import Session


async def block_user(context: Context, user_id: str, target_user_id: str) -> Block:
    """Block a user; blocking them again changes nothing (specification 11.1).

    Raises InvalidInput (also for blocking yourself) and ModerationUnsupported.
    """
    given = inputs.read(inputs.BlockRequest, target_user_id=target_user_id)
    require(context, Capability.MODERATION)
    if given.target_user_id == user_id:
        raise InvalidInput("targetUserId must be another user: you cannot block yourself")
    # With the lock of their conversation: once this returns, no send passes the block.
    block = await blocks.put(
        context.database,
        context.membership,
        context.settings,
        {
            "_id": blocks.block_id(user_id, given.target_user_id),
            "blockerUserId": user_id,
            "blockedUserId": given.target_user_id,
            "createdAt": context.clock(),
        },
    )
    return block_from(block)


async def unblock_user(context: Context, user_id: str, target_user_id: str) -> None:
    """Unblock a user; nothing changes if they are not blocked. Raises as `block_user`."""
    given = inputs.read(inputs.BlockRequest, target_user_id=target_user_id)
    require(context, Capability.MODERATION)
    await blocks.remove(
        context.database,
        context.membership,
        context.settings,
        blocks.block_id(user_id, given.target_user_id),
    )


async def list_blocked_users(
    context: Context, user_id: str, *, limit: int | None = None, cursor: str | None = None
) -> BlockPage:
    """List the users whom the caller has blocked, newest first.

    Raises InvalidInput and ModerationUnsupported.
    """
    size = pagination.limit_from(limit)
    position = pagination.after_from("blocks", cursor)
    require(context, Capability.MODERATION)
    found = await blocks.list_newest(context.database, user_id, position=position, limit=size + 1)
    page, last = pagination.cut(found, size)
    return BlockPage(
        blocks=tuple(map(block_from, readable("blocks", page))),
        next_cursor=last
        and pagination.cursor_after("blocks", last["createdAt"], last["blockedUserId"]),
    )


async def require_unblocked(context: Context, pair: list[str], session: Session) -> None:
    """Raise DirectInteractionBlocked if one of two users has blocked the other."""
    if await blocks.is_blocked(context.database, pair, session):
        raise DirectInteractionBlocked


async def require_together(
    context: Context, user_id: str, others: Collection[str], session: Session
) -> None:
    """Raise DirectInteractionBlocked if there is a block between the user and one of the users they
    add (specification 11.7)."""
    if not context.options.hide_blocked_users:
        return
    # Blocks among the others do not count: a refusal would reveal them.
    pairs = {(user_id, other) for other in others}
    if await blocks.pairs_apart(context.database, pairs, session):
        raise DirectInteractionBlocked
