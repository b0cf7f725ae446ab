"""Erasing a person, collection by collection, until nothing names them."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from chat_aio.actions.context import Context
from chat_aio.store import audit, blocks
from chat_aio.store.maintenance import erasure, leave_all
from chat_aio.store.maintenance.erased_reports import rename_in_report
from chat_aio.store.maintenance.erasure import Erasure
from chat_aio.store.maintenance.personal_data import PLACES, naming_for_good
from chat_aio.store.maintenance.scanning import scan
from chat_aio.store.transactions import Session, transact

ACTION = "erase-user"


@dataclass(kw_only=True)
class Eraser:
    """One run: how many there were of each kind. The trail has it before anything is written."""

    context: Context
    of: Erasure
    moderator_id: str
    dry_run: bool
    counts: Counter[str] = field(default_factory=Counter)
    _recorded: bool = False

    async def pass_over(self, advance: Callable[[int], None]) -> bool:
        """Go through everything once; whether there was anything. `advance` is told how many
        documents were gone past."""
        before = self.counts.total()
        for collection in PLACES:
            rows = self.context.database.collection(collection)
            chosen = naming_for_good(collection, self.of.user_id, at=self.of.clock())
            async for passed, found in scan(self.context.database, rows, chosen, SHOWN):
                await self._erase(collection, found)
                advance(passed)
        return self.counts.total() > before

    async def _erase(self, collection: str, found: Sequence[Any]) -> None:
        if not found:
            return
        if not self.dry_run:
            await self._record()
        if collection == "conversations":
            await self._depart(found)
        elif collection == "blocks":
            await self._unblock(found)
        elif collection == "reports":
            await self._rename_in_reports(found)
        else:
            writes = [
                each for document in found for each in erasure.WRITES[collection](self.of, document)
            ]
            self.counts.update(kind for kind, _ in writes)
            if not self.dry_run:
                await erasure.write(self.context.database, collection, writes)

    async def _depart(self, found: Sequence[Any]) -> None:
        """Out of what they are in; of what they have left the last change may still name them."""
        context = self.context
        for each in found:
            is_in = leave_all.is_in(self.of, each)
            here = "groups" if each["type"] == "group" else "directConversations"
            self.counts[here if is_in else "stamps"] += 1
            if self.dry_run:
                continue
            if not is_in:
                await leave_all.rename_in_stamp(context.database, self.of, each)
                continue
            await leave_all.depart(
                context.database,
                context.sequencer,
                context.snapshots,
                context.settings,
                self.of,
                each["_id"],
            )

    async def _unblock(self, found: Sequence[Any]) -> None:
        context = self.context
        for each in found:
            self.counts["blocks"] += 1
            if self.dry_run:
                continue
            pair = each["blockerUserId"], each["blockedUserId"]
            await blocks.remove(
                context.database,
                context.sequencer,
                context.snapshots,
                await context.settings.direct_conversation_id(*pair),
                blocks.block_id(*pair),
            )

    async def _rename_in_reports(self, found: Sequence[Any]) -> None:
        for each in found:
            self.counts["reports"] += 1
            if not self.dry_run:
                await rename_in_report(self.context.database, self.of, each["_id"])

    async def _record(self) -> None:
        if self._recorded:
            return
        row = audit.entry(
            self.of.new_id(),
            ACTION,
            self.of.pseudonym,
            actor_id=self.moderator_id,
            at=self.of.clock(),
        )

        async def body(session: Session) -> None:
            await audit.add(self.context.database, row, session)

        await transact(self.context.database, body)
        self._recorded = True


SHOWN = {"body": 0, "terms": 0, "search": 0, "metadata": 0}
"""What need not be read to be erased."""
