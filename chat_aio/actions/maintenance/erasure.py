"""Erasing a person: a pseudonym takes their place, and what they wrote goes.

Every document that names them becomes a few steps. A dry run counts the steps, a run carries them
out. Who becomes admin where the person was the only one: `groups.without_erased`.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from chat_aio.actions.context import Context
from chat_aio.actions.groups import AUTHORS, seniority, without_erased
from chat_aio.actions.guards import require_user
from chat_aio.errors import InvalidInput
from chat_aio.store import audit, blocks
from chat_aio.store.documents import ConversationDocument, ParticipantDocument, ReportDocument
from chat_aio.store.maintenance import erasure, legal_holds
from chat_aio.store.maintenance.erasure import Erasure, Write, rename_in_stamp, value_at
from chat_aio.store.maintenance.personal_data import PLACES, naming_for_good
from chat_aio.store.maintenance.progress import Advance, Progress, silent
from chat_aio.store.maintenance.scanning import scan, size_of
from chat_aio.store.membership import Locked, MembershipChange
from chat_aio.store.sent_counts import Known
from chat_aio.store.settings import Settings

ACTION = "erase-user"
MOST_PASSES = 6

SHOWN = {"body": 0, "terms": 0, "search": 0, "metadata": 0}
"""What need not be read to be erased."""

TRACES = erasure.Traces(
    emptied={"metadata": {}, "forwardedFrom": None},
    removed=("clientMessageId", "requestHash", "terms", "search", "attachments"),
)
"""What goes from their messages besides the body. Number, replies, thread and others' reactions
stay (docs/maintenance.md)."""

Act = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to erase: the kind that it is counted as, and a write or a separate action."""

    kind: str
    how: Write | Act


@dataclass(frozen=True, slots=True)
class Erased:
    """What a run has erased, or would. It `is_over` where its last pass has found nothing more.
    `shared_files` is how many of their files other users' messages carry: these keep their names.
    """

    pseudonym: str
    counts: dict[str, int]
    bans_in_force: list[str]
    shared_files: int
    is_over: bool


async def erase_user(
    context: Context,
    moderator_id: str,
    user_id: str,
    *,
    dry_run: bool,
    progress: Progress = silent,
) -> Erased:
    """Erase a user, looking again until nothing is found; a dry run counts what there is.

    Raises InvalidInput for oneself, because who erases is kept in the audit log, and for a user
    whom a legal hold keeps. Raises UserBanned.
    """
    await require_erasable(context, moderator_id, user_id)
    of = Erasure(
        user_id=user_id,
        pseudonym="" if dry_run else await context.settings.pseudonym(user_id),
        clock=context.clock,
        new_id=context.new_id,
    )
    shared_files = await erasure.count_shared_files(context.database, user_id)
    run = _Run(context=context, of=of, moderator_id=moderator_id, dry_run=dry_run)
    is_over = await run.to_the_end(progress)
    return Erased(
        of.pseudonym,
        dict(sorted(run.counts.items())),
        await erasure.list_bans_in_force(context.database, user_id, at=context.clock()),
        shared_files,
        is_over,
    )


async def require_erasable(context: Context, moderator_id: str, user_id: str) -> None:
    """Raises as `erase_user`."""
    if user_id == moderator_id:
        raise InvalidInput("nobody erases themselves: who does it is kept in the audit log")
    await require_user(context, moderator_id)
    await _require_unheld(context, user_id)


async def was_erased(context: Context, user_id: str) -> bool:
    """Whether the audit log has an erasure of a user. Nothing is written."""
    pseudonym = await context.settings.known_pseudonym(user_id)
    if pseudonym is None:
        return False
    rows = await audit.list_newest(context.database, target_id=pseudonym, limit=100)
    return any(row["action"] == ACTION for row in rows)


async def _require_unheld(context: Context, user_id: str) -> None:
    """Raise InvalidInput if a legal hold keeps a user, or a conversation of theirs."""
    holds = await legal_holds.on_user(context.database, user_id)
    if holds:
        named = ", ".join(f"{hold['targetType']} {hold['targetId']}" for hold in holds)
        raise InvalidInput(f"a legal hold keeps what is to be erased: on {named}")


