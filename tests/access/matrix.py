"""Who may do what: a row for each route and method, in the order of the interface's tables.

A head line names the route and the method of the server API that is the same operation; `-` where
there is none. Below it stands what it is about, and what each role meets. `mine` is a message of
the role's own, `theirs` somebody else's; `hidden` are those of before where the members have left a
group and come back to history since joining. `, HTTP` marks what only the route can be asked.
"""

from typing import NamedTuple

ROLES = (
    "stranger",  # never was in the conversation
    "ex-member",  # has left it
    "member",
    "admin",  # the group's only one; of a direct conversation, both are
    "blocked",  # a member whom the admin has blocked; in a direct conversation, the other side has
    "blocker",  # a member who has blocked the admin, or the other side
    "banned",  # a participant
    "moderator",  # who is in no conversation
    "nobody",  # not signed in, which only HTTP can be
)

MEANINGS: dict[str, tuple[int, str | None]] = {
    "ok": (200, None),
    "made": (201, None),
    "401": (401, "UNAUTHENTICATED"),
    "gone": (404, "MESSAGE_NOT_FOUND"),
    "ban": (403, "USER_BANNED"),
    "read": (403, "FORBIDDEN_READ"),
    "write": (403, "FORBIDDEN_WRITE"),
    "sender": (403, "NOT_MESSAGE_SENDER"),
    "admin": (403, "NOT_CONVERSATION_ADMIN"),
    "closed": (403, "NOT_PUBLIC_CONVERSATION"),
    "create": (403, "CREATE_NOT_ALLOWED"),
    "leave": (403, "LEAVE_NOT_ALLOWED"),
    "delete": (403, "DELETE_NOT_ALLOWED"),
    "role": (403, "ROLE_NOT_ALLOWED"),
    "key": (403, "KEY_NOT_ALLOWED"),
    "moder": (403, "NOT_MODERATOR"),
    "block": (403, "DIRECT_INTERACTION_BLOCKED"),
    "draft": (404, "DRAFT_NOT_FOUND"),
    "direct": (409, "NOT_GROUP_CONVERSATION"),
    "last": (409, "LAST_ADMIN_REMAINING"),
    "in": (409, "ALREADY_PARTICIPANT"),
    "file": (404, "ATTACHMENT_NOT_FOUND"),
    "push": (501, "PUSH_UNSUPPORTED"),
    "spent": (410, "INVITE_EXPIRED"),
}

