"""Channels: public groups that users find in a directory and can join themselves."""

from collections.abc import Sequence

from chat_aio.actions.answers import shapes_of
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_fresh, load_group, within
from chat_aio.actions.join_requests import ask, joined, pending
from chat_aio.actions.membership import admit, change_membership
from chat_aio.actions.reading import fill
from chat_aio.capabilities import Capability, require
from chat_aio.errors import AlreadyParticipant, NotPublicConversation, StorageUnavailable
from chat_aio.schema import inputs, pagination
from chat_aio.schema.models import ChannelPage, ChannelPreview, Conversation, JoinResult
from chat_aio.store import channels, join_requests
from chat_aio.store.documents import CounterDocument
from chat_aio.store.mapping import channel_preview_from
from chat_aio.store.membership import Locked, MembershipChange
from chat_aio.store.rows import Rows


async def list_public_conversations(
    context: Context,
    user_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
    query: str | None = None,
) -> ChannelPage:
    """The directory of public groups, most recently active first, or those with the text of `query`
    in their name or topic (specification 10.1).

    Raises InvalidInput and ChannelsUnsupported.
    """
    text = inputs.read(inputs.ChannelFilter, query=query).query
    size = pagination.limit_from(limit)
    position = pagination.after_from("channels", cursor)
    require(context, Capability.CHANNELS)
    database = context.database

    async def fetch(last: CounterDocument | None, limit: int) -> Rows[CounterDocument]:
        behind = (last["activityAt"], last["_id"]) if last else position
        heads = await channels.list_public_heads(database, position=behind, limit=limit)
        return Rows(heads, 0)

    async def sift(heads: Sequence[CounterDocument]) -> Sequence[CounterDocument]:
        if text is None:
            return heads
        # Names are in no index, so a search examines the directory part by part.
        named = await channels.ids_containing(database, [head["_id"] for head in heads], text)
        return [head for head in heads if head["_id"] in named]

    found = await fill(fetch, sift, count=size + 1)
    page = found.rows[:size]
    ids = [head["_id"] for head in page]
    rows = await channels.read_many(database, ids, viewer_id=user_id)
    public = {conversation["_id"]: conversation for conversation in rows.documents}
    # So that a page of the directory can show "requested" without a query for each channel.
    waiting = await join_requests.pending_among(database, user_id, ids)

    def preview(head: CounterDocument) -> ChannelPreview | None:
        name = head["_id"]
        channel, optional = public.get(name), database.optional_fields
        return channel and channel_preview_from(channel, optional, request_pending=name in waiting)

    shown, count = await shapes_of(context, page, preview, stored_bytes=rows.stored_bytes)
    last = found.behind(page, count)
    return ChannelPage(
        channels=shown,
        next_cursor=last and pagination.cursor_after("channels", last["activityAt"], last["_id"]),
    )


async def join_conversation(
    context: Context, user_id: str, conversation_id: str, *, message: str | None = None
) -> JoinResult:
    """Join an open channel, or request to join one that needs approval (specification 10.2).

    Raises InvalidInput, ChannelsUnsupported, ConversationNotFound, NotGroupConversation,
    NotPublicConversation, AlreadyParticipant, InvitesUnsupported (if it needs approval),
    GroupLimitExceeded and ConversationBanned (with `room_controls`).
    """
    given = inputs.read(inputs.JoinRequestCreate, message=message)
    require(context, Capability.CHANNELS)
    await load_group(context, conversation_id)
    epoch = 0
    for _ in within(context):
        # From the database: users often join right after a channel was published, before the cache
        # of this process has the change.
        channel = (await load_fresh(context, conversation_id, epoch=epoch)).conversation
        if channel.visibility != "public":
            raise NotPublicConversation
        if user_id in channel.roles:
            raise AlreadyParticipant
        try:
            return await _join(context, user_id, channel, given.message)
        except _Moved as moved:
            epoch = moved.epoch
    raise StorageUnavailable


async def _join(
    context: Context, user_id: str, channel: Conversation, message: str | None
) -> JoinResult:
    # An admin may have closed the channel since it was loaded. Visibility and join policy decided
    # between joining and requesting, so they are compared again inside the transaction.
    async def require_unmoved(locked: Locked) -> None:
        found = locked.conversation["visibility"], locked.conversation["joinPolicy"]
        if found != (channel.visibility, channel.join_policy):
            raise _Moved(locked.conversation["epoch"])

    async def join(locked: Locked) -> MembershipChange | None:
        if locked.role_of(user_id):
            raise AlreadyParticipant
        await require_unmoved(locked)
        return await admit(context, locked, [user_id], actor_id=user_id)

    if channel.join_policy == "open":
        return joined(await change_membership(context, user_id, channel.id, join))
    require(context, Capability.INVITES)
    return pending(await ask(context, user_id, channel.id, message, before=require_unmoved))


class _Moved(Exception):
    """Visibility or join policy have changed, by `epoch`, since the channel was loaded."""

    def __init__(self, epoch: int) -> None:
        super().__init__()
        self.epoch = epoch
