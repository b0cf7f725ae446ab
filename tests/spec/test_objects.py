"""docs/reference/objects.md has every field of every object, and examples of a running service.

`CHAT_AIO_WRITE_EXAMPLES=1 python -m pytest tests/spec/test_objects.py` writes the examples again.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from chat_aio import Hooks, Profile
from chat_aio.plugins import Attachments, BlockedWords, Filter
from chat_aio.schema import models
from tests.conftest import MakePeople
from tests.plugins.attachments.uploading import attached
from tests.support.people import Person

PAGE = Path(__file__).parents[2] / "docs/reference/objects.md"
SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"```json\n(.*?)```", re.DOTALL)
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
CODE = "Q2hhdC1haW8tYW4tZXhhbXBsZS1vZi1hLWNvZGUtNDM"
ID = re.compile(r"^[0-9a-f]{24}$|^[\w-]{43}$")


def sections() -> dict[str, str]:
    return dict(SECTION.findall(PAGE.read_text()))


def fields_of(shape: Any) -> set[str]:
    if shape is models.Participant:
        return {to_camel(field.name) for field in fields(shape)}
    return {to_camel(name) for name in shape.model_fields}


@pytest.mark.parametrize("name", sorted(sections().keys() - {"Error"}))
def test_every_field_has_a_meaning(name: str) -> None:
    shape = models.ConversationWithUnread if name == "Conversation" else getattr(models, name)
    documented = re.findall(r"^\| (\w+) \| .+ \| .+ \|$", sections()[name], re.MULTILINE)
    assert set(documented) - {"Field"} == fields_of(shape)


def test_every_object_of_a_conversation_is_there() -> None:
    named = {name for name, shape in vars(models).items() if isinstance(shape, type)}
    answers = {name for name in named if name.endswith(("Page", "Result", "Request", "Draft"))}
    assert sections().keys() - {"Error"} <= named - (answers - {"JoinRequest"})


class Steady:
    """Ids and times of one run, as those of the page: ids are numbered, and it is always noon."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def shown(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self.shown(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.shown(item) for item in value]
        if isinstance(value, str) and TIME.match(value):
            return "2026-01-31T12:00:00.000Z"
        if isinstance(value, str) and ID.match(value):
            number = len(self._ids) + 1
            known = f"65b9f0c2a1d3e4{number:010d}" if len(value) == 24 else CODE
            return self._ids.setdefault(value, known)
        return value


NAMES = {"ada": "Ada Lovelace", "grace": "Grace Hopper"}


async def profiles(user_ids: Sequence[str]) -> dict[str, Profile]:
    return {name: Profile(name=NAMES[name]) for name in user_ids if name in NAMES}


async def examples(serve: MakePeople) -> dict[str, Any]:
    """An object of each kind, in the order in which a chat gets them."""
    people = await serve(
        Hooks(
            can_moderate=lambda asked: asked.user_id == "mod",
            profiles=profiles,
        ),
        plugins=[
            Filter([BlockedWords(["casino"], action="hold", reason="advertising")]),
            Attachments(),
        ],
        room_controls=True,
        inbox=True,
    )
    ada, grace, linus, mod = (people(name) for name in ("ada", "grace", "linus", "mod"))
    group = await ada.group("grace", name="Engine room", metadata={"order": 7})
    room = f"/conversations/{group}"
    opened = await ada.call("PATCH", room, json={"visibility": "public", "joinPolicy": "approval"})
    assert opened.status == 200, opened
    root = await ada.send(group, "The engine is ready", mentions=["grace"])
    file = await attached(grace, group)
    reply = await grace.send(
        group, "Here is a picture", replyToMessageId=root["id"], attachmentIds=[file]
    )
    await ada.react(reply["id"], "👍")
    await grace.send(group, "In the thread", threadRootMessageId=reply["id"])
    shown: dict[str, Any] = {}
    listed = (await ada.get("/conversations?include=unread,users")).json
    (shown["Conversation"],) = listed["conversations"]
    shown["ConversationView"] = shown["Conversation"]["view"]
    shown["UnreadSummary"] = listed["unreadSummaries"][group]
    shown["User"] = listed["users"]["ada"]
    (_, shown["Message"], *_) = reversed(await ada.listed(f"{room}/messages"))
    shown["Invite"] = await made(ada, f"{room}/invites", "invite", maxUses=5)
    code = shown["Invite"]["code"]
    shown["InvitePreview"] = (await linus.get(f"/invites/{code}")).json["invite"]
    channels = (await linus.get("/channels")).json["channels"]
    (shown["ChannelPreview"],) = channels
    shown["JoinRequest"] = await made(linus, f"{room}/join", "joinRequest", message="May I?")
    shown["Block"] = await made(grace, "/moderation/blocks", "block", targetUserId="linus")
    shown["Mute"] = await made(grace, "/moderation/mutes", "mute", conversationId=group)
    about = {"targetType": "message", "targetId": root["id"], "reason": "off topic"}
    shown["Report"] = await made(grace, "/moderation/reports", "report", **about)
    ban = {"targetUserId": "mallory", "reason": "advertising"}
    shown["Ban"] = await made(mod, "/moderation/bans", "ban", **ban)
    shown["ConversationBan"] = await made(ada, f"{room}/bans", "conversationBan", userId="eve")
    refused = await ada.post(f"{room}/messages", {"body": "casino"})
    shown["Error"] = refused.json
    (shown["HeldMessage"],) = (await mod.get("/moderation/held")).json["heldMessages"]
    return shown


async def made(who: Person, path: str, key: str, **body: Any) -> dict[str, Any]:
    answer = await who.post(path, body)
    assert answer.status in (200, 201), answer
    found: dict[str, Any] = answer.json[key]
    return found


async def test_examples_are_those_of_a_running_service(serve: MakePeople) -> None:
    steady = Steady()
    found = {name: steady.shown(value) for name, value in (await examples(serve)).items()}
    text = PAGE.read_text()
    with_examples = {name for name, section in sections().items() if EXAMPLE.search(section)}
    assert with_examples == found.keys()

    def fresh(section: "re.Match[str]") -> str:
        if section[1] not in found:
            return section[0]
        example = json.dumps(found[section[1]], indent=2, ensure_ascii=False)
        return EXAMPLE.sub(lambda _: f"```json\n{example}\n```", section[0])

    written = SECTION.sub(fresh, text)
    if os.environ.get("CHAT_AIO_WRITE_EXAMPLES"):
        PAGE.write_text(written)
    assert PAGE.read_text() == written
