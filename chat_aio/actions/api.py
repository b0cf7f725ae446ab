"""The server API: a table of contents of the actions, each with the acting `user_id` first."""

from dataclasses import dataclass, fields
from functools import cached_property

from chat_aio.actions import (
    channels,
    conversations,
    editing,
    groups,
    invites,
    join_requests,
    messages,
    reactions,
    searching,
    sending,
)
from chat_aio.actions.context import Context
from chat_aio.actions.moderation import ModerationAPI


@dataclass(frozen=True, kw_only=True)
class ServerAPI(Context):
    """What a host may call in its own process, with the same rules as over HTTP.

    Results are the objects of `chat_aio.schema.models`; failures are `ChatError` with `code` and
    `status`.
    """

    get_or_create_conversation = conversations.get_or_create_conversation
    create_group_conversation = groups.create_group_conversation
    list_conversations = conversations.list_conversations
    get_conversation = conversations.get_conversation
    update_conversation = groups.update_conversation
    add_participants = groups.add_participants
    remove_participant = groups.remove_participant
    set_participant_role = groups.set_participant_role
    send_message = sending.send_message
    list_messages = messages.list_messages
    search_messages = searching.search_messages
    edit_message = editing.edit_message
    delete_message = editing.delete_message
    forward_message = sending.forward_message
    add_reaction = reactions.add_reaction
    remove_reaction = reactions.remove_reaction
    mark_read = messages.mark_read
    list_messages_after = messages.list_messages_after
    create_invite = invites.create_invite
    list_invites = invites.list_invites
    revoke_invite = invites.revoke_invite
    get_invite_preview = invites.get_invite_preview
    accept_invite = invites.accept_invite
    request_to_join = join_requests.request_to_join
    list_join_requests = join_requests.list_join_requests
    resolve_join_request = join_requests.resolve_join_request
    list_public_conversations = channels.list_public_conversations
    join_conversation = channels.join_conversation

    @cached_property
    def moderation(self) -> ModerationAPI:
        """Blocks, mutes, reports and bans."""
        return ModerationAPI(**{each.name: getattr(self, each.name) for each in fields(Context)})
