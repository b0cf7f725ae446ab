"""Erasing a user: a pseudonym replaces their id, and their messages are emptied.

Every document that names the user becomes a few steps. A dry run counts the steps, a run carries
them out. `groups.without_erased` decides who becomes admin if the user was the only one.
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
from chat_aio.store.direct_conversations import count_erasure
from chat_aio.store.documents import ParticipantDocument, ReportDocument
from chat_aio.store.maintenance import erasure, legal_holds
from chat_aio.store.maintenance.erasure import Erasure, Write, rename_in_stamp, value_at
from chat_aio.store.maintenance.personal_data import PLACES, naming_for_good
from chat_aio.store.maintenance.progress import Progress, silent
from chat_aio.store.maintenance.scanning import scan, size_of
from chat_aio.store.membership import Locked, MembershipChange
from chat_aio.store.sent_counts import SentBaseline

ACTION = "erase-user"
MOST_PASSES = 6

SHOWN = {"body": 0, "terms": 0, "search": 0, "metadata": 0}
"""Fields that need not be read for an erasure."""

TRACES = erasure.Traces(
    emptied={"metadata": {}, "forwardedFrom": None},
    removed=("clientMessageId", "requestHash", "terms", "search", "attachments"),
)
"""Fields of the user's messages that are removed besides the body. Number, replies, thread and
others' reactions stay (docs/operations/data-protection.md)."""

Act = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to erase: its kind, for counting, and a write or a separate action."""

    kind: str
    how: Write | Act


@dataclass(frozen=True, slots=True)
class Erased:
    """The result of a run, or of a dry run. `is_over` if the last pass has found nothing more.
    `shared_files` is the number of their files that other users' messages carry: these keep their
    names."""

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
    """Erase a user, searching repeatedly until nothing is found; a dry run counts the steps.

    Raises InvalidInput for erasing yourself, because the audit log keeps the id of the operator,
    and for a user under a legal hold. Raises UserBanned.
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
        raise InvalidInput("you cannot erase yourself: your id is kept in the audit log")
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
    """Raise InvalidInput if a legal hold keeps a user, or one of their conversations."""
    holds = await legal_holds.on_user(context.database, user_id)
    if holds:
        named = ", ".join(f"{hold['targetType']} {hold['targetId']}" for hold in holds)
        raise InvalidInput(f"cannot erase: under a legal hold on {named}")


@dataclass(kw_only=True)
class _Run:
    """One run, and the number of steps of each kind. The audit log records the run before anything
    is written."""

    context: Context
    of: Erasure
    moderator_id: str
    dry_run: bool
    counts: Counter[str] = field(default_factory=Counter)
    _recorded: bool = False

    async def to_the_end(self, progress: Progress) -> bool:
        """Pass over everything until nothing is found, in a dry run once; returns whether that was
        reached."""
        stage = "Counting" if self.dry_run else "Erasing"
        # Repeated, for a user without a ban may write behind the search.
        for _ in range(MOST_PASSES):
            # At each pass, for a hold may be placed during a run.
            await _require_unheld(self.context, self.of.user_id)
            before = self.counts.total()
            database = self.context.database
            with progress(stage, await size_of(database, PLACES)) as advance:
                for collection in PLACES:
                    rows = database.collection(collection)
                    chosen = naming_for_good(collection, self.of.user_id, at=self.of.clock())
                    async for passed, found in scan(database, rows, chosen, SHOWN):
                        steps = [*steps_for(self.context, self.of, collection, found)]
                        self.counts.update(step.kind for step in steps)
                        if steps and not self.dry_run:
                            await self._carry_out(collection, steps)
                        advance(passed)
            if self.dry_run or self.counts.total() == before:
                return True
            stage = "Looking again"
        return False

    async def _carry_out(self, collection: str, steps: Sequence[Step]) -> None:
        # Before the first write: also a run that is interrupted is in the audit log.
        if not self._recorded:
            row = audit.entry(
                self.of.new_id(),
                ACTION,
                self.of.pseudonym,
                actor_id=self.moderator_id,
                at=self.of.clock(),
            )
            await audit.add_once(self.context.database, row)
            self._recorded = True
        if writes := [step.how for step in steps if not callable(step.how)]:
            await erasure.write(self.context.database, collection, writes)
        for step in steps:
            if callable(step.how):
                await step.how()


