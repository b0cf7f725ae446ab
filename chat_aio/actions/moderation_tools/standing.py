"""A user's standing, for moderators: bans, reports and conversations."""

from chat_aio.actions.context import Context
from chat_aio.actions.moderation_tools.guarding import audit_view, require_moderation_tools
from chat_aio.actions.reports import UNRESOLVED
from chat_aio.errors import InvalidInput
from chat_aio.schema import inputs, moderation_tools
from chat_aio.schema.fields import ID_RULE, is_id
from chat_aio.store import bans, conversations, reports
from chat_aio.store.mapping import ban_from, report_from
from chat_aio.store.shapes import readable

LATEST_BANS = 20
LATEST_REPORTS = 10
MOST_CONVERSATIONS = 200


async def get_standing(
    context: Context, user_id: str, target_user_id: str, *, shared_with: str | None = None
) -> moderation_tools.Standing:
    """The bans, reports and conversations of a user; with `shared_with`, only the conversations
    that they share with that user. An unknown user has an empty standing.

    Raises InvalidInput, NotModerator and ModerationUnsupported (specification 14.6).
    """
    given = inputs.read(moderation_tools.SharedWithQuery, shared_with=shared_with)
    if not is_id(target_user_id):
        raise InvalidInput(f"userId {ID_RULE}")
    await require_moderation_tools(context, user_id, "get_standing", target_user_id=target_user_id)
    await audit_view(context, user_id, "look-at-user", target_user_id, sharedWith=given.shared_with)
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
    ids = await conversations.ids_of_user(database, target_user_id)
    if given.shared_with is not None:
        theirs = {*await conversations.ids_of_user(database, given.shared_with)}
        ids = [conversation_id for conversation_id in ids if conversation_id in theirs]
    # Limited, unlike the count: a bot may be in thousands of conversations.
    shown, _, _ = await context.decoded.read_some(ids[:MOST_CONVERSATIONS])
    return moderation_tools.Standing(
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
        # They may have left one of them since the ids were read.
        conversations=tuple(
            moderation_tools.SharedConversation(
                conversation_id=conversation["_id"],
                type=conversation["type"],
                name=conversation["name"],
                participant_count=len(conversation["participants"]),
                role=own["role"],
            )
            for conversation in (decoded.document for decoded in shown.values())
            for own in conversation["participants"]
            if own["userId"] == target_user_id
        ),
    )
