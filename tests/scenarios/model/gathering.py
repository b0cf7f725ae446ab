"""Steps that are about conversations and who is in them."""

from typing import Any

from tests.scenarios.model.groups import ABSENT
from tests.scenarios.model.machine import CLEARED, NOTHING, Machine

GATHER = {
    "open_direct": 2,
    "make_group": 1,
    "change_group": 3,
    "add": 3,
    "remove": 3,
    "leave": 1,
    "come_back": 3,
    "set_role": 3,
    "set_all": 3,
    "delete": 1,
    "invite": 3,
    "accept": 5,
    "preview": 2,
    "revoke": 1,
    "ask_to_join": 3,
    "join": 3,
    "decide": 3,
}

NAMES = (*(ABSENT,) * 6, " tea ", "cake", CLEARED, " ", "x" * 201)
VISIBILITIES = (*(None,) * 4, "private", *("public",) * 5, "secret")
POLICIES = (*(None,) * 4, "open", "open", "open", "approval", "approval", "closed")
HISTORIES = (None, None, "since_join", "since_join", "since_join", "all", "none")
NOTES = (*(None,) * 5, " please ", " please ", " ", "x" * 501)
SECONDS = (None, None, None, 60, 7200, 0)
USES = (None, None, 1, 1, 2, 0)
ROLES = ("admin", "admin", "member", "member", "member", "owner")
DECISIONS = (*("approve",) * 4, *("deny",) * 4, "wait")