@dataclass(kw_only=True)
class _Run:
    """One run, and how many steps of each kind it has taken. The audit log has the run before
    anything is written."""

    context: Context
    of: Erasure
    moderator_id: str
    dry_run: bool
    counts: Counter[str] = field(default_factory=Counter)
    _recorded: bool = False

    async def to_the_end(self, progress: Progress) -> bool:
        """Pass over everything until nothing is found, a dry run once; whether that was reached."""
        stage = "Counting" if self.dry_run else "Erasing"
        for _ in range(MOST_PASSES):
            await _require_unheld(self.context, self.of.user_id)
            before = self.counts.total()
            with progress(stage, await size_of(self.context.database, PLACES)) as advance:
                await self._pass_over(advance)
            if self.dry_run or self.counts.total() == before:
                return True
            stage = "Looking again"
        return False

    async def _pass_over(self, advance: Advance) -> None:
        for collection in PLACES:
            rows = self.context.database.collection(collection)
            chosen = naming_for_good(collection, self.of.user_id, at=self.of.clock())
            async for passed, found in scan(self.context.database, rows, chosen, SHOWN):
                steps = [*steps_for(self.context, self.of, collection, found)]
                self.counts.update(step.kind for step in steps)
                if steps and not self.dry_run:
                    await self._carry_out(collection, steps)
                advance(passed)

    async def _carry_out(self, collection: str, steps: Sequence[Step]) -> None:
        await self._record()
        if writes := [step.how for step in steps if not callable(step.how)]:
            await erasure.write(self.context.database, collection, writes)
        for step in steps:
            if callable(step.how):
                await step.how()

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
        await audit.add_once(self.context.database, row)
        self._recorded = True


def steps_for(
    context: Context, of: Erasure, collection: str, found: Iterable[Any]
) -> Iterator[Step]:
    """What is to be done about documents that name the user."""
    for document in found:
        if collection in WRITES:
            yield from WRITES[collection](of, document)
        else:
            yield from ACTS[collection](context, of, document)


def _message_steps(of: Erasure, message: Mapping[str, Any]) -> Iterator[Step]:
    """Their own message becomes a tombstone. Others' messages lose their reactions, of which
    clients hear, and their mentions, of which they do not."""
    if message["senderId"] == of.user_id:
        if message.get("deletedAt"):
            yield Step("tombstones", erasure.scrub_tombstone(of, message, TRACES))
        else:
            yield Step("messages", erasure.empty_message(of, message, TRACES))
        return
    for reaction in message.get("reactions") or ():
        if reaction["userId"] == of.user_id:
            yield Step("reactions", erasure.remove_reaction(of, message["_id"], reaction["emoji"]))
    if any(mention["userId"] == of.user_id for mention in message.get("mentions") or ()):
        yield Step("mentions", erasure.remove_mention(of, message["_id"]))
    yield from _renames(
        of, message, {"forwardedFrom.senderId": "forwards", "change.actorId": "stamps"}
    )


def _version_steps(of: Erasure, version: Mapping[str, Any]) -> Iterator[Step]:
    """What a message of theirs was goes; what they did to others' messages stays."""
    if version["senderId"] == of.user_id:
        guards = {"senderId": of.user_id}
        yield Step("messageVersions", erasure.delete_row(version["_id"], **guards))
        return
    if any(mention["userId"] == of.user_id for mention in version.get("mentions") or ()):
        yield Step("mentions", erasure.remove_mention(of, version["_id"]))
    yield from _renames(of, version, {"replacedByUserId": "messageVersionDecisions"})


def _renames(of: Erasure, document: Any, places: Mapping[str, str]) -> Iterator[Step]:
    """The pseudonym in place of the id; `places` has the kind of each place."""
    for place, kind in places.items():
        if value_at(document, place) == of.user_id:
            yield Step(kind, erasure.rename_at(of, document["_id"], place))


def _invite_steps(of: Erasure, invite: Any) -> Iterator[Step]:
    yield Step("invites", erasure.delete_row(invite["_id"], createdBy=of.user_id))


def _join_request_steps(of: Erasure, request: Any) -> Iterator[Step]:
    """Their own goes; what they decided stays."""
    if request["userId"] == of.user_id:
        yield Step("joinRequests", erasure.delete_row(request["_id"], userId=of.user_id))
    else:
        yield from _renames(of, request, {"resolvedBy": "joinRequestDecisions"})


def _conversation_ban_steps(of: Erasure, ban: Any) -> Iterator[Step]:
    """Bans of them go; those they made stay."""
    if ban["userId"] == of.user_id:
        yield Step("conversationBans", erasure.delete_row(ban["_id"], userId=of.user_id))
    else:
        yield from _renames(of, ban, {"createdByUserId": "conversationBanDecisions"})