def steps_for(
    context: Context, of: Erasure, collection: str, found: Iterable[Any]
) -> Iterator[Step]:
    """The steps for documents that name the user."""
    for document in found:
        if collection in WRITES:
            yield from WRITES[collection](of, document)
        else:
            yield from ACTS[collection](context, of, document)


def _message_steps(of: Erasure, message: Mapping[str, Any]) -> Iterator[Step]:
    """The user's own messages become tombstones. Others' messages lose their reactions, which is
    delivered to clients, and their mentions, which is not."""
    if message["senderId"] == of.user_id:
        # A tombstone is not deleted again: clients would get a second event.
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
    """Versions of the user's messages are deleted; their changes to others' messages are kept."""
    if version["senderId"] == of.user_id:
        guards = {"senderId": of.user_id}
        yield Step("messageVersions", erasure.delete_row(version["_id"], **guards))
        return
    if any(mention["userId"] == of.user_id for mention in version.get("mentions") or ()):
        yield Step("mentions", erasure.remove_mention(of, version["_id"]))
    yield from _renames(of, version, {"replacedByUserId": "messageVersionDecisions"})


def _renames(of: Erasure, document: Any, places: Mapping[str, str]) -> Iterator[Step]:
    """Replace the id by the pseudonym; `places` contains the kind of each field."""
    for place, kind in places.items():
        if value_at(document, place) == of.user_id:
            yield Step(kind, erasure.rename_at(of, document["_id"], place))


def _held_message_steps(of: Erasure, held: Any) -> Iterator[Step]:
    """Held messages of the user are deleted; others' no longer mention them, and keep who released
    them."""
    if held["senderId"] == of.user_id:
        yield Step("heldMessages", erasure.delete_row(held["_id"], senderId=of.user_id))
        return
    if of.user_id in (held.get("mentions") or ()):
        yield Step("heldMentions", erasure.remove_held_mention(of, held["_id"]))
    yield from _renames(of, held, {"releasedBy": "heldMessageDecisions"})


def _webhook_steps(of: Erasure, row: Any) -> Iterator[Step]:
    """Webhooks post the rest with the pseudonym."""
    yield from _renames(of, row, {"actorId": "webhookEvents"})
    if of.user_id in (row.get("affectedUserIds") or ()):
        yield Step("webhookEvents", erasure.rename_in_list(of, row["_id"], "affectedUserIds"))


def _ban_steps(of: Erasure, ban: Any) -> Iterator[Step]:
    """An ended ban loses the name; a ban in force keeps it, and so keeps the user out."""
    if ban.get("userId") == of.user_id:
        yield Step("bans", erasure.rename_banned(of, ban["_id"]))
    decided = ("createdByUserId", "revokedByUserId")
    yield from _renames(of, ban, dict.fromkeys(decided, "banDecisions"))


def _delete_as(
    kind: str, decided: Mapping[str, str] | None = None
) -> Callable[[Erasure, Any], Iterable[Step]]:
    """Delete rows that belong to the user; `decided` has the fields of their decisions about
    others' rows, which are kept."""

    def steps(of: Erasure, row: Any) -> Iterable[Step]:
        if decided is not None and row["userId"] != of.user_id:
            return _renames(of, row, decided)
        return [Step(kind, erasure.delete_row(row["_id"], userId=of.user_id))]

    return steps


WRITES: Mapping[str, Callable[[Erasure, Any], Iterable[Step]]] = {
    "counters": lambda of, head: [Step("counts", erasure.remove_count(of, head["_id"]))],
    "messages": _message_steps,
    "message_versions": _version_steps,
    "invites": lambda of, invite: [
        Step("invites", erasure.delete_row(invite["_id"], createdBy=of.user_id))
    ],
    "join_requests": _delete_as("joinRequests", {"resolvedBy": "joinRequestDecisions"}),
    "conversation_bans": _delete_as(
        "conversationBans", {"createdByUserId": "conversationBanDecisions"}
    ),
    "held_messages": _held_message_steps,
    "mutes": _delete_as("mutes"),
    "thread_states": _delete_as("threadStates"),
    "departures": _delete_as("departures"),
    "presence": lambda of, _: [Step("presence", erasure.delete_row(of.user_id))],
    "bans": _ban_steps,
    # The actor and the target; the decision stays.
    "audit": lambda of, row: _renames(of, row, dict.fromkeys(PLACES["audit"], "audit")),
    # Only the user who placed it: the target of a hold is not erased.
    "legal_holds": lambda of, hold: _renames(of, hold, {"createdByUserId": "legalHoldDecisions"}),
    # The counts stay: the pseudonym is one active user as before.
    "daily_stats": lambda of, row: [
        Step("dailyStats", erasure.rename_in_list(of, row["_id"], "senderIds"))
    ],
    "notifications": _delete_as("notifications"),
    "notification_settings": _delete_as("notificationSettings"),
    "notification_shown": _delete_as("shown"),
    "notification_devices": _delete_as("devices"),
    "webhook_deliveries": _webhook_steps,
    # By or for the user. They would expire within a minute.
    "drafts": lambda _, draft: [
        Step(
            "drafts",
            erasure.delete_row(draft["_id"], conversationId=draft["conversationId"]),
        )
    ],
    # Uploads lose their owner; the bytes are deleted unless others' forwards use them.
    "attachments": lambda of, row: [
        Step("attachments", erasure.give_up_attachment(of, row["_id"]))
    ],
}
"""The steps for a document of each collection where single writes are enough."""


