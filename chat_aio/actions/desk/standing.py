"""What moderators know of a user: bans, reports and conversations."""

from collections.abc import Iterable, Sequence

from chat_aio.actions.context import Context
from chat_aio.actions.desk.guarding import note_look, require_desk
from chat_aio.actions.reports import UNRESOLVED
from chat_aio.errors import InvalidInput
from chat_aio.schema import desk, inputs
from chat_aio.schema.fields import ID_RULE, is_id
from chat_aio.store import bans, conversations, reports
from chat_aio.store.documents import ConversationDocument
from chat_aio.store.mapping import ban_from, report_from
from chat_aio.store.shapes import readable

LATEST_BANS = 20
LATEST_REPORTS = 10
MOST_CONVERSATIONS = 200


async def get_standing(
    context: Context, user_id: str, target_user_id: str, *, shared_with: str | None = None
) -> desk.Standing:
    """The standing of a user; the conversations only those shared with a user, if one is named.
    Nobody is unknown: a user without any has an empty one.

    Raises InvalidInput, NotModerator and ModerationUnsupported (docs/behaviour.md 14.6).
    """
    given = inputs.read(desk.Sharing, shared_with=shared_with)
    if not is_id(target_user_id):
        raise InvalidInput(f"userId {ID_RULE}")
    await require_desk(context, user_id, "get_standing", target_user_id=target_user_id)
    await note_look(context, user_id, "look-at-user", target_user_id, sharedWith=given.shared_with)
    database = context.database
    found = await bans.list_newest(
        database, {"userId": target_user_id}, position=None, limit=LATEST_BANS
    )
    in_force = await bans.list_newest(
        database,
        bans.active(target_user_id, at=context.clock()),
        position=None,
        limit=1,
    )
    received = reports.concerning(target_user_id)
    latest = await reports.list_newest(database, received, position=None, limit=LATEST_REPORTS)
    ids = await _ids(context, target_user_id, given.shared_with)
    shown, _, _ = await context.decoded.read_some(ids[:MOST_CONVERSATIONS])
    return desk.Standing(
        user_id=target_user_id,
        active_ban=ban_from(in_force[0]) if in_force else None,
        bans=tuple(map(ban_from, found)),
        reports_made=await reports.count(database, {"reporterUserId": target_user_id}),
        reports_received=await reports.count(database, received),
        unresolved_reports_received=await reports.count(
            database, {"$and": [received, {"status": {"$in": UNRESOLVED}}]}
        ),
        latest_reports_received=tuple(map(report_from, readable("reports", latest))),
        conversation_count=len(ids),
        conversations=_shared_from(
            (conversation.document for conversation in shown.values()), target_user_id
        ),
    )


async def _ids(context: Context, user_id: str, shared_with: str | None) -> Sequence[str]:
    ids = await conversations.ids_of_user(context.database, user_id)
    if shared_with is None:
        return ids
    theirs = {*await conversations.ids_of_user(context.database, shared_with)}
    return [conversation_id for conversation_id in ids if conversation_id in theirs]


def _shared_from(
    found: Iterable[ConversationDocument], user_id: str
) -> tuple[desk.SharedConversation, ...]:
    """They may have left one of them since the ids were read."""
    return tuple(
        desk.SharedConversation(
            conversation_id=conversation["_id"],
            type=conversation["type"],
            name=conversation["name"],
            participant_count=len(conversation["participants"]),
            role=own["role"],
        )
        for conversation in found
        for own in conversation["participants"]
        if own["userId"] == user_id
    )
