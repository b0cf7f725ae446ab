"""What is repeated, what is not, and what refusals become."""

import pytest
from aiohttp import ClientConnectionError, ClientSession

from chat_aio import ChatError
from chat_aio.client import ChatClient
from chat_aio.errors import NotModerator, StorageUnavailable
from tests.client.proxy import proxied
from tests.client.scripted import hangs_up, newer_message, refuses, says, scripted
from tests.conftest import Database, MakePeople

UNAVAILABLE = "STORAGE_UNAVAILABLE"


async def test_answers_that_are_lost(serve: MakePeople, database: Database) -> None:
    """Of two sends and a forward whose answers are cut off behind the commit, each is stored once.
    A write without a key is not tried again."""
    person = await serve()
    group = await person("ada").group()
    async with (
        proxied(person("ada").client.port or 0) as proxy,
        ChatClient(proxy.base, headers={"X-User": "ada"}) as ada,
    ):
        proxy.swallow = 2
        sent = await ada.send_message(group, "once")
        proxy.swallow = 1
        copy = await ada.forward_message(sent.id, group)
        assert (await ada.list_messages(group)).messages == (copy, sent)
        assert await database["messages"].count_documents({}) == 2

        proxy.swallow, proxy.connections = 1, 0
        with pytest.raises(ClientConnectionError):
            await ada.create_group_conversation()
        assert (proxy.connections, proxy.swallow) == (0, 0)  # On the connection that was kept.
        assert await database["conversations"].count_documents({}) == 2


async def test_temporary_refusals() -> None:
    """The same request with the same key; a key that a newer service adds does no harm."""
    answers = (
        refuses(503, UNAVAILABLE, Retry_After="0"),
        refuses(429, "RATE_LIMITED"),
        says(502, "a proxy's own page"),
        hangs_up,
        says(201, {**newer_message("m"), "more": 2}),
    )
    async with scripted(*answers) as script, ChatClient(script.base) as client:
        sent = await client.send_message("c/d", "x")
        assert (sent.id, sent.created_at.isoformat()) == ("m", "2026-01-31T09:30:00+00:00")
    assert len({body for _, body in script.requests}) == 1
    assert b"clientMessageId" in script.requests[0][1]
    assert script.requests[0][0].rel_url.raw_path == "/chat/conversations/c%2Fd/messages"


async def test_what_is_not_repeated() -> None:
    """Refusals that stay, writes without a key, and anything past the deadline."""
    long = refuses(503, UNAVAILABLE, "the outcome is unknown", Retry_After="600")
    answers = (refuses(403, "NOT_MODERATOR"), refuses(503, UNAVAILABLE), long, hangs_up)
    async with scripted(*answers) as script, ChatClient(script.base) as client:
        with pytest.raises(NotModerator):
            await client.moderation.list_bans()
        with pytest.raises(StorageUnavailable):
            await client.add_reaction("m", "!")
        with pytest.raises(StorageUnavailable, match="outcome is unknown") as caught:
            await client.send_message("c", "x")
        assert caught.value.retry_after == 600
        with pytest.raises(ClientConnectionError):
            await client.edit_message("m", "x")


async def test_refusals_of_others() -> None:
    """A code that is not known yet, and answers that are no chat's."""
    answers = (
        refuses(418, "TEAPOT", "short and stout", Retry_After="soon"),
        says(404, ["no", "object"]),
        says(200, "a page to log in"),
    )
    seen = []
    async with scripted(*answers) as script, ChatClient(script.base) as client:
        for _ in answers:
            with pytest.raises(ChatError) as caught:
                await client.mark_read("c", "m")
            error = caught.value
            seen.append((type(error), error.status, error.code, error.retry_after))
            if error.code == "TEAPOT":
                assert str(error) == "short and stout"
    assert seen == [
        (ChatError, 418, "TEAPOT", None),
        (ChatError, 404, "HTTP_404", None),
        (ChatError, 200, "HTTP_200", None),
    ]
    assert "TEAPOT" not in ChatError.catalogue


async def test_who_is_calling() -> None:
    """A token is asked for before each attempt; a host's session brings its cookies, and stays."""
    tokens = iter(("first", "second"))

    async def bearer() -> dict[str, str]:
        return {"Authorization": next(tokens)}

    page = says(200, {"conversations": [], "nextCursor": None})
    async with scripted(refuses(503, UNAVAILABLE), page, page) as script:
        async with ChatClient(script.base, headers=bearer) as client:
            await client.list_conversations(limit=7)
        async with ClientSession(headers={"Cookie": "of=host"}) as session:
            async with ChatClient(script.base, session=session) as client:
                await client.list_conversations()
            assert not session.closed
    asked = [request for request, _ in script.requests]
    assert [request.headers.get("Authorization") for request in asked] == ["first", "second", None]
    assert asked[0].query_string == "limit=7"
    assert asked[2].cookies == {"of": "host"}


async def test_a_client_that_is_not_open() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await ChatClient("http://127.0.0.1:9").list_conversations()
