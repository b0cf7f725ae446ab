"""Converts documents of the database to the models of the API."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, cast

import orjson

from chat_aio.schema.models import (
    Attachment,
    Ban,
    BareMessage,
    Block,
    ChannelPreview,
    Conversation,
    ConversationBan,
    ConversationView,
    ConversationWithUnread,
    ForwardedFrom,
    HeldMessage,
    Invite,
    JoinRequest,
    Message,
    Mute,
    OptionalFields,
    Participant,
    Report,
)
from chat_aio.schema.wire import Wire, aware, json_from, timestamp
from chat_aio.store.bans import LONG_AGO
from chat_aio.store.channels import ChannelDocument
from chat_aio.store.documents import (
    ROOM_CONTROLS,
    SINCE_JOIN,
    AttachedDocument,
    BanDocument,
    BlockDocument,
    ConversationBanDocument,
    ConversationDocument,
    CounterDocument,
    ForwardedFromDocument,
    HeldMessageDocument,
    InviteDocument,
    JoinRequestDocument,
    MessageDocument,
    MuteDocument,
    ParentDocument,
    ParticipantDocument,
    ReactionDocument,
    ReportDocument,
    ViewDocument,
)
from chat_aio.store.metadata import unescaped, version_of

EXCERPT_LENGTH = 140

UNSET_VIEW = ConversationView()

Shape = TypeVar("Shape", bound=Wire)

Parents = Mapping[str, ParentDocument]
"""The parents of replies, by id."""


def conversation_from(document: ConversationDocument, optional: OptionalFields) -> Conversation:
    """A conversation, with the fields that options add."""
    fields = _conversation_fields(document, _participants_from(document), optional)
    return Conversation.model_validate(fields)


def viewed_conversation_from(
    document: ConversationDocument,
    unread_count: int,
    optional: OptionalFields,
    view: ConversationView = UNSET_VIEW,
) -> ConversationWithUnread:
    """A conversation with the viewer's unread count and, with the option, their view of it."""
    fields = _conversation_fields(document, _participants_from(document), optional)
    fields["unreadCount"] = unread_count
    if optional.views:
        fields["view"] = view
    return ConversationWithUnread.model_validate(fields)


def conversation_json(document: ConversationDocument, optional: OptionalFields) -> bytes:
    """The JSON of `conversation_from`, without creating the objects.

    Nothing is checked here: the document must be readable (`shapes.one_readable`).
    """
    conversation_id = document["_id"]
    participants = [
        {
            "conversationId": conversation_id,
            "userId": participant["userId"],
            "role": participant["role"],
            # Not by orjson's `default`: most participants have the same time, which is cached.
            "joinedAt": timestamp(participant["joinedAt"]),
            "lastReadMessageId": participant["lastReadMessageId"],
        }
        for participant in document["participants"]
    ]
    fields = _conversation_fields(document, participants, optional)
    return orjson.dumps(fields, default=timestamp, option=orjson.OPT_PASSTHROUGH_DATETIME)


def viewed_json(
    conversation: bytes,
    unread_count: int,
    optional: OptionalFields,
    view: ConversationView = UNSET_VIEW,
) -> bytes:
    """The JSON of `viewed_conversation_from`, made from that of `conversation_json`."""
    viewed = b'%b,"unreadCount":%d}' % (conversation[:-1], unread_count)
    return b'%b,"view":%b}' % (viewed[:-1], json_from(view)) if optional.views else viewed


def view_from(participant: ParticipantDocument, head: CounterDocument) -> ConversationView:
    """A participant's view of the conversation that has this head."""
    if "view" not in participant and "hiddenUpToSeq" not in participant:
        return UNSET_VIEW  # Making one would take as long as the rest of a row.
    stored = participant.get("view", {})
    return ConversationView(
        archived=stored.get("archived", False),
        favourite=stored.get("favourite", False),
        hidden=is_unlisted(stored, head),
        cleared_up_to_seq=participant.get("hiddenUpToSeq", 0),
    )


def is_unlisted(view: ViewDocument, head: CounterDocument) -> bool:
    """Whether a conversation is hidden from lists until its next message. The head may be that of
    another program, with any `seq`."""
    seq = head.get("seq")
    return isinstance(seq, int) and seq <= view.get("unlistedUpToSeq", -1)


