"""Legal holds: placed and lifted by an operator, and kept in the audit log."""

from datetime import timedelta

from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_conversation, require_user
from chat_aio.store import audit
from chat_aio.store.documents import AuditEntry, LegalHoldDocument
from chat_aio.store.maintenance import legal_holds
from chat_aio.store.maintenance.legal_holds import Target, hold_id

EXPIRES_AGAIN = timedelta(days=30)


async def place(
    context: Context, user_id: str, target_type: Target, target_id: str, reason: str
) -> tuple[LegalHoldDocument, bool]:
    """Place a hold, unless there is one; returns the one in force, and whether it is new.

    Raises UserBanned, ConversationNotFound, and SetupError if that one is malformed.
    """
    await require_user(context, user_id)
    if target_type == "conversation":
        # A hold on an id that does not exist would keep nothing, unnoticed.
        await load_conversation(context, target_id)
    hold: LegalHoldDocument = {
        "_id": hold_id(target_type, target_id),
        "targetType": target_type,
        "targetId": target_id,
        "reason": reason,
        "createdByUserId": user_id,
        "createdAt": context.clock(),
    }
    entry = _entry(context, "legal-hold", user_id, target_id, reason=reason)
    return await legal_holds.put(context.database, hold, entry)


async def lift(
    context: Context, user_id: str, target_type: Target, target_id: str
) -> LegalHoldDocument | None:
    """Lift a hold; returns it, or None if there is none. Versions and held messages that no other
    hold keeps expire in a month. Raises UserBanned."""
    await require_user(context, user_id)
    entry = _entry(context, "lift-legal-hold", user_id, target_id)
    lifted = await legal_holds.lift(context.database, hold_id(target_type, target_id), entry)
    # After the lift, or rows of this hold would still count as kept.
    await legal_holds.let_expire(context.database, at=context.clock(), after=EXPIRES_AGAIN)
    return lifted


def _entry(
    context: Context, action: str, user_id: str, target_id: str, **details: str
) -> AuditEntry:
    return audit.entry(
        context.new_id(),
        action,
        target_id,
        actor_id=user_id,
        at=context.clock(),
        **details,  # type: ignore[arg-type]
    )
