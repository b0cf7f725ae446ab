"""Steps that only read; and at the end nearly all reads, of everybody, through both doors."""

from hypothesis.stateful import initialize

from tests.scenarios.model.machine import DOORS, MOODS, SEEDS, Machine
from tests.scenarios.model.world import admins

LOOK = {
    "list_own": 2,
    "list_whole": 3,
    "look_into": 4,
    "look_at": 3,
    "search": 3,
    "look_after": 2,
    "moderate": 2,
    "turn_the_page": 6,
}
LISTS = {
    "conversations": "list_conversations",
    "messages": "list_messages",
    "search": "search_messages",
    "joinRequests": "list_join_requests",
    "channels": "list_public_conversations",
    "blocks": "list_blocked_users",
    "mutes": "list_muted_conversations",
    "reports": "list_reports",
    "bans": "list_bans",
}

SIZES = (*(1,) * 5, *(2,) * 3, 3, None, 0)
QUERIES = ("cake", "TEA", "tea", "tea cake", "tea cak", "CAK", "te", "東京", "タワー", "?!", " ")
PARTS = (*(None,) * 5, "tea", "CAK", "NN:", "NN:", "Ben", " ")
INCLUDED = (None, ["unread"], *(["lastMessage", "unread"],) * 3, ["lastMessage"], ["last"])
REQUESTS = (None, None, "approved", "denied", "open")
REPORTS = (None, None, None, "open", "triaged", "closed")


class Looking(Machine):
    """A first state with something in it; pages, and their next pages whenever."""

    @initialize(seed=SEEDS)
    def begin(self, seed: int) -> None:
        self.luck.seed(seed)
        self.moods = {name: self.luck.choice(MOODS) for name in self.actions}
        ann, ben, cat, mod, _ = self.users
        made = self.call("create_group_conversation", ann, "http", user_ids=[ben, cat])
        self.call("create_group_conversation", mod, "api", visibility="public", join_policy="open")
        pair = self.call("get_or_create_conversation", ann, "api", other_user_id=ben)
        for answer in (made, pair):
            here = answer.json["conversation"]["id"]
            self.call("send_message", ann, "http", conversation_id=here, body="tea and cake")

    def list_own(self) -> None:
        by, size = self.person(), self.luck.choice(SIZES)
        for kind in ("conversations", "channels", "blocks", "mutes"):
            self.step(LISTS[kind], by, limit=size)

    def list_whole(self) -> None:
        """What a client shows at once: with heads and last messages, or those that are unread."""
        self.step(
            "list_conversations",
            self.person(),
            include=self.luck.choice(INCLUDED),
            query=self.luck.choice(PARTS),
            unread=self.luck.choice([None, True, True, False]),
            archived=self.luck.choice([None, None, True, False]),
            favourite=self.luck.choice([None, None, True, False]),
            limit=self.luck.choice(SIZES),
        )

    def look_into(self) -> None:
        here, size = self.conversation(), self.luck.choice(SIZES)
        by, place = self.person(here), {"conversation_id": here}
        self.step("get_conversation", by, **place)
        self.step("list_messages", by, **place, limit=size)
        self.step("list_messages_after", by, **place, seq=self.luck.randrange(4), limit=size)

    def look_at(self) -> None:
        message_id = self.message()
        here = self.within(message_id)
        by, place = self.person(here), {"conversation_id": here}
        self.step("get_message", by, **place, message_id=message_id)
        self.step("list_thread", by, **place, root_id=message_id, limit=self.luck.choice(SIZES))

    def search(self) -> None:
        here = self.conversation()
        words = self.luck.choice(["words", "words", "filters", "both"])
        filtered = self.luck.choice(["sender_id", "mentions"])
        whom = self.luck.choice(["me" if filtered == "mentions" else None, self.person(here)])
        self.step(
            "search_messages",
            self.person(here),
            query=None if words == "filters" else self.luck.choice(QUERIES),
            **({} if words == "words" else {filtered: whom}),
            conversation_id=self.luck.choice([None, here]),
            prefix=self.luck.choice([None, True, True, False]),
            limit=self.luck.choice(SIZES),
        )

    def look_after(self) -> None:
        here, size = self.group(), self.luck.choice(SIZES)
        by, place = self.admin(here), {"conversation_id": here}
        self.step("list_invites", by, **place)
        status = self.luck.choice(REQUESTS)
        self.step("list_join_requests", by, **place, status=status, limit=size)

    def moderate(self) -> None:
        by, size = self.moderator(), self.luck.choice(SIZES)
        status, kind = self.luck.choice(REPORTS), self.luck.choice([None, "message", "user"])
        self.step("list_reports", by, status=status, target_type=kind, limit=size)
        self.step("list_bans", by, active_only=self.luck.choice([None, True, False]), limit=size)

    def turn_the_page(self) -> None:
        """A cursor of before, for what there is now; rarely one of another list, or of none."""
        if not self.world.cursors:
            self.list_own()
        cursors = [key for key, (kind, _) in self.world.cursors.items() if kind in LISTS]
        cursor = self.one_of(cursors)
        kind = self.world.cursors.get(cursor, ("conversations", None))[0]
        kind = self.luck.choice(list(LISTS)) if self.rarely() else kind
        here = self.conversation()
        given = {"conversation_id": here} if kind in ("messages", "joinRequests") else {}
        given |= {"query": "tea"} if kind == "search" else {}
        by = self.moderator() if kind in ("reports", "bans") else self.admin(here)
        self.step(LISTS[kind], by, **given, limit=self.luck.choice(SIZES), cursor=cursor)

    def teardown(self) -> None:
        try:
            if self.agree:
                self._see_all_of_all()
        finally:
            self.site.run(self.tabs.close())

    def _see_all_of_all(self) -> None:
        """A last thing is told to everybody, and nothing has been told before it."""
        self.call("create_group_conversation", self.users[0], "api", user_ids=self.users)
        for number, user_id in enumerate(self.users):
            for kind in ("conversations", "channels", "blocks", "mutes", "reports", "bans"):
                self.call(LISTS[kind], user_id, DOORS[number % 2])
            self.call("search_messages", user_id, DOORS[number % 2], query="tea")
            self.call("count_unread", user_id, DOORS[number % 2])
        for number, (here, found) in enumerate(self.world.conversations.items()):
            by, door, place = admins(found)[-1], DOORS[number % 2], {"conversation_id": here}
            self.call("list_messages", by, door, **place)
            self.call("list_messages_after", by, door, **place, seq=0)
            self.call("list_invites", by, door, **place)
            for status in ("pending", "approved", "denied"):
                self.call("list_join_requests", by, door, **place, status=status)
