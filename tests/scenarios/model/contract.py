"""Every operation of the contract: how each door calls it, and the model's rule for it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.scenarios.model.conversations import (
    change_view,
    count_unread,
    get_conversation,
    get_or_create_conversation,
    list_conversations,
)
from tests.scenarios.model.groups import (
    add_participants,
    create_group_conversation,
    delete_conversation,
    remove_participant,
    set_participant_role,
    set_participants,
    update_conversation,
)
from tests.scenarios.model.joining import (
    accept_invite,
    create_invite,
    get_invite_preview,
    join_conversation,
    list_invites,
    list_join_requests,
    list_public_conversations,
    request_to_join,
    resolve_join_request,
    revoke_invite,
    revoke_invite_of,
)
from tests.scenarios.model.messages import (
    add_reaction,
    delete_message,
    edit_message,
    forward_message,
    mark_read,
    mark_unread,
    remove_reaction,
    send_message,
)
from tests.scenarios.model.moderation import (
    ban_user,
    block_user,
    get_report,
    list_bans,
    list_blocked_users,
    list_muted_conversations,
    list_reports,
    mute_conversation,
    report,
    unban_user,
    unblock_user,
    unmute_conversation,
    update_report,
)
from tests.scenarios.model.reading import (
    get_message,
    list_messages,
    list_messages_after,
    list_thread,
    search_messages,
)
from tests.scenarios.model.world import STATUS, Json, Refused, Reply, World

Rule = Callable[..., Reply]


@dataclass(frozen=True)
class Operation:
    """A rule of the model, and how the service is asked the same: in process by `api`.

    `wraps` is the envelope that HTTP has around what the server API returns; `named` are fields
    whose name on the wire is another one. Without a route, or not `in_process`, it has one door.
    """

    rule: Rule
    route: str | None
    wraps: str | None = None
    named: Json = field(default_factory=dict)
    in_process: bool = True
    api: str = "api"

    @property
    def name(self) -> str:
        return self.rule.__name__

    @property
    def method(self) -> str:
        """The method's path in the server API."""
        inside = "moderation." if self.rule.__module__.endswith("moderation") else ""
        return inside + self.name


def expected(operation: Operation, world: World, user_id: str, args: Json) -> Reply:
    """What the contract says that the answer is; the world is then as it is after it."""
    try:
        world.require_unbanned(user_id)
        return operation.rule(world, user_id, **args)
    except Refused as refused:
        return Reply({"error": refused.code}, STATUS.get(refused.code, 0))


TO = {"to_conversation_id": "conversationId"}
WHO = {"target_user_id": "userId"}
HERE = "/conversations/{conversation_id}"
ONE = "/messages/{message_id}"
MODERATION = "/moderation"

_ALL = (
    Operation(get_or_create_conversation, "POST /conversations", "conversation"),
    Operation(list_conversations, "GET /conversations", named={"query": "q"}),
    Operation(get_conversation, f"GET {HERE}", "conversation"),
    Operation(create_group_conversation, "POST /conversations/group", "conversation"),
    Operation(update_conversation, f"PATCH {HERE}", "conversation", api="rooms"),
    Operation(add_participants, f"POST {HERE}/participants", "conversation"),
    Operation(remove_participant, f"DELETE {HERE}/participants", "conversation", WHO),
    Operation(delete_conversation, f"DELETE {HERE}", in_process=False),
    Operation(set_participant_role, f"PATCH {HERE}/participants", "conversation", WHO),
    Operation(set_participants, f"PUT {HERE}/participants", "conversation", api="conversations"),
    Operation(send_message, f"POST {HERE}/messages", "message"),
    Operation(forward_message, f"POST {ONE}/forward", "message", TO),
    Operation(edit_message, f"PATCH {ONE}", "message"),
    Operation(delete_message, f"DELETE {ONE}", "message"),
    Operation(add_reaction, f"POST {ONE}/reactions", "message"),
    Operation(remove_reaction, f"DELETE {ONE}/reactions", "message"),
    Operation(mark_read, f"POST {HERE}/read"),
    Operation(mark_unread, f"POST {HERE}/unread", api="inbox"),
    Operation(change_view, f"PATCH {HERE}/view", "conversation", api="inbox"),
    Operation(count_unread, "GET /unread", api="inbox"),
    Operation(list_messages, f"GET {HERE}/messages"),
    Operation(get_message, f"GET {HERE}{ONE}", "message", in_process=False),
    Operation(list_thread, f"GET {HERE}/threads/{{root_id}}/messages", in_process=False),
    Operation(list_messages_after, None, "messages"),
    Operation(search_messages, "GET /search/messages", named={"query": "q"}),
    Operation(create_invite, f"POST {HERE}/invites", "invite"),
    Operation(list_invites, f"GET {HERE}/invites", "invites"),
    Operation(revoke_invite, None),
    Operation(revoke_invite_of, f"DELETE {HERE}/invites/{{code}}", in_process=False),
    Operation(get_invite_preview, "GET /invites/{code}", "invite"),
    Operation(accept_invite, "POST /invites/{code}/accept"),
    Operation(request_to_join, f"POST {HERE}/join-requests", "joinRequest"),
    Operation(list_join_requests, f"GET {HERE}/join-requests"),
    Operation(resolve_join_request, f"PATCH {HERE}/join-requests", named=WHO),
    Operation(list_public_conversations, "GET /channels"),
    Operation(join_conversation, f"POST {HERE}/join"),
    Operation(block_user, f"POST {MODERATION}/blocks", "block"),
    Operation(unblock_user, f"DELETE {MODERATION}/blocks"),
    Operation(list_blocked_users, f"GET {MODERATION}/blocks"),
    Operation(mute_conversation, f"POST {MODERATION}/mutes", "mute"),
    Operation(unmute_conversation, f"DELETE {MODERATION}/mutes"),
    Operation(list_muted_conversations, f"GET {MODERATION}/mutes"),
    Operation(report, f"POST {MODERATION}/reports", "report"),
    Operation(list_reports, f"GET {MODERATION}/reports"),
    Operation(get_report, f"GET {MODERATION}/reports/{{report_id}}", "report"),
    Operation(update_report, f"PATCH {MODERATION}/reports/{{report_id}}", "report"),
    Operation(list_bans, f"GET {MODERATION}/bans"),
    Operation(ban_user, f"POST {MODERATION}/bans", "ban"),
    Operation(unban_user, f"DELETE {MODERATION}/bans/{{ban_id}}", "ban"),
)

OPERATIONS = {operation.name: operation for operation in _ALL}
