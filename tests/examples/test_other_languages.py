"""The guide for other languages: every request of it is sent, and its snippets are run."""

import asyncio
import json
import re
import shutil
import time
from pathlib import Path

import jwt
import pytest
from aiohttp import ClientSession

from tests.conftest import Database
from tests.support.backend import WEBHOOK_SECRET, Backend, signed
from tests.support.node import needs_node, running
from tests.support.processes import ROOT, Service
from tests.support.tokens import SECRET, token_of

PAGE = (ROOT / "docs" / "guides" / "other-languages.md").read_text()
REQUEST = re.compile(
    r"```http\n(?P<method>\w+) (?P<path>\S+)\nAuthorization: (?P<login>.*)\n"
    r"(?:\n(?P<body>\{.*\})\n)?# (?P<status>\d+)\n```"
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


async def test_every_request(mongo_url: str, database: Database, tmp_path: Path) -> None:
    settings, sent = blocks("toml")[0], 0
    async with Backend() as backend, ClientSession() as session:
        config = tmp_path / "chat.toml"
        config.write_text(settings.replace("https://shop.example/hooks/chat", backend.url))
        secrets = {"CHAT_AIO_JWT_KEY": SECRET, "CHAT_AIO_WEBHOOK_SECRET": WEBHOOK_SECRET}
        service = Service(mongo_url, database.name, "--config", str(config), environment=secrets)

        def filled(text: str, known: str) -> str:
            text = text.replace("CONVERSATION", known)
            return re.sub(r"TOKEN_OF_(\w+)", lambda user: token_of(user[1], iss="shop"), text)

        async with service.running():
            conversation_id = ""
            for request in REQUEST.finditer(PAGE):
                url = service.origin + filled(request["path"], conversation_id)
                headers = {"Authorization": filled(request["login"], "")}
                body = json.loads(request["body"]) if request["body"] else None
                async with session.request(
                    request["method"], url, json=body, headers=headers
                ) as answer:
                    found = await answer.json()
                    assert answer.status == int(request["status"]), (request[0], found)
                conversation_id = found.get("conversation", {}).get("id", conversation_id)
                sent += 1
            async with session.get(f"{service.origin}/chat-aio/element.js") as answer:
                assert answer.content_type == "text/javascript"
            await backend.asked(
                lambda: (
                    "conversation.deleted" in {question["type"] for question in backend.questions}
                )
            )
    assert sent == len(blocks("http")) >= 8


VERDICTS = ["true", "false", "false", "false", "true"]


def given_headers() -> list[dict[str, str]]:
    """Of VERDICTS."""
    found = signed('{"a": "é"}')
    return [
        signed('{"a": "é"}'),
        signed('{"a": "é"}', secret="whsec_" + "A" * 32),
        {**signed('{"a": "é"}'), "webhook-timestamp": "1700000000"},
        {**signed('{"a": "é"}'), "webhook-timestamp": "now"},
        # After a change of the secret there are two.
        {**found, "webhook-signature": f"v1a,?? {found['webhook-signature']}"},
    ]


def require_answers(lines: list[str]) -> None:
    token, *verdicts = lines
    claims = jwt.decode(token, SECRET, algorithms=["HS256"], issuer="shop")
    assert claims["sub"] == "ann"
    assert claims["exp"] > time.time()
    assert verdicts == VERDICTS


async def lines_of(process: asyncio.subprocess.Process) -> list[str]:
    async with asyncio.timeout(120):
        output, _ = await process.communicate()
    return output.decode().split()


@needs_node
async def test_node(tmp_path: Path) -> None:
    tokens, signatures = blocks("js")
    (tmp_path / "tokens.mjs").write_text(tokens)
    (tmp_path / "signatures.mjs").write_text(signatures)
    (tmp_path / "main.mjs").write_text(
        'import { tokenOf } from "./tokens.mjs";\n'
        'import { isSigned } from "./signatures.mjs";\n'
        "const { KEY, SECRET, GIVEN } = process.env;\n"
        'console.log(tokenOf("ann", KEY));\n'
        "for (const headers of JSON.parse(GIVEN)) {\n"
        '  console.log(isSigned(headers, \'{"a": "é"}\', SECRET));\n'
        "}\n"
    )
    given = {"KEY": SECRET, "SECRET": WEBHOOK_SECRET, "GIVEN": json.dumps(given_headers())}
    async with running("main.mjs", cwd=tmp_path, environment=given) as node:
        require_answers(await lines_of(node))


JAVA = """
class Main {
    public static void main(String[] given) throws Exception {
        System.out.println(Tokens.tokenOf("ann", given[0]));
        for (int at = 2; at < given.length; at += 3) {
            System.out.println(Signatures.isSigned(
                given[at], given[at + 1], given[at + 2], "{\\"a\\": \\"\\u00e9\\"}", given[1]));
        }
    }
}
"""


@pytest.mark.skipif(shutil.which("javac") is None, reason="no javac: apt-get install default-jdk")
async def test_java(tmp_path: Path) -> None:
    for name, text in zip(("Tokens", "Signatures", "Main"), (*blocks("java"), JAVA), strict=True):
        (tmp_path / f"{name}.java").write_text(text)
    names = [f"{name}.java" for name in ("Tokens", "Signatures", "Main")]
    compiling = await asyncio.create_subprocess_exec("javac", *names, cwd=tmp_path)
    assert await asyncio.wait_for(compiling.wait(), 120) == 0
    headers = [value for given in given_headers() for value in given.values()]
    java = await asyncio.create_subprocess_exec(
        *("java", "-cp", ".", "Main", SECRET, WEBHOOK_SECRET, *headers),
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
    )
    require_answers(await lines_of(java))
    assert await java.wait() == 0
