"""The errors that several routes have in common."""

from chat_aio import errors

READING = (errors.ConversationNotFound, errors.ForbiddenRead)
WRITING = (errors.ConversationNotFound, errors.ForbiddenWrite, errors.DirectInteractionBlocked)
REACTING = (*WRITING, errors.MessageNotFound, errors.ForbiddenRead)
COMPOSING = (
    *REACTING,
    errors.MentionNotParticipant,
    errors.MessageRejected,
    errors.ConversationFrozen,
)
POSTING = (*COMPOSING, errors.AttachmentNotFound, errors.MessageConflict, errors.SlowMode)
SENDING = (
    *POSTING,
    errors.MessageHeld,
    errors.ThreadsUnsupported,
    errors.AttachmentsUnsupported,
)
GROUP = (errors.ConversationNotFound, errors.NotGroupConversation)
MANAGING = (*GROUP, errors.NotConversationAdmin)
ASKING = (
    *GROUP,
    errors.InvitesUnsupported,
    errors.AlreadyParticipant,
    errors.ConversationBanned,
)
MODERATING = (errors.NotModerator, errors.ModerationUnsupported)
