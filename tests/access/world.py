"""What the matrix is about: a group and direct conversations, with everybody in their role."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from itertools import count

from chat_aio.actions.api import ServerAPI
from chat_aio.actions.held_messages import list_held_messages
from chat_aio.actions.rooms import ban_from_conversation, update_conversation
from chat_aio.errors import MessageHeld
from chat_aio.plugins import Attachments, Drafts, Upload
from chat_aio.schema.drafts import NewDraft, NewPart
from tests.plugins.attachments.uploading import PNG

TALKING = ("ex-member", "member", "admin", "blocked", "blocker", "banned", "kim")
RETURNED = ("member", "blocked", "blocker")
DIRECT = ("admin", "blocked", "blocker", "banned")

_labels = count()


class World:
    """Made through the server API; a user is called by role and world. `about` is the matrix's."""

    def __init__(self, api: ServerAPI, about: str) -> None:
        self._api = api
        self._about = about
        self._label = next(_labels)
        self._names: dict[str, str] = {"code": "x" * 43, "held_id": "none", "draft_id": "none"}
        self._mine: dict[str, str] = {}
        self._theirs: dict[str, str] = {}
        self._direct: dict[str, str] = {}
        self._homes: dict[str, tuple[str, str]] = {}
        self._attached: dict[str, str] = {}

    @classmethod
    async def made(cls, api: ServerAPI, about: str, roles: Iterable[str]) -> "World":
        """A world with all that a row needs; who is banned is banned last."""
        world = cls(api, about)
        if world._is("direct", "found"):
            await asyncio.gather(*map(world._make_direct, DIRECT))
        else:
            await world._make_group()
        if world._is("hidden"):
            await world._hide()
        if world._is("from", "to"):
            await asyncio.gather(*map(world._make_home, roles))
        if world._is("held"):
            await world._have_one_held()
        if world._is("drafted"):
            await world._begin_draft()
        if world._is("barred"):
            context, group = world._api._context, world._names["group"]
            await ban_from_conversation(context, world.user("admin"), group, world.user("asker"))
        await world._moderate()
        return world

    def user(self, role: str) -> str:
        return f"{role}-{self._label}"

    def names(self, role: str) -> dict[str, str]:
        """What stands for the names in a request of `role`."""
        place = self._direct.get(role) or self._direct.get("admin") or self._names["group"]
        theirs = self._theirs.get(role) or self._theirs.get("admin") or self._mine["kim"]
        message = self._mine[role] if self._is("mine") and role in self._mine else theirs
        home, home_message = self._homes.get(role, ("", ""))
        users = {name: self.user(name) for name in ("asker", "outlaw")}
        return {
            **self._names,
            **users,
            "attachment_id": self._attached.get(role) or self._attached.get("admin", "none"),
            "other": self._other(role),
            "target_user_id": self.user("asker"),
            "target": self.user(role if self._is("oneself") else "kim"),
            "conversation_id": place,
            "message_id": home_message if self._is("to") else message,
            "root_id": message,
            "to_conversation_id": home if self._is("from") else place,
            "target_type": "message" if self._is("theirs") else "conversation",
            "target_id": message if self._is("theirs") else place,
        }

    def _is(self, *words: str) -> bool:
        return bool({*words} & {*self._about.replace(",", "").split()})

    def _other(self, role: str) -> str:
        if self._is("found"):
            return self.user(f"peer-of-{role}")
        return self.user("admin" if role in ("blocked", "blocker") else "kim")

    async def _make_group(self) -> None:
        api, admin = self._api, self.user("admin")
        users = [self.user(name) for name in TALKING]
        is_channel = self._is("channel")
        group = await api.create_group_conversation(
            admin,
            user_ids=users,
            visibility="public" if is_channel else None,
            join_policy="open" if is_channel else None,
            metadata={"kept": True} if self._is("kept") else None,
        )
        # As if it had been created with this key, which no other world has.
        await api._context.database.conversations.update_one(
            {"_id": group.id}, {"$set": {"key": group.id}}
        )
        talking = TALKING if self._is("mine") else ("kim",)
        sending = (api.send_message(self.user(role), group.id, "a word") for role in talking)
        sent = await asyncio.gather(*sending)
        self._mine = {role: message.id for role, message in zip(talking, sent, strict=True)}
        await self._attach("admin", self.user("kim"), group.id)
        left = self.user("ex-member")
        await api.remove_participant(admin, group.id, left)
        await api.moderation.block_user(admin, self.user("blocked"))
        await api.moderation.block_user(self.user("blocker"), admin)
        invite = await api.create_invite(admin, group.id, max_uses=1 if self._is("spent") else None)
        if self._is("spent"):
            await api.accept_invite(self.user("guest"), invite.code)
        await api.request_to_join(self.user("asker"), group.id)
        self._names |= {"group": group.id, "code": invite.code}

    async def _hide(self) -> None:
        """What was said is hidden from the members, who have left and come back."""
        api, admin, group = self._api, self.user("admin"), self._names["group"]
        await update_conversation(api._context, admin, group, history="since_join")
        members = [self.user(name) for name in RETURNED]
        for member in members:
            await api.remove_participant(member, group, member)
        await api.add_participants(admin, group, members)

    async def _make_direct(self, role: str) -> None:
        api, user, peer = self._api, self.user(role), self.user(f"peer-of-{role}")
        direct = await api.get_or_create_conversation(user, peer)
        if self._is("mine"):
            self._mine[role] = (await api.send_message(user, direct.id, "a word")).id
        theirs = await api.send_message(peer, direct.id, "a word")
        await self._attach(role, peer, direct.id)
        if role == "blocked":
            await api.moderation.block_user(peer, user)
        elif role == "blocker":
            await api.moderation.block_user(user, peer)
        self._direct[role], self._theirs[role] = direct.id, theirs.id

    async def _make_home(self, role: str) -> None:
        """A group of one's own: to forward out of, or into."""
        home = await self._api.create_group_conversation(self.user(role))
        sent = await self._api.send_message(self.user(role), home.id, "a word")
        self._homes[role] = home.id, sent.id

    async def _attach(self, role: str, sender: str, place: str) -> None:
        """A message with an image, where the world is about one."""
        if not self._is("attached"):
            return

        async def chunks() -> AsyncIterator[bytes]:
            yield PNG

        plugin = next(
            opened for opened in self._api._context.plugins if isinstance(opened, Attachments)
        )
        upload = Upload(name="a.png", length=len(PNG), chunks=chunks())
        self._attached[role] = (await plugin._uploading.take(sender, place, upload)).id
        ids = [self._attached[role]]
        await self._api.send_message(sender, place, "a word", attachment_ids=ids)

    async def _have_one_held(self) -> None:
        sender, group = self.user("kim"), self._names["group"]
        with suppress(MessageHeld):
            await self._api.send_message(sender, group, "a word", metadata={"hold": True})
        context, moderator = self._api._context, self.user("moderator")
        page = await list_held_messages(context, moderator, limit=200)
        (held,) = (
            held_message for held_message in page.held_messages if held_message.sender_id == sender
        )
        self._names["held_id"] = held.id

    async def _begin_draft(self) -> None:
        """The admin's."""
        (drafts,) = (plugin for plugin in self._api._context.plugins if isinstance(plugin, Drafts))
        place = self.user("admin"), self._names["group"]
        draft = await drafts._drafting.begin(*place, NewDraft())
        await drafts._drafting.append(*place, NewPart(draft_id=draft.id, index=0, text="a "))
        self._names["draft_id"] = draft.id

    async def _moderate(self) -> None:
        moderation, moderator = self._api.moderation, self.user("moderator")
        if self._is("another"):
            report, ban = await asyncio.gather(
                moderation.report(self.user("kim"), "user", self.user("asker"), "spam"),
                moderation.ban_user(moderator, self.user("outlaw")),
            )
            self._names |= {"report_id": report.id, "ban_id": ban.id}
        await moderation.ban_user(moderator, self.user("banned"))