def _held_message_steps(of: Erasure, held: Any) -> Iterator[Step]:
    """Their own goes; others' no longer mention them, and keep by whom they were released."""
    if held["senderId"] == of.user_id:
        yield Step("heldMessages", erasure.delete_row(held["_id"], senderId=of.user_id))
        return
    if of.user_id in (held.get("mentions") or ()):
        yield Step("heldMentions", erasure.remove_held_mention(of, held["_id"]))
    yield from _renames(of, held, {"releasedBy": "heldMessageDecisions"})


def _presence_steps(of: Erasure, _: Any) -> Iterator[Step]:
    yield Step("presence", erasure.delete_row(of.user_id))


def _ban_steps(of: Erasure, ban: Any) -> Iterator[Step]:
    """A ban that is over loses the name; one in force keeps it, and so keeps them out."""
    if ban.get("userId") == of.user_id:
        yield Step("bans", erasure.rename_banned(of, ban["_id"]))
    decided = ("createdByUserId", "revokedByUserId")
    yield from _renames(of, ban, dict.fromkeys(decided, "banDecisions"))


def _audit_steps(of: Erasure, row: Any) -> Iterator[Step]:
    """Who acted, and upon whom; what was decided stays."""
    yield from _renames(of, row, dict.fromkeys(PLACES["audit"], "audit"))


def _legal_hold_steps(of: Erasure, hold: Any) -> Iterator[Step]:
    """Who placed it. Whom it keeps is not erased."""
    yield from _renames(of, hold, {"createdByUserId": "legalHoldDecisions"})


def _counter_steps(of: Erasure, head: Any) -> Iterator[Step]:
    yield Step("counts", erasure.remove_count(of, head["_id"]))


def _daily_stats_steps(of: Erasure, row: Any) -> Iterator[Step]:
    """The counts stay."""
    yield Step("dailyStats", erasure.rename_in_list(of, row["_id"], "senderIds"))


def _draft_steps(of: Erasure, draft: Any) -> Iterator[Step]:
    """Drafts of an assistant, or for somebody, who is erased go: their minute is nearly over."""
    yield Step("drafts", erasure.delete_row(draft["_id"], conversationId=draft["conversationId"]))


def _attachment_steps(of: Erasure, row: Any) -> Iterator[Step]:
    """What they have uploaded is nobody's, and its bytes go unless others' forwards have it."""
    yield Step("attachments", erasure.give_up_attachment(of, row["_id"]))


def _delete_as(kind: str) -> Callable[[Erasure, Any], Iterator[Step]]:
    """Rows that are a user's own go."""

    def steps(of: Erasure, row: Any) -> Iterator[Step]:
        yield Step(kind, erasure.delete_row(row["_id"], userId=of.user_id))

    return steps


WRITES: Mapping[str, Callable[[Erasure, Any], Iterator[Step]]] = {
    "counters": _counter_steps,
    "messages": _message_steps,
    "message_versions": _version_steps,
    "invites": _invite_steps,
    "join_requests": _join_request_steps,
    "conversation_bans": _conversation_ban_steps,
    "held_messages": _held_message_steps,
    "mutes": _delete_as("mutes"),
    "thread_states": _delete_as("threadStates"),
    "presence": _presence_steps,
    "bans": _ban_steps,
    "audit": _audit_steps,
    "legal_holds": _legal_hold_steps,
    "daily_stats": _daily_stats_steps,
    "notifications": _delete_as("notifications"),
    "notification_settings": _delete_as("notificationSettings"),
    "notification_shown": _delete_as("shown"),
    "push_subscriptions": _delete_as("pushSubscriptions"),
    "drafts": _draft_steps,
    "attachments": _attachment_steps,
}
"""The steps about a document of each collection where single writes are enough."""


def _conversation_steps(context: Context, of: Erasure, conversation: Any) -> Iterator[Step]:
    """The names and topics that they wrote are cleared, and they leave what they are in. What they
    have left may still name them in its last change."""
    texts = [
        (text, kind)
        for text, kind in (("name", "groupNames"), ("topic", "groupTopics"))
        if conversation.get(AUTHORS[text]) == of.user_id
    ]
    for text, kind in texts:
        yield Step(kind, partial(clear_text, context, of, conversation["_id"], text))
    if is_in(of, conversation):
        kind = "groups" if conversation["type"] == "group" else "directConversations"
        yield Step(kind, partial(leave, context, of, conversation["_id"]))
    elif erasure.is_in_stamp(of, conversation):
        yield Step("stamps", partial(erasure.rename_in_stamp, context.database, of, conversation))


