"""Tokens of `chat-aio serve`: which are accepted, and every way in which one is refused."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from chat_aio.errors import SetupError
from chat_aio.server import token_keys
from chat_aio.server.token_auth import TokenAuth
from chat_aio.server.token_keys import TokenKeys, keys_of_file, single_key
from tests.conftest import MakePeople
from tests.support.people import BASE, Tab
from tests.support.tokens import (
    FOREVER,
    SECRET,
    bearer,
    claims_of,
    encoded,
    forged,
    jwk_of,
    private_key,
    private_pem,
    public_pem,
    token_of,
    write_jwks,
)

NOW = 1_900_000_000
LEEWAY = 60
HS256 = {"alg": "HS256"}

Status = Callable[[Any], Awaitable[int]]


@pytest.fixture
def door(serve: MakePeople) -> Callable[[TokenAuth], Awaitable[Status]]:
    """Serve a chat with this auth; returns what calls it with a token, or with headers."""

    async def make(auth: TokenAuth) -> Status:
        client = (await serve(auth=auth.auth))("").client

        async def status(given: Any) -> int:
            headers = bearer(given) if isinstance(given, str) else given
            async with client.get(f"{BASE}/conversations", headers=headers) as answer:
                code = (await answer.json()).get("error", {}).get("code")
                assert (answer.status, code) in ((200, None), (401, "UNAUTHENTICATED"))
                return answer.status

        return status

    return make


def of_secret(**given: Any) -> TokenAuth:
    keys = TokenKeys(single_key(SECRET, "HS256"))
    return TokenAuth(keys, **{"leeway_seconds": LEEWAY, "clock": lambda: NOW, **given})


GOOD = {
    "plain": token_of("ada"),
    "any kid": token_of("ada", kid="whatever"),
    "expired within the leeway": token_of("ada", exp=NOW - LEEWAY + 1),
    "starts within the leeway": token_of("ada", nbf=NOW + LEEWAY),
    "a fraction": token_of("ada", exp=NOW + 0.5, nbf=NOW - 0.5),
    "issued in the future": token_of("ada", iat=NOW + 3_600),
    "further claims": token_of("ada", iss="anybody", admin=True, deep={"a": [1]}),
}

DEEP = b"[" * 5_000 + b"]" * 5_000

REFUSED: dict[str, Any] = {
    "alg none": forged({"alg": "none"}, claims_of("ada")).rpartition(".")[0] + ".",
    "alg none, with a signature": forged({"alg": "none"}, claims_of("ada")),
    "alg None": forged({"alg": "None"}, claims_of("ada")),
    "no alg": forged({"typ": "JWT"}, claims_of("ada")),
    "alg is a list": forged({"alg": ["HS256"]}, claims_of("ada")),
    "another algorithm than the key's": token_of("ada", algorithm="HS512"),
    "another secret": token_of("ada", SECRET.upper()),
    "without a signature": ".".join([*token_of("ada").split(".")[:2], ""]),
    "a changed payload": ".".join(
        [
            token_of("ada").split(".")[0],
            encoded(json.dumps(claims_of("eve")).encode()),
            token_of("ada").split(".")[2],
        ]
    ),
    "expired": token_of("ada", exp=NOW - LEEWAY),
    "no exp": token_of("ada", exp=None),
    "exp is null": forged(HS256, {"sub": "ada", "exp": None}),
    "exp is text": forged(HS256, claims_of("ada", exp=str(FOREVER))),
    "exp is true": forged(HS256, claims_of("ada", exp=True)),
    "exp is a list": forged(HS256, claims_of("ada", exp=[FOREVER])),
    "exp is not finite": forged(HS256, b'{"sub": "ada", "exp": 1e999}'),
    "exp is no number": forged(HS256, b'{"sub": "ada", "exp": NaN}'),
    "exp has thousands of digits": forged(HS256, b'{"sub": "ada", "exp": ' + b"9" * 4_900 + b"}"),
    "starts later": token_of("ada", nbf=NOW + LEEWAY + 1),
    "nbf is true": forged(HS256, claims_of("ada", nbf=True)),
    "nbf is text": forged(HS256, claims_of("ada", nbf="0")),
    "no sub": forged(HS256, {"exp": FOREVER}),
    "sub is a number": forged(HS256, {"sub": 7, "exp": FOREVER}),
    "sub is empty": token_of(""),
    "sub is blank": token_of("  "),
    "sub has a NUL": token_of("a\0b"),
    "sub is too long": token_of("a" * 257),
    "sub is half a character": forged(HS256, b'{"sub": "\\ud800", "exp": 4000000000}'),
    "an audience, and none is wanted": token_of("ada", aud="somebody"),
    "critical extensions": forged({"alg": "HS256", "crit": ["x"], "x": 1}, claims_of("ada")),
    "payload not encoded": forged(
        {"alg": "HS256", "b64": False, "crit": ["b64"]}, claims_of("ada")
    ),
    "payload is a list": forged(HS256, [claims_of("ada")]),
    "payload is no JSON": forged(HS256, b"{"),
    "payload is no UTF-8": forged(HS256, b"\xff\xfe"),
    "payload is deep": forged(HS256, DEEP[:5_800]),
    "header is deep": forged(DEEP[:5_800], claims_of("ada")),
    "header is a list": forged([HS256], claims_of("ada")),
    "header is no UTF-8": forged(b"\xff", claims_of("ada")),
    "kid is a number": forged({"alg": "HS256", "kid": 7}, claims_of("ada")),
    "oversized": token_of("ada", filler="x" * 5_910),
    "two parts": "a.b",
    "five parts": "a.b.c.d.e",
    "nothing": "",
    "not base64": "%.%.%",
    "no header": {},
    "another scheme": {"Authorization": f"Basic {token_of('ada')}"},
    "no scheme": {"Authorization": token_of("ada")},
    "two headers": CIMultiDict([*bearer(token_of("ada")).items()] * 2),
    "in a cookie": {"Cookie": f"access_token={token_of('ada')}"},
}


async def test_tokens_that_are_good(door: Any) -> None:
    status = await door(of_secret())
    for name, token in GOOD.items():
        assert await status(token) == 200, name
    assert await status({"authorization": f"bearer  {token_of('ada')}"}) == 200


async def test_tokens_that_are_refused(door: Any, caplog: pytest.LogCaptureFixture) -> None:
    """With 401, and never with 500."""
    status = await door(of_secret())
    for name, token in REFUSED.items():
        assert await status(token) == 401, name
    assert not [record for record in caplog.records if record.exc_info]


async def test_issuer_and_audience(door: Any) -> None:
    status = await door(of_secret(issuer="https://shop.example", audience="chat"))
    right: dict[str, Any] = {"iss": "https://shop.example", "aud": "chat"}
    assert await status(token_of("ada", **right)) == 200
    assert await status(token_of("ada", **{**right, "aud": ["chat", "mail"]})) == 200
    wrongs: list[dict[str, Any]] = [
        {"iss": "https://other.example"},
        {"iss": "https://shop.example/"},
        {"iss": None},
        {"iss": ["https://shop.example"]},
        {"aud": "mail"},
        {"aud": ["mail"]},
        {"aud": []},
        {"aud": None},
        {"aud": "chat "},
        {"aud": [7]},
    ]
    for wrong in wrongs:
        token = forged(HS256, claims_of("ada", **{**right, **wrong}))
        assert await status(token) == 401, wrong


async def test_each_key_of_a_set_has_its_own_algorithm(door: Any, tmp_path: Path) -> None:
    """A public key is no shared secret, and no key verifies what another one has signed."""
    keys = {name: private_key(name) for name in ("RS256", "PS256", "ES256", "ES512", "EdDSA")}
    listed = [jwk_of(key, name, name) for name, key in keys.items()]
    path = write_jwks(
        tmp_path / "keys.json",
        *listed,
        jwk_of(SECRET.encode(), "HS256", "HS256"),
        # Identity providers list keys for encryption as well.
        {**jwk_of(keys["RS256"], "enc", "RS256"), "use": "enc", "alg": "RSA-OAEP"},
    )
    auth = TokenAuth(TokenKeys(keys_of_file(path), path), clock=lambda: NOW)
    status = await door(auth)
    for name, key in {**keys, "HS256": SECRET}.items():
        assert await status(token_of("ada", key, name, kid=name)) == 200, name
        for other in {*keys, "HS256"} - {name}:
            assert await status(token_of("ada", key, name, kid=other)) == 401, (name, other)
        assert await status(token_of("ada", key, name)) == 401  # Which one is meant?
        assert await status(token_of("ada", key, name, kid="unknown")) == 401
        assert await status(token_of("ada", key, name, kid="")) == 401
    # The same key with another algorithm of its kind.
    assert await status(token_of("ada", keys["RS256"], "RS512", kid="RS256")) == 401
    assert await status(token_of("ada", keys["RS256"], "PS256", kid="RS256")) == 401
    assert await status(token_of("ada", keys["RS256"], "RS256", kid="enc")) == 401
    for name in ("RS256", "ES256"):
        pem = public_pem(keys[name])
        confused = forged({"alg": "HS256", "kid": name}, claims_of("ada"), pem)
        assert await status(confused) == 401
        stripped = forged({"alg": "HS256", "kid": name}, claims_of("ada"), pem.strip())
        assert await status(stripped) == 401
    # A key in the token's own header is nobody's.
    own = private_key("RS256")
    headers = {"kid": "RS256", "jwk": jwk_of(own, "RS256", "RS256"), "jku": "https://evil.example"}
    assert await status(jwt.encode(claims_of("ada"), own, "RS256", headers=headers)) == 401


async def test_a_public_key_as_pem_is_no_shared_secret(door: Any) -> None:
    key = private_key("RS256")
    pem = public_pem(key)
    auth = TokenAuth(TokenKeys(single_key(pem, "RS256")), clock=lambda: NOW)
    status = await door(auth)
    assert await status(token_of("ada", key, "RS256")) == 200
    assert await status(forged(HS256, claims_of("ada"), pem)) == 401
    assert await status(token_of("ada", private_key("RS256"), "RS256")) == 401


async def test_one_key_of_a_file_needs_no_kid(door: Any, tmp_path: Path) -> None:
    key = private_key("ES256")
    path = write_jwks(tmp_path / "keys.json", jwk_of(key, "only", "ES256"))
    status = await door(TokenAuth(TokenKeys(keys_of_file(path), path), clock=lambda: NOW))
    assert await status(token_of("ada", key, "ES256")) == 200
    assert await status(token_of("ada", key, "ES256", kid="another")) == 401


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), max_size=200))
async def test_garbage(text: str) -> None:
    """Any text, and any text between the points of a token with a right signature."""
    auth = of_secret()
    for token in (text, forged(HS256, text.encode()), forged(text.encode(), claims_of("ada"))):
        found = await auth._verified(_Request(token))  # type: ignore[arg-type]
        assert found is None


class _Request:
    """The only part of a request that is read here."""

    def __init__(self, token: str) -> None:
        self.headers = CIMultiDict(bearer(token))


async def test_a_stream_ends_with_its_token(serve: MakePeople) -> None:
    """At the first heartbeat after `exp` and the leeway; that of another token goes on."""
    moment = [NOW]
    auth = of_secret(clock=lambda: moment[0])
    people = await serve(auth=auth.auth, reauthenticate=True, heartbeat_interval_ms=100)
    client = people("").client
    short, long = token_of("ada", exp=NOW + 10), token_of("bob")
    async with (
        client.get(f"{BASE}/stream", headers=bearer(short)) as hers,
        client.get(f"{BASE}/stream?access_token={long}") as his,
    ):
        moment[0] = NOW + 10 + LEEWAY
        await Tab(hers).end()
        answer = await client.post(
            f"{BASE}/conversations", headers=bearer(long), json={"otherUserId": "ada"}
        )
        conversation_id = (await answer.json())["conversation"]["id"]
        await client.post(
            f"{BASE}/conversations/{conversation_id}/messages",
            headers=bearer(long),
            json={"body": "still here"},
        )
        assert await Tab(his).bodies(1) == ["still here"]
    async with client.get(f"{BASE}/stream", headers=bearer(short)) as again:
        assert again.status == 401


async def test_the_url_has_tokens_of_streams_only(serve: MakePeople) -> None:
    """Those of service users never."""
    auth = of_secret(services=["shop"])
    people = await serve(auth=auth.auth)
    client, ada, shop = people("").client, token_of("ada"), token_of("shop")

    async def status(path: str, **headers: str) -> int:
        async with client.get(BASE + path, headers=headers) as answer:
            return answer.status

    assert await status(f"/stream?access_token={ada}") == 200
    assert await status("/stream", **bearer(shop)) == 200
    for path in (
        f"/conversations?access_token={ada}",
        f"/stream?access_token={shop}",
        f"/stream?access_token={ada}&access_token={ada}",
        f"/stream/?access_token={shop}",
        "/stream?access_token=",
    ):
        assert await status(path) == 401, path
    # The header counts, and a wrong one is not made good by the URL.
    assert await status(f"/stream?access_token={ada}", **bearer("a.b.c")) == 401


async def test_an_unknown_kid_reads_the_file_again_once_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_keys, "READ_AGAIN_SECONDS", 1e9)
    jwks = {name: jwk_of(f"{name * 32}".encode(), name, "HS256") for name in "abc"}
    path = write_jwks(tmp_path / "keys.json", jwks["a"])
    keys = TokenKeys(keys_of_file(path), path)
    write_jwks(path, jwks["a"], jwks["b"])
    assert await keys.find(None) is not None
    # At once: all wait for the one reading.
    found = await asyncio.gather(*(keys.find("b") for _ in range(20)))
    assert all(found)
    write_jwks(path, jwks["c"])
    assert await keys.find("c") is None
    assert await keys.find("a") is not None
    await keys.read_again()
    assert [await keys.find(name) is not None for name in "abc"] == [False, False, True]
    path.write_text("{")
    await keys.read_again()
    assert await keys.find("c") is not None
    # After the minute.
    monkeypatch.setattr(keys, "_not_before", 0.0)
    write_jwks(path, jwks["a"])
    assert await keys.find("a") is not None


@pytest.mark.parametrize("text", ['{"keys": []}', None])
async def test_a_storm_of_unknown_kids_is_one_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    """Anybody can send them. The file is wrong, or has the same keys as before."""
    monkeypatch.setattr(token_keys, "READ_AGAIN_SECONDS", 1e9)
    path = write_jwks(tmp_path / "keys.json", jwk_of(b"a" * 32, "a", "HS256"))
    keys, readings = TokenKeys(keys_of_file(path), path), []
    if text is not None:
        path.write_text(text)

    def counted(path: Path) -> token_keys.KeySet:
        readings.append(path)
        return keys_of_file(path)

    monkeypatch.setattr(token_keys, "keys_of_file", counted)
    for _ in "12":
        asking = (keys.find(f"unknown{number}") for number in range(200))
        assert set(await asyncio.gather(*asking)) == {None}
    assert await keys.find("a") is not None
    assert readings == [path]


def test_keys_that_cannot_be(tmp_path: Path) -> None:
    """Each error names the key, and repeats no part of it."""
    rsa, small = private_key("RS256"), jwk_of(b"x" * 31, "k", "HS256")
    private = jwt.get_algorithm_by_name("RS256").to_jwk(rsa, as_dict=True)
    short = {**jwk_of(rsa, "k", "RS256"), "n": "AQAB"}
    good = jwk_of(rsa, "k", "RS256")
    wrong: list[tuple[Any, str]] = [
        ("{", "not a JSON Web Key Set"),
        ("[]", "not a JSON Web Key Set"),
        ("[" * 100_000, "not a JSON Web Key Set"),
        (" " * (1024 * 1024 + 1), "not a JSON Web Key Set"),
        ({"keys": {}}, "must be a list"),
        ({"keys": []}, "no key for signatures"),
        ({"keys": [{**good, "use": "enc"}]}, "no key for signatures"),
        ({"keys": ["x"]}, "key 1 needs a kid"),
        ({"keys": [{**good, "kid": None}]}, "key 1 needs a kid"),
        ({"keys": [good, good]}, "key 2 needs a kid"),
        ({"keys": [{**good, "alg": None}]}, "key 1 (k): alg must be one of"),
        ({"keys": [{**good, "alg": "none"}]}, "key 1 (k): alg must be one of"),
        ({"keys": [{**good, "alg": ["RS256"]}]}, "key 1 (k): alg must be one of"),
        ({"keys": [{**good, "alg": "HS256"}]}, "key 1 (k) is no key of HS256"),
        ({"keys": [{**good, "alg": "ES256"}]}, "key 1 (k) is no key of ES256"),
        ({"keys": [{**good, "n": "%"}]}, "key 1 (k) is"),
        ({"keys": [{**private, "kid": "k", "alg": "RS256"}]}, "key 1 (k) is a private key"),
        ({"keys": [short]}, "key 1 (k) is"),
        ({"keys": [small]}, "key 1 (k) is too short: HS256 needs 32 bytes"),
        (
            {"keys": [{**jwk_of(private_key("ES512"), "k", "ES512"), "alg": "ES256"}]},
            "key 1 (k) is",
        ),
    ]
    path = tmp_path / "keys.json"
    for given_keys, said in wrong:
        path.write_text(given_keys if isinstance(given_keys, str) else json.dumps(given_keys))
        with pytest.raises(SetupError) as caught:
            keys_of_file(path)
        assert said in str(caught.value), (given_keys, caught.value)
    with pytest.raises(SetupError, match="cannot be read"):
        keys_of_file(tmp_path / "away.json")
    weak = generate_private_key(65_537, 1_024)
    for key, algorithm in (
        (public_pem(weak), "RS256"),
        (private_pem(rsa), "RS256"),
        ("swordfish", "HS256"),
        (SECRET[:63], "HS512"),
        (SECRET, "RS256"),
        (public_pem(rsa), "HS256"),
        (public_pem(rsa), "ES256"),
        (public_pem(private_key("ES512")), "ES256"),
        (public_pem(rsa).replace("A", "B", 20), "RS256"),
    ):
        with pytest.raises(SetupError) as caught:
            single_key(key, algorithm)
        assert key not in str(caught.value)