TABLE = """
                  stranger  ex      member  admin   blocked blocker banned  moderator nobody
POST /conversations get_or_create_conversation
  new             ok        ok      ok      ok      block   block   ban     ok        401
  found           -         -       -       ok      ok      ok      ban     -         401
  new unwanted    create    create  create  create  create  create  ban     create    401
  found unwanted  -         -       -       ok      ok      ok      ban     -         401
GET /conversations list_conversations
  mine            ok        ok      ok      ok      ok      ok      ban     ok        401
  keyed, HTTP     key       key     key     key     key     key     ban     key       401
GET /conversations/{conversation_id} get_conversation
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
POST /conversations/{conversation_id}/messages send_message
  group           write     write   made    made    made    made    ban     write     401
  channel         write     write   made    made    made    made    ban     write     401
  direct          write     -       -       made    block   block   ban     write     401
  system, HTTP    write     write   role    role    role    role    ban     write     401
GET /conversations/{conversation_id}/messages list_messages
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
GET /conversations/{conversation_id}/messages/{message_id} -
  group mine      -         read    ok      ok      ok      ok      ban     -         401
  group theirs    read      read    ok      ok      ok      ok      ban     read      401
  channel theirs  read      read    ok      ok      ok      ok      ban     read      401
  direct theirs   read      -       -       ok      ok      ok      ban     read      401
  theirs hidden   read      read    gone    ok      gone    gone    ban     read      401
GET /conversations/{conversation_id}/threads/{root_id}/messages -
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
  hidden          read      read    gone    ok      gone    gone    ban     read      401
GET /search/messages search_messages
  mine            ok        ok      ok      ok      ok      ok      ban     ok        401
  group           read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
  filtered        ok        ok      ok      ok      ok      ok      ban     ok        401
  group filtered  read      read    ok      ok      ok      ok      ban     read      401
  direct filtered read      -       -       ok      ok      ok      ban     read      401
POST /conversations/{conversation_id}/read mark_read
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
  hidden          read      read    gone    ok      gone    gone    ban     read      401
PATCH /messages/{message_id} edit_message
  group mine      -         write   ok      ok      ok      ok      ban     -         401
  group theirs    sender    sender  sender  sender  sender  sender  ban     sender    401
  direct mine     -         -       -       ok      block   block   ban     -         401
  direct theirs   sender    -       -       sender  sender  sender  ban     sender    401
  mine hidden     -         write   gone    ok      gone    gone    ban     -         401
DELETE /messages/{message_id} delete_message
  group mine      -         write   ok      ok      ok      ok      ban     -         401
  group theirs    sender    sender  sender  sender  sender  sender  ban     sender    401
  direct mine     -         -       -       ok      block   block   ban     -         401
  direct theirs   sender    -       -       sender  sender  sender  ban     sender    401
  mine hidden     -         write   ok      ok      ok      ok      ban     -         401
  kept mine       -         write   delete  delete  delete  delete  ban     -         401
  kept theirs     sender    sender  sender  sender  sender  sender  ban     sender    401
POST /messages/{message_id}/forward forward_message
  from group      read      read    made    made    made    made    ban     read      401
  from direct     read      -       -       made    made    made    ban     read      401
  to group        write     write   made    made    made    made    ban     write     401
  to channel      write     write   made    made    made    made    ban     write     401
  to direct       write     -       -       made    block   block   ban     write     401
  from hidden     read      read    gone    made    gone    gone    ban     read      401
  system, HTTP    read      read    role    role    role    role    ban     read      401
POST /messages/{message_id}/reactions add_reaction
  group           write     write   ok      ok      ok      ok      ban     write     401
  direct          write     -       -       ok      block   block   ban     write     401
  hidden          write     write   gone    ok      gone    gone    ban     write     401
DELETE /messages/{message_id}/reactions remove_reaction
  group           write     write   ok      ok      ok      ok      ban     write     401
  direct          write     -       -       ok      block   block   ban     write     401
  hidden          write     write   gone    ok      gone    gone    ban     write     401
GET /stream -
  mine            ok        ok      ok      ok      ok      ok      ban     ok        401
  group followed  read      read    ok      ok      ok      ok      ban     read      401
  channel followed read     read    ok      ok      ok      ok      ban     read      401
  direct followed read      -       -       ok      ok      ok      ban     read      401
POST /conversations/group create_group_conversation
  new             made      made    made    made    made    made    ban     made      401
  new unwanted    create    create  create  create  create  create  ban     create    401
  keyed, HTTP     key       key     key     key     key     key     ban     key       401
PATCH /conversations/{conversation_id} update_conversation
  group           admin     admin   admin   ok      admin   admin   ban     admin     401
  channel         admin     admin   admin   ok      admin   admin   ban     admin     401
  direct          direct    -       -       direct  direct  direct  ban     direct    401
POST /conversations/{conversation_id}/participants add_participants
  group           admin     admin   admin   ok      admin   admin   ban     admin     401
  channel         admin     admin   admin   ok      admin   admin   ban     admin     401
  direct          direct    -       -       direct  direct  direct  ban     direct    401
DELETE /conversations/{conversation_id}/participants remove_participant
  group, another  admin     admin   admin   ok      admin   admin   ban     admin     401
  group, oneself  admin     admin   ok      last    ok      ok      ban     admin     401
  direct, oneself direct    -       -       direct  direct  direct  ban     direct    401
  kept, oneself   admin     admin   leave   leave   leave   leave   ban     admin     401
  kept, another   admin     admin   admin   ok      admin   admin   ban     admin     401
PATCH /conversations/{conversation_id}/participants set_participant_role
  group, another  admin     admin   admin   ok      admin   admin   ban     admin     401
  group, oneself  admin     admin   admin   ok      admin   admin   ban     admin     401
  direct, another direct    -       -       direct  direct  direct  ban     direct    401
POST /conversations/{conversation_id}/invites create_invite
  group           admin     admin   admin   made    admin   admin   ban     admin     401
  direct          direct    -       -       direct  direct  direct  ban     direct    401
GET /conversations/{conversation_id}/invites list_invites
  group           admin     admin   admin   ok      admin   admin   ban     admin     401
  direct          direct    -       -       direct  direct  direct  ban     direct    401
DELETE /conversations/{conversation_id}/invites/{code} revoke_invite
  group           admin     admin   admin   ok      admin   admin   ban     admin     401
  direct, HTTP    direct    -       -       direct  direct  direct  ban     direct    401
GET /invites/{code} get_invite_preview
  group           ok        ok      ok      ok      ok      ok      ban     ok        401
  group, spent    spent     spent   ok      ok      ok      ok      ban     spent     401
POST /invites/{code}/accept accept_invite
  group           ok        ok      ok      ok      ok      ok      ban     ok        401
  group, spent    spent     spent   ok      ok      ok      ok      ban     spent     401
POST /conversations/{conversation_id}/join-requests request_to_join
  group           made      made    in      in      in      in      ban     made      401
  channel         made      made    in      in      in      in      ban     made      401
  direct          direct    -       -       direct  direct  direct  ban     direct    401
GET /conversations/{conversation_id}/join-requests list_join_requests
  group           admin     admin   admin   ok      admin   admin   ban     admin     401
  direct          direct    -       -       direct  direct  direct  ban     direct    401
PATCH /conversations/{conversation_id}/join-requests resolve_join_request
  group           admin     admin   admin   ok      admin   admin   ban     admin     401
  direct          direct    -       -       direct  direct  direct  ban     direct    401
GET /channels list_public_conversations
  all             ok        ok      ok      ok      ok      ok      ban     ok        401
POST /conversations/{conversation_id}/join join_conversation
  group           closed    closed  closed  closed  closed  closed  ban     closed    401
  channel         ok        ok      in      in      in      in      ban     ok        401
  direct          direct    -       -       direct  direct  direct  ban     direct    401
GET /users find_users
  mine            ok        ok      ok      ok      ok      ok      ban     ok        401
POST /moderation/blocks moderation.block_user
  another         ok        ok      ok      ok      ok      ok      ban     ok        401
DELETE /moderation/blocks moderation.unblock_user
  another         ok        ok      ok      ok      ok      ok      ban     ok        401
GET /moderation/blocks moderation.list_blocked_users
  mine            ok        ok      ok      ok      ok      ok      ban     ok        401
POST /moderation/mutes moderation.mute_conversation
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
DELETE /moderation/mutes moderation.unmute_conversation
  group           ok        ok      ok      ok      ok      ok      ban     ok        401
  direct          ok        -       -       ok      ok      ok      ban     ok        401
GET /moderation/mutes moderation.list_muted_conversations
  mine            ok        ok      ok      ok      ok      ok      ban     ok        401
POST /moderation/reports moderation.report
  another         ok        ok      ok      ok      ok      ok      ban     ok        401
  group           read      read    ok      ok      ok      ok      ban     read      401
  group theirs    read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
  direct theirs   read      -       -       ok      ok      ok      ban     read      401
  theirs hidden   read      read    gone    ok      gone    gone    ban     read      401
GET /moderation/reports moderation.list_reports
  all             moder     moder   moder   moder   moder   moder   ban     ok        401
GET /moderation/reports/{report_id} moderation.get_report
  another         moder     moder   moder   moder   moder   moder   ban     ok        401
PATCH /moderation/reports/{report_id} moderation.update_report
  another         moder     moder   moder   moder   moder   moder   ban     ok        401
GET /moderation/bans moderation.list_bans
  all             moder     moder   moder   moder   moder   moder   ban     ok        401
POST /moderation/bans moderation.ban_user
  another         moder     moder   moder   moder   moder   moder   ban     ok        401
DELETE /moderation/bans/{ban_id} moderation.unban_user
  another         moder     moder   moder   moder   moder   moder   ban     ok        401
PUT /conversations/{conversation_id}/participants conversations.set_participants
  group           admin     admin   admin   ok      admin   admin   ban     admin     401
  channel         admin     admin   admin   ok      admin   admin   ban     admin     401
  direct          direct    -       -       direct  direct  direct  ban     direct    401
  kept            admin     admin   admin   leave   admin   admin   ban     admin     401
DELETE /conversations/{conversation_id} -
  group           admin     admin   admin   admin   admin   admin   ban     ok        401
  direct          admin     -       -       admin   admin   admin   ban     ok        401
POST /conversations/{conversation_id}/bans rooms.ban_from_conversation
  group           admin     admin   admin   ok      admin   admin   ban     admin     401
  direct          direct    -       -       direct  direct  direct  ban     direct    401
GET /conversations/{conversation_id}/bans rooms.list_conversation_bans
  group           admin     admin   admin   ok      admin   admin   ban     admin     401
  direct          direct    -       -       direct  direct  direct  ban     direct    401
DELETE /conversations/{conversation_id}/bans/{target_user_id} rooms.unban_from_conversation
  group barred    admin     admin   admin   ok      admin   admin   ban     admin     401
  direct          direct    -       -       direct  direct  direct  ban     direct    401
POST /conversations/{conversation_id}/pins rooms.pin_message
  group           admin     admin   admin   ok      admin   admin   ban     admin     401
  channel         admin     admin   admin   ok      admin   admin   ban     admin     401
  direct          write     -       -       ok      block   block   ban     write     401
DELETE /conversations/{conversation_id}/pins/{message_id} rooms.unpin_message
  group           admin     admin   admin   ok      admin   admin   ban     admin     401
  channel         admin     admin   admin   ok      admin   admin   ban     admin     401
  direct          write     -       -       ok      block   block   ban     write     401
GET /conversations/{conversation_id}/pins rooms.list_pins
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
POST /conversations/{conversation_id}/unread inbox.mark_unread
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
  hidden          read      read    gone    ok      gone    gone    ban     read      401
PATCH /conversations/{conversation_id}/view inbox.change_view
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
GET /unread inbox.count_unread
  mine            ok        ok      ok      ok      ok      ok      ban     ok        401
GET /mentions inbox.list_mentions
  mine            ok        ok      ok      ok      ok      ok      ban     ok        401
GET /threads inbox.list_threads
  mine            ok        ok      ok      ok      ok      ok      ban     ok        401
POST /conversations/{conversation_id}/threads/{root_id}/follow inbox.follow_thread
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
  hidden          read      read    gone    ok      gone    gone    ban     read      401
DELETE /conversations/{conversation_id}/threads/{root_id}/follow inbox.unfollow_thread
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
  hidden          read      read    gone    ok      gone    gone    ban     read      401
POST /conversations/{conversation_id}/threads/{root_id}/read inbox.mark_thread_read
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
  hidden          read      read    gone    ok      gone    gone    ban     read      401
GET /moderation/tools/messages moderation_tools.find_messages
  another         moder     moder   moder   moder   moder   moder   ban     ok        401
GET /moderation/tools/messages/{message_id} moderation_tools.look_at_message
  group theirs    moder     moder   moder   moder   moder   moder   ban     ok        401
  direct theirs   moder     -       -       moder   moder   moder   ban     ok        401
GET /moderation/tools/messages/{message_id}/versions moderation_tools.list_versions
  group theirs    moder     moder   moder   moder   moder   moder   ban     ok        401
POST /moderation/tools/messages/{message_id}/remove moderation_tools.remove_message
  group theirs    moder     moder   moder   moder   moder   moder   ban     ok        401
  direct theirs   moder     -       -       moder   moder   moder   ban     ok        401
POST /moderation/tools/messages/{message_id}/restore moderation_tools.restore_message
  group theirs    moder     moder   moder   moder   moder   moder   ban     ok        401
POST /moderation/tools/removals moderation_tools.remove_messages
  another         moder     moder   moder   moder   moder   moder   ban     ok        401
GET /moderation/tools/users/{target_user_id} moderation_tools.get_standing
  another         moder     moder   moder   moder   moder   moder   ban     ok        401
GET /moderation/tools/reports moderation_tools.find_reports
  all             moder     moder   moder   moder   moder   moder   ban     ok        401
GET /moderation/tools/report-groups moderation_tools.list_report_groups
  all             moder     moder   moder   moder   moder   moder   ban     ok        401
POST /moderation/tools/report-groups/resolve moderation_tools.resolve_reports
  another         moder     moder   moder   moder   moder   moder   ban     ok        401
GET /moderation/held -
  all             moder     moder   moder   moder   moder   moder   ban     ok        401
POST /moderation/held/release -
  group held      moder     moder   moder   moder   moder   moder   ban     ok        401
POST /moderation/held/discard -
  group held      moder     moder   moder   moder   moder   moder   ban     ok        401
POST /conversations/{conversation_id}/typing -
  group           write     write   ok      ok      ok      ok      ban     write     401
  direct          write     -       -       ok      ok      ok      ban     write     401
GET /presence -
  mine            ok        ok      ok      ok      ok      ok      ban     ok        401
GET /notifications/settings -
  mine            ok        ok      ok      ok      ok      ok      ban     ok        401
PUT /notifications/settings -
  mine            ok        ok      ok      ok      ok      ok      ban     ok        401
GET /conversations/{conversation_id}/notifications -
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
PUT /conversations/{conversation_id}/notifications -
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
GET /notifications/devices -
  mine            push      push    push    push    push    push    ban     push      401
POST /notifications/devices -
  mine            push      push    push    push    push    push    ban     push      401
DELETE /notifications/devices -
  mine            push      push    push    push    push    push    ban     push      401
GET /conversations/{conversation_id}/drafts -
  group           read      read    ok      ok      ok      ok      ban     read      401
  channel         read      read    ok      ok      ok      ok      ban     read      401
  direct          read      -       -       ok      ok      ok      ban     read      401
POST /conversations/{conversation_id}/drafts -
  group           write     write   ok      ok      ok      ok      ban     write     401
  direct          write     -       -       ok      block   block   ban     write     401
POST /conversations/{conversation_id}/drafts/append -
  group drafted   write     write   draft   ok      draft   draft   ban     write     401
POST /conversations/{conversation_id}/drafts/finish -
  group drafted   draft     draft   draft   ok      draft   draft   ban     draft     401
POST /conversations/{conversation_id}/drafts/stop -
  group drafted   write     write   ok      ok      ok      ok      ban     write     401
POST /conversations/{conversation_id}/drafts/cancel -
  group drafted   draft     draft   draft   ok      draft   draft   ban     draft     401
POST /conversations/{conversation_id}/attachments -
  group           write     write   made    made    made    made    ban     write     401
  channel         write     write   made    made    made    made    ban     write     401
  direct          write     -       -       made    block   block   ban     write     401
GET /attachments/{attachment_id} -
  group attached  file      file    ok      ok      ok      ok      ban     ok        401
  direct attached file      -       -       ok      ok      ok      ban     ok        401
GET /attachments/{attachment_id}/thumbnail -
  group attached  file      file    ok      ok      ok      ok      ban     ok        401
  direct attached file      -       -       ok      ok      ok      ban     ok        401
- list_messages_after
  group           read      read    ok      ok      ok      ok      ban     read      -
  channel         read      read    ok      ok      ok      ok      ban     read      -
  direct          read      -       -       ok      ok      ok      ban     read      -
- conversations.get_or_create_group
  found           ok        ok      ok      ok      ok      ok      ban     ok        -
- conversations.create_group
  new             ok        ok      ok      ok      ok      ok      ban     ok        -
- conversations.find_conversation
  group           read      read    ok      ok      ok      ok      ban     read      -
  channel         read      read    ok      ok      ok      ok      ban     read      -
- conversations.find_conversations
  mine            ok        ok      ok      ok      ok      ok      ban     ok        -
- conversations.set_metadata
  group           admin     admin   admin   ok      admin   admin   ban     admin     -
  channel         admin     admin   admin   ok      admin   admin   ban     admin     -
  direct          admin     -       -       ok      block   block   ban     admin     -
"""


class Row(NamedTuple):
    """One operation about one thing. `route` is `METHOD /path`; what is not there is ``""``."""

    route: str
    method: str
    about: str
    stated: dict[str, str]


def rows() -> list[Row]:
    """The table; a cell `-` (there is no such person) is left out."""
    found: list[Row] = []
    route = method = ""
    for line in TABLE.strip("\n").splitlines()[1:]:
        if line.startswith(" "):
            about, cells = line[2:18].strip(), line[18:].split()
            stated = dict(zip(ROLES, cells, strict=True))
            here = {role: cell for role, cell in stated.items() if cell != "-"}
            asked = "" if about.endswith(", HTTP") else method
            found.append(Row(route, asked, about.removesuffix(", HTTP"), here))
        else:
            route, method = ("" if cell == "-" else cell for cell in line.rsplit(" ", 1))
    return found
