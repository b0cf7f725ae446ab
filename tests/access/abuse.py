"""Allowed requests that cost much: what each costs a process, and how long somebody else waits.

    python -m tests.access.abuse [--code FOLDER] [--only WORD]

Serves a chat over a mongod of its own, as `chat-aio serve` does, from this checkout or another one.
Each request is made once alone and by eight callers at once; meanwhile a process of its own reads a
conversation as another user, again and again.
"""

import asyncio
import json
import os
import secrets
import socket
import sys
import tempfile
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from pymongo import AsyncMongoClient

from chat_aio.embedded import Mongod

MEBIBYTE = 1024 * 1024
AT_ONCE = (1, 8)
ROOT = Path(__file__).parents[2]
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Target:
    """A served chat, and what has been put into its database."""

    port: int
    pid: int
    mongod: int
    database: Any

    async def ask(
        self, method: str, path: str, body: bytes = b"", user: str | None = "ada", *headers: str
    ) -> tuple[int, bytes]:
        """The status and body of an answer, on a connection of its own."""
        lines = [f"{method} /api/chat{path} HTTP/1.1", "Host: x", "Connection: close", *headers]
        lines += [f"X-User: {user}"] if user else []
        lines += [f"Content-Length: {len(body)}", "", ""]
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**26)
        try:
            writer.write("\r\n".join(lines).encode() + body)
            raw = await reader.read()
        except ConnectionError:
            return 0, b""
        finally:
            writer.close()
        return int(raw.split(b" ", 2)[1]), raw.partition(b"\r\n\r\n")[2]

    async def made(self, path: str, body: object, under: str) -> Any:
        status, answer = await self.ask("POST", path, json.dumps(body).encode())
        assert status in (200, 201), answer
        return json.loads(answer)[under]

    async def group(self, **given: object) -> str:
        return str((await self.made("/conversations/group", given, "conversation"))["id"])

    async def message(self, group: str, **given: object) -> str:
        return str((await self.made(f"/conversations/{group}/messages", given, "message"))["id"])

    async def plant(self, groups: list[list[str]]) -> None:
        """Groups of these users, written as they are stored."""
        like = await self.database.conversations.find_one({"_id": await self.group()})
        head = await self.database.counters.find_one({"_id": like["_id"]})
        reader = like["participants"][0]
        for start in range(0, len(groups), 500):
            some = {secrets.token_hex(12): users for users in groups[start : start + 500]}
            await self.database.counters.insert_many(
                [{**head, "_id": other_id} for other_id in some]
            )
            await self.database.conversations.insert_many(
                {**like, "_id": name, "participants": [{**reader, "userId": u} for u in users]}
                for name, users in some.items()
            )


Attack = Callable[[Target], Awaitable[Callable[[], Awaitable[tuple[int, bytes]]]]]
ATTACKS: dict[str, Attack] = {}


def attack(name: str) -> Callable[[Attack], Attack]:
    def noted(made: Attack) -> Attack:
        ATTACKS[name] = made
        return made

    return noted


def bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(b" " * MEBIBYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + (packer.compress(b" " * MEBIBYTE) + packer.flush(zlib.Z_FULL_FLUSH)) * 1_023


@attack("1 GB in 1 MB of gzip, without a login")
async def inflate(target: Target) -> Any:
    body = bomb()
    return lambda: target.ask("POST", "/nothing", body, None, "Content-Encoding: gzip")


@attack("1 GB in 1 MB of gzip, with a login")
async def inflate_as_user(target: Target) -> Any:
    body = bomb()
    return lambda: target.ask("POST", "/conversations/group", body, "ada", "Content-Encoding: gzip")


@attack("1 MiB of wrong userIds")
async def wrong_users(target: Target) -> Any:
    body = b'{"userIds":[' + b'" ",' * (MEBIBYTE // 4 - 10) + b"1]}"
    return lambda: target.ask("POST", "/conversations/group", body)


@attack("1 MiB of wrong mentions")
async def wrong_mentions(target: Target) -> Any:
    path = f"/conversations/{await target.group()}/messages"
    body = b'{"body":"x","mentions":[' + b"1," * (MEBIBYTE // 2 - 20) + b"1]}"
    return lambda: target.ask("POST", path, body)


@attack("1 MiB of empty objects")
async def empty_objects(target: Target) -> Any:
    body = b'{"metadata":{"a":[' + b"{}," * (MEBIBYTE // 3 - 20) + b"1]}}"
    return lambda: target.ask("POST", "/conversations/group", body)


@attack("131,000 numbers in metadata")
async def numbers(target: Target) -> Any:
    body = b'{"metadata":{"a":[' + b"1," * 131_000 + b"1]}}"
    return lambda: target.ask("POST", "/conversations/group", body)


@attack("16,384 combining marks")
async def marks(target: Target) -> Any:
    path = f"/conversations/{await target.group()}/messages"
    body = json.dumps({"body": "\u0316\u0301" * 8_192}).encode()
    return lambda: target.ask("POST", path, body)


@attack("forwarding 16,384 combining marks")
async def forwarded_marks(target: Target) -> Any:
    group = await target.group()
    message = await target.message(group, body="\u0316\u0301" * 8_192)
    body = json.dumps({"conversationId": group}).encode()
    return lambda: target.ask("POST", f"/messages/{message}/forward", body)


@attack("16,384 characters that become 18 each")
async def ligatures(target: Target) -> Any:
    path = f"/conversations/{await target.group()}/messages"
    body = json.dumps({"body": "\ufdfa" * 16_384}).encode()
    return lambda: target.ask("POST", path, body)


@attack("200 messages of the most small objects")
async def small_objects(target: Target) -> Any:
    group = await target.group()
    for count in (11_000, 5_400):
        given = {"body": "x", "metadata": {"a": [{}] * count}}
        body = json.dumps(given, separators=(",", ":")).encode()
        if (await target.ask("POST", f"/conversations/{group}/messages", body))[0] == 201:
            break
    for _ in range(199):
        await target.message(group, **given)
    return lambda: target.ask("GET", f"/conversations/{group}/messages?limit=200")


@attack("200 groups of 256")
async def full_groups(target: Target) -> Any:
    users = [f"user {number}" for number in range(255)]
    await target.plant([["gia", *users] for _ in range(200)])
    return lambda: target.ask("GET", "/conversations?limit=200", b"", "gia")


@attack("a page with all the reactions there may be")
async def reactions(target: Target) -> Any:
    group = await target.group()
    for _ in range(10):
        await target.message(group, body="x")
    old = (await target.database.settings.count_documents({"_id": "abuse"})) > 0
    given = [
        {"emoji": f"e{number % 32}", "userId": f"u{number // 32}", "createdAt": datetime.now(UTC)}
        for number in range(8_160 if old else 2_000)
    ]
    await target.database.messages.update_many(
        {"conversationId": group}, {"$set": {"reactions": given}}
    )
    return lambda: target.ask("GET", f"/conversations/{group}/messages?limit=200")


@attack("presence of 50, in 3,000 conversations")
async def presence(target: Target) -> Any:
    others = [f"peer {number}" for number in range(3_000)]
    await target.plant([["pia", other] for other in others])
    users = ",".join(others[:50]).replace(" ", "%20")
    return lambda: target.ask("GET", f"/presence?userIds={users}", b"", "pia")


def cpu_of(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


async def probe(port: int, group: str) -> None:
    """Read a conversation again and again, until the input ends; then say the longest wait."""
    waits: list[float] = []
    target = Target(port, 0, 0, None)
    loop = asyncio.get_running_loop()
    ended = loop.run_in_executor(None, sys.stdin.read)
    while not ended.done():
        began = time.perf_counter()
        await target.ask("GET", f"/conversations/{group}", b"", "bob")
        waits.append(time.perf_counter() - began)
        await asyncio.sleep(0.01)
    click.echo(max(waits))


async def measured(target: Target, group: str, act: Any, at_once: int) -> dict[str, float]:
    """Milliseconds of CPU for each request, then the longest wait of somebody else."""
    ours, theirs = cpu_of(target.pid), cpu_of(target.mongod)
    await asyncio.gather(*(act() for _ in range(at_once)))
    ours, theirs = cpu_of(target.pid) - ours, cpu_of(target.mongod) - theirs
    command = (sys.executable, "-m", "tests.access.abuse", "--probe", str(target.port), group)
    pipes: dict[str, Any] = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    prober = await asyncio.create_subprocess_exec(*command, cwd=ROOT, **pipes)
    await asyncio.sleep(1.5)
    began = time.perf_counter()
    answers = await asyncio.gather(*(act() for _ in range(at_once)))
    took = time.perf_counter() - began
    await asyncio.sleep(0.3)
    said, _ = await prober.communicate(b"")
    return {
        "status": answers[0][0],
        "MB": round(len(answers[0][1]) / 1e6, 1),
        "cpu": round(1_000 * ours / at_once),
        "mongod": round(1_000 * theirs / at_once),
        "took": round(1_000 * took),
        "waited": round(1_000 * float(said)),
    }


FORM = "Content-Type: multipart/form-data; boundary=b"
FILE = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'


def upload(body: bytes) -> Attack:
    async def prepare(target: Target) -> Any:
        path = f"/conversations/{await target.group()}/attachments"
        return lambda: target.ask("POST", path, body, "ada", FORM)

    return prepare


for _name, _body in {
    "1 MiB of line ends as a form": b"\r\n" * (MEBIBYTE // 2),
    "1 MiB of boundaries as a form": b"--b\r\n" * (MEBIBYTE // 5),
    "16 MiB of halves of boundaries in a file": FILE + b"\r\n--" * 4 * MEBIBYTE,
    "16 MiB of boundaries that go on in a file": FILE + b"\r\n--x" * 3 * MEBIBYTE,
}.items():
    ATTACKS[_name] = upload(_body)


@asynccontextmanager
async def served(code: Path) -> AsyncIterator[Target]:
    with tempfile.TemporaryDirectory(prefix="abuse-") as folder, socket.socket() as free:
        async with Mongod(Path(folder)) as mongod:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
            free.close()
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "chat_aio", "serve", "--port", str(port)),
                *(
                    "--mongo-url",
                    mongod.url,
                    "--auth-header",
                    "X-User",
                    "--plugins",
                    "presence,attachments",
                ),
                env={**os.environ, "PYTHONPATH": str(code), "CHAT_AIO_QUOTAS": "null"},
                stderr=asyncio.subprocess.DEVNULL,
                cwd=code,
            )
            async with AsyncMongoClient[dict[str, Any]](mongod.url) as client:
                status = await client.admin.command("serverStatus")
                target = Target(port, process.pid, int(status["pid"]), client["chat"])
                while not await answers(target):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
                if code != ROOT:
                    await client["chat"].settings.insert_one({"_id": "abuse"})
                try:
                    yield target
                finally:
                    process.terminate()
                    await process.wait()


async def answers(target: Target) -> bool:
    try:
        return (await target.ask("GET", "/conversations"))[0] == 200
    except OSError:
        return False


async def run(code: Path, only: str) -> None:
    async with served(code) as target:
        group = await target.group(userIds=["bob"])
        for name, prepare in ATTACKS.items():
            if only in name:
                act = await prepare(target)
                for at_once in AT_ONCE:
                    found = await measured(target, group, act, at_once)
                    click.echo(f"{name:42} {at_once} {found}")


@click.command()
@click.option("--code", type=click.Path(path_type=Path), default=ROOT)
@click.option("--only", default="")
@click.option("--probe", "probed", type=(int, str), hidden=True)
def main(code: Path, only: str, probed: tuple[int, str] | None) -> None:
    asyncio.run(probe(*probed) if probed else run(code, only))


if __name__ == "__main__":
    main()
