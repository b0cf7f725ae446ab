"""The actions on drafts: called by routes, and by writers in this process."""

from collections.abc import Callable
from functools import partial

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.errors import (
    ChatError,
    DraftConflict,
    DraftNotFound,
    ForbiddenWrite,
    InvalidInput,
)
from chat_aio.plugins.drafts.outbox import Outbox
from chat_aio.plugins.drafts.rows import Row, Rows
from chat_aio.schema.drafts import (
    Draft,
    Drafted,
    DraftEnd,
    NewDraft,
    NewPart,
    Reason,
    Undrafted,
)
from chat_aio.schema.models import Message
from chat_aio.schema.wire import Wire


class Drafting:
    """The drafts of one chat. `may_draft` decides which users may write some."""

    def __init__(self, api: PluginAPI, rows: Rows, may_draft: Callable[[str], bool]) -> None:
        self._api = api
        self._rows = rows
        self._may_draft = may_draft
        self._outbox = Outbox(partial(self._tell, "draft.updated"))

    def close(self) -> None:
        self._outbox.close()

    async def begin(self, user_id: str, conversation_id: str, given: NewDraft) -> Draft:
        """Begin an empty draft. Raises as a send would."""
        await self._require_writer(user_id, conversation_id)
        return draft_from(await self._rows.begin(user_id, conversation_id, given))

    async def append(self, user_id: str, conversation_id: str, given: NewPart) -> bool:
        """Add a part; returns whether the draft is stopped, and the part left out. One that is
        there already is not added again.

        Raises DraftNotFound, DraftConflict, InvalidInput for more text than a message may have, and
        as a send would.
        """
        await self._require_writer(user_id, conversation_id)
        most = self._api.max_message_length
        row = await self._rows.append(conversation_id, user_id, given, most=most)
        if row is not None:
            drafted = Drafted(
                draft_id=row["_id"],
                first=given.index,
                last=given.index,
                text=given.text,
                reply_to_message_id=row["replyToMessageId"],
                thread_root_message_id=row["threadRootMessageId"],
                client_message_id=row["clientMessageId"],
                asked_by_user_id=row["askedByUserId"],
            )
            self._outbox.put(user_id, conversation_id, drafted)
            return False
        # Read only now, to give the reason: the update has the conditions, so it decides.
        row = await self._load_own(user_id, conversation_id, given.draft_id)
        if row["stoppedBy"] is not None:
            await self._rows.touch(given.draft_id)
            return True
        # The right part, of an open draft, that nobody stopped: only the length is left.
        if given.index == row["count"] and not row["isFinished"]:
            raise InvalidInput(f"a draft must be at most {most} characters")
        if row["parts"][given.index : given.index + 1] == [given.text]:
            return False
        raise DraftConflict

    async def finish(self, user_id: str, conversation_id: str, given: DraftEnd) -> Message:
        """Send the draft, with the role of an assistant; repeating it is allowed. If the message is
        refused for good, the draft ends without one. Raises DraftNotFound, and as a send does."""
        row = await self._load_own(user_id, conversation_id, given.draft_id)
        # Before the send: a late part would be shown behind the message.
        self._outbox.drop(conversation_id, given.draft_id)
        try:
            message = await self._api.server.send_message(
                row["senderId"],
                row["conversationId"],
                "".join(row["parts"]),
                role="assistant",
                reply_to_message_id=row["replyToMessageId"],
                thread_root_message_id=row["threadRootMessageId"],
                # The draft's key, so that finishing it again finds the message that was sent.
                client_message_id=row["clientMessageId"],
                mentions=given.mentions,
                metadata=given.metadata,
            )
        except ChatError as refusal:
            # Outages and rate limits pass: the draft stays for the next try.
            if refusal.status < 500 and refusal.status != 429:
                await self._end(row, "cancelled")
            raise
        await self._rows.finish(given.draft_id)
        return message

    async def stop(self, user_id: str, conversation_id: str, draft_id: str) -> None:
        """Stop the assistant. A draft that names the asking user is stopped by them, by
        its writer, or by an admin; another one by all users with the right to write.

        Raises DraftNotFound, and as a send would.
        """
        await self._api.require_writable(user_id, conversation_id)
        row = await self._rows.find(conversation_id, draft_id)
        if row is None:
            raise DraftNotFound
        if row["askedByUserId"] not in (None, user_id) and row["senderId"] != user_id:
            conversation = await self._api.load_readable(user_id, conversation_id)
            if conversation.type == "direct" or conversation.roles.get(user_id) != "admin":
                raise ForbiddenWrite("only who has asked, or an admin, stops this draft")
        await self._rows.stop(draft_id, user_id)

    async def cancel(self, user_id: str, conversation_id: str, draft_id: str) -> None:
        """End a draft without a message. Raises DraftNotFound."""
        row = await self._load_own(user_id, conversation_id, draft_id)
        await self._end(row, "cancelled")

    async def list_drafts(self, user_id: str, conversation_id: str) -> tuple[Draft, ...]:
        """The drafts that are being written, with their text so far. Raises ConversationNotFound
        and ForbiddenRead."""
        await self._api.load_readable(user_id, conversation_id)
        return tuple(map(draft_from, await self._rows.list_open(conversation_id)))

    async def end_abandoned(self) -> None:
        """End the drafts to which nothing was added for too long."""
        while (row := await self._rows.take_abandoned()) is not None:
            self._tell_end(row, "abandoned")

    async def _require_writer(self, user_id: str, conversation_id: str) -> None:
        if not self._may_draft(user_id):
            raise ForbiddenWrite("only assistants write drafts")
        await self._api.require_user(user_id)
        await self._api.require_writable(user_id, conversation_id)

    async def _load_own(self, user_id: str, conversation_id: str, draft_id: str) -> Row:
        row = await self._rows.find(conversation_id, draft_id)
        # One answer for both: what others write is not revealed by its id.
        if row is None or row["senderId"] != user_id:
            raise DraftNotFound
        return row

    async def _end(self, row: Row, reason: Reason) -> None:
        self._outbox.drop(row["conversationId"], row["_id"])
        # Only the process that removes it publishes the end.
        if await self._rows.remove(row["_id"]):
            self._tell_end(row, reason)

    def _tell_end(self, row: Row, reason: Reason) -> None:
        payload = Undrafted(draft_id=row["_id"], reason=reason)
        self._tell("draft.ended", row["senderId"], row["conversationId"], payload)

    def _tell(self, name: str, sender_id: str, conversation_id: str, payload: Wire) -> None:
        given = payload.model_dump(by_alias=True)
        event = self._api.ephemeral(name, sender_id, given, conversation_id=conversation_id)
        self._api.publish(event)


def draft_from(row: Row) -> Draft:
    return Draft(
        id=row["_id"],
        conversation_id=row["conversationId"],
        sender_id=row["senderId"],
        asked_by_user_id=row["askedByUserId"],
        reply_to_message_id=row["replyToMessageId"],
        thread_root_message_id=row["threadRootMessageId"],
        client_message_id=row["clientMessageId"],
        text="".join(row["parts"]),
        parts=row["count"],
        is_stopped=row["stoppedBy"] is not None,
        started_at=row["startedAt"],
    )