def _conversation_fields(
    document: ConversationDocument, participants: Sequence[object], optional: OptionalFields
) -> dict[str, object]:
    """The fields of a conversation under the names and in the order of its JSON; times are
    datetimes."""
    fields: dict[str, object] = {
        "id": document["_id"],
        "type": document["type"],
        "pairKey": document["pairKey"],
        "name": document["name"],
        "createdAt": document["createdAt"],
        "metadata": unescaped(document["metadata"]) if document["metadata"] else {},
        "participants": participants,
        "visibility": document["visibility"],
        "joinPolicy": document["joinPolicy"],
    }
    if optional.keys and "key" in document:
        fields["key"] = document["key"]
    if optional.metadata_versions:
        fields["metadataVersion"] = version_of(document)
    if optional.room_controls:
        stored = cast(Mapping[str, Any], document)
        fields |= {name: stored.get(name, unset) for name, unset in ROOM_CONTROLS.items()}
        fields["pinnedMessageIds"] = document.get("pins", [])
    elif document.get("history") == SINCE_JOIN:
        # Even without the option: the setting applies as long as it is set.
        fields["history"] = SINCE_JOIN
    return fields


def _participants_from(document: ConversationDocument) -> tuple[Participant, ...]:
    return tuple(
        Participant(
            conversation_id=document["_id"],
            user_id=participant["userId"],
            role=participant["role"],
            joined_at=aware(participant["joinedAt"]),
            last_read_message_id=participant["lastReadMessageId"],
        )
        for participant in document["participants"]
    )


def invite_from(document: InviteDocument) -> Invite:
    return _model_from(Invite, document, code=document["_id"])


def join_request_from(document: JoinRequestDocument) -> JoinRequest:
    return _model_from(JoinRequest, document, id=document["_id"])


def channel_preview_from(
    document: ChannelDocument, optional: OptionalFields, *, request_pending: bool
) -> ChannelPreview:
    return _model_from(
        ChannelPreview,
        document,
        conversationId=document["_id"],
        requestPending=request_pending,
        topic=document.get("topic", ROOM_CONTROLS["topic"]) if optional.room_controls else None,
    )


def _model_from(model: type[Shape], document: Mapping[str, Any], **others: object) -> Shape:
    """A document whose fields have the names of the model's, and `others`. Its further fields are
    internal."""
    fields = {alias: document[alias] for alias in _aliases(model) if alias in document} | others
    if "metadata" in fields:
        fields["metadata"] = unescaped(fields["metadata"])
    return model.model_validate(fields)


@cache
def _aliases(model: type[Wire]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in model.model_fields.items())


def bare_message_from(document: MessageDocument) -> BareMessage:
    return BareMessage.model_validate(_bare_fields(document))


def message_from(document: MessageDocument, parents: Parents, optional: OptionalFields) -> Message:
    """A message with preview, reactions and mentions, and the fields that options add; the parent
    of a reply is in `parents`."""
    return Message.model_validate(_message_fields(document, parents, optional))


def message_json(document: MessageDocument, parents: Parents, optional: OptionalFields) -> bytes:
    """The JSON of `message_from`, without creating the model, which costs several times as much.

    Nothing is checked here: the document must be readable (`shapes.one_readable`).
    """
    fields = _message_fields(document, parents, optional)
    return orjson.dumps(fields, default=timestamp, option=orjson.OPT_PASSTHROUGH_DATETIME)


def _message_fields(
    document: MessageDocument, parents: Parents, optional: OptionalFields
) -> dict[str, object]:
    """The fields of a message under the names and in the order of its JSON; times are datetimes."""
    fields = _bare_fields(document)
    parent_id = document["replyToMessageId"]
    fields["replyTo"] = None
    if parent_id is not None:
        parent = parents.get(parent_id)
        # A missing parent shows as deleted. The sender of a tombstone is kept; nothing is known of
        # a message that does not exist.
        body = "" if parent is None or parent["deletedAt"] else parent["body"]
        is_long = len(body) > EXCERPT_LENGTH
        fields["replyTo"] = {
            "id": parent_id,
            "senderId": parent["senderId"] if parent else "",
            "excerpt": body[:EXCERPT_LENGTH] + "…" if is_long else body,
            "deleted": parent is None or bool(parent["deletedAt"]),
        }
    fields["reactions"] = grouped(document["reactions"]) if document["reactions"] else []
    earliest_first = sorted(
        document["mentions"], key=lambda mention: (mention["createdAt"], mention["userId"])
    )
    fields["mentions"] = [mention["userId"] for mention in earliest_first]
    thread = document.get("thread")
    fields["threadSummary"] = thread and {
        "replyCount": thread["replyCount"],
        "lastReplyAt": thread["lastReplyAt"],
    }
    if optional.metadata_versions:
        fields["metadataVersion"] = version_of(document)
    return fields


