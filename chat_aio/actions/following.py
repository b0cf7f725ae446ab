"""Following conversations live, which the host's `can_read` may open to users who are not in them
(specification 19)."""

import asyncio
from collections.abc import Collection, Sequence

from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_readable
from chat_aio.errors import ConversationNotFound, ForbiddenRead, InvalidInput
from chat_aio.schema import inputs
from chat_aio.store import audit
from chat_aio.store.snapshots import Snapshot


def read_followed(context: Context, conversation_ids: Sequence[str]) -> frozenset[str]:
    """The ids of the conversations to follow. Raises InvalidInput."""
    if not context.options.supervisors:
        raise InvalidInput("conversationIds needs the option supervisors")
    given = inputs.read(inputs.Following, conversation_ids=conversation_ids)
    return frozenset(given.conversation_ids or ())


async def load_followed(
    context: Context, user_id: str, conversation_ids: Collection[str]
) -> tuple[Snapshot, ...]:
    """The conversations, if `user_id` may read all of them. Each conversation that the user is not
    in gets an entry in the audit log (`audit_supervisors`).

    Raises ConversationNotFound and ForbiddenRead.
    """

    async def load(conversation_id: str) -> Snapshot:
        try:
            return await load_readable(context, user_id, conversation_id)
        except (ConversationNotFound, ForbiddenRead) as error:
            # Of up to 20: the caller must know which one to leave out.
            raise type(error)(f"{error}: {conversation_id}") from None

    # At once: a slow host takes as long for 20 conversations as for one.
    found = await asyncio.gather(*map(load, sorted(conversation_ids)), return_exceptions=True)
    snapshots = []
    for answer in found:
        if isinstance(answer, BaseException):
            raise answer
        snapshots.append(answer)
    outside = [
        snapshot.conversation.id
        for snapshot in snapshots
        if user_id not in snapshot.conversation.roles
    ]
    if outside and context.options.audit_supervisors:
        now = context.clock()
        rows = [
            audit.entry(context.new_id(), "follow-conversation", name, actor_id=user_id, at=now)
            for name in outside
        ]
        await audit.note(context.database, *rows)
    return tuple(snapshots)
