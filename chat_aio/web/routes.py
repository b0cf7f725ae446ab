"""The routes, in the order of the interface's tables, to be held beside them."""

from chat_aio import inputs
from chat_aio.actions import (
    bans,
    blocks,
    channels,
    conversations,
    editing,
    groups,
    invites,
    join_requests,
    messages,
    mutes,
    reactions,
    reports,
    searching,
    sending,
)
from chat_aio.web.operations import Operation, Posting, Streaming
from chat_aio.web.stream import stream

ROUTES: tuple[Operation | Streaming, ...] = (
    Operation(
        "POST",
        "/conversations",
        conversations.get_or_create_conversation,
        body=inputs.DirectConversation,
        envelope="conversation",
    ),
    Operation("GET", "/conversations", conversations.list_conversations, query=inputs.Page),
    Operation(
        "GET",
        "/conversations/{conversation_id}",
        conversations.get_conversation,
        envelope="conversation",
    ),
    Posting(
        "POST",
        "/conversations/{conversation_id}/messages",
        sending.post_message,
        body=inputs.NewMessage,
        envelope="message",
        status=201,
        like=sending.send_message,
    ),
    Operation(
        "GET",
        "/conversations/{conversation_id}/messages",
        messages.list_messages,
        query=inputs.Page,
    ),
    Operation(
        "GET",
        "/conversations/{conversation_id}/messages/{message_id}",
        messages.get_message,
        envelope="message",
    ),
    Operation(
        "GET",
        "/conversations/{conversation_id}/threads/{root_id}/messages",
        messages.list_thread,
        query=inputs.Page,
    ),
    Operation("GET", "/search/messages", searching.search_messages, query=inputs.Search),
    Operation(
        "POST", "/conversations/{conversation_id}/read", messages.mark_read, body=inputs.Mark
    ),
    Operation(
        "PATCH",
        "/messages/{message_id}",
        editing.edit_message,
        body=inputs.Edit,
        envelope="message",
    ),
    Operation("DELETE", "/messages/{message_id}", editing.delete_message, envelope="message"),
    Posting(
        "POST",
        "/messages/{message_id}/forward",
        sending.post_forward,
        body=inputs.Forwarding,
        envelope="message",
        status=201,
        like=sending.forward_message,
    ),
    Operation(
        "POST",
        "/messages/{message_id}/reactions",
        reactions.add_reaction,
        body=inputs.Reaction,
        envelope="message",
    ),
    Operation(
        "DELETE",
        "/messages/{message_id}/reactions",
        reactions.remove_reaction,
        body=inputs.Reaction,
        envelope="message",
    ),
    Streaming("GET", "/stream", stream),
    Operation(
        "POST",
        "/conversations/group",
        groups.create_group_conversation,
        body=inputs.GroupConversation,
        body_optional=True,
        envelope="conversation",
        status=201,
    ),
    Operation(
        "PATCH",
        "/conversations/{conversation_id}",
        groups.update_conversation,
        body=inputs.ConversationChange,
        envelope="conversation",
    ),
    Operation(
        "POST",
        "/conversations/{conversation_id}/participants",
        groups.add_participants,
        body=inputs.Participants,
        envelope="conversation",
    ),
    Operation(
        "DELETE",
        "/conversations/{conversation_id}/participants",
        groups.remove_participant,
        body=inputs.Leaver,
        envelope="conversation",
    ),
    Operation(
        "PATCH",
        "/conversations/{conversation_id}/participants",
        groups.set_participant_role,
        body=inputs.ParticipantChange,
        envelope="conversation",
    ),
    Operation(
        "POST",
        "/conversations/{conversation_id}/invites",
        invites.create_invite,
        body=inputs.NewInvite,
        body_optional=True,
        envelope="invite",
        status=201,
    ),
    Operation(
        "GET", "/conversations/{conversation_id}/invites", invites.list_invites, envelope="invites"
    ),
    Operation(
        "DELETE",
        "/conversations/{conversation_id}/invites/{code}",
        invites.revoke_invite_of,
        like=invites.revoke_invite,
    ),
    Operation("GET", "/invites/{code}", invites.get_invite_preview, envelope="invite"),
    Operation(
        "POST",
        "/invites/{code}/accept",
        invites.accept_invite,
        body=inputs.Asking,
        body_optional=True,
    ),
    Operation(
        "POST",
        "/conversations/{conversation_id}/join-requests",
        join_requests.request_to_join,
        body=inputs.Asking,
        body_optional=True,
        envelope="joinRequest",
        status=201,
    ),
    Operation(
        "GET",
        "/conversations/{conversation_id}/join-requests",
        join_requests.list_join_requests,
        query=inputs.RequestList,
    ),
    Operation(
        "PATCH",
        "/conversations/{conversation_id}/join-requests",
        join_requests.resolve_join_request,
        body=inputs.Decision,
    ),
    Operation("GET", "/channels", channels.list_public_conversations, query=inputs.Page),
    Operation(
        "POST",
        "/conversations/{conversation_id}/join",
        channels.join_conversation,
        body=inputs.Asking,
        body_optional=True,
    ),
    Operation(
        "POST", "/moderation/blocks", blocks.block_user, body=inputs.Target, envelope="block"
    ),
    Operation("DELETE", "/moderation/blocks", blocks.unblock_user, body=inputs.Target),
    Operation("GET", "/moderation/blocks", blocks.list_blocked_users, query=inputs.Page),
    Operation(
        "POST",
        "/moderation/mutes",
        mutes.mute_conversation,
        body=inputs.MutedConversation,
        envelope="mute",
    ),
    Operation(
        "DELETE", "/moderation/mutes", mutes.unmute_conversation, body=inputs.MutedConversation
    ),
    Operation("GET", "/moderation/mutes", mutes.list_muted_conversations, query=inputs.Page),
    Operation(
        "POST", "/moderation/reports", reports.report, body=inputs.NewReport, envelope="report"
    ),
    Operation("GET", "/moderation/reports", reports.list_reports, query=inputs.ReportList),
    Operation("GET", "/moderation/reports/{report_id}", reports.get_report, envelope="report"),
    Operation(
        "PATCH",
        "/moderation/reports/{report_id}",
        reports.update_report,
        body=inputs.ReportChange,
        envelope="report",
    ),
    Operation("GET", "/moderation/bans", bans.list_bans, query=inputs.BanList),
    Operation("POST", "/moderation/bans", bans.ban_user, body=inputs.NewBan, envelope="ban"),
    Operation("DELETE", "/moderation/bans/{ban_id}", bans.unban_user, envelope="ban"),
)
