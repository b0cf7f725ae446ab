"""The contents of the pictures: five people on launch day, sent over the demo's own routes."""

from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import ClientSession

from chat_aio import Chat
from chat_aio.plugins import Attachments

ME = "ada"
OTHERS = ("grace", "linus", "margaret", "dennis")
THREAD = (
    ("margaret", "It means: too much to do, so it does what matters first."),
    ("linus", "It degrades, and says so. I like that."),
    ("ada", "Then we fly with it. In writing, please."),
    ("margaret", "Log book, page 12."),
)
EARLIER = {
    "grace": "Do you have a minute for the compiler?",
    "dennis": "I made it shorter. It is still too long.",
    "margaret": "Thank you for the review!",
}
UNREAD = "grace"
ENGINE_ROOM = (
    ("ada", "Welcome to the engine room!"),
    ("grace", "Found a moth in the relay. Taped it into the log book."),
    ("margaret", "Then let's write the recovery path before we need it."),
)


async def empty(chat: Chat, files: Attachments) -> None:
    """No samples: the pictures have their own users."""


class Scene:
    """Sends to a demo as its users, and remembers the places of the pictures."""

    def __init__(self, url: str, http: ClientSession) -> None:
        self._url = f"{url}/api/chat"
        self._http = http
        self.group_id = ""
        self.thread_id = ""

    async def prepare(self) -> None:
        await self._earlier()
        await self._group()
        await self._launch_day()
        await self._reports()

    async def _earlier(self) -> None:
        given = {"name": "Engine room", "userIds": list(OTHERS)}
        made = await self._post(ME, "/conversations/group", **given)
        for user_id, body in ENGINE_ROOM:
            await self.say(user_id, body, made["conversation"]["id"])
        for user_id, body in EARLIER.items():
            direct_id = await self.direct(ME, user_id)
            said = await self.say(user_id, body, direct_id)
            if user_id != UNREAD:
                await self._read(ME, said)
        public = {"name": "Compilers", "visibility": "public", "userIds": ["ada", "grace"]}
        made = await self._post("dennis", "/conversations/group", **public)
        await self.say("grace", "It compiles! On paper, so far.", made["conversation"]["id"])

    async def _group(self) -> None:
        given = {"name": "Launch day", "userIds": list(OTHERS)}
        made = await self._post(ME, "/conversations/group", **given)
        self.group_id = made["conversation"]["id"]

    async def _launch_day(self) -> None:
        tagged = await self.say("margaret", "Guidance 1.4 is tagged. Who takes the last look?")
        twice = await self.say("grace", "I do. I compiled it twice, to see whether it agrees.")
        await self._react(twice, "😂", "linus", "dennis", "ada")
        words = "@Grace found the moth in 1.3, so I would wait for her."
        await self.say(ME, words, mentions=["grace"])
        merged = "Recovery path is merged. It reverts cleanly, I tried."
        await self._react(
            await self.say("linus", merged, replyToMessageId=tagged["id"]),
            *("👍", "margaret", "grace"),
        )
        alarm = await self.say("dennis", "The 1202 alarm is still there. Do we mind?")
        self.thread_id = alarm["id"]
        for sender, body in THREAD:
            await self.say(sender, body, threadRootMessageId=alarm["id"])
        go = await self.say(ME, "Go from my side. 🚀")
        await self._react(go, "🚀", "grace", "linus", "margaret", "dennis")
        await self._react(go, "🎉", "grace", "ada")
        asked = await self.say("margaret", "@Ada, then it is your button. 16:30?", mentions=[ME])
        for user_id in (*OTHERS, ME):
            await self._read(user_id, asked)

    async def _reports(self) -> None:
        direct_id = await self.direct("dennis", "linus")
        rude = await self.say("dennis", "Your tabs are spaces.", direct_id)
        reports = (
            ("linus", "message", rude["id"], "Unkind, though not wrong"),
            ("grace", "conversation", self.group_id, "Too many rockets"),
        )
        for user_id, kind, target_id, reason in reports:
            given = {"targetType": kind, "targetId": target_id, "reason": reason}
            await self._post(user_id, "/moderation/reports", **given)

    async def type(self, user_id: str) -> None:
        await self._post(user_id, f"/conversations/{self.group_id}/typing")

    async def ban(self, user_id: str) -> None:
        until = (datetime.now(UTC) + timedelta(days=1)).isoformat(timespec="milliseconds")
        given = {"targetUserId": user_id, "reason": "Cool down", "expiresAt": until}
        await self._post(ME, "/moderation/bans", **given)

    async def direct(self, user_id: str, other_user_id: str) -> str:
        made = await self._post(user_id, "/conversations", otherUserId=other_user_id)
        return str(made["conversation"]["id"])

    async def say(
        self, user_id: str, body: str, conversation_id: str = "", **more: Any
    ) -> dict[str, Any]:
        path = f"/conversations/{conversation_id or self.group_id}/messages"
        answer = await self._post(user_id, path, body=body, **more)
        message: dict[str, Any] = answer["message"]
        return message

    async def _read(self, user_id: str, message: dict[str, Any]) -> None:
        path = f"/conversations/{message['conversationId']}/read"
        await self._post(user_id, path, messageId=message["id"])

    async def _react(self, message: dict[str, Any], emoji: str, *user_ids: str) -> None:
        for user_id in user_ids:
            await self._post(user_id, f"/messages/{message['id']}/reactions", emoji=emoji)

    async def _post(self, user_id: str, path: str, **body: Any) -> Any:
        params = {"as": user_id}
        async with self._http.post(self._url + path, params=params, json=body) as response:
            response.raise_for_status()
            return await response.json()
