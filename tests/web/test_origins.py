"""Pages of other origins, where the host's login is a cookie."""

import pytest

from tests.conftest import MakePeople
from tests.support.people import Person

OURS, THEIRS = "https://ours.example", "https://theirs.example"


@pytest.fixture
async def ada(serve: MakePeople) -> Person:
    return (await serve(allowed_origins=[OURS]))("ada")


@pytest.mark.parametrize(
    ("origin", "status"), [(OURS, 201), (None, 201), (THEIRS, 403), ("null", 403), ("", 403)]
)
async def test_who_may_change_something(ada: Person, origin: str | None, status: int) -> None:
    headers = {} if origin is None else {"Origin": origin}
    answer = await ada.post("/conversations/group", {}, headers=headers)
    assert answer.status == status
    assert answer.code == {201: None, 403: "FORBIDDEN_ORIGIN"}[status]
    assert len((await ada.get("/conversations")).json["conversations"]) == (status == 201)


async def test_reading_is_free_and_streams_are_not(ada: Person) -> None:
    assert (await ada.get("/conversations", headers={"Origin": THEIRS})).status == 200
    async with ada.tab(Origin=OURS) as tab:
        assert tab.response.headers["Access-Control-Allow-Origin"] == OURS
    as_a_picture = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    for headers in ({"Origin": THEIRS}, as_a_picture, {"Sec-Fetch-Site": "same-site"}):
        answer = await ada.get("/stream", headers=headers)
        assert (answer.status, answer.code) == (403, "FORBIDDEN_ORIGIN")
    async with ada.tab(**{"Sec-Fetch-Site": "same-origin"}):
        pass


async def test_only_listed_origins_may_read_answers(ada: Person) -> None:
    for path in ("/conversations", "/nothing"):
        ours = await ada.get(path, headers={"Origin": OURS})
        assert ours.headers["Access-Control-Allow-Origin"] == OURS
        assert ours.headers["Access-Control-Allow-Credentials"] == "true"
        theirs = await ada.get(path, headers={"Origin": THEIRS})
        assert "Access-Control-Allow-Origin" not in theirs.headers
        assert ours.headers["Vary"] == theirs.headers["Vary"] == "Origin"


async def test_preflights_come_before_authentication(ada: Person) -> None:
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-login"}
    path = "/api/chat/conversations/group"
    async with ada.client.options(path, headers={"Origin": OURS, **asks}) as response:
        assert (response.status, await response.read()) == (204, b"")
        assert response.headers["Access-Control-Allow-Origin"] == OURS
        assert "POST" in response.headers["Access-Control-Allow-Methods"]
        assert response.headers["Access-Control-Allow-Headers"] == "x-login"
    for headers in ({"Origin": THEIRS, **asks}, {"Origin": OURS}, asks):
        async with ada.client.options(path, headers=headers) as response:
            assert response.status == 401


async def test_without_the_option_origins_are_not_looked_at(serve: MakePeople) -> None:
    ada = (await serve())("ada")
    answer = await ada.post("/conversations/group", {}, headers={"Origin": THEIRS})
    assert answer.status == 201
    assert not {"Access-Control-Allow-Origin", "Vary"} & answer.headers.keys()


async def test_who_is_nobody_is_told_so_first(ada: Person) -> None:
    async with ada.client.post("/api/chat/conversations", headers={"Origin": THEIRS}) as response:
        assert response.status == 401
