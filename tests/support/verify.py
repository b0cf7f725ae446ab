"""`verify_action`: what the events say must lead to what a GET says."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.support.people import Frame, Person

State = dict[str, Any]


async def snapshot(viewer: Person) -> State:
    """All that a viewer can see: conversations by id, each with its main list and the threads of
    that, in list order."""
    page = (await viewer.get("/conversations")).json
    state: State = {conversation["id"]: conversation for conversation in page["conversations"]}
    for conversation_id, conversation in state.items():
        here = f"/conversations/{conversation_id}"
        conversation["messages"] = await _listed(viewer, f"{here}/messages")
        conversation["threads"] = {
            name: await _listed(viewer, f"{here}/threads/{name}/messages")
            for name, message in conversation["messages"].items()
            if message["threadSummary"]
        }
    return state


async def _listed(viewer: Person, path: str) -> State:
    return {message["id"]: message for message in (await viewer.get(path)).json["messages"]}


def applied(state: State, frame: Frame, viewer: Person) -> State:
    """The state after an event, as a client would keep it."""
    match frame.event:
        case "message.created":
            return _with_message(state, frame.data["message"], viewer)
        case "message.updated" | "message.deleted" | "reaction.added" | "reaction.removed":
            return _with_changed(state, frame.data["message"])
        case "participant.added" | "conversation.updated" | "conversation.created":
            return _with_conversation(state, frame.data["conversation"])
        case "participant.removed":
            if viewer.user_id in frame.data["affectedUserIds"]:
                return {name: value for name, value in state.items() if name != _id(frame)}
            return _with_conversation(state, frame.data["conversation"])
        case "read.updated":
            return _with_read_state(state, frame.data, viewer)
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
    return [frame for frame in frames if frame.event]


def _id(frame: Frame) -> str:
    return str(frame.data["conversationId"])


def _with_message(state: State, message: dict[str, Any], viewer: Person) -> State:
    conversation = state[message["conversationId"]]
    others = message["senderId"] != viewer.user_id
    moved = {**conversation, "unreadCount": conversation["unreadCount"] + others}
    if root_id := message["threadRootMessageId"]:
        moved = _with_reply(moved, root_id, message)
    if root_id is None or message["alsoSendToMain"]:
        moved["messages"] = {message["id"]: message, **moved["messages"]}
    return {
        moved["id"]: moved,
        **{name: value for name, value in state.items() if name != moved["id"]},
    }


def _with_read_state(state: State, read: dict[str, Any], viewer: Person) -> State:
    conversation = state[read["conversationId"]]
    participants = [
        {**participant, "lastReadMessageId": read["messageId"]}
        if participant["userId"] == viewer.user_id
        else participant
        for participant in conversation["participants"]
    ]
    now = {**conversation, "participants": participants, "unreadCount": read["unreadCount"]}
    return {**state, now["id"]: now}


def _with_reply(conversation: State, root_id: str, reply: dict[str, Any]) -> State:
    """A client counts the replies itself: a summary has no event of its own."""
    root = conversation["messages"][root_id]
    count = (root["threadSummary"] or {"replyCount": 0})["replyCount"] + 1
    root = {**root, "threadSummary": {"replyCount": count, "lastReplyAt": reply["createdAt"]}}
    thread = {reply["id"]: reply, **conversation["threads"].get(root_id, {})}
    return {
        **conversation,
        "messages": {**conversation["messages"], root_id: root},
        "threads": {**conversation["threads"], root_id: thread},
    }


def _with_changed(state: State, message: dict[str, Any]) -> State:
    """The message where it stands, and its preview where it was replied to."""
    conversation = state[message["conversationId"]]

    def changed(listed: State) -> State:
        return {name: _as_now(value, message) for name, value in listed.items()}

    threads = {name: changed(thread) for name, thread in conversation["threads"].items()}
    now = {**conversation, "messages": changed(conversation["messages"]), "threads": threads}
    return {**state, now["id"]: now}


def _as_now(listed: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    if listed["id"] == message["id"]:
        return message
    if listed["replyToMessageId"] != message["id"]:
        return listed
    body, deleted = message["body"], message["deletedAt"] is not None
    excerpt = body if len(body) <= 140 else body[:140] + "…"
    return {**listed, "replyTo": {**listed["replyTo"], "excerpt": excerpt, "deleted": deleted}}


def _with_conversation(state: State, conversation: dict[str, Any]) -> State:
    if conversation["id"] in state:
        return {**state, conversation["id"]: {**state[conversation["id"]], **conversation}}
    new = {**conversation, "unreadCount": 0, "messages": {}, "threads": {}}
    return {conversation["id"]: new, **state}
