"""The server API: a table of contents of the actions, each with the acting `user_id` first."""

from dataclasses import dataclass

from chat_aio.actions import (
    conversations,
    editing,
    groups,
    messages,
    reactions,
    searching,
    sending,
)
from chat_aio.context import Context


@dataclass(frozen=True, kw_only=True)
class ServerAPI(Context):
    """What a host may call in its own process, with the same rules as over HTTP.

    Results are the objects of `chat_aio.models`; failures are `ChatError` with `code` and `status`.
    """

    get_or_create_conversation = conversations.get_or_create_conversation
    create_group_conversation = groups.create_group_conversation
    list_conversations = conversations.list_conversations
    get_conversation = conversations.get_conversation
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
