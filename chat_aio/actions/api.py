"""The server API: an index of the actions, with the acting `user_id` as first parameter."""

from collections.abc import Awaitable, Callable, Coroutine
from functools import cached_property, wraps
from inspect import signature
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from chat_aio.actions import (
    bans,
    blocks,
    channels,
    conversation_lists,
    conversations,
    deletion,
    editing,
    forwarding,
    groups,
    held_messages,
    idempotency,
    inbox,
    invites,
    join_requests,
    keyed_groups,
    messages,
    mutes,
    people,
    pins,
    reactions,
    reports,
    rooms,
    searching,
    sending,
    thread_inbox,
    unread,
    views,
)
from chat_aio.actions.answers import ConversationList, MessageList
from chat_aio.actions.context import Context
from chat_aio.actions.guards import require_user
from chat_aio.actions.moderation_tools import find_messages as finding
from chat_aio.actions.moderation_tools import remove_messages as removing
from chat_aio.actions.moderation_tools import report_groups, restoring, standing
from chat_aio.schema.models import ConversationWithUnread, Message
from chat_aio.store.calls import budget

P = ParamSpec("P")
A = TypeVar("A")
R = TypeVar("R")


class Method(Generic[P, A, R]):
    """Descriptor that makes an action a method of an API, with the checks that every user's call
    starts with. On the class it is the action itself.

    `answer` converts the action's result into the method's; `counts_itself` is for actions that
    look for a repeated request before they are counted. A method that `needs` an option raises
    RuntimeError without it.
    """

    def __init__(
        self,
        action: Callable[Concatenate[Context, P], Awaitable[A]],
        answer: Callable[[A], Awaitable[R]],
        *,
        counts_itself: bool = False,
        needs: str | None = None,
    ) -> None:
        self.action = action
        self._needs = needs
        self._answer = answer
        self._counted_as = None if counts_itself else action.__name__
        # A host must see the parameters that it gives, without the context.
        described = signature(action)
        self._signature = described.replace(parameters=[*described.parameters.values()][1:])

    @overload
    def __get__(
        self, api: None, owner: type
    ) -> Callable[Concatenate[Context, P], Awaitable[A]]: ...

    @overload
    def __get__(self, api: "_API", owner: type) -> Callable[P, Coroutine[Any, Any, R]]: ...

    def __get__(self, api: "_API | None", owner: type) -> Any:
        if api is None:
            return self.action

        action: Callable[..., Awaitable[A]] = self.action

        @wraps(action)
        async def call(user_id: str, *args: Any, **kwargs: Any) -> R:
            context = api._context
            if self._needs is not None and self._needs not in context.database.flags:
                raise RuntimeError(f"{action.__name__} needs Options({self._needs}=True)")
            # Within a request, as in a host's hook, the rest of its time limits this call as well.
            with budget(context.options.storage_timeout_seconds):
                await require_user(context, user_id)
                async with context.rate_limits.counting(user_id, self._counted_as):
                    return await self._answer(await action(context, user_id, *args, **kwargs))

        # The signature that a host sees: `wraps` alone would show the action's own first parameter.
        call.__signature__ = self._signature  # type: ignore[attr-defined]
        return call


async def whole(answer: A) -> A:
    return answer


def method(
    action: Callable[Concatenate[Context, P], Awaitable[A]],
) -> Method[P, A, A]:
    """A method that returns the whole result of its action."""
    return Method(action, whole)


def methods_of(api: type) -> dict[str, Callable[..., Awaitable[Any]]]:
    """The actions behind the methods of an API, by the name of the method."""
    return {name: member.action for name, member in vars(api).items() if isinstance(member, Method)}


class _API:
    def __init__(self, context: Context) -> None:
        self._context = context


async def sent_message(sent: idempotency.Sent) -> Message:
    return sent.message


async def opened_conversation(opened: conversations.Opened) -> ConversationWithUnread:
    return opened.conversation


class ModerationAPI(_API):
    """`chat.api.moderation`: blocks, mutes, reports and bans, with the same rules as over HTTP."""

    block_user = method(blocks.block_user)
    unblock_user = method(blocks.unblock_user)
    list_blocked_users = method(blocks.list_blocked_users)
    mute_conversation = method(mutes.mute_conversation)
    unmute_conversation = method(mutes.unmute_conversation)
    list_muted_conversations = method(mutes.list_muted_conversations)
    report = method(reports.report)
    list_reports = method(reports.list_reports)
    get_report = method(reports.get_report)
    update_report = method(reports.update_report)
    list_bans = method(bans.list_bans)
    ban_user = method(bans.ban_user)
    unban_user = method(bans.unban_user)


