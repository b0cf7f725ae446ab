"""Steps that are about messages."""

from typing import Any

from tests.scenarios.model.machine import Machine

TALK = {
    "send": 6,
    "send_mentioning": 2,
    "reply": 2,
    "reply_in_thread": 2,
    "send_again": 2,
    "forward": 2,
    "edit": 4,
    "delete": 2,
    "react": 4,
    "take_back": 2,
    "read": 4,
    "mark_unread": 2,
    "change_view": 3,
}

BODIES = (
    "tea",
    "tea",
    "Tea, tea and cake",
    "Cake? tea!",
    "cake 東京タワー",
    "東京 " + "x" * 150,
    "buy spam",
    " \n",
)
EMOJI = ("👍", "👍", "ok", "ok", " ok ", "no", "so", "x" * 33, " ")
ROLES = (None,) * 8 + ("assistant", "system", "robot")
KEYS = (None, None, "key one", "key two")
METADATA = (None, None, None, {"a.b": {"$c": [1, None]}})
BOOLEANS = (None, None, False, True)


class Talking(Machine):
    """Sending, changing, reacting, reading."""

    def send(self) -> None:
        here = self.conversation()
        self._send(here, role=self.luck.choice(ROLES), metadata=self.luck.choice(METADATA))

    def send_mentioning(self) -> None:
        here = self.conversation()
        self._send(here, mentions=self._mentions(here))

    def reply(self) -> None:
        parent = self.message()
        self._send(self.within(parent), reply_to_message_id=parent)

    def reply_in_thread(self) -> None:
        root = self.message()
        also = self.luck.choice(BOOLEANS)
        self._send(self.within(root), thread_root_message_id=root, also_send_to_main=also)

    def send_again(self) -> None:
        """What was sent with a key, now and then with a difference, or by somebody else."""
        every = self.world.messages.items()
        keyed = [key for key, message in every if message["clientMessageId"]]
        message = self.world.messages.get(self.one_of(keyed))
        if message is None:
            return
        given = {**message["request"], "client_message_id": message["clientMessageId"]}
        by = self.person() if self.rarely() else message["senderId"]
        here = message["conversationId"]
        if self.rarely():
            given["mentions"] = [by]
        if source_id := given.pop("forwarded", None):
            self.step("forward_message", by, message_id=source_id, to_conversation_id=here, **given)
        else:
            self.step("send_message", by, conversation_id=here, **given)

    def forward(self) -> None:
        source, target = self.message(), self.conversation()
        by = self.person(self.luck.choice([target, self.within(source)]))
        self.step(
            "forward_message",
            by,
            message_id=source,
            to_conversation_id=target,
            client_message_id=self.luck.choice(KEYS),
            role=self.luck.choice(ROLES),
            mentions=self.luck.choice([None, None, self._mentions(target)]),
        )

    def edit(self) -> None:
        """Once with some mentions, and once more with those, none, or nothing said of them."""
        message_id = self.message()
        by, some = self._sender(message_id), self._mentions(self.within(message_id))
        for mentions in (some, self.luck.choice([None, None, [], some])):
            body = self.luck.choice(BODIES)
            self.step("edit_message", by, message_id=message_id, body=body, mentions=mentions)

    def delete(self) -> None:
        """And do something with what is left."""
        message_id = self.message()
        by, here = self._sender(message_id), self.within(message_id)
        self.step("delete_message", by, message_id=message_id)
        match self.luck.randrange(3):
            case 0:
                self.step("delete_message", by, message_id=message_id)
            case 1:
                self.step("forward_message", by, message_id=message_id, to_conversation_id=here)
            case 2:
                self.step("edit_message", by, message_id=message_id, body="tea")

    def react(self) -> None:
        self._react("add_reaction", self.message(), self.luck.choice(EMOJI))

    def take_back(self) -> None:
        message_id, emoji = self.message(), self.luck.choice(EMOJI)
        self._react("remove_reaction", message_id, emoji)

    def read(self) -> None:
        """Somebody marks two messages read, one of them often from before."""
        here = self.conversation()
        every = self.world.messages.items()
        inside = [key for key, message in every if message["conversationId"] == here]
        by = self.person(here)
        for _ in range(2):
            message_id = self.message() if self.rarely() else self.one_of(inside)
            self.step("mark_read", by, conversation_id=here, message_id=message_id)

    def mark_unread(self) -> None:
        """And now and then read again, up to there, from before or from behind."""
        here = self.conversation()
        every = self.world.messages.items()
        inside = [key for key, message in every if message["conversationId"] == here]
        by = self.person(here)
        for name in ("mark_unread", self.luck.choice(("mark_read", "mark_unread"))):
            message_id = self.message() if self.rarely() else self.one_of(inside)
            self.step(name, by, conversation_id=here, message_id=message_id)

    def change_view(self) -> None:
        """And what is counted then."""
        here = self.conversation()
        by = self.person(here)
        given = {name: self.luck.choice(BOOLEANS) for name in ("archived", "favourite", "hidden")}
        clear = True if self.rarely() else self.luck.choice((None, None, False))
        self.step("change_view", by, conversation_id=here, **given, clear=clear)
        self.step("count_unread", by)

    def _send(self, here: str, **given: Any) -> None:
        given |= {"body": self.luck.choice(BODIES), "client_message_id": self.luck.choice(KEYS)}
        self.step("send_message", self.person(here), conversation_id=here, **given)

    def _react(self, name: str, message_id: str, emoji: str) -> None:
        by = self.person(self.within(message_id))
        self.step(name, by, message_id=message_id, emoji=emoji)

    def _mentions(self, conversation_id: str) -> list[str]:
        """Up to three, now and then one twice, and rarely what is no id."""
        named = [self.person(conversation_id) for _ in range(self.luck.randrange(4))]
        return [*named, " "] if self.rarely() else named

    def _sender(self, message_id: str) -> str:
        message = self.world.messages.get(message_id)
        return message["senderId"] if message and not self.rarely() else self.person()
