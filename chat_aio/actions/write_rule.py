"""Who may write in a conversation: one rule, checked on a snapshot before every write, and again
on the stored conversation under its lock (specification 4.2, 11.1 and 13.2).

`can_write`, which a host may replace, is checked first, by `guards.load_writable`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_fresh
from chat_aio.actions.permissions import is_participant
from chat_aio.errors import (
    ChatError,
    ConversationFrozen,
    DirectInteractionBlocked,
    ForbiddenWrite,
    MentionNotParticipant,
)
from chat_aio.schema.models import BareMessage, ParticipantRole
from chat_aio.store.documents import ConversationDocument
from chat_aio.store.numbering import StillAllowed
from chat_aio.store.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class WriteRule:
    """A conversation's requirements for its writers at a moment. Without the option `room_controls`
    no conversation is frozen or in slow mode."""

    roles: Mapping[str, ParticipantRole]
    is_blocked: bool
    is_frozen: bool
    slow_mode_seconds: int

    @classmethod
    def of_snapshot(cls, snapshot: Snapshot) -> "WriteRule":
        conversation = snapshot.conversation
        return cls(
            roles=conversation.roles,
            is_blocked=snapshot.blocked,
            is_frozen=bool(conversation.frozen),
            slow_mode_seconds=conversation.slow_mode_seconds or 0,
        )

    @classmethod
    def of_document(cls, document: ConversationDocument, *, room_controls: bool) -> "WriteRule":
        return cls(
            roles={
                participant["userId"]: participant["role"]
                for participant in document["participants"]
            },
            is_blocked=bool(document.get("blockedBy")),
            is_frozen=room_controls and document.get("frozen", False),
            slow_mode_seconds=document.get("slowModeSeconds", 0) if room_controls else 0,
        )

    def refusal(
        self, user_id: str, mentioned: Collection[str] = (), *, takes_back: bool = False
    ) -> ChatError | None:
        """The error that refuses a write; None if it is allowed. Users can remove their own things
        in a frozen group too: they delete messages and remove reactions."""
        if self.is_blocked:
            return DirectInteractionBlocked()
        if self.is_frozen and not takes_back and self.roles.get(user_id) != "admin":
            return ConversationFrozen()
        for name in mentioned:
            if name not in self.roles:
                return MentionNotParticipant(f"mentions must be participants; {name!r} is not one")
        return None

    def slow_seconds_for(self, user_id: str) -> int:
        """The minimum number of seconds between two messages of the user; 0 for admins."""
        return 0 if self.roles.get(user_id) == "admin" else self.slow_mode_seconds


async def require_open(
    context: Context,
    user_id: str,
    snapshot: Snapshot,
    mentioned: Collection[str] = (),
    *,
    message: BareMessage | None = None,
    takes_back: bool = False,
) -> Snapshot:
    """Check that the rule does not refuse a user who may write on this snapshot, and that they may
    mention these users; if it refuses, check a fresh snapshot. Returns the snapshot that passed.
    `message` is the one to change.

    Raises ForbiddenWrite, DirectInteractionBlocked, ConversationFrozen and MentionNotParticipant.
    """
    rule = WriteRule.of_snapshot(snapshot)
    # The usual case needs no query: the batch compares the epoch under the lock anyway.
    if rule.refusal(user_id, mentioned, takes_back=takes_back) is None:
        return snapshot
    return await load_open(
        context,
        user_id,
        snapshot.conversation.id,
        mentioned,
        message=message,
        takes_back=takes_back,
    )


async def load_open(
    context: Context,
    user_id: str,
    conversation_id: str,
    mentioned: Collection[str],
    *,
    message: BareMessage | None,
    takes_back: bool = False,
    epoch: int = 0,
) -> Snapshot:
    """A fresh snapshot, of `epoch` or a later one, on which a write is allowed. Raises as
    `require_open`, and ConversationNotFound."""
    snapshot = await load_fresh(context, conversation_id, epoch=epoch)
    if not await context.permissions.may_write(user_id, snapshot.conversation, message):
        raise ForbiddenWrite
    rule = WriteRule.of_snapshot(snapshot)
    if refusal := rule.refusal(user_id, mentioned, takes_back=takes_back):
        raise refusal
    return snapshot


def still_allowed(
    context: Context, user_id: str, mentioned: Collection[str], *, slow_seconds: int | None = None
) -> StillAllowed | None:
    """The rule as a function of the stored conversation, which a batch calls under the lock. None
    if the host has its own `can_write`: no hook is called in a transaction. `slow_seconds`, unless
    None, is the slow mode that the write was checked with."""
    # A hook may take seconds, and the lock would hold up all sends of the conversation.
    if context.permissions.can_write is not is_participant:
        return None

    def is_still_allowed(document: ConversationDocument) -> bool:
        rule = WriteRule.of_document(document, room_controls=context.options.room_controls)
        # The snapshot's check included `can_write`, whose default is that the user participates.
        if user_id not in rule.roles or rule.refusal(user_id, mentioned):
            return False
        # The batch enforces the seconds of the draft: with other ones it must be made again.
        return slow_seconds in (None, rule.slow_seconds_for(user_id))

    return is_still_allowed


def require_still_open(context: Context, user_id: str, document: ConversationDocument) -> None:
    """Check the rule on the stored conversation, under its lock; a host's own `can_write` is not
    called. Raises as `require_open`."""
    rule = WriteRule.of_document(document, room_controls=context.options.room_controls)
    if context.permissions.can_write is is_participant and user_id not in rule.roles:
        raise ForbiddenWrite
    if refusal := rule.refusal(user_id):
        raise refusal