class ConversationsAPI(_API):
    """`chat.conversations`: what the host's own code does with groups of its objects, such as
    orders. Every user may use keys and delete conversations here; otherwise the same rules as over
    HTTP."""

    get_or_create_group = Method(
        keyed_groups.get_or_create_group, opened_conversation, needs="conversation_keys"
    )
    create_group = Method(keyed_groups.create_group, opened_conversation)
    find_conversation = Method(keyed_groups.find_conversation, whole, needs="conversation_keys")
    find_conversations = Method(conversation_lists.find_conversations, ConversationList.page)
    set_participants = method(keyed_groups.set_participants)
    set_metadata = Method(groups.set_metadata, whole, needs="editable_metadata")
    delete_conversation = method(deletion.delete_conversation)


class RoomsAPI(_API):
    """`chat.rooms`: room controls, with the same rules as over HTTP."""

    update_conversation = method(rooms.update_conversation)
    ban_from_conversation = method(rooms.ban_from_conversation)
    unban_from_conversation = method(rooms.unban_from_conversation)
    list_conversation_bans = method(rooms.list_conversation_bans)
    pin_message = method(pins.pin_message)
    unpin_message = method(pins.unpin_message)
    list_pins = method(pins.list_pins)


class InboxAPI(_API):
    """`chat.inbox`: a user's mentions, threads and unread marks, their view of conversations,
    and their number of unread messages, with the same rules as over HTTP."""

    list_mentions = method(inbox.list_mentions)
    mark_unread = method(inbox.mark_unread)
    list_threads = method(thread_inbox.list_threads)
    follow_thread = method(thread_inbox.follow_thread)
    unfollow_thread = method(thread_inbox.unfollow_thread)
    mark_thread_read = method(thread_inbox.mark_thread_read)
    change_view = method(views.change_view)
    count_unread = method(unread.count_unread)


class ModerationToolsAPI(_API):
    """`chat.moderation_tools`: moderators' actions beyond the contract, with the same rules as over
    HTTP."""

    find_messages = Method(finding.find_messages, MessageList.page)
    look_at_message = method(finding.look_at_message)
    list_versions = method(finding.list_versions)
    remove_message = method(removing.remove_message)
    remove_messages = method(removing.remove_messages)
    restore_message = method(restoring.restore_message)
    get_standing = method(standing.get_standing)
    find_reports = method(report_groups.find_reports)
    list_report_groups = method(report_groups.list_report_groups)
    resolve_reports = method(report_groups.resolve_reports)


class HeldMessagesAPI(_API):
    """Moderators' actions on messages that a plugin has held, with the same rules as over HTTP."""

    list_held_messages = method(held_messages.list_held_messages)
    release_held_message = method(held_messages.release_held_message)
    discard_held_message = method(held_messages.discard_held_message)


class ServerAPI(_API):
    """`chat.api`: the methods that a host calls in its own process, with the same rules as over
    HTTP.

    Results are the objects of `chat_aio.schema.models`; failures are `ChatError` with `code` and
    `status`.
    """

    get_or_create_conversation = Method(
        conversations.get_or_create_conversation, opened_conversation
    )
    create_group_conversation = method(groups.create_group_conversation)
    list_conversations = Method(conversation_lists.list_conversations, ConversationList.page)
    get_conversation = method(conversations.get_conversation)
    update_conversation = method(groups.update_conversation)
    add_participants = method(groups.add_participants)
    remove_participant = method(groups.remove_participant)
    set_participant_role = method(groups.set_participant_role)
    send_message = Method(sending.send_message, sent_message, counts_itself=True)
    list_messages = Method(messages.list_messages, MessageList.page)
    search_messages = Method(searching.search_messages, MessageList.page)
    edit_message = method(editing.edit_message)
    delete_message = method(editing.delete_message)
    forward_message = Method(forwarding.forward_message, sent_message, counts_itself=True)
    add_reaction = method(reactions.add_reaction)
    remove_reaction = method(reactions.remove_reaction)
    mark_read = method(messages.mark_read)
    list_messages_after = method(messages.list_messages_after)
    create_invite = method(invites.create_invite)
    list_invites = method(invites.list_invites)
    revoke_invite = method(invites.revoke_invite)
    get_invite_preview = method(invites.get_invite_preview)
    accept_invite = method(invites.accept_invite)
    request_to_join = method(join_requests.request_to_join)
    list_join_requests = method(join_requests.list_join_requests)
    resolve_join_request = method(join_requests.resolve_join_request)
    list_public_conversations = method(channels.list_public_conversations)
    join_conversation = method(channels.join_conversation)
    find_users = method(people.find_users)

    @cached_property
    def moderation(self) -> ModerationAPI:
        """Blocks, mutes, reports and bans."""
        return ModerationAPI(self._context)