def _conversation_steps(context: Context, of: Erasure, conversation: Any) -> Iterator[Step]:
    """Names and topics that the user wrote are cleared, and the user leaves their conversations. A
    conversation that they have left may still name them in its last change."""
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
        block_id = blocks.block_id(*pair)
        await blocks.remove(context.database, context.membership, context.settings, block_id)

    yield Step("blocks", unblock)


ACTS: Mapping[str, Callable[[Context, Erasure, Any], Iterable[Step]]] = {
    "conversations": _conversation_steps,
    "blocks": _block_steps,
    "reports": lambda context, of, report: [
        Step(
            "reports",
            partial(
                erasure.rename_in_report,
                context.database,
                report["_id"],
                partial(report_fields, of),
            ),
        )
    ],
}
"""The steps for a document of each collection where transactions are needed."""


def report_fields(of: Erasure, report: ReportDocument) -> dict[str, Any]:
    """The fields that change in a report: the pseudonym replaces the user, and the text of their
    message is removed. The reported object and the outcome are kept."""
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
    """Whether there is a participation to end."""
    inside = [participant["userId"] for participant in conversation["participants"]]
    return of.user_id in [*inside, *conversation.get("blockedBy", ())]


async def leave(context: Context, of: Erasure, conversation_id: str) -> None:
    """Leave a conversation, if the user is in it. Clients receive the user's id as the one who
    left; after that the stamp names the pseudonym."""

    async def decide(locked: Locked) -> MembershipChange | None:
        conversation = locked.conversation
        if not is_in(of, conversation):
            return None
        change = of.change("participant.removed")
        # Not as `removed`: that would note a departure, which names the user.
        change["removedUserIds"] = [of.user_id]
        if conversation["type"] == "group":
            staying = without_erased(conversation["participants"], of.user_id)
            return MembershipChange(change=change, fields={"participants": staying})
        await count_erasure(context.settings, of.pseudonym, locked.session)
        participants = []
        for participant in conversation["participants"]:
            if participant["userId"] == of.user_id:
                # The head has no counts for a pseudonym, so the participant must not refer to
                # them: its messages are counted one by one. Nobody has its view any longer.
                left_out = {*SentBaseline.__annotations__, "view"}
                kept = {name: value for name, value in participant.items() if name not in left_out}
                participant = cast(ParticipantDocument, {**kept, "userId": of.pseudonym})
            participants.append(participant)
        fields = {
            "participants": sorted(participants, key=seniority),
            "pairKey": ":".join(sorted(person["userId"] for person in participants)),
            # Blocks between the two are removed with the user.
            "blockedBy": [],
        }
        return MembershipChange(change=change, fields=fields)

    # Under the lock: the other one may leave, or a new admin be named, at the same time.
    changed = await context.membership.change(conversation_id, decide)
    if changed is not None:
        await rename_in_stamp(context.database, of, changed.conversation)


async def clear_text(context: Context, of: Erasure, conversation_id: str, text: str) -> None:
    """Clear the name or the topic of a group, unless another user has replaced it since.
    Clients receive the event of a change by the pseudonym."""

    async def decide(locked: Locked) -> MembershipChange | None:
        if cast(Mapping[str, Any], locked.conversation).get(AUTHORS[text]) != of.user_id:
            return None
        fields = {text: CLEARED[text], AUTHORS[text]: of.pseudonym}
        return MembershipChange(change=of.change("conversation.updated"), fields=fields)

    await context.membership.change(conversation_id, decide)
