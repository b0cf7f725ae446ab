"""Steps that are about blocks, mutes, reports and bans, and about time."""

from tests.scenarios.model.groups import ABSENT
from tests.scenarios.model.machine import CLEARED, Machine
from tests.scenarios.model.world import Json, members

POLICE = {
    "block": 3,
    "unblock": 2,
    "mute": 2,
    "unmute": 1,
    "report": 2,
    "settle": 3,
    "ban": 1,
    "unban": 2,
    "let_time_pass": 3,
}

KINDS = ("message", "message", "conversation", "user", "user", "channel")
REASONS = (" rude ", "wrong", "wrong", "wrong", " ")
STATUSES = ("triaged", "triaged", "resolved", "dismissed", "open")
UNTIL = (None, 60, 7200, 7200, -1)


class Policing(Machine):
    """Keeping people apart, and out."""

    def block(self) -> None:
        """Somebody blocks somebody; and where the two talk, one of them goes on."""
        one, other = self.person(), self.person()
        direct = [e for e in self.world.conversations.values() if e["type"] == "direct"]
        if direct and not self.rarely():
            one, other = self.luck.sample(members(self.luck.choice(direct)), 2)
        self.step("block_user", one, target_user_id=other)
        said = [
            message
            for message in self.world.messages.values()
            if members(self.world.conversations[message["conversationId"]]) == sorted([one, other])
        ]
        if said:
            self._go_on(self.luck.choice(said))

    def _go_on(self, message: Json) -> None:
        """What a block stops, and what it does not."""
        by, here = message["senderId"], {"conversation_id": message["conversationId"]}
        it = {"message_id": message["id"]}
        match self.luck.randrange(6):
            case 0:
                self.step("send_message", by, **here, body="tea")
            case 1:
                self.step("edit_message", by, **it, body="tea")
            case 2:
                self.step("delete_message", by, **it)
            case 3:
                self.step("add_reaction", by, **it, emoji="ok")
            case 4:
                self.step("mark_read", by, **here, **it)
            case 5:
                self.step("get_or_create_conversation", by, other_user_id=self.person())

    def unblock(self) -> None:
        one, other = self.person(), self.person()
        if self.world.blocks and not self.rarely():
            one, other = self.luck.choice(list(self.world.blocks))
        self.step("unblock_user", one, target_user_id=other)

    def mute(self) -> None:
        here = self.conversation()
        self.step("mute_conversation", self.person(here), conversation_id=here)

    def unmute(self) -> None:
        here = self.conversation()
        self.step("unmute_conversation", self.person(here), conversation_id=here)

    def report(self) -> None:
        kind, message_id = self.luck.choice(KINDS), self.message()
        here = self.within(message_id)
        target = {"message": message_id, "user": self.person()}.get(kind, here)
        given = {"target_id": target, "reason": self.luck.choice(REASONS)}
        by = self.person(here)
        for _ in range(self.luck.randrange(1, 3)):
            self.step("report", by, target_type=kind, **given)

    def settle(self) -> None:
        if not self.world.reports:
            self.report()
        report_id, by = self.one_of(self.world.reports), self.moderator()
        for note in ("seen", self.luck.choice([ABSENT, "seen", CLEARED])):
            self.world.pass_time(1)
            given = {"status": self.luck.choice(STATUSES), "moderator_note": note}
            self.step("update_report", by, report_id=report_id, **given)
        self.step("get_report", by, report_id=report_id)

    def ban(self) -> None:
        seconds, target = self.luck.choice(UNTIL), self.person()
        until = None if seconds is None else self.world.later(seconds)
        given = {"target_user_id": target, "reason": "rude", "expires_at": until}
        self.step("ban_user", self.moderator(), **given)
        self.step("list_conversations", target)

    def unban(self) -> None:
        if not self.world.bans:
            self.ban()
        self.step("unban_user", self.moderator(), ban_id=self.one_of(self.world.bans))

    def let_time_pass(self) -> None:
        self.world.pass_time(self.luck.choice([1, 2_000, 3_600_000]))
