"""`verify_action`: what the events say must lead to what a GET says."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.support.people import Frame, Person

State = dict[str, Any]


async def snapshot(viewer: Person) -> State:
    """All that a viewer can see: conversations by id, each with its main list, in list order."""
    page = (await viewer.get("/conversations")).json
    state: State = {each["id"]: each for each in page["conversations"]}
    for conversation_id, conversation in state.items():
        found = (await viewer.get(f"/conversations/{conversation_id}/messages")).json
        conversation["messages"] = {each["id"]: each for each in found["messages"]}
    return state


def applied(state: State, frame: Frame, viewer: Person) -> State:
    """The state after an event, as a client would keep it."""
    match frame.event:
        case "message.created":
            return _with_message(state, frame.data["message"], viewer)
        case "participant.added" | "conversation.updated":
            return _with_conversation(state, frame.data["conversation"])
        case "participant.removed":
            if viewer.user_id in frame.data["affectedUserIds"]:
                return {name: each for name, each in state.items() if name != _id(frame)}
            return _with_conversation(state, frame.data["conversation"])
    return state


async def verify_action(
    viewer: Person, act: Callable[[], Awaitable[Any]], *events: str
) -> list[Frame]:
    """Snapshot, act, read exactly `events`, apply them to the snapshot: it equals a new one."""
    await viewer.told_all()
    async with viewer.tab() as tab:
        before = await snapshot(viewer)
        await act()
        frames: list[Frame] = []
        for name in events:
            frames += await tab.until(lambda frame: frame.event is not None)
            assert frames[-1].event == name, frames
        state = before
        for frame in frames:
            state = applied(state, frame, viewer)
        after = await snapshot(viewer)
        assert list(state.items()) == list(after.items())
    return [each for each in frames if each.event]


def _id(frame: Frame) -> str:
    return str(frame.data["conversationId"])


def _with_message(state: State, message: dict[str, Any], viewer: Person) -> State:
    conversation = state[message["conversationId"]]
    others = message["senderId"] != viewer.user_id
    moved = {
        **conversation,
        "unreadCount": conversation["unreadCount"] + others,
        "messages": {message["id"]: message, **conversation["messages"]},
    }
    return {
        moved["id"]: moved,
        **{name: each for name, each in state.items() if name != moved["id"]},
    }


def _with_conversation(state: State, conversation: dict[str, Any]) -> State:
    if conversation["id"] in state:
        return {**state, conversation["id"]: {**state[conversation["id"]], **conversation}}
    new = {**conversation, "unreadCount": 0, "messages": {}}
    return {conversation["id"]: new, **state}