def grouped(reactions: list[ReactionDocument]) -> list[dict[str, object]]:
    """Reactions by emoji, groups and users earliest first (specification 4.5)."""
    # A dict keeps the order in which its keys came, and reactions are stored earliest first.
    users: dict[str, list[str]] = {}
    for reaction in reactions:
        users.setdefault(reaction["emoji"], []).append(reaction["userId"])
    return [
        {"emoji": emoji, "count": len(user_ids), "userIds": user_ids}
        for emoji, user_ids in users.items()
    ]


def _bare_fields(document: MessageDocument) -> dict[str, object]:
    root_id, source = document["threadRootMessageId"], document["forwardedFrom"]
    stands_in_both = root_id is not None and document["conversationId"] in document["timelines"]
    fields: dict[str, object] = {
        "id": document["_id"],
        "conversationId": document["conversationId"],
        "senderId": document["senderId"],
        "body": document["body"],
        "role": document["role"],
        "seq": document["seq"],
        "createdAt": document["createdAt"],
        "editedAt": document["editedAt"],
        "deletedAt": document["deletedAt"],
        "replyToMessageId": document["replyToMessageId"],
        "threadRootMessageId": root_id,
        "alsoSendToMain": stands_in_both,
        "clientMessageId": document.get("clientMessageId"),
        "forwardedFrom": source and _forwarded_fields(source),
        "metadata": unescaped(document["metadata"]) if document["metadata"] else {},
    }
    if attached := document.get("attachments"):
        fields["attachments"] = [_attached_fields(attachment) for attachment in attached]
    return fields


def attachments_from(attached: Sequence[AttachedDocument] | None) -> tuple[Attachment, ...]:
    """The attachments of a message, an earlier version or a held message."""
    return tuple(
        Attachment.model_validate(_attached_fields(attachment)) for attachment in attached or ()
    )


def attached_from(attachments: Sequence[Attachment]) -> list[AttachedDocument]:
    """The attachments of a message as they are stored."""
    return [
        cast(AttachedDocument, attachment.model_dump(by_alias=True)) for attachment in attachments
    ]


def _attached_fields(document: AttachedDocument) -> dict[str, object]:
    return {alias: document[alias] for alias in _aliases(Attachment)}  # type: ignore[literal-required]


def forwarded_from_of(document: ForwardedFromDocument | None) -> ForwardedFrom | None:
    """The source of a forwarded message; None if it is not a forward."""
    return document and ForwardedFrom.model_validate(_forwarded_fields(document))


def reference_of(source: ForwardedFrom) -> ForwardedFromDocument:
    """The source of a forwarded message as it is stored."""
    return {
        "messageId": source.message_id,
        "conversationId": source.conversation_id,
        "senderId": source.sender_id,
    }


def _forwarded_fields(document: ForwardedFromDocument) -> dict[str, object]:
    return {
        "messageId": document["messageId"],
        "conversationId": document["conversationId"],
        "senderId": document["senderId"],
    }


def conversation_ban_from(document: ConversationBanDocument) -> ConversationBan:
    return _model_from(ConversationBan, document)


def block_from(document: BlockDocument) -> Block:
    return _model_from(Block, document)


def mute_from(document: MuteDocument) -> Mute:
    return _model_from(Mute, document)


def report_from(document: ReportDocument) -> Report:
    return _model_from(Report, document, id=document["_id"])


def held_message_from(document: HeldMessageDocument) -> HeldMessage:
    return _model_from(HeldMessage, document, id=document["_id"])


def ban_from(document: BanDocument) -> Ban:
    """A ban. Another program's row may have only the fields that it needs to be in force."""
    return Ban(
        id=str(document["_id"]),
        user_id=str(document["userId"]),
        created_by_user_id=_text(document.get("createdByUserId")) or "",
        reason=_text(document.get("reason")),
        created_at=_time(document.get("createdAt")) or LONG_AGO,
        expires_at=_time(document.get("expiresAt")),
        revoked_at=_time(document.get("revokedAt")),
        revoked_by_user_id=_text(document.get("revokedByUserId")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _time(value: object) -> datetime | None:
    return value if isinstance(value, datetime) else None