def _block_steps(context: Context, _: Erasure, block: Any) -> Iterator[Step]:
    async def unblock() -> None:
        pair = block["blockerUserId"], block["blockedUserId"]
        direct_id = await context.settings.direct_conversation_id(*pair)
        block_id = blocks.block_id(*pair)
        await blocks.remove(context.database, context.membership, direct_id, block_id)

    yield Step("blocks", unblock)


def _report_steps(context: Context, of: Erasure, report: Any) -> Iterator[Step]:
    rename = partial(erasure.rename_in_report, context.database, report["_id"])
    yield Step("reports", partial(rename, partial(report_fields, of)))


ACTS: Mapping[str, Callable[[Context, Erasure, Any], Iterator[Step]]] = {
    "conversations": _conversation_steps,
    "blocks": _block_steps,
    "reports": _report_steps,
}
"""The steps about a document of each collection where transactions are needed."""


def report_fields(of: Erasure, report: ReportDocument) -> dict[str, Any]:
    """What changes in a report: the pseudonym takes their place, and the text of their message
    goes. What was reported, and what became of it, stays."""
    fields: dict[str, Any] = {
        place: of.pseudonym
        for place in ("reporterUserId", "resolvedBy", "evidence.senderId")
        if value_at(report, place) == of.user_id
    }
    if report["targetType"] == "user" and report["targetId"] == of.user_id:
        fields["targetId"] = of.pseudonym
    if "evidence.senderId" in fields:
        fields["evidence.body"] = ""
    inside = value_at(report, "evidence.participantIds")
    if isinstance(inside, list) and of.user_id in inside:
        fields["evidence.participantIds"] = of.renamed(inside)
    return fields


CLEARED: Mapping[str, str | None] = {"name": None, "topic": ""}


def is_in(of: Erasure, conversation: Mapping[str, Any]) -> bool:
    """Whether there is anything to leave."""
    inside = [participant["userId"] for participant in conversation["participants"]]
    return of.user_id in [*inside, *conversation.get("blockedBy", ())]


async def leave(context: Context, of: Erasure, conversation_id: str) -> None:
    """Leave a conversation, if one is in it. Clients hear who has left; after that the stamp names
    the pseudonym."""
    departure = partial(_departure, context.settings, of)
    changed = await context.membership.change(conversation_id, departure)
    if changed is not None:
        await rename_in_stamp(context.database, of, changed.conversation)


async def clear_text(context: Context, of: Erasure, conversation_id: str, text: str) -> None:
    """Clear the name or the topic of a group, unless somebody else has written another one since.
    Clients get the event of a change by the pseudonym."""

    async def decide(locked: Locked) -> MembershipChange | None:
        if cast(Mapping[str, Any], locked.conversation).get(AUTHORS[text]) != of.user_id:
            return None
        fields = {text: CLEARED[text], AUTHORS[text]: of.pseudonym}
        return MembershipChange(change=of.change("conversation.updated"), fields=fields)

    await context.membership.change(conversation_id, decide)


async def _departure(settings: Settings, of: Erasure, locked: Locked) -> MembershipChange | None:
    conversation = locked.conversation
    if not is_in(of, conversation):
        return None
    change = of.change("participant.removed")
    change["removedUserIds"] = [of.user_id]
    if conversation["type"] == "group":
        staying = without_erased(conversation["participants"], of.user_id)
        return MembershipChange(change=change, fields={"participants": staying})
    await settings.count_erasure(of.pseudonym, locked.session)
    return MembershipChange(change=change, fields=_replaced(of, conversation))


def _replaced(of: Erasure, conversation: ConversationDocument) -> dict[str, Any]:
    """A direct conversation with the pseudonym. Blocks between the two are gone with the user."""
    participants = [
        _pseudonym(of, participant) if participant["userId"] == of.user_id else participant
        for participant in conversation["participants"]
    ]
    pair = sorted(participant["userId"] for participant in participants)
    return {
        "participants": sorted(participants, key=seniority),
        "pairKey": ":".join(pair),
        "blockedBy": [],
    }


def _pseudonym(of: Erasure, participant: ParticipantDocument) -> ParticipantDocument:
    """The participant who replaces the user. The head has no counts of a pseudonym, so the
    participant must not refer to them: its messages are counted one by one."""
    kept = {name: value for name, value in participant.items() if name not in Known.__annotations__}
    return cast(ParticipantDocument, {**kept, "userId": of.pseudonym})