class Gathering(Machine):
    """Opening conversations, changing groups, getting in."""

    def open_direct(self) -> None:
        given = {"other_user_id": self._anybody(), "metadata": {"step": self.steps}}
        self.step("get_or_create_conversation", self.person(), **given)

    def make_group(self) -> None:
        given = self._settings()
        if given["name"] == CLEARED:
            given["name"] = ABSENT
        self.step("create_group_conversation", self.person(), user_ids=self._people(), **given)

    def change_group(self) -> None:
        here = self.group()
        by = self.admin(here)
        given = {**self._settings(), "history": self.luck.choice(HISTORIES)}
        self.step("update_conversation", by, conversation_id=here, **given)

    def delete(self) -> None:
        """By a moderator, now and then by somebody who may not."""
        here = self.conversation()
        by = self.person(here) if self.rarely() else self.users[-1]
        self.step("delete_conversation", by, conversation_id=here, reason=self.luck.choice(NOTES))
        self.site.run(self.site.settle())

    def add(self) -> None:
        here = self.group()
        by = self.admin(here)
        self.step("add_participants", by, conversation_id=here, user_ids=self._people())

    def remove(self) -> None:
        here = self.group()
        by, target = self.admin(here), self.person(here)
        self.step("remove_participant", by, conversation_id=here, target_user_id=target)

    def leave(self) -> None:
        here = self.group()
        by = self.person(here)
        self.step("remove_participant", by, conversation_id=here, target_user_id=by)

    def come_back(self) -> None:
        """Somebody comes back to a group that mostly hides from them what was said, and it comes up
        again, once from them and once from somebody else."""
        message_id = self.message()
        here = self.within(message_id)
        by, who = self.admin(here), self.person(here)
        history = self.luck.choice(("since_join", "since_join", "since_join", "all"))
        self.step("update_conversation", by, conversation_id=here, history=history)
        self.step("remove_participant", who, conversation_id=here, target_user_id=who)
        self.step("add_participants", by, conversation_id=here, user_ids=[who])
        place, named = {"conversation_id": here}, {"message_id": message_id}
        again: list[tuple[str, dict[str, Any]]] = [
            ("edit_message", {**named, "body": "tea"}),
            ("delete_message", named),
            ("add_reaction", {**named, "emoji": "ok"}),
            ("forward_message", {**named, "to_conversation_id": here}),
            ("send_message", {**place, "body": "tea", "reply_to_message_id": message_id}),
            ("send_message", {**place, "body": "cake", "thread_root_message_id": message_id}),
            ("get_message", {**place, **named}),
            ("list_thread", {**place, "root_id": message_id}),
            ("mark_read", {**place, **named}),
            ("report", {"target_type": "message", "target_id": message_id, "reason": "rude"}),
            ("list_messages", place),
            ("list_messages_after", {**place, "seq": 0}),
            ("search_messages", {"query": "tea"}),
            ("list_conversations", {"include": ["lastMessage", "unread"]}),
            ("mark_unread", {**place, **named}),
        ]
        sender = self.world.messages.get(message_id, {}).get("senderId", by)
        for user in (who, self.luck.choice([by, sender]), who):
            name, given = self.luck.choice(again)
            self.step(name, user, **given)

    def set_role(self) -> None:
        here = self.group()
        given = {"target_user_id": self.person(here), "role": self.luck.choice(ROLES)}
        self.step("set_participant_role", self.admin(here), conversation_id=here, **given)

    def set_all(self) -> None:
        """Mostly one admin and some who are in the group already."""
        here = self.group()
        by = self.admin(here)
        people = [self.person(here) for _ in range(self.luck.randrange(4))] + self._people()
        roles = {person: self.luck.choice(ROLES[:5]) for person in people}
        if not self.rarely():
            roles[self.luck.choice([by, *people])] = "admin"
        self.step("set_participants", by, conversation_id=here, participants=roles)

    def invite(self) -> None:
        here = self.group()
        self.step(
            "create_invite",
            self.admin(here),
            conversation_id=here,
            expires_in_seconds=self.luck.choice(SECONDS),
            max_uses=self.luck.choice(USES),
            requires_approval=self.luck.choice([None, True, False]),
        )

    def accept(self) -> None:
        code = self._code()
        by = self.stranger(self._behind(code))
        self.step("accept_invite", by, code=code, message=self.luck.choice(NOTES))

    def preview(self) -> None:
        code = self._code()
        self.step("get_invite_preview", self.stranger(self._behind(code)), code=code)

    def revoke(self) -> None:
        code = self._code()
        here = self.group() if self.rarely() else self._behind(code)
        by = self.admin(here)
        if self.luck.random() < 0.5:
            self.step("revoke_invite", by, code=code)
        else:
            self.step("revoke_invite_of", by, conversation_id=here, code=code)

    def ask_to_join(self) -> None:
        self._ask("request_to_join", self.group())

    def join(self) -> None:
        here = self.group()
        every = self.world.conversations.items()
        public = [key for key, conversation in every if conversation["visibility"] == "public"]
        self._ask("join_conversation", here if self.rarely() else self.one_of(public))

    def decide(self) -> None:
        if not self.world.requests:
            self.ask_to_join()
        every = self.world.requests.items()
        waiting = [key for key, request in every if request["status"] == "pending"]
        here, target = self.group(), self.person()
        if waiting and not self.rarely():
            here, target = self.luck.choice(waiting)
        given = {"target_user_id": target, "decision": self.luck.choice(DECISIONS)}
        self.step("resolve_join_request", self.admin(here), conversation_id=here, **given)

    def _ask(self, name: str, here: str) -> None:
        note = self.luck.choice(NOTES)
        self.step(name, self.stranger(here), conversation_id=here, message=note)

    def _settings(self) -> dict[str, Any]:
        return {
            "name": self.luck.choice(NAMES),
            "visibility": self.luck.choice(VISIBILITIES),
            "join_policy": self.luck.choice(POLICIES),
        }

    def _code(self) -> str:
        """One of the invites; the first of all is made for it."""
        if not self.world.invites:
            self.invite()
        return self.one_of(self.world.invites)

    def _behind(self, code: str) -> str:
        """The group that a code is for."""
        invite = self.world.invites.get(code)
        return str(invite["conversationId"]) if invite else NOTHING

    def _people(self) -> list[str]:
        return [self._anybody() for _ in range(self.luck.randrange(4))]

    def _anybody(self) -> str:
        """One of the users, now and then one whom the host does not know."""
        return f"ghost{self.world.suffix}" if self.rarely() else self.person()
