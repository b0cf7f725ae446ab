"""Every error that a caller can get: its code, its HTTP status and its message.

An error is a class of three lines whose docstring is the default message; `ChatError.catalogue` is
the table of all of them by code.
"""

from typing import ClassVar


class ChatError(Exception):
    """An error with a stable `code` and the HTTP `status` that it maps to."""

    code: ClassVar[str]
    status: ClassVar[int]
    retry_after: int | None = None
    catalogue: ClassVar[dict[str, type["ChatError"]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.catalogue.setdefault(cls.code, cls) is not cls:
            raise TypeError(f"error code {cls.code} is declared twice")

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip().removesuffix("."))


class Unauthenticated(ChatError):
    """Authentication is required."""

    code, status = "UNAUTHENTICATED", 401


class InvalidInput(ChatError):
    """The request is not valid."""

    code, status = "INVALID_INPUT", 400


class MentionNotParticipant(ChatError):
    """Only participants can be mentioned."""

    code, status = "MENTION_NOT_PARTICIPANT", 400


class ForbiddenRead(ChatError):
    """You may not read this conversation."""

    code, status = "FORBIDDEN_READ", 403


class ForbiddenWrite(ChatError):
    """You may not write to this conversation."""

    code, status = "FORBIDDEN_WRITE", 403


class RoleNotAllowed(ChatError):
    """Your messages may not have this role."""

    code, status = "ROLE_NOT_ALLOWED", 403


class SilentNotAllowed(ChatError):
    """Your messages may not be silent."""

    code, status = "SILENT_NOT_ALLOWED", 403


class CreateNotAllowed(ChatError):
    """You may not create this conversation."""

    code, status = "CREATE_NOT_ALLOWED", 403


class LeaveNotAllowed(ChatError):
    """You may not leave this conversation."""

    code, status = "LEAVE_NOT_ALLOWED", 403


class DeleteNotAllowed(ChatError):
    """You may not delete this message."""

    code, status = "DELETE_NOT_ALLOWED", 403


class KeyNotAllowed(ChatError):
    """You may not use the keys of groups."""

    code, status = "KEY_NOT_ALLOWED", 403


class ForbiddenOrigin(ChatError):
    """Pages of this origin may not do this; the server has not listed it."""

    code, status = "FORBIDDEN_ORIGIN", 403


class NotMessageSender(ChatError):
    """Only its sender may change a message."""

    code, status = "NOT_MESSAGE_SENDER", 403


class NotConversationAdmin(ChatError):
    """Only an admin of the conversation may do this."""

    code, status = "NOT_CONVERSATION_ADMIN", 403


class NotModerator(ChatError):
    """Only a moderator may do this."""

    code, status = "NOT_MODERATOR", 403


class DirectInteractionBlocked(ChatError):
    """One of the two has blocked the other."""

    code, status = "DIRECT_INTERACTION_BLOCKED", 403


class UserBanned(ChatError):
    """You are banned."""

    code, status = "USER_BANNED", 403


class ConversationBanned(ChatError):
    """A user who is banned from this conversation cannot join until an admin removes the ban."""

    code, status = "CONVERSATION_BANNED", 403


class ConversationFrozen(ChatError):
    """This conversation is frozen: only its admins can write."""

    code, status = "CONVERSATION_FROZEN", 403


class MessageHeld(ChatError):
    """This message waits for a moderator."""

    code, status = "MESSAGE_HELD", 403


class NotPublicConversation(ChatError):
    """This conversation is not a public channel."""

    code, status = "NOT_PUBLIC_CONVERSATION", 403


class ConversationNotFound(ChatError):
    """There is no such conversation."""

    code, status = "CONVERSATION_NOT_FOUND", 404


class MessageNotFound(ChatError):
    """There is no such message."""

    code, status = "MESSAGE_NOT_FOUND", 404


class AttachmentNotFound(ChatError):
    """There is no such attachment."""

    code, status = "ATTACHMENT_NOT_FOUND", 404


class InviteNotFound(ChatError):
    """There is no such invite."""

    code, status = "INVITE_NOT_FOUND", 404


class DraftNotFound(ChatError):
    """There is no such draft, or no longer."""

    code, status = "DRAFT_NOT_FOUND", 404


class JoinRequestNotFound(ChatError):
    """There is no such pending request."""

    code, status = "JOIN_REQUEST_NOT_FOUND", 404


class ReportNotFound(ChatError):
    """There is no such report."""

    code, status = "REPORT_NOT_FOUND", 404


class HeldMessageNotFound(ChatError):
    """There is no such held message; it may have been released or discarded."""

    code, status = "HELD_MESSAGE_NOT_FOUND", 404


class BanNotFound(ChatError):
    """There is no such ban."""

    code, status = "BAN_NOT_FOUND", 404


class NotFound(ChatError):
    """There is nothing at this path."""

    code, status = "NOT_FOUND", 404


class UserNotFound(ChatError):
    """There is no such user."""

    code, status = "USER_NOT_FOUND", 404


class MessageNotRestorable(ChatError):
    """This message cannot be restored: no moderator removed it, or it is no longer kept."""

    code, status = "MESSAGE_NOT_RESTORABLE", 409


class DraftConflict(ChatError):
    """This is not the next part of the draft."""

    code, status = "DRAFT_CONFLICT", 409


class MessageDeleted(ChatError):
    """The message is deleted."""

    code, status = "MESSAGE_DELETED", 409


class MetadataConflict(ChatError):
    """The metadata have another version by now: read them, and change them again."""

    code, status = "METADATA_CONFLICT", 409


class MessageConflict(ChatError):
    """This idempotency key was used for a different request; use a new key for a new request."""

    code, status = "MESSAGE_CONFLICT", 409


class HeldMessageReleased(ChatError):
    """A moderator has released this message; it cannot be discarded any more."""

    code, status = "HELD_MESSAGE_RELEASED", 409


class NotGroupConversation(ChatError):
    """This works in groups only, and the conversation is a direct one."""

    code, status = "NOT_GROUP_CONVERSATION", 409


class LastAdminRemaining(ChatError):
    """A group needs at least one admin; make somebody else an admin first."""

    code, status = "LAST_ADMIN_REMAINING", 409


class LegalHold(ChatError):
    """A legal hold keeps this conversation."""

    code, status = "LEGAL_HOLD", 409


class AlreadyParticipant(ChatError):
    """You are in this group already."""

    code, status = "ALREADY_PARTICIPANT", 409


class InviteExpired(ChatError):
    """This invite has expired or is used up."""

    code, status = "INVITE_EXPIRED", 410


class PayloadTooLarge(ChatError):
    """The request body is too large."""

    code, status = "PAYLOAD_TOO_LARGE", 413


class UnsupportedEncoding(ChatError):
    """Send the request body without a Content-Encoding."""

    code, status = "UNSUPPORTED_ENCODING", 415


class AttachmentTypeUnsupported(ChatError):
    """Files of this kind cannot be attached here."""

    code, status = "ATTACHMENT_TYPE_UNSUPPORTED", 415


class AttachmentRejected(ChatError):
    """The file was refused."""

    code, status = "ATTACHMENT_REJECTED", 422


class AttachmentLimitExceeded(ChatError):
    """You have attached as many files as you may within a day, or as large ones."""

    code, status = "ATTACHMENT_LIMIT_EXCEEDED", 422


class RangeNotSatisfiable(ChatError):
    """The file has no such bytes."""

    code, status = "RANGE_NOT_SATISFIABLE", 416


class GroupLimitExceeded(ChatError):
    """A conversation has at most 256 participants."""

    code, status = "GROUP_LIMIT_EXCEEDED", 422


class PinLimitExceeded(ChatError):
    """A conversation has at most 50 pinned messages."""

    code, status = "PIN_LIMIT_EXCEEDED", 422


class InviteLimitExceeded(ChatError):
    """A group has at most 50 invites; revoke one first."""

    code, status = "INVITE_LIMIT_EXCEEDED", 422


class MessageRejected(ChatError):
    """The message was refused."""

    code, status = "MESSAGE_REJECTED", 422


class ReactionLimitExceeded(ChatError):
    """This message has as many reactions as it can have, or as you may give it."""

    code, status = "REACTION_LIMIT_EXCEEDED", 422


class RateLimited(ChatError):
    """Too many requests; wait for the seconds in Retry-After."""

    code, status = "RATE_LIMITED", 429
    retry_after = 5

    def __init__(self, message: str | None = None, *, retry_after: int = 5) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SlowMode(RateLimited):
    """This conversation is in slow mode; wait for the seconds in Retry-After."""

    code, status = "SLOW_MODE", 429


class InternalError(ChatError):
    """Something went wrong on our side."""

    code, status = "INTERNAL_ERROR", 500


class AttachmentsUnsupported(ChatError):
    """This installation has no attachments."""

    code, status = "ATTACHMENTS_UNSUPPORTED", 501


class ChannelsUnsupported(ChatError):
    """This installation has no channels."""

    code, status = "CHANNELS_UNSUPPORTED", 501


class InvitesUnsupported(ChatError):
    """This installation has no invites and join requests."""

    code, status = "INVITES_UNSUPPORTED", 501


class ModerationUnsupported(ChatError):
    """This installation has no moderation."""

    code, status = "MODERATION_UNSUPPORTED", 501


class PushUnsupported(ChatError):
    """This installation notifies no devices."""

    code, status = "PUSH_UNSUPPORTED", 501


class SearchUnsupported(ChatError):
    """This installation has no search."""

    code, status = "SEARCH_UNSUPPORTED", 501


class ThreadsUnsupported(ChatError):
    """This installation has no threads."""

    code, status = "THREADS_UNSUPPORTED", 501


class UsersUnsupported(ChatError):
    """This installation has no names of users, or no search for them."""

    code, status = "USERS_UNSUPPORTED", 501


class StreamUnsupported(ChatError):
    """This installation has no live stream."""

    code, status = "STREAM_UNSUPPORTED", 501


class HostUnavailable(InternalError):
    """The app behind this chat did not answer in time; nothing was written, so try again."""

    code, status = "HOST_UNAVAILABLE", 503
    retry_after = 2


class StorageUnavailable(ChatError):
    """The database was not reached in time; nothing was written, so try again."""

    code, status = "STORAGE_UNAVAILABLE", 503
    retry_after = 2


# A constant, because the store recognises an unknown outcome by this text (`store/sequencer.py`).
OUTCOME_UNKNOWN = (
    "the database was not reached in time and the outcome is unknown; "
    "repeat the request with the same idempotency key"
)


class SetupError(RuntimeError):
    """The installation cannot work as it is; the message names the remedy. Raised at start only."""
