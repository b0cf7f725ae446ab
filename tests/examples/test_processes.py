"""Examples that are processes: workers under gunicorn, a bot that is killed, nginx in front."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, Process
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import which

import pytest
from aiohttp import ClientError, ClientSession
from yarl import URL

from chat_aio.client import ChatClient, DraftEvent, EventStream, MessageEvent
from chat_aio.embedded import _free_port
from chat_aio.plugins import Drafts
from tests.conftest import Database, MakePeople
from tests.examples.conftest import EXAMPLES
from tests.examples.talking import PATIENCE, heard, talk
from tests.support.processes import serving

NGINX = which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
ADA, BOB = {"X-User": "ada"}, {"X-User": "bob"}


@asynccontextmanager
async def running(*command: str, **environment: str) -> AsyncIterator[Process]:
    """A process until SIGTERM, which it must obey; or until it is killed."""
    process = await asyncio.create_subprocess_exec(
        *command, stdout=DEVNULL, env={**os.environ, **environment}
    )
    try:
        yield process
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), PATIENCE)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def answering(url: str) -> None:
    """Wait until somebody answers."""
    async with ClientSession() as session, asyncio.timeout(PATIENCE):
        while True:
            try:
                async with session.get(url):
                    return
            except ClientError:
                await asyncio.sleep(0.05)


async def test_gunicorn_workers(environment: Mapping[str, str]) -> None:
    """What is sent to any of them is heard on every stream."""
    origin = f"127.0.0.1:{_free_port()}"
    command = "-k aiohttp.GunicornWebWorker -w 2 --graceful-timeout 5 gunicorn_workers:make_app"
    options = ("--chdir", str(EXAMPLES), "-b", origin, "--log-level", "warning")
    async with running(sys.executable, "-m", "gunicorn", *options, *command.split()) as gunicorn:
        await answering(f"http://{origin}/worker")
        workers: set[int] = set()
        async with asyncio.timeout(PATIENCE):
            while len(workers) < 2:
                async with (
                    ClientSession() as session,
                    session.get(f"http://{origin}/worker") as answer,
                ):
                    workers.add((await answer.json())["worker"])
                await talk(f"http://{origin}/api/chat", ADA, BOB)
    assert gunicorn.returncode == 0


PINGS = 230


async def test_resuming_bot(serve: MakePeople, database: Database, tmp_path: Path) -> None:
    """It is killed while it answers, also while it reads what the stream cannot replay; every ping
    is answered once, the one in an old thread too."""
    person = await serve(replay_limit=50)
    given = {
        "CHAT_URL": str(person("").client.make_url("/api/chat")),
        "BOT_POSITION": str(tmp_path / "position"),
    }
    command = (sys.executable, str(EXAMPLES / "resuming_bot.py"))
    async with ChatClient(given["CHAT_URL"], headers=ADA) as ada, ada.stream() as stream:
        direct = await ada.get_or_create_conversation("resuming-bot")
        root = await ada.send_message(direct.id, "a thread begins")

        async def ask(count: int) -> list[str]:
            return [(await ada.send_message(direct.id, "/ping")).id for _ in range(count)]

        asked = await ask(10)
        async with running(*command, **given) as bot:
            await until_answered(stream, asked)
            asked += await ask(30)
            await until_answered(stream, asked[10:20])
            bot.send_signal(signal.SIGKILL)
            await asyncio.wait_for(bot.wait(), PATIENCE)
        asked += await ask(100)
        in_thread = await ada.send_message(direct.id, "/ping", thread_root_message_id=root.id)
        asked += await ask(PINGS - len(asked))
        async with running(*command, **given) as bot:
            await until_answered(stream, asked[40:60])
            bot.send_signal(signal.SIGKILL)
            await asyncio.wait_for(bot.wait(), PATIENCE)
        async with running(*command, **given):
            await until_answered(stream, asked[-1:])
            answers = await database["messages"].find({"body": "pong"}).to_list()
            quoted = [answer for answer in answers if answer["replyToMessageId"]]
            assert sorted(message["replyToMessageId"] for message in quoted) == sorted(asked)
            [threaded] = [answer for answer in answers if not answer["replyToMessageId"]]
            assert threaded["threadRootMessageId"] == in_thread.thread_root_message_id
            assert len(answers) == PINGS + 1 == 231


async def test_assistant(serve: MakePeople, tmp_path: Path) -> None:
    """Its answer is read while it is written; who has asked stops the next one."""
    person = await serve(plugins=[Drafts(["assistant"])])
    given = {
        "CHAT_URL": str(person("").client.make_url("/api/chat")),
        "BOT_POSITION": str(tmp_path / "position"),
        "SECONDS_PER_WORD": "0.05",
    }
    command = (sys.executable, str(EXAMPLES / "assistant.py"))
    async with (
        ChatClient(given["CHAT_URL"], headers=ADA) as ada,
        ada.stream() as stream,
        running(*command, **given),
    ):
        direct = await ada.get_or_create_conversation("assistant")
        await ada.send_message(direct.id, "hello")
        seen, answer = await read_along(stream, lambda _: asyncio.sleep(0))
        assert answer.startswith(seen)
        assert "“hello”" in seen
        await ada.send_message(direct.id, "again")

        async def stop(draft_id: str) -> None:
            await ada.drafts.stop(direct.id, draft_id)

        _, answer = await read_along(stream, stop)
        assert answer
        assert "arrive" not in answer


async def read_along(
    stream: EventStream, at_each: Callable[[str], Awaitable[None]]
) -> tuple[str, str]:
    """What was seen of the assistant's next draft, and what it became."""
    seen = ""
    async with asyncio.timeout(PATIENCE):
        async for event in stream:
            if isinstance(event, DraftEvent):
                seen += event.payload.text
                await at_each(event.payload.draft_id)
            elif isinstance(event, MessageEvent) and event.message.role == "assistant":
                return seen, event.message.body
    raise AssertionError("the stream has ended")


