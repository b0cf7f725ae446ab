"""`chat.admin`: what operators do with commands, for a host's own process."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chat_aio.actions.context import Context
from chat_aio.actions.guards import require_user
from chat_aio.actions.maintenance import erasure, export, legal_holds
from chat_aio.actions.maintenance.erasure import Erased
from chat_aio.errors import InvalidInput, UserNotFound
from chat_aio.schema.fields import ID_RULE, is_id
from chat_aio.store.database import Database
from chat_aio.store.documents import LegalHoldDocument
from chat_aio.store.maintenance import doctor, personal_data
from chat_aio.store.maintenance import legal_holds as stored
from chat_aio.store.maintenance.legal_holds import Target
from chat_aio.store.maintenance.progress import silent
from chat_aio.store.privileges import lacks


class AdminUnavailable(RuntimeError):
    """`Chat(admin=...)` is missing, or its user of MongoDB lacks rights; the message names them."""


class ErasureIncomplete(Exception):
    """The user has written while the erasure ran: close the account and erase again. `erased` is
    the result so far."""

    def __init__(self, erased: Erased) -> None:
        super().__init__("the user is still writing: close the account or ban it, then repeat")
        self.erased = erased


@dataclass(frozen=True, kw_only=True, slots=True)
class LegalHold:
    """A hold, which keeps data from retention and erasure."""

    target_type: Target
    target_id: str
    reason: str
    created_by_user_id: str
    created_at: datetime


class AdminAPI:
    """The tasks, with the rules and the audit log of the commands. `by` is the acting user.

    `context` is over a database with more rights than the chat's own needs; None if the host has
    given none. `ordinary` is the chat's own database.
    """

    def __init__(
        self,
        context: Context | None,
        ordinary: Database,
        end_streams: Callable[[str], Awaitable[None]],
    ) -> None:
        self._context = context
        self._ordinary = ordinary
        self._end_streams = end_streams

    async def erase_user(
        self, user_id: str, *, by: str, dry_run: bool = False, allow_unknown: bool = False
    ) -> Erased:
        """Replace a user by a pseudonym everywhere, empty their messages, and end their streams. A
        dry run only counts. Close the account first. It cannot be undone.

        Raises InvalidInput (for `by` themselves, and under a legal hold), UserNotFound if no row
        names the user (unless `allow_unknown`), ErasureIncomplete, UserBanned, AdminUnavailable.
        """
        context = await self._ready("users erase", user_id)
        await erasure.require_erasable(context, by, user_id)
        known = allow_unknown or await erasure.was_erased(context, user_id)
        await _require_known(context, user_id, allow_unknown=known)
        erased = await erasure.erase_user(context, by, user_id, dry_run=dry_run)
        if not dry_run:
            # Open streams still have the permissions of the erased user.
            await self._end_streams(user_id)
            if not erased.is_over:
                raise ErasureIncomplete(erased)
        return erased

    async def export_user(
        self,
        user_id: str,
        write: Callable[[Mapping[str, Any]], object],
        *,
        by: str,
        allow_unknown: bool = False,
    ) -> Counter[str]:
        """Call `write` with all data about a user, one object with its `kind` at a time; returns
        the number of each kind. All messages are read.

        Raises UserNotFound if no row names the user (unless `allow_unknown`), InvalidInput,
        UserBanned and AdminUnavailable.
        """
        context = await self._ready(None, user_id)
        await require_user(context, by)
        await _require_known(context, user_id, allow_unknown=allow_unknown)
        return await export.export_user(context.database, user_id, write)

    async def place_legal_hold(
        self,
        target_type: Target,
        target_id: str,
        *,
        by: str,
        reason: str,
        allow_unknown: bool = False,
    ) -> LegalHold:
        """Keep the data of a user or of a conversation from retention and erasure. An existing hold
        is left as it is, and returned.

        Raises InvalidInput, ConversationNotFound, UserNotFound if no row names the user (unless
        `allow_unknown`), UserBanned, AdminUnavailable, and SetupError for an existing hold that is
        malformed.
        """
        context = await self._ready("legal-hold", target_id)
        _require_target(target_type)
        if not isinstance(reason, str) or not reason.strip():
            raise InvalidInput("reason must not be blank")
        if target_type == "user":
            await _require_known(context, target_id, allow_unknown=allow_unknown)
        hold, _ = await legal_holds.place(context, by, target_type, target_id, reason)
        return _hold_from(hold)

    async def lift_legal_hold(
        self, target_type: Target, target_id: str, *, by: str
    ) -> LegalHold | None:
        """Lift a hold and return it; None if there is none. Raises InvalidInput, UserBanned and
        AdminUnavailable."""
        context = await self._ready("legal-hold", target_id)
        _require_target(target_type)
        lifted = await legal_holds.lift(context, by, target_type, target_id)
        return None if lifted is None else _hold_from(lifted)

    async def list_legal_holds(self) -> list[LegalHold]:
        """All holds, newest first. Raises AdminUnavailable."""
        context = await self._ready(None)
        return [_hold_from(hold) for hold in await stored.list_all(context.database)]

    async def _ready(self, command: str | None, subject_id: str = "x") -> Context:
        """The context, after checking that no right is missing, so that no task stops halfway."""
        if not is_id(subject_id):
            raise InvalidInput(f"an id {ID_RULE}")
        database = self._context.database if self._context else self._ordinary
        missing = await doctor.missing_rights(database, command) if command else []
        if self._context is None:
            needs = "chat.admin needs Chat(admin=...), a database with more rights"
            raise AdminUnavailable(f"{needs}: {lacks(missing)}" if missing else needs)
        if missing:
            raise AdminUnavailable(f"nothing was done: {lacks(missing)}")
        return self._context


async def _require_known(context: Context, user_id: str, *, allow_unknown: bool) -> None:
    if not allow_unknown and not await personal_data.has_traces(context.database, user_id, silent):
        raise UserNotFound(f"no row of the database names the user {user_id!r}")


def _require_target(target_type: Target) -> None:
    if target_type not in ("user", "conversation"):
        raise InvalidInput("target_type must be user or conversation")


def _hold_from(hold: LegalHoldDocument) -> LegalHold:
    return LegalHold(
        target_type=hold["targetType"],
        target_id=hold["targetId"],
        reason=hold["reason"],
        created_by_user_id=hold["createdByUserId"],
        created_at=hold["createdAt"],
    )