async def until_answered(stream: EventStream, asked: list[str]) -> None:
    left = set(asked)
    while left:
        message = await heard(stream)
        left.discard(message.reply_to_message_id or "")


@pytest.mark.skipif(NGINX is None, reason="there is no nginx here")
async def test_behind_nginx(mongo_url: str, database: Database, tmp_path: Path) -> None:
    """Who calls is who has the password, whatever a header says; events come as they are sent."""
    assert NGINX is not None
    port = _free_port()
    (tmp_path / "htpasswd").write_text("ada:{PLAIN}a\nbob:{PLAIN}b\n")
    async with serving(mongo_url, database.name) as base:
        example = (EXAMPLES / "behind_nginx.conf").read_text()
        for theirs, ours in (
            ("127.0.0.1:8080", base.removeprefix("http://").removesuffix("/api/chat")),
            ("127.0.0.1:8000", f"127.0.0.1:{port}"),
            ("/etc/nginx/chat.htpasswd", str(tmp_path / "htpasswd")),
            ("/var/log/nginx", str(tmp_path)),
        ):
            assert theirs in example
            example = example.replace(theirs, ours)
        (tmp_path / "nginx.conf").write_text(MAIN.format(folder=tmp_path) % example)
        command = (NGINX, "-p", str(tmp_path), "-c", "nginx.conf", "-e", "error.log")
        async with running(*command):
            origin = f"http://127.0.0.1:{port}"
            await answering(origin)
            ada, bob = [f"Basic {b64encode(value).decode()}" for value in (b"ada:a", b"bob:b")]
            forged = {"Authorization": ada, "X-User": "bob"}
            await talk(f"{origin}/api/chat", forged, {"Authorization": bob})
            wrong = {"Authorization": f"Basic {b64encode(b'ada:b').decode()}"}
            for headers in (ADA, wrong):
                async with (
                    ClientSession(origin, headers=headers) as session,
                    session.get("/api/chat/channels") as answer,
                ):
                    assert answer.status == 401
            await ask_for_secrets(origin, ada)
        said = (tmp_path / "chat.log").read_text()
        assert said.count("/invites/-") == 4
        assert "secret" not in said + (tmp_path / "chat-error.log").read_text()


async def ask_for_secrets(origin: str, login: str) -> None:
    """An invite's code, however the path is written, and a query."""
    async with ClientSession(origin, headers={"Authorization": login}) as session:
        for path in ("invites", "%69nvites", "conversations/7/invites", "/./invites/"):
            url = URL(f"{origin}/api/chat/{path}/secret-code?q=secret-query", encoded=True)
            async with session.get(url) as answer:
                assert answer.status == 404


MAIN = """
daemon off; user root; worker_processes 1; pid {folder}/pid;
events {{ }}
http {{
    access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b;
    fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    %s
}}
"""
